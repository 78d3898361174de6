// What tritongpu-automatic-warp-specialization (automatic_warp_specialization.cpp) leaves to the warps that compute.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"

namespace tessera::transforms {

/// Registers of 32 bits that each thread of the kernel's own warps has at an operation: beside the warps that copy, if
/// it is in a ttg.warp_specialize of this pass, else those of a kernel on its own.
int64_t registersOfConsumers(ir::Operation *, const ir::TargetInfo &);

} // namespace tessera::transforms
