// Who accesses a buffer in shared memory, directly or through views of it.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Whether a buffer is only read, directly or through views: by ttg.local_load and ttng.warp_group_dot.
bool isOnlyRead(ir::Value buffer);
/// The buffer of the load's block that the loaded value initialises, if nothing else uses the value and the buffer is
/// only read; else null.
ir::ttg::LocalAllocOp bufferFilledBy(ir::Operation *load);

} // namespace tessera::transforms
