// The swizzled shared encoding: rows of the fastest dimension in which groups of `vec` elements are exchanged, by xor
// with a phase that changes every `perPhase` rows and has `maxPhase` values, so that a column's elements lie in
// different banks. Offset of (row r, column c): r·columns + (((c / vec) ^ ((r / perPhase) % maxPhase)) · vec + c %
// vec).
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct SwizzledSharedParams {
  int32_t vec = 1, perPhase = 1, maxPhase = 1;
  llvm::SmallVector<int32_t, 4> order;
  CtaLayout cta;
};

class SwizzledSharedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::SwizzledShared;
  /// `rotating`: the AMD variant, whose phase is also xored with the number of the block of rows.
  explicit SwizzledSharedEncoding(SwizzledSharedParams p, bool rotating = false)
      : Encoding(rotating ? EncodingKind::AmdRotatingShared : kKind), p_(std::move(p)) {}
  static absl::Status check(const SwizzledSharedParams &);
  const SwizzledSharedParams &params() const { return p_; }
  unsigned rank() const override { return p_.order.size(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  SwizzledSharedParams p_;
};

} // namespace tessera::layouts
