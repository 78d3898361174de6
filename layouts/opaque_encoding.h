// Encodings whose parameters are kept as text in the order written and whose linear layout is therefore unknown: what a
// reader of text makes of a kind that it does not take apart. The classes of the kinds (amd_mfma.h, nvmma_shared.h, …)
// say more; equal text makes one object here, but never the same object as that of the class.
#pragma once
#include "layouts/encoding.h"
#include <string>

namespace tessera::layouts {

class OpaqueEncoding : public Encoding {
public:
  /// `prefix`: "#ttg.amd_mfma"; `body`: what stands between `<` and `>`, as printed.
  OpaqueEncoding(EncodingKind k, std::string prefix, std::string body, unsigned rank)
      : Encoding(k, /*carried=*/true), prefix_(std::move(prefix)), body_(std::move(body)), rank_(rank) {}
  unsigned rank() const override { return rank_; }
  const CtaLayout &cta() const override { return cta_; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t>) const override {
    return absl::UnimplementedError("the layout of " + prefix_ + " is not modelled yet");
  }
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  std::string prefix_, body_;
  unsigned rank_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
