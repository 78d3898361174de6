// The dot_op encoding: an operand of a dot whose result has the parent's layout. Over a blocked parent (dots by fma)
// each thread holds the whole K dimension of its rows (operand 0) or columns (operand 1). Over a matrix instruction's
// layout it is that instruction's operand fragment (operandLayout of the parent).
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class DotOperandEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::DotOperand;
  DotOperandEncoding(unsigned opIdx, const Encoding *parent, unsigned kWidth)
      : Encoding(kKind), opIdx_(opIdx), parent_(parent), kWidth_(kWidth), cta_(parent->cta().broadcastDim(kDim())) {}
  static absl::Status check(int64_t opIdx, const Encoding *parent, int64_t kWidth);
  unsigned opIdx() const { return opIdx_; }
  const Encoding *parent() const { return parent_; }
  /// Consecutive elements along K that a thread holds; 0 where the parent needs none.
  unsigned kWidth() const { return kWidth_; }
  unsigned rank() const override { return parent_->rank(); }
  /// The tensor dimension that is summed over.
  unsigned kDim() const { return opIdx_ == 0 ? rank() - 1 : rank() - 2; }
  /// The parent's, all blocks holding the whole of K.
  const CtaLayout &cta() const override { return cta_; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  unsigned opIdx_;
  const Encoding *parent_;
  unsigned kWidth_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
