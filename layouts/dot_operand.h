// The dot_op encoding: an operand of a matrix multiplication whose result has the parent's layout. Over a blocked parent
// (multiplication by fma) each thread holds the whole K dimension of its rows (operand 0) or columns (operand 1).
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class DotOperandEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::DotOperand;
  DotOperandEncoding(unsigned opIdx, const Encoding *parent, unsigned kWidth) : Encoding(kKind), opIdx_(opIdx), parent_(parent), kWidth_(kWidth) {}
  static absl::Status check(int64_t opIdx, const Encoding *parent, int64_t kWidth);
  unsigned opIdx() const { return opIdx_; }
  const Encoding *parent() const { return parent_; }
  /// Consecutive elements along K that a thread holds; 0 where the parent needs none.
  unsigned kWidth() const { return kWidth_; }
  unsigned rank() const override { return parent_->rank(); }
  const CtaLayout &cta() const override { return parent_->cta(); }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  unsigned opIdx_;
  const Encoding *parent_;
  unsigned kWidth_;
};

} // namespace tessera::layouts
