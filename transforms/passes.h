// Every pass, declared once, with its options; the rows of registry.cpp name them. Each stands in the file of its name,
// which explains it; those whose file has the pass's name on the command line instead say so here. A pass returns
// whether it changed the module, or an error after it reported a diagnostic.
#pragma once
#include "transforms/pass.h"
#include <optional>
#include <string>

namespace tessera::transforms {

// ---- cleanup
absl::StatusOr<bool> inlineCalls(ir::Module &, PassContext &); // cleanup/inline.cpp: inline is a keyword
absl::StatusOr<bool> canonicalize(ir::Module &, PassContext &);
absl::StatusOr<bool> commonSubexpressions(ir::Module &, PassContext &); // cleanup/cse.cpp
absl::StatusOr<bool> loopInvariantCodeMotion(ir::Module &, PassContext &);
absl::StatusOr<bool> loopAwareCse(ir::Module &, PassContext &);
absl::StatusOr<bool> loopUnroll(ir::Module &, PassContext &);
absl::StatusOr<bool> sccp(ir::Module &, PassContext &);
absl::StatusOr<bool> symbolDce(ir::Module &, PassContext &);

// ---- ttir
absl::StatusOr<bool> combine(ir::Module &, PassContext &);
absl::StatusOr<bool> reorderBroadcast(ir::Module &, PassContext &);
absl::StatusOr<bool> dropUnitDimensions(ir::Module &, PassContext &);
absl::StatusOr<bool> rewriteTensorPointer(ir::Module &, PassContext &);
absl::StatusOr<bool> rewriteTensorDescriptorToPointer(ir::Module &, PassContext &);
absl::StatusOr<bool> optimizeDescriptorEncoding(ir::Module &, PassContext &);
absl::StatusOr<bool> decomposeScaledDot(ir::Module &, PassContext &);
absl::StatusOr<bool> alignmentVersions(ir::Module &, PassContext &);
struct FullBlockVersionsOptions {
  int64_t numWarps = 1; // of a block, which says how many elements a thread has
};
absl::StatusOr<bool> fullBlockVersions(ir::Module &, const FullBlockVersionsOptions &, PassContext &);

struct LoadRepeatedOnceOptions {
  int64_t threads = 32;  // of a block
  int64_t mostBits = 32; // of an element
};
absl::StatusOr<bool> loadRepeatedOnce(ir::Module &, const LoadRepeatedOnceOptions &, PassContext &);

struct ConvertTritonToTritonGpuOptions {
  std::string target; // as ttg.target spells it; empty: the context's target
  int64_t numWarps = 4;
  std::optional<int64_t> threadsPerWarp; // not given: the target's, or 32 without a target
  int64_t numCtas = 1;
};
absl::StatusOr<bool> convertTritonToTritonGpu(ir::Module &, const ConvertTritonToTritonGpuOptions &, PassContext &);

// ---- layout
struct AccelerateMatmulOptions {
  int64_t matrixInstructionSize = 0; // rows and columns of AMD's matrix instructions; 0: the pass chooses
  int64_t tensorMemory = 1;          // whether dots may have their accumulators in tensor memory
};
absl::StatusOr<bool> accelerateMatmul(ir::Module &, const AccelerateMatmulOptions &, PassContext &);
struct AccelerateScaledDotOptions {
  int64_t matrixInstructionSize = 0; // as above
};
absl::StatusOr<bool> accelerateScaledDot(ir::Module &, const AccelerateScaledDotOptions &, PassContext &);
absl::StatusOr<bool> canonicalizePointers(ir::Module &, PassContext &);
absl::StatusOr<bool> chooseScanLayouts(ir::Module &, PassContext &);
absl::StatusOr<bool> chooseTensorMemoryLayouts(ir::Module &, PassContext &);
absl::StatusOr<bool> coalesce(ir::Module &, PassContext &);
absl::StatusOr<bool> decomposeGivenScaledDot(ir::Module &, PassContext &);
absl::StatusOr<bool> decomposeScaledUpcast(ir::Module &, PassContext &);
absl::StatusOr<bool> inThreadTranspose(ir::Module &, PassContext &);
absl::StatusOr<bool> keepReshapedOrder(ir::Module &, PassContext &);
absl::StatusOr<bool> optimizeDotOperands(ir::Module &, PassContext &);
absl::StatusOr<bool> optimizeThreadLocality(ir::Module &, PassContext &);
absl::StatusOr<bool> removeLayoutConversions(ir::Module &, PassContext &);
absl::StatusOr<bool> warpCopyLayouts(ir::Module &, PassContext &);

// ---- schedule
struct PipelineLoadsOptions {
  int64_t numStages = 3;     // of loops that do not say tt.num_stages
  int64_t producerWarps = 1; // whether loops over tiles may get a warp that copies, beside num-warps
};
absl::StatusOr<bool> pipelineLoads(ir::Module &, const PipelineLoadsOptions &, PassContext &); // schedule/pipeline.cpp

struct StripMineOptions {
  std::optional<int64_t> registers; // that a thread's values may take; not given: usableRegistersPercent of a thread's
};
absl::StatusOr<bool> stripMine(ir::Module &, const StripMineOptions &, PassContext &);
absl::StatusOr<bool> insertWgmmaWaits(ir::Module &, PassContext &);
absl::StatusOr<bool> orderPrograms(ir::Module &, PassContext &);
absl::StatusOr<bool> issueDotsEarly(ir::Module &, PassContext &);
absl::StatusOr<bool> holdDotOperands(ir::Module &, PassContext &);
absl::StatusOr<bool> issueLoadsEarly(ir::Module &, PassContext &);
absl::StatusOr<bool> automaticWarpSpecialization(ir::Module &, PassContext &);
absl::StatusOr<bool> overlapDots(ir::Module &, PassContext &);
absl::StatusOr<bool> dotsInTensorMemory(ir::Module &, PassContext &);
absl::StatusOr<bool> prefetch(ir::Module &, PassContext &);
absl::StatusOr<bool> reorderInstructions(ir::Module &, PassContext &);
absl::StatusOr<bool> runLoadsAhead(ir::Module &, PassContext &);
absl::StatusOr<bool> loadScalarsAhead(ir::Module &, PassContext &);

// ---- memory
// memory/global_scratch_memory_allocation.cpp
absl::StatusOr<bool> allocateGlobalScratch(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateSharedMemory(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateTensorMemory(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateWarpGroups(ir::Module &, PassContext &);
absl::StatusOr<bool> fenceInsertion(ir::Module &, PassContext &);
absl::StatusOr<bool> insertBarriers(ir::Module &, PassContext &);
absl::StatusOr<bool> tmaLowering(ir::Module &, PassContext &);
absl::StatusOr<bool> warpGroupStores(ir::Module &, PassContext &);
absl::StatusOr<bool> widenFloat8(ir::Module &, PassContext &);

// ---- analyses
absl::StatusOr<bool> testPrintAlignment(ir::Module &, PassContext &);

} // namespace tessera::transforms
