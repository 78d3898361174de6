// Dead code elimination for passes that leave unused operations behind.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Erases operations without effects, regions and uses, and repeats for their operands.
void eraseDeadOperations(ir::Module &);

} // namespace tessera::transforms
