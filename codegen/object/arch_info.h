// One target's row: the facts that passes use (ir::TargetInfo) and those that only the back end needs.
// The tables are codegen_nvidia/arch_table.cpp and codegen_amd/arch_table.cpp.
#pragma once
#include "ir/target.h"
#include <algorithm>
#include <array>

namespace tessera::codegen {

struct ArchInfo {
  ir::TargetInfo info;
  llvm::StringRef triple;   // LLVM target triple
  llvm::StringRef cpu;      // LLVM processor; for NVIDIA also ptxas' --gpu-name
  llvm::StringRef features; // LLVM subtarget features
  llvm::StringRef alias;    // another accepted --target name ("sm_90" for sm_90a), or empty
  llvm::StringRef boards;   // names that errors answer with the target's: "h100 h200"
  int ptxVersion = 0;       // NVIDIA: PTX ISA version × 10, the lowest with all that we emit for the target; AMD: 0
  int isaVersion = 0;       // AMD: value of __oclc_ISA_version (gfx942: 9402); NVIDIA: 0
  // Adds the vendor's LLVM target to LLVM's registry, once a process; called by llvmTarget (backend.h) alone.
  void (*registerLLVMTarget)() = nullptr;
};

/// A table of matrix instructions from parts that several targets have.
template <size_t... N> static constexpr auto rows(const std::array<ir::MatrixInstruction, N> &...parts) {
  std::array<ir::MatrixInstruction, (N + ...)> all{};
  size_t at = 0;
  ((std::copy(parts.begin(), parts.end(), all.begin() + at), at += N), ...);
  return all;
}

} // namespace tessera::codegen
