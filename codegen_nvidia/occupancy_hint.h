// The occupancy that a kernel asks ptxas for, by what it loads and what shared memory leaves of it.
#pragma once

#include "codegen/object/backend.h"

namespace llvm {
class Module;
} // namespace llvm
namespace tessera::nvidia {

/// Takes back, tightens or adds to the hints (`nvvm.minctasm`) of NvidiaTarget::kernelAttributes in a module that is
/// ready for instruction selection.
void setOccupancyHints(llvm::Module &, const ir::TargetInfo &, const codegen::BackendOptions &);

/// The registers that a thread may have with `blocks` blocks of `warps` warps on a multiprocessor; at most 255.
int registersPerThread(const ir::TargetInfo &, int blocks, int warps);

} // namespace tessera::nvidia
