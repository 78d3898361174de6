// What passes and lowerings may ask about a target without knowing whose it is: plain numbers and capabilities, one
// constant row per target. A pass decides by capability ("has 16-byte asynchronous copies"), never by vendor or name.
// The rows live in codegen_nvidia/arch_table.cpp and codegen_amd/arch_table.cpp, each with its manual; the list of
// all is runtime/compiler/targets.h. Sizes are in bytes unless the name says otherwise; a multiprocessor is what a
// block runs on (NVIDIA: streaming multiprocessor; AMD gfx9: compute unit; gfx11 and gfx12: work-group processor of
// two compute units).
#pragma once
#include "ir/matrix_instruction.h"
#include "ir/tuning.h"
#include "layouts/bank_conflicts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tessera::ir {

enum class Vendor : uint8_t { Nvidia, Amd };

/// The family of matrix instruction a target has; `TargetInfo::matrixVersion` is the generation within the family as
/// Triton's encodings count it.
enum class MatrixUnit : uint8_t {
  None,
  MmaSync, // mma.sync on registers: #ttg.nvidia_mma version 2
  Wgmma,   // warp-group mma.async from shared memory: version 3 (MmaSync works too)
  Tcgen05, // tcgen05.mma with tensor memory: version 5 (MmaSync works too)
  Mfma,    // AMD CDNA: #ttg.amd_mfma version 2 (gfx90a), 3 (gfx942), 4 (gfx950)
  Wmma,    // AMD RDNA: #ttg.amd_wmma version 1 (gfx11), 2 (gfx12)
};

struct TargetInfo {
  // ---- identity ----
  llvm::StringRef name;         // "sm_90a", "gfx942": what --target takes
  llvm::StringRef tritonTarget; // "cuda:90", "hip:gfx942": the value of `ttg.target`
  Vendor vendor = Vendor::Nvidia;
  int computeCapability = 0; // NVIDIA: 10 * major + minor (sm_90a: 90); AMD: 0

  // ---- threads ----
  int warpSize = 32; // lanes of a warp (AMD: wave)
  int maxThreadsPerBlock = 1024;
  int maxWarpsPerMultiprocessor = 0;
  int maxBlocksPerMultiprocessor = 0;
  int maxClusterSize = 1; // blocks of a cluster that is guaranteed to launch; 1: the target has no clusters
  int namedBarriers =
      0; // barriers of a block, each for as many of its warps as it is told; 0: all of them is all there is
  bool reallocatesRegisters = false; // four warps can give registers back and take others' while they run (setmaxnreg)

  // ---- registers (32 bits wide, one lane's view) ----
  int maxRegistersPerThread = 255;     // AMD: vector registers, of both kinds where there are two
  int schedulersPerMultiprocessor = 4; // each owns an equal part of the register file and of the warps
  int registersPerScheduler = 0;       // NVIDIA: registers of all lanes together; AMD: vector registers of one lane
  int registerAllocationUnit = 0;      // in the unit of registersPerScheduler, per warp
  int scalarRegistersPerScheduler = 0; // AMD gfx9: scalar registers that the waves of a SIMD share; 0: no limit

  // ---- shared memory (AMD: LDS) ----
  int64_t sharedMemoryPerBlock = 0;          // largest a block can have (NVIDIA: with opt-in)
  int64_t sharedMemoryPerMultiprocessor = 0; // what the blocks of a multiprocessor share
  bool sharedMemoryIsCacheToo = false;       // what blocks do not take of it is L1 cache
  int64_t sharedMemoryReservedPerBlock = 0;  // taken by the system from the multiprocessor's, per block
  int sharedMemoryGranularity = 128;         // a block's share is rounded up to it
  int sharedMemoryBanks = 32;
  int sharedMemoryBankBytes = 4;
  int maxSharedAccessBytes = 16; // widest access of one lane
  int maxGlobalAccessBytes = 16; // widest access of one lane

