// Who accesses a buffer in shared memory, directly or through views of it.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether a buffer is only read, directly or through views: by ttg.local_load and ttng.warp_group_dot.
bool isOnlyRead(ir::Value buffer);

} // namespace tessera::transforms
