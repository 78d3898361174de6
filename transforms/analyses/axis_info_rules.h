// What the rules of AxisInfo (axis_info_rules.cpp) and the walk that applies them (axis_info.cpp) have in common.
// Divisors are powers of two. Two quantities recur: what divides the values at the starts of groups of a given size
// (divisibilityAt), and what divides every value (divisibilityOfAll); they differ from `divisibility` where the
// values' own groups are larger than one.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"

namespace tessera::transforms::axis_rules {

/// The claim for an operation's only result from the claims for its operands, and from what its attributes promise.
AxisInfo resultInfo(const AxisInfoAnalysis &, ir::Operation *);

/// Raises what is known to what `tt.contiguity`, `tt.divisibility` and `tt.constancy` promise. Where contiguity is left
/// out, so is the divisibility beside it, which is that of the first elements of contiguous groups.
void raise(AxisInfo &, StatedContiguity, llvm::function_ref<ir::Attribute(llvm::StringRef)> promised);

/// Nothing is known.
AxisInfo unknown(ir::Type);

/// The largest divisor that is distinguished: the divisor of zero.
inline constexpr int64_t kMaxDivisor = int64_t(1) << 62;
/// The divisor of ranges from zero, which have 32 bits.
inline constexpr int64_t kMaxRangeDivisor = int64_t(1) << 30;

inline int64_t powerOfTwoDivisor(int64_t v, int64_t most = kMaxDivisor) {
  return v == 0 ? most : std::min<int64_t>(most, int64_t(1) << std::min(62, llvm::countr_zero(uint64_t(v))));
}
inline int64_t capped(int64_t a, int64_t b) { return a > kMaxDivisor / b ? kMaxDivisor : a * b; }
inline int64_t minp(int64_t a, int64_t b) { return std::min(a, b); } // gcd of powers of two

inline unsigned rankOf(ir::Type t) { return t.isTensor() ? t.cast<ir::TensorType>().rank() : 1; }
inline int64_t dimOf(ir::Type t, unsigned d) { return t.isTensor() ? t.cast<ir::TensorType>().dim(d) : 1; }
/// What one step of contiguity adds in the unit of divisibility: bytes of the element for pointers.
inline int64_t unitOf(ir::Type t) {
  return t.scalar().isPointer() && !ir::pointeeOf(t).isTensor() ? ir::pointeeBytes(t) : 1;
}

/// What divides an operand's values at the starts of groups of `group` elements, which may lie inside its own groups.
inline int64_t divisibilityAt(const AxisInfo &i, unsigned d, int64_t group, int64_t unit = 1) {
  return i.contiguity[d] > group ? minp(i.divisibility[d], capped(group, unit)) : i.divisibility[d];
}
/// … every value, contiguous ones included.
inline int64_t divisibilityOfAll(const AxisInfo &i, unsigned d, int64_t unit = 1) {
  return divisibilityAt(i, d, 1, unit);
}
/// What divides every value, by the best of the dimensions.
inline int64_t divisibilityOfAll(const AxisInfo &i) {
  int64_t all = 1;
  for (unsigned d = 0; d < i.rank(); ++d)
    if (i.contiguity[d] == 1) all = std::max(all, i.divisibility[d]);
  return all;
}

} // namespace tessera::transforms::axis_rules
