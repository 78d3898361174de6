// What strip-mine cuts: a group of operations, and the dimension of each that it is cut along.
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace tessera::transforms::strips {

inline constexpr int kWhole = -1; // in place of a dimension: not cut

/// The type of a strip: a `strips`-th along the dimension.
ir::TensorType stripType(ir::TensorType, int dim, int64_t strips);

/// Loads, stores and atomics that strips are made of.
bool accessesMemory(ir::Operation *);
/// @pre accessesMemory(op)
bool writesMemory(ir::Operation *);
/// @pre accessesMemory(op)
ir::Value pointerOf(ir::Operation *);

/// How the dimensions of an operation's operands and results correspond. Each operation has one dimension that it is
/// cut along: that of its result, or of its operands if it removes a dimension or has no result.
namespace dims {

/// Whether strips may contain the operation.
bool isKnown(ir::Operation *);
/// The operand's dimension, from the operation's; kWhole: every strip takes the whole operand.
int ofOperand(ir::Operation *, unsigned operand, int d);
/// The results' dimension, from the operation's.
int ofResult(ir::Operation *, int d);
/// The operation's dimension, from that of its operands.
int fromOperand(ir::Operation *, int d);
/// The operation's dimension, from that of its results.
int fromResult(ir::Operation *, int d);
/// Whether the elements along the dimension are computed independently of each other.
bool areIndependent(ir::Operation *, int d);

} // namespace dims

/// Whether the operation, cut along the dimension, reduces it.
bool endsGroup(ir::Operation *, int d);
/// Whether a reduction can be computed strip by strip.
bool canBeAccumulated(ir::tt::ReduceOp);
/// The type of the loop-carried value of a reduction that ends a group: its result's, or a strip's if that is a scalar.
ir::TensorType carriedType(ir::Operation *reduce, int d, int64_t strips);
/// The tensor along whose dimensions a group may be cut that has the operation as its last one: a store's pointers, or
/// what is reduced to a scalar. Null for other operations.
ir::TensorType cutFrom(ir::Operation *);

/// Stores, or reductions to a scalar, with all that is cut together with them.
struct Group {
  llvm::MapVector<ir::Operation *, int> ops; // with the dimension that each is cut along (see dims)
  int64_t length = 0;                        // of that dimension, in the stored tensors
  int64_t strips = 1;
  int64_t registersBefore = 0; // that a thread needs at once for the whole block
  int64_t registersAfter = 0;  // … for a strip
};

/// The operations before the group's last one that use reductions which end the group: they move behind the loop. None
/// if one of them must stay, or the group itself uses such a reduction. @pre g.ops are in the order of the block
std::optional<llvm::SmallVector<ir::Operation *, 4>> usersOfEnds(const Group &);

} // namespace tessera::transforms::strips
