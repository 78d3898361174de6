// Encodings that are read, checked for their form and printed back, but whose linear layout is not modelled yet: the
// matrix layouts of AMD (amd_mfma, amd_wmma), nvmma_shared, padded_shared, shared_linear, partitioned_shared and the
// tensor-memory encodings. Parameters are kept as text, in the order written.
#pragma once
#include "layouts/encoding.h"
#include <string>

namespace tessera::layouts {

class CarriedEncoding : public Encoding {
public:
  /// `prefix`: "#ttg.amd_mfma"; `body`: what stands between `<` and `>`, as printed.
  CarriedEncoding(EncodingKind k, std::string prefix, std::string body, unsigned rank) : Encoding(k), prefix_(std::move(prefix)), body_(std::move(body)), rank_(rank) {}
  unsigned rank() const override { return rank_; }
  const CtaLayout &cta() const override { return cta_; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t>) const override { return absl::UnimplementedError("the layout of " + prefix_ + " is not modelled yet"); }
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  std::string prefix_, body_;
  unsigned rank_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
