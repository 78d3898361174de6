// The facts about a target: plain numbers and capabilities, one constant row per target. Passes and lowerings decide by
// capability ("has 16-byte asynchronous copies"), not by vendor or name; docs/architecture.md, "Design decisions",
// lists the exceptions. The rows are in codegen_nvidia/arch_table.cpp and codegen_amd/arch_table.cpp, each with its
// manual; runtime/compiler/targets.h lists all of them. Sizes are in bytes unless the name says otherwise. A
// multiprocessor runs blocks: a streaming multiprocessor (NVIDIA), a compute unit (AMD gfx9) or a work-group processor
// of two compute units (gfx11, gfx12). A scheduler is one of its parts, with its own warps and registers (AMD: SIMD).
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

/// How instructions request coherence with other blocks, the host or other devices, and for a streaming policy.
enum class CachePolicyBits : uint8_t {
  None,     // by other instructions (NVIDIA: qualifiers of ld and st)
  GlcSlc,   // gfx90a, gfx11: glc, slc
  Sc0Sc1Nt, // gfx942, gfx950: sc0 and sc1 as a scope, nt
  ScopeTh,  // gfx12: a scope and a temporal hint
};

/// How the registers of a multiprocessor are divided among the threads on it.
enum class RegisterSplit : uint8_t {
  Evenly,       // all registers by all threads
  PerScheduler, // the registers of a scheduler by the warps on the fullest one
  Allocated,    // the same, rounded down to what the hardware allocates
};

/// Bits of a register, and of a bank's word in shared memory.
inline constexpr int kWordBits = 32;
/// The least and the most that one lane copies from global to shared memory by an asynchronous copy of its own
/// (cp.async; PTX ISA, "Data Movement and Conversion Instructions"): of targets with hasPerLaneAsyncCopy. A narrower
/// load stays a load.
inline constexpr int64_t kMinAsyncCopyBytes = 4, kMaxAsyncCopyBytes = 16;

/// What a block takes of a multiprocessor; 0: not known, or no limit.
struct BlockResources {
  int64_t warps = 1;
  int64_t sharedBytes = 0;
  int registers = 0;       // of a thread (AMD: vector registers)
  int scalarRegisters = 0; // of a warp
};

/// Bytes of one lane's widest access to global memory, on targets that do not say otherwise.
inline constexpr int kGlobalAccessBytes = 16;

struct TargetInfo {
  // ---- identity ----
  llvm::StringRef name;         // "sm_90a", "gfx942": what --target takes
  llvm::StringRef tritonTarget; // "cuda:90", "hip:gfx942": the value of `ttg.target`
  Vendor vendor = Vendor::Nvidia;
  int computeCapability = 0;    // NVIDIA: 10 * major + minor (sm_90a: 90); AMD: 0
  llvm::StringRef asmFormat;    // "ptx", "amdgcn": what the assembly is called, and the stage that makes it
  llvm::StringRef objectFormat; // "cubin", "hsaco"

  // ---- threads ----
  int warpSize = 32; // lanes of a warp (AMD: wave)
  int maxThreadsPerBlock = 1024;
  int maxWarpsPerMultiprocessor = 0;
  int maxBlocksPerMultiprocessor = 0;
  bool limitsOneWarpBlocks = true;   // maxBlocksPerMultiprocessor is for these too (AMD: not, they need no barrier)
  int maxClusterSize = 1;            // blocks of a cluster that is guaranteed to launch; 1: the target has no clusters
  int namedBarriers = 0;             // barriers of a block for some of its warps; 0: only one for all of them
  bool hasIndependentLanes = false;  // lanes of a divergent warp make progress independently; else all run in lockstep
  bool reallocatesRegisters = false; // four warps can give registers back and take others' while they run (setmaxnreg)
  bool packsBlockIds = false;        // y and z of a block's id share a register that is set up before the kernel runs
  uint8_t dies = 1;                  // with an L2 cache each, over which blocks are distributed one by one (AMD: XCDs)

  // ---- registers (32 bits wide; counted for one lane: a warp takes as many in each of its lanes) ----
  int maxRegistersPerThread = 255;     // AMD: vector registers, of both kinds where there are two
  int schedulersPerMultiprocessor = 4; // each has an equal part of the register file and of the warps
  int registersPerScheduler = 0;       // of one lane, for all warps of the scheduler together
  int registerAllocationUnit = 0;      // a warp's registers (of one lane) are rounded up to it
  bool hasScalarRegisters = false;     // values that are equal in all lanes can be in registers of the whole warp
  int scalarRegistersPerScheduler = 0; // AMD gfx9: scalar registers that the waves of a SIMD share; 0: no limit
  bool takesRegisterBound = false;     // the object takes a bound on the registers of a thread (maxnreg)
  bool takesOccupancyHint = false;     // register allocation takes a number of warps per scheduler (waves-per-eu)

  // ---- shared memory (AMD: LDS) ----
  int64_t sharedMemoryPerBlock = 0;          // largest a block can have (NVIDIA: with opt-in)
  int64_t sharedMemoryPerMultiprocessor = 0; // what the blocks of a multiprocessor share
  bool sharedMemoryIsCacheToo = false;       // what blocks do not take of it is L1 cache
  int64_t sharedMemoryReservedPerBlock = 0;  // taken by the system from the multiprocessor's, per block
  int sharedMemoryGranularity = 128;         // a block's share is rounded up to it
  int sharedMemoryBanks = 32;
  int sharedMemoryBankBytes = 4;
  int maxSharedAccessBytes = 16;                 // widest access of one lane
  bool pairsSharedReads = false;                 // one instruction reads two places of a lane (ds_read2_b64)
  bool widensSharedReads = false;                // layouts::MemoryModel::widensReads
  int maxGlobalAccessBytes = kGlobalAccessBytes; // widest access of one lane

