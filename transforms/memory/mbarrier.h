// Barriers in shared memory (mbarrier) as buffers.
#pragma once
#include "ir/builder.h"
#include "ir/type.h"

namespace tessera::transforms {

/// A buffer of one mbarrier: 64 bits.
ir::MemDescType mbarrierType(ir::Context &);

/// So many mbarriers, one for each buffer of a multi-buffer, each complete after `arrivals`.
ir::Value createMbarriers(ir::Builder &, ir::Location, int64_t number, int64_t arrivals);
/// The one of that index, an i32.
ir::Value mbarrierAt(ir::Builder &, ir::Location, ir::Value mbarriers, ir::Value index);
/// Ends what createMbarriers began.
void releaseMbarriers(ir::Builder &, ir::Location, ir::Value mbarriers);

} // namespace tessera::transforms
