// The layout of a block that is loaded through a descriptor. It comes by way of shared memory, so that any layout would
// do: one that shared memory is read in at best. Stores through descriptors take values as they are.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"

namespace tessera::transforms {

/// In which threads read 16 bytes of a row at once; of a block that is transposed and stored through a descriptor, the
/// one of 8 by 8 matrices, where the target reads and writes these. `target` null: not known.
const layouts::Encoding *layoutOfDescriptorLoad(ir::tt::DescriptorLoadOp, int warps, int lanes,
                                                const ir::TargetInfo *target);

} // namespace tessera::transforms