  // ---- moving data ----
  uint32_t asyncCopyBytes = 0; // OR of the sizes (4 | 8 | 16) one lane can copy global → shared without registers
  // Every lane chooses where in shared memory its copy goes. Else the warp does: its lanes' copies follow one another
  // there (AMD's loads into LDS; layouts/warp_copy.h).
  bool hasPerLaneAsyncCopy = false;
  /// The sizes of asyncCopyBytes if warps choose the place; 0: lanes do, or nothing copies.
  uint32_t warpCopyBytes() const { return hasPerLaneAsyncCopy ? 0 : asyncCopyBytes; }
  bool hasTensorCopy = false;        // bulk tensor copies by descriptor (TMA) with barriers in shared memory
  bool hasLdmatrix = false;          // 8×8 matrices of 16 bits, shared memory → registers, transposed or not
  bool hasStmatrix = false;          // the reverse
  bool hasTransposedLdsRead = false; // reads that transpose among lanes (ds_read_b64_tr_b16, …_b8)
  bool hasBufferOps = false; // accesses through a resource of base and length; out of bounds reads 0, writes nothing
  bool hasPredicatedAccess = false; // an access can be predicated without a branch
  bool hasScheduleBarriers = false; // the scheduler that orders the machine code takes limits (rocdl.sched.barrier)
  bool hasWideAddressAdd = false;   // one instruction shifts and adds 64-bit integers (v_lshl_add_u64)
  CachePolicyBits cachePolicy = CachePolicyBits::None;
  int64_t addressImmediateBytes = 1 << 12; // an access adds a constant below this to its address itself

  // ---- lanes ----
  bool hasRowShuffles = false;  // DPP: shuffles within rows of 16 lanes as an operand of arithmetic
  bool hasRowBroadcast = false; // DPP of 64 lanes: each row gets one of its lanes (row_newbcast)
  bool hasHalfWarpSwap = false; // one instruction exchanges halves of a wave (permlane32_swap, permlanex16)

  // ---- arithmetic ----
  MatrixUnit matrixUnit = MatrixUnit::None;
  int matrixVersion = 0;
  bool choosesMatrixTile = false; // matrix-instr-nonkdim is read: the rows and columns of matrix instructions
  llvm::ArrayRef<MatrixInstruction> matrixInstructions;       // of equal types and tile the one of the largest k first
  llvm::ArrayRef<MatrixInstruction> scaledMatrixInstructions; // with scales (ir/scaled_dots.h), ordered alike
  bool hasPackedF32 = false;                                  // add, mul and fma of two f32 by one instruction
  // f32 arithmetic on values that are equal in all lanes, once for the warp. LLVM decides by the processor; here only
  // the emulator's count of live registers reads it (runtime/emulator/registers_live.cpp).
  bool hasScalarFloat = false;
  bool hasIeeeMode = false;       // waves have a mode in which minima and maxima quiet signalling NaNs (AMD: MODE.IEEE)
  bool hasBf16Fma = false;        // fma on bf16 (and so add and mul)
  bool hasBf16Conversion = false; // f32 → bf16, rounded to nearest even, in one instruction

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
  bool atomicLoopsTakePairs = false; // without these, a loop over compare-and-swap adds a pair as well as one number
  int atomicVectorBytes = 0; // widest vector of float additions without result (red.global.add.v4.f32: 16); 0: none

  // ---- numbers fitted to a machine (ir/tuning.def) ----
  Tuning tuning;
  llvm::StringRef measuredOn; // machine on which generated code was measured; empty: the numbers are another target's

  /// Registers that a thread may have where `warps` warps run on a multiprocessor (of one block or several), at most
  /// maxRegistersPerThread. @pre warps > 0.
  int registersPerThread(int64_t warps, RegisterSplit) const;

  /// How many blocks with so many bytes of shared memory each have room in a multiprocessor's; 0: not one.
  int64_t blocksBySharedMemory(int64_t bytesOfBlock) const;
  /// How many blocks a multiprocessor runs at a time; 0: none fits. @pre warps > 0.
  int occupancy(const BlockResources &) const;

  /// How accesses to shared memory are counted.
  layouts::MemoryModel memoryModel() const {
    return {sharedMemoryBanks, sharedMemoryBankBytes,      maxSharedAccessBytes,    pairsSharedReads,
            widensSharedReads, tuning.planInstructionCost, tuning.planRoundTripCost};
  }
  /// Consecutive floats of `bits` each (`bfloat`: bf16 rather than f16) that one atomic addition takes.
  int atomicAddElements(unsigned bits, bool bfloat, bool resultUsed) const {
    bool pairs = bits == 16 && ((bfloat ? atomicAddBf16x2 : atomicAddF16x2) || atomicLoopsTakePairs);
    if (!resultUsed && (bits == 32 || pairs) && atomicVectorBytes > 4) return atomicVectorBytes * 8 / bits;
    return pairs ? 2 : 1;
  }
};

// layouts/ cannot include the table of tuning numbers; the defaults that it has for plans without a target agree.
static_assert(Tuning().planInstructionCost == layouts::MemoryModel().instructionCost &&
              Tuning().planRoundTripCost == layouts::MemoryModel().roundTripCost);

} // namespace tessera::ir
