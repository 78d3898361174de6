// One target's row: what passes query (ir::TargetInfo) and what only the back end needs to make machine code for it.
// The tables are codegen_nvidia/arch_table.cpp and codegen_amd/arch_table.cpp.
#pragma once
#include "ir/target.h"

namespace tessera::codegen {

struct ArchInfo {
  ir::TargetInfo info;
  llvm::StringRef triple;   // LLVM target triple
  llvm::StringRef cpu;      // LLVM processor; for NVIDIA also ptxas' --gpu-name
  llvm::StringRef features; // LLVM subtarget features
  llvm::StringRef alias;    // another accepted --target name ("sm_90" for sm_90a), or empty
  int ptxVersion = 0;       // NVIDIA: PTX ISA version × 10, the lowest with all that we emit for the target; AMD: 0
  int isaVersion = 0;       // AMD: value of __oclc_ISA_version (gfx942: 9402); NVIDIA: 0
};

} // namespace tessera::codegen
