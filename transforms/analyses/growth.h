// How integers grow with the number of the program that computes them.
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {

/// From a program to the next one.
struct Growth {
  enum Kind {
    Unknown,
    Exact,      // by `step`, which may be zero
    Increasing, // not less, and not always the same
    Decreasing, // not more, and not always the same
  };
  Kind kind = Unknown;
  int64_t step = 0;

  bool isZero() const { return kind == Exact && step == 0; }
  bool isPositive() const { return kind == Increasing || (kind == Exact && step > 0); }
  bool isNegative() const { return kind == Decreasing || (kind == Exact && step < 0); }
};

/// Answers for one axis of the grid, of values of one function. They are estimates, for what may be slow but not wrong:
/// a multiplier or divisor that is no constant counts as a size, greater than zero; numbers do not wrap around; and
/// memory holds the same for all programs that read the same address.
class GrowthAnalysis {
public:
  explicit GrowthAnalysis(ir::ProgramIDDim axis) : axis_(axis) {}

  /// Of a scalar integer. Tensors and other types: zero or unknown.
  Growth of(ir::Value);

private:
  Growth compute(ir::Value);

  ir::ProgramIDDim axis_;
  unsigned depth_ = 0; // of the query that is being answered
  llvm::DenseMap<ir::Value, Growth> known_;
};

/// The same without the step, if it is not zero.
Growth direction(Growth);
/// Of a + b and a - b.
Growth operator+(Growth a, Growth b);
Growth operator-(Growth a, Growth b);

} // namespace tessera::transforms
