// The occupancy that a kernel asks ptxas for, by what it loads.
#pragma once

namespace llvm {
class Module;
} // namespace llvm
namespace tessera::nvidia {

/// Takes back or tightens the hints (`nvvm.minctasm`) of NvidiaTarget::kernelAttributes in a module that is ready for
/// instruction selection.
void tightenOccupancyHints(llvm::Module &, unsigned maxBlocksPerMultiprocessor);

} // namespace tessera::nvidia
