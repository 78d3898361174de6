// Assertions and prints of a kernel.
#pragma once
#include "codegen/lowering/lowering.h"
#include "ir/ops.h"

namespace tessera::codegen {

/// tt.assert and cf.assert.
void lowerAssert(ir::Operation *, FunctionLowering &);
/// A warning if the target cannot print.
void lowerPrint(ir::tt::PrintOp, FunctionLowering &);

} // namespace tessera::codegen
