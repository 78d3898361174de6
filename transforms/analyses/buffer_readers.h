// Who uses a buffer in shared memory, itself or a view of it.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether a buffer is only read, itself or through views: by loads into registers and by multiplications of warp
/// groups.
bool isOnlyRead(ir::Value buffer);

} // namespace tessera::transforms
