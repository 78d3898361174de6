// How values and dots are connected: the one place that says when a value "comes from a dot" or "feeds a dot".
//
//   %d = tt.dot %a, %b, %c          %d comes from a dot
//   %e = arith.truncf %d            %e comes from it too, if elementwise operations may lie between
//   %f = ttg.convert_layout %e      %d, %e and %f feed operand A of the second dot: the two form a chain
//   %g = tt.dot %f, %v, %h
//
// Passes need different answers, because they differ in which operations may lie between: each difference is a
// `DotPath`. They also differ in which dots count:
//
//                            tt.dot    tt.dot_scaled    ttng.warp_group_dot
//   comesFromDot             yes       yes              no
//   dotOperandsFedBy         yes       no               no
//   feedsDotOrBuffer         yes       yes, its scales  by its buffers
//                                      included
//   chainOf: to              yes       no               no
//   chainOf: from            yes       yes              no
//   isLoopBodyWithDot        yes       yes              yes
//   loadsFeedingDots         yes       yes, its scales  yes
//                                      included
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tessera::transforms {

/// Operands of a dot; values are combined by `|`.
enum DotOperands : unsigned { kNoOperand = 0, kOperandA = 1, kOperandB = 2 };

/// What may lie between a value and a dot.
struct DotPath {
  bool (*mayLieBetween)(ir::Operation *); // operations
  bool oneShape = false;                  // only tensors of the value's own shape
  bool throughLoops = false;              // from a loop's result to the value that the loop's body yields
};

/// Elementwise operations, selects and layout conversions of one result, on tensors of one shape: each element stays in
/// its place, so that it may stay in its thread too.
extern const DotPath kInPlace;
/// The same on the way to memory: of any number of results and shapes, and out of loops. For comesFromDot alone.
extern const DotPath kTowardsStore;
/// From memory to an operand: elementwise operations, layout conversions, transpositions and reshapes.
extern const DotPath kFromLoad;

/// Whether the tensor is computed from the result of a `tt.dot` or `tt.dot_scaled`.
bool comesFromDot(ir::Value, const DotPath &);
/// Which operands of some `tt.dot` (no scaled one) are computed from the tensor: a combination of DotOperands.
/// @pre !throughLoops
unsigned dotOperandsFedBy(ir::Value, const DotPath &);
/// Whether a `tt.dot`, a `tt.dot_scaled` or a buffer in shared memory (from which a dot may read) is computed from the
/// tensor. @pre !throughLoops
bool feedsDotOrBuffer(ir::Value, const DotPath &);

/// The place of a dot in chains of dots, as in attention. Both are combinations of DotOperands.
struct DotChain {
  unsigned to = kNoOperand;   // operands of other tt.dots that are computed from its result
  unsigned from = kNoOperand; // its own operands that are computed from results of tt.dots or tt.dot_scaleds
};
/// Along `kInPlace`.
DotChain chainOf(ir::tt::DotOp);

/// Whether the tensor is an operand of a dot by fma that takes so many registers of a thread that it would be spilled
/// if it were held during a loop. Such operands are read from shared memory just before their use. False where the
/// lowering has schedule barriers: it decides itself which operands it reads late.
bool isLargeFmaOperand(ir::Type, const ir::TargetInfo &);

/// Whether the value is the scales of one of the dot's operands.
bool isScaleOf(ir::Value, ir::tt::DotScaledOp);

/// A value before layout conversions.
ir::Value beforeConversions(ir::Value);

/// Whether a wgmma's sums of limited precision (8-bit floats, maxNumImpreciseAcc) are added to its accumulator by other
/// instructions, after it: the dot cannot be asynchronous then.
bool addsOutsideOfInstruction(ir::ttng::WarpGroupDotOp);

/// Whether the operation gives the registers of a tensor another name.
bool renamesRegisters(ir::Operation &);

/// Whether the block is the body of an `scf.for` and has a dot of any of the three kinds (not in nested regions).
bool isLoopBodyWithDot(ir::Block *);

/// Whether the operation loads a tensor from global memory, through pointers or a descriptor (no gather).
bool isLoad(const ir::Operation *);

/// The loads of a loop's body that a dot of this body is computed from, through whatever operations of the body and of
/// its branches have no regions, other loads excepted. Loads in branches do not count. In the order of the text.
llvm::SmallVector<ir::Operation *, 4> loadsFeedingDots(ir::Block &body);

/// Whether an operand is computed, elementwise and in the loop's body, from one tensor that the body loads, and from
/// nothing else of its size. Elements of the load are at least as wide as the operand's: narrower ones would be read
/// from a buffer one by one. A load without computation does not count. False if `body` is not a loop's.
bool isComputedFromOneLoad(ir::Value operand, ir::Block *body);

/// The width in bits of the widest elements that a loop's body loads to compute the operand elementwise. None if the
/// operand is computed from anything else of its size, such as another dot or a loop-carried value.
std::optional<unsigned> widestLoadedBits(ir::Value operand, ir::Block *body);

} // namespace tessera::transforms
