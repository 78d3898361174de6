// Reductions that combine by one operation, such as sums and maxima: what a pass needs to compute one in parts.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace tessera::transforms {

/// The one operation that a reduction of one tensor combines with, or null.
ir::Operation *combination(ir::Operation *reduce);

/// A splat that leaves every value as it is when combined with it; nothing for other operations. It is -0.0 for sums
/// (0.0 would turn -0.0 into 0.0), and a NaN for maxnumf and minnumf, which ignore it.
std::optional<llvm::APInt> neutralBits(ir::Opcode, ir::Type element);

/// Combines two values, scalars or tensors, by an operation like this one.
ir::Value combineLike(ir::Builder &, ir::Operation *, ir::Value, ir::Value);

/// Whether nothing depends on the order of a tensor's elements within these dimensions, that is, among those that agree
/// along all others: after operations on each element, the tensor is reduced along all of them, by one operation that
/// has a neutral element (and so no order). Between several such reductions only the same operation combines what they
/// give with other values, in loops, too. Not so where elements are combined with another tensor's or reduced together
/// with them.
bool isOrderFree(ir::Value, llvm::ArrayRef<unsigned> dims);
/// The same of all dimensions.
bool isOrderFree(ir::Value);

} // namespace tessera::transforms
