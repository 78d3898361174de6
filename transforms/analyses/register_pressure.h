// How many registers the tensors of a function take in each thread at a place: an estimate for passes that choose where
// values are computed. Counted are values from their operation to their last use, or to the end of the loop in which
// they are used, in the order of the text. Not counted is what is recomputed for less than a register costs (constants,
// splats, ranges, masks, indices and pointers): assemblers keep bases and add constants.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace tessera::transforms {

/// Elements of a value of the type that each thread holds, 1 of a scalar; nothing if the layout is not known for the
/// shape.
std::optional<int64_t> elementsPerThread(ir::Type);

/// Bits of registers for so many elements of a scalar type, each of which takes at least `least`: 8 as they are loaded,
/// 32 if each is in a register of its own, as for arithmetic.
int64_t registerBits(ir::Type element, int64_t elements, int64_t least = 1);

/// Registers of 32 bits that a tensor takes in each thread, packed; 0 for what the estimate does not count.
int64_t registersOf(ir::Value);

/// The part of a thread's registers that tensors may take in a block of so many warps; the rest is for what the
/// estimate does not count (ir/tuning.def, usableRegistersPercent).
int64_t usableRegisters(const ir::TargetInfo &, int64_t warps);

/// Registers of 32 bits that tensors surely hold in each thread at the fullest place of a function: a lower bound, to
/// predict spills by. Counted are places where values must be whole, just before and after dots and at the first and
/// last operation of a loop's body. Elsewhere a code generator may compute element by element, however large the
/// tensors of the text are.
int64_t heldRegisters(ir::Operation *function);
/// The same at the places in loops, of which a spill costs in every iteration.
int64_t heldRegistersInLoops(ir::Operation *function);

/// What heldRegisters may be in a block of so many warps without spills (ir/tuning.def, heldRegistersPercent).
int64_t holdableRegisters(const ir::TargetInfo &, int64_t warps);

class RegisterPressure {
public:
  /// `registers`: what a value takes. `separatesBranches`: what only the second branch of an `scf.if` uses is not
  /// counted in the first one.
  explicit RegisterPressure(ir::Operation *function, int64_t (*registers)(ir::Value) = registersOf,
                            bool separatesBranches = false);
  /// The highest pressure from `first` to `last`, including what is nested in them.
  int64_t highest(ir::Operation *first, ir::Operation *last) const;

  /// The pressure just before the operation, its operands included.
  int64_t before(ir::Operation *op) const { return taken_[begins_.lookup(op)]; }
  /// Just after it, its results included.
  int64_t after(ir::Operation *op) const { return taken_[ends_.lookup(op)]; }

private:
  void number(ir::Operation *);
  void count(ir::Value, int64_t registers);
  void excludeOtherBranches(ir::Value, int64_t registers, unsigned from, unsigned to);

  const bool separatesBranches_;

  llvm::DenseMap<ir::Operation *, unsigned> begins_, ends_;
  std::vector<int64_t> taken_; // by number of an operation's beginning or end
};

} // namespace tessera::transforms
