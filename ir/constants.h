// Questions about constants, and splats of one, beside constantOf and intConstantOf (builder.h).
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/APInt.h"

namespace tessera::ir {

/// The bits of the constant, or of the number that its elements all are; null: it is none.
const llvm::APInt *constantBits(Value);
/// Whether all bits are known to be zero: 0, false, +0.0 (not -0.0), in every element.
bool isZero(Value);

} // namespace tessera::ir
