// Reductions that combine by one operation, such as sums and maxima: what a pass needs to compute one in parts.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/APInt.h"
#include <optional>

namespace tessera::transforms {

/// The one operation that a reduction combines with, or null.
ir::Operation *combination(ir::Operation *reduce);

/// A splat that leaves every value as it is when combined with it; nothing for other operations. It is -0.0 for sums
/// (0.0 would turn -0.0 into 0.0), and a NaN for maxnumf and minnumf, which ignore it.
std::optional<llvm::APInt> neutralBits(ir::Opcode, ir::Type element);

/// Combines two values, scalars or tensors, by an operation like this one.
ir::Value combineLike(ir::Builder &, ir::Operation *, ir::Value, ir::Value);

/// Whether nothing depends on the order of a tensor's elements: it is only reduced to a scalar, perhaps after
/// operations on each element. Not so where it is combined with another tensor or reduced together with one.
bool isOrderFree(ir::Value);

} // namespace tessera::transforms
