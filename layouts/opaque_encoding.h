// Opaque encodings: the parameters are kept as text, in the order written, so that the linear layout is unknown. For
// kinds that a reader of text does not parse. Equal text makes one object, but never the same object as the class of
// the kind (amd_mfma.h, nvmma_shared.h, …) makes of equal parameters.
#pragma once
#include "layouts/encoding.h"
#include <string>

namespace tessera::layouts {

class OpaqueEncoding : public Encoding {
public:
  /// `prefix`: "#ttg.amd_mfma"; `body`: what stands between `<` and `>`, as printed.
  OpaqueEncoding(EncodingKind k, std::string prefix, std::string body, unsigned rank)
      : Encoding(k, /*opaque=*/true), prefix_(std::move(prefix)), body_(std::move(body)), rank_(rank) {}
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
