// Barriers in shared memory (mbarrier) as buffers.
#pragma once
#include "ir/type.h"

namespace tessera::transforms {

/// A buffer of one mbarrier: 64 bits.
ir::MemDescType mbarrierType(ir::Context &);

} // namespace tessera::transforms
