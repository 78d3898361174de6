// The AMD back end: LLVM module → AMDGCN → hsaco. See codegen/object/backend.h for the stages and their contract.
#pragma once
#include "codegen/object/backend.h"

namespace tessera::amd {

/// @pre arch is a row of amd::archTable().
std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &);

/// Makes a function a kernel: calling convention, block size, and arguments that the hardware may preload into scalar
/// registers. `maxRegisters` bounds the vector registers of a thread (0: none).
void setKernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned maxRegisters);

/// For programs that have LLVM to themselves: two settings of its scheduler for which there are no attributes, only
/// options of the whole process. The library sets none by itself; without these its code is as right and takes more
/// registers.
///   amdgpu-disable-clustered-low-occupancy-reschedule   Where one region of a kernel needs so many registers that
///                                                       fewer
///       waves fit than was hoped for, the others are not ordered anew with the registers of the lost waves: in loops
///       of matrix instructions that hoists every operand's load, for a fifth more registers and no fewer
///       instructions.
///   amdgpu-use-amdgpu-trackers   The pressure of registers is followed exactly, tuples included: loops of WMMA take
///                                up to a
///       third fewer registers (a kernel that spilled does not), in the same time.
void setSchedulerOptions();

} // namespace tessera::amd
