// What becomes of a loaded value.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether a value, as it is or after elementwise work, is only stored: of the threads that hold an element one does
/// that, and what the others have is never seen. So they need not load it, and it does not matter what they load.
bool isOnlyStored(ir::Value);

} // namespace tessera::transforms
