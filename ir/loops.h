// Named access to the values of structured loops and branches, so that no pass computes indices of operands by hand.
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
  Value result;   // after the loop

  void setInit(Value v) const;
  void setYielded(Value v) const;
};

/// How often a signed loop iterates whose bounds and step are constants; none if that is not known.
std::optional<int64_t> constantIterations(scf::ForOp loop);

inline unsigned numCarried(scf::ForOp loop) { return loop.initArgs().size(); }
/// @pre i < numCarried(loop)
CarriedValue carried(scf::ForOp loop, unsigned i);
/// The loop-carried value of which `v` is the body's argument; none for an induction variable and all other values.
std::optional<CarriedValue> carriedByArgument(Value v);
/// The loop-carried value of which `v` is the result.
std::optional<CarriedValue> carriedByResult(Value v);
/// Either of the two.
std::optional<CarriedValue> carriedOf(Value v);
/// The loop-carried value that starts as this operand of an `scf.for`; none for its bounds and step and for other uses.
std::optional<CarriedValue> carriedByInit(const OpOperand &use);

// ---- arguments of a loop's body, also of one that is under construction ----

/// The carried values' arguments follow the induction variable.
inline constexpr unsigned kFirstCarriedArgument = 1;
inline Value inductionVariable(const Block &body) { return body.arg(0); }
/// The argument of the i-th carried value.
inline Value carriedArgument(const Block &body, unsigned i) { return body.arg(kFirstCarriedArgument + i); }
inline llvm::ArrayRef<ValueImpl *> carriedArguments(const Block &body) {
  return body.args().drop_front(kFirstCarriedArgument);
}
/// @pre the argument has no uses
inline void eraseCarriedArgument(Block &body, unsigned i) { body.eraseArg(kFirstCarriedArgument + i); }

inline Value inductionVariable(scf::ForOp loop) { return inductionVariable(*loop.body().front()); }
bool isInductionVariable(Value v);
/// Whether the operation is an `scf.for` or `scf.while`.
bool isLoop(const Operation *);
bool isLoopOrCall(const Operation *);
/// Whether the operation is in an `scf.for` or `scf.while`, at any depth.
bool isInLoop(const Operation *);

} // namespace tessera::ir
