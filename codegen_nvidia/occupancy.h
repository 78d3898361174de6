// Occupancy on NVIDIA: the blocks on a multiprocessor that a kernel requests from ptxas. (TargetInfo::occupancy counts
// those that fit.)
//
//   lowering (recordWidestTensor, recordLoad, …)  →  optimised LLVM module (collectFacts, planOccupancy, applyPlans)
//     →  PTX with `.minnctapersm`  →  object.cpp: one compilation, then others where the plan calls for them
//                                     (recompilation.h)
//
// Left alone, ptxas gives up registers for full occupancy, and with them the overlap of loads. `.minnctapersm` says how
// many blocks are enough; ptxas then uses the registers of the others. The numbers are in ir/tuning.def.
#pragma once
#include "codegen/object/backend.h"
#include <optional>

namespace llvm {
class CallBase;
class DataLayout;
class Function;
class Instruction;
class Module;
} // namespace llvm
namespace tessera::nvidia {

// ---- recorded by the lowering, as attributes that LLVM's passes keep and that change no code ----

/// The elements that each thread has of the kernel's widest tensor.
void recordWidestTensor(llvm::Function &kernel, unsigned elements);
/// Inline PTX that brings 32-bit registers from global memory, or copies as much to shared memory.
void recordLoad(llvm::CallBase &, unsigned registers);
/// Whether that has been recorded of the call.
bool isRecordedLoad(const llvm::CallBase &);
/// The 32-bit registers that an instruction loads from global memory, so recorded or as a load of LLVM's.
unsigned loadedRegisters(const llvm::Instruction &, const llvm::DataLayout &);
/// Inline PTX that copies a block of global memory to shared memory (TMA).
void recordBulkLoad(llvm::CallBase &);
/// Inline PTX with a matrix instruction of a warp (mma.sync) or of a warp group (wgmma).
void recordMatrixInstruction(llvm::CallBase &, bool ofWarpGroup);
/// Whether one of either has been recorded of the instruction.
bool isMatrixInstruction(const llvm::Instruction &);
/// Whether that of a warp group has been recorded of the instruction.
bool isWarpGroupDot(const llvm::Instruction &);

// ---- facts and plan ----

/// The facts about a kernel that its occupancy depends on. Threads, blocks and bounds are its launch attributes.
struct KernelFacts {
  std::optional<unsigned> widestTensor; // elements of a thread (recordWidestTensor); none: not lowered by us
  unsigned loadedRegisters = 0;         // 32-bit registers that a thread loads; loops count several iterations
  unsigned loadedBetweenBarriers = 0;   // the same, but loops with barriers count one iteration
  unsigned keptRegisters = 0;           // loaded before a basic block's first barrier, or from that; used after it
  bool hasBulkLoads = false;            // by TMA (recordBulkLoad)
  bool hasLoops = false;
  bool isOrderedByResults = false; // special functions between loads and stores (passes/order_by_results.cpp)
  // Of the loops that load:
  unsigned leastLoopRegisters = 0; // loaded in an iteration, in the loop that loads least
  unsigned mostLoopRegisters = 0;  // loop-carried, used from outside, and loaded in an iteration: in the loop with most
  bool hasMatrixInstructions = false;
  bool hasWarpGroupDots = false;
};

/// The facts of a kernel that is ready for instruction selection.
KernelFacts collectFacts(const llvm::Function &kernel, const ir::Tuning &);

struct OccupancyPlan {
  int minBlocks = 0;             // `.minnctapersm` of the PTX; 0: none
  bool hasWarpGroupDots = false; // further warps compute while some wait
  bool waitsInLoops = false;     // at barriers, without matrix instructions: further blocks compute meanwhile
  bool loadsLittle = false;      // small tiles: more blocks help more than registers for loads
  bool loadsInBulk = false;      // without registers for loads or matrix instructions: further blocks load meanwhile

  /// Whether blocks are requested that leave a thread fewer registers than there are.
  bool requestMayCostSpills(const ir::TargetInfo &, const codegen::BackendOptions &) const;
};

OccupancyPlan planOccupancy(const KernelFacts &, const ir::TargetInfo &, const codegen::BackendOptions &);

/// Plans each kernel of an optimised module and writes the plan into its attributes.
void applyPlans(llvm::Module &, const ir::TargetInfo &, const codegen::BackendOptions &);
/// The plan that a module's attributes state: the first request for blocks, and each flag that any kernel has.
OccupancyPlan planOf(const llvm::Module &);

} // namespace tessera::nvidia
