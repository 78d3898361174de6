// What a block of threads takes, by a kernel's machine code.
#pragma once
#include "ir/target.h"

namespace llvm {
class MachineFunction;
}

namespace tessera::amd {

/// Waves, bytes of LDS and registers. @pre registers are allocated
ir::BlockResources resourcesOf(const llvm::MachineFunction &, const ir::TargetInfo &);

} // namespace tessera::amd
