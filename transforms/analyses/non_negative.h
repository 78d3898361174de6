// Which integers cannot be negative: asked where signed division and remainder are only understood for dividends of one
// sign. A value is shown to be so from what makes it: program ids, ranges, constants, zero extensions, comparisons
// assumed by the kernel (llvm.intr.assume), and arithmetic on such values; carried values by induction over the loop.
//
// Two things are taken for granted, as index arithmetic that broke them would not address what it means to:
//   sums, products and left shifts of values that are not negative do not overflow 32 or 64 bits (narrower types may)
//   a divisor that is no constant is not negative
// Nothing is taken for granted about arguments, loaded values and differences.
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {

class NonNegative {
public:
  NonNegative() = default;
  explicit NonNegative(ir::Module &);
  /// True: no element of the integer (or tensor of integers) is negative. False: not known.
  bool nonNegative(ir::Value) const;

private:
  using Set = llvm::DenseSet<ir::Value>;
  bool prove(ir::Value, Set &goals, unsigned &budget) const;
  bool proveCarried(ir::Value, Set &goals, unsigned &budget) const;
  llvm::DenseSet<ir::Value> assumed_;
  mutable llvm::DenseSet<ir::Value> proved_, failed_;
};

} // namespace tessera::transforms