  // ---- moving data ----
  uint32_t asyncCopyBytes =
      0; // OR of the sizes (4 | 8 | 16) one lane can copy global → shared without registers; 0: none
  bool asyncCopyAnyDestination = false; // every lane chooses where in shared memory its copy goes (AMD: the wave does)
  bool hasTensorCopy = false;           // bulk tensor copies by descriptor (TMA) with barriers in shared memory
  bool hasLdmatrix = false;             // 8×8 matrices of 16 bits, shared memory → registers, transposed or not
  bool hasStmatrix = false;             // the reverse
  bool hasTransposedLdsRead = false;    // reads that transpose among lanes (ds_read_b64_tr_b16)
  bool hasBufferOps = false; // accesses through a resource of base and length; out of bounds reads 0, writes nothing
  bool hasPredicatedAccess = false; // an access can be predicated without a branch
  bool hasScheduleBarriers = false; // the scheduler that orders the machine code takes limits (rocdl.sched.barrier)
  bool hasTensorMemory = false;

  // ---- lanes ----
  bool hasIndexedShuffle = true;     // any lane reads any lane's value without shared memory
  bool hasIntegerWarpReduce = false; // redux.sync on i32
  bool hasFloatWarpReduce = false;   // redux.sync min/max on f32
  bool hasRowShuffles = false;       // DPP: shuffles within rows of 16 lanes as an operand of arithmetic
  bool hasHalfWarpSwap =
      false; // one instruction exchanges the halves of a wave (permlane32_swap, permlane64, permlanex16)

  // ---- arithmetic ----
  MatrixUnit matrixUnit = MatrixUnit::None;
  int matrixVersion = 0;
  llvm::ArrayRef<MatrixInstruction> matrixInstructions; // of equal types and tile the one of the largest k first
  bool hasFp8Matrix = false;         // matrix instructions take 8-bit floats (of the kinds converted below)
  bool hasTf32Matrix = false;        // matrix instructions take f32 rounded to tf32 (AMD: xf32)
  bool hasScaledMatrix = false;      // block-scaled (microscaling) operands
  bool hasPackedF16 = true;          // two f16 per instruction: add, mul, fma
  bool hasPackedF32 = false;         // two f32 per instruction
  bool hasBf16Fma = false;           // fma on bf16 (and so add and mul)
  bool hasBf16Arith = false;         // add, sub, mul of bf16 with their own rounding, one or two at once
  bool hasBf16Conversion = false;    // f32 → bf16, rounded to nearest even, in one instruction
  bool hasTanh = false;              // approximate tanh.f32
  bool hasScaleF8Conversion = false; // conversions of 8-bit floats that apply a power-of-two scale

  // ---- 8-bit floats converted by instructions, to and from f32 or f16; the others are done in integer arithmetic ----
  bool convertsE4M3FN = false;
  bool convertsE5M2 = false;
  bool convertsE4M3FNUZ = false;
  bool convertsE5M2FNUZ = false;

  // ---- atomics on global memory in one instruction (others loop over compare-and-swap) ----
  bool atomicAddF16 = false;   // one f16
  bool atomicAddF16x2 = false; // an aligned pair
  bool atomicAddBf16 = false;
  bool atomicAddBf16x2 = false;
  bool atomicAddF32 = true;
  bool atomicAddF64 = true;
  bool atomicMinMaxF32 = false; // floating-point order
  bool atomicMinMaxF64 = false;
  int atomicVectorBytes = 0; // widest vector of float additions without result (red.global.add.v4.f32: 16); 0: none

  // ---- numbers fitted to a machine (ir/tuning.def) ----
  Tuning tuning;

  /// How accesses to shared memory are counted.
  layouts::MemoryModel memoryModel() const {
    return {sharedMemoryBanks, sharedMemoryBankBytes, maxSharedAccessBytes, tuning.planInstructionCost,
            tuning.planRoundTripCost};
  }
  /// Consecutive floats of `bits` each (`bfloat`: bf16 rather than f16) that one atomic addition takes.
  int atomicAddElements(unsigned bits, bool bfloat, bool resultUsed) const {
    bool pairs = bits == 16 && (bfloat ? atomicAddBf16x2 : atomicAddF16x2);
    if (!resultUsed && (bits == 32 || pairs) && atomicVectorBytes > 4) return atomicVectorBytes * 8 / bits;
    return pairs ? 2 : 1;
  }
};

// layouts/ cannot include the table of tuning numbers; the defaults that it has for plans without a target agree.
static_assert(Tuning().planInstructionCost == layouts::MemoryModel().instructionCost &&
              Tuning().planRoundTripCost == layouts::MemoryModel().roundTripCost);

} // namespace tessera::ir
