// Every pass, declared once; the rows of registry.cpp name them. Each stands in the file of its name, which explains
// it.
#pragma once
#include "transforms/pass.h"

namespace tessera::transforms {

absl::StatusOr<bool> inlineCalls(ir::Module &, PassContext &);
absl::StatusOr<bool> canonicalize(ir::Module &, PassContext &);
absl::StatusOr<bool> commonSubexpressions(ir::Module &, PassContext &);
absl::StatusOr<bool> loopInvariantCodeMotion(ir::Module &, PassContext &);
absl::StatusOr<bool> loopAwareCse(ir::Module &, PassContext &);
absl::StatusOr<bool> symbolDce(ir::Module &, PassContext &);
absl::StatusOr<bool> combine(ir::Module &, PassContext &);
absl::StatusOr<bool> reorderBroadcast(ir::Module &, PassContext &);
absl::StatusOr<bool> rewriteTensorPointer(ir::Module &, PassContext &);
absl::StatusOr<bool> rewriteTensorDescriptorToPointer(ir::Module &, PassContext &);
absl::StatusOr<bool> decomposeScaledDot(ir::Module &, PassContext &);
absl::StatusOr<bool> sccp(ir::Module &, PassContext &);
absl::StatusOr<bool> loopUnroll(ir::Module &, PassContext &);
absl::StatusOr<bool> convertTritonToTritonGpu(ir::Module &, PassContext &);
absl::StatusOr<bool> coalesce(ir::Module &, PassContext &);
absl::StatusOr<bool> inThreadTranspose(ir::Module &, PassContext &);
absl::StatusOr<bool> accelerateMatmul(ir::Module &, PassContext &);
absl::StatusOr<bool> optimizeDotOperands(ir::Module &, PassContext &);
absl::StatusOr<bool> pipelineLoads(ir::Module &, PassContext &);
absl::StatusOr<bool> widenFloat8(ir::Module &, PassContext &);
absl::StatusOr<bool> fenceInsertion(ir::Module &, PassContext &);
absl::StatusOr<bool> removeLayoutConversions(ir::Module &, PassContext &);
absl::StatusOr<bool> prefetch(ir::Module &, PassContext &);
absl::StatusOr<bool> stripMine(ir::Module &, PassContext &);
absl::StatusOr<bool> runLoadsAhead(ir::Module &, PassContext &);
absl::StatusOr<bool> canonicalizePointers(ir::Module &, PassContext &);
absl::StatusOr<bool> issueLoadsEarly(ir::Module &, PassContext &);
absl::StatusOr<bool> chooseScanLayouts(ir::Module &, PassContext &);
absl::StatusOr<bool> optimizeThreadLocality(ir::Module &, PassContext &);
absl::StatusOr<bool> reorderInstructions(ir::Module &, PassContext &);
absl::StatusOr<bool> testPrintAlignment(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateSharedMemory(ir::Module &, PassContext &);
absl::StatusOr<bool> insertBarriers(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateGlobalScratch(ir::Module &, PassContext &);
absl::StatusOr<bool> allocateWarpGroups(ir::Module &, PassContext &);
absl::StatusOr<bool> insertWgmmaWaits(ir::Module &, PassContext &);

} // namespace tessera::transforms
