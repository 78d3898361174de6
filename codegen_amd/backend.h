// The AMD back end: LLVM module → AMDGCN → hsaco. See codegen/object/backend.h for the stages and their contract.
#pragma once
#include "codegen/object/backend.h"

namespace tessera::amd {

/// @pre arch is a row of amd::archTable().
std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &);

/// Makes a function a kernel: calling convention, block size, and arguments that the hardware may preload into scalar
/// registers. `maxRegisters` bounds the vector registers of a thread (0: none).
void setKernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned maxRegisters);

} // namespace tessera::amd
