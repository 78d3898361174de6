// The NVIDIA back end: LLVM module → PTX → cubin. See codegen/object/backend.h for the stages and their contract.
#pragma once
#include "codegen/object/backend.h"

namespace tessera::nvidia {

/// @pre arch is a row of nvidia::archTable().
std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &);

/// Makes a function a kernel: calling convention, exact block size, cluster size and bound on registers (0: none).
void setKernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters);

/// States that a function's code needs a PTX version (times 10, as ArchInfo::ptxVersion) beyond the target's own.
void requirePtx(llvm::Function &, int version);

} // namespace tessera::nvidia
