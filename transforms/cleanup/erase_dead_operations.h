// Dead code elimination for passes that leave unused operations behind.
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::transforms {

/// Erases operations without effects, regions and uses, and repeats for their operands.
void eraseDeadOperations(ir::Module &);

/// The same of these operations alone, and of what computes their operands. Those that are erased already may be among
/// them.
void eraseDeadOperations(llvm::ArrayRef<ir::Operation *> candidates);

} // namespace tessera::transforms
