// The linear encoding: a distributed layout given by its bases. `generic_linear` is the same with bases of lanes
// and warps that may touch several dimensions.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class LinearEncoding : public Encoding {
public:
  /// Kind Linear or GenericLinear. The layout: register, lane, warp, block → dim0….
  static constexpr EncodingKind kKind = EncodingKind::Linear;
  LinearEncoding(LinearLayout l, bool generic);
  static absl::Status check(const LinearLayout &, bool generic);
  const LinearLayout &layout() const { return layout_; }
  unsigned rank() const override { return layout_.numOutDims(); }
  const CtaLayout &cta() const override { return cta_; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  LinearLayout layout_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
