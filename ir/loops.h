// Named access to what structured loops and branches carry, so that no pass computes indices of operands by hand.
//
//   %r = scf.for %i = … iter_args(%a = %init) { … scf.yield %y }      carried(loop, 0) = {%init, %a, %y, %r}
#pragma once
#include "ir/ops.h"

namespace tessera::ir {

/// One loop-carried value of an `scf.for`, in its four places. All have one type.
struct CarriedValue {
  scf::ForOp loop;
  unsigned index; // among the carried values
  Value init;     // before the first iteration
  Value argument; // in the body, at the start of an iteration
  Value yielded;  // at the end of an iteration
  Value result;   // behind the loop

  void setInit(Value v) const;
  void setYielded(Value v) const;
};

inline unsigned numCarried(scf::ForOp loop) { return loop.initArgs().size(); }
/// @pre i < numCarried(loop)
CarriedValue carried(scf::ForOp loop, unsigned i);
/// The loop-carried value of which `v` is the body's argument; none for an induction variable and all other values.
std::optional<CarriedValue> carriedByArgument(Value v);
/// The loop-carried value of which `v` is the result.
std::optional<CarriedValue> carriedByResult(Value v);
/// Either of the two.
std::optional<CarriedValue> carriedOf(Value v);

/// The induction variable.
Value inductionVariable(scf::ForOp loop);
bool isInductionVariable(Value v);
/// Where the loop's carried values begin among its operands (behind lower bound, upper bound and step).
inline constexpr unsigned kFirstInitOperand = 3;

} // namespace tessera::ir
