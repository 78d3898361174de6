// What is known of a target, as plain data that passes and the lowering may ask. Rows stand in codegen_nvidia/ and
// codegen_amd/ (arch_table.cpp), with the manuals they come from. Passes ask for capabilities, never for names.
#pragma once
#include <cstdint>

namespace tessera::ir {

enum class Vendor : uint8_t { Nvidia, Amd };

struct TargetInfo {
  const char *name;        // "sm_90a", "gfx942"
  const char *tritonName;  // "cuda:90", "hip:gfx942": what ttg.target says
  Vendor vendor;
  int warpSize;            // threads per warp or wave
  int maxThreadsPerBlock;
  int64_t sharedMemoryPerBlock;          // bytes a block may ask for
  int64_t sharedMemoryPerMultiprocessor; // bytes, for occupancy
  int registersPerMultiprocessor;        // 32-bit registers (NVIDIA), or VGPRs per SIMD lane (AMD)
  int maxRegistersPerThread;
  int maxWarpsPerMultiprocessor;
  int maxBlocksPerMultiprocessor;
  int computeCapability;   // NVIDIA: 80, 86, 89, 90, 100, 120; else 0
  // Capabilities.
  bool hasCpAsync;         // asynchronous copies from global to shared memory
  bool hasFp8Conversion;   // instructions that convert e4m3/e5m2 (OCP kinds)
  bool hasFnuzConversion;  // … and the FNUZ kinds
  bool hasBufferOps;       // buffer instructions with bounds
  bool hasBf16Conversion;  // an instruction that rounds f32 to bf16
};

} // namespace tessera::ir
