// The pipelines (see pipelines.h). A comment says what a step relies on or what would be worse at another place.
#include "transforms/pipelines.h"
#include "transforms/passes.h"

namespace tessera::transforms {

static PipelineStep convertToTtgir(const ir::TargetInfo &t, const TtgirPipelineOptions &o) {
  return step(
      convertTritonToTritonGpu,
      {.target = t.tritonTarget.str(), .numWarps = o.numWarps, .threadsPerWarp = t.warpSize, .numCtas = o.numCtas});
}

static Pipeline concat(Pipeline first, const Pipeline &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Pipeline ttirPipeline(const ir::TargetInfo &t, int64_t numWarps) {
  Pipeline p = {
      step(inlineCalls),                      // first: all passes after it see whole kernels
      step(rewriteTensorPointer),             // no later pass knows block pointers
      step(optimizeDescriptorEncoding),       // descriptors that stay, for TMA
      step(rewriteTensorDescriptorToPointer), // all others
      step(decomposeScaledDot),               // what no matrix instruction takes as it is
      step(sccp),                             // specialised arguments are constants; decides branches and loop bounds
      step(canonicalize),                     // folds what inlining and rewriting left
      step(combine),                          // merges pointer additions and masked selects
      step(canonicalize),                     // folds what combining made
      step(dropUnitDimensions),               // before the address arithmetic of loads is merged and moved
      step(reorderBroadcast),                 // elementwise work on fewer elements
      step(loopAwareCse),                     // index arithmetic once, equal loop-carried offsets too
      step(loopInvariantCodeMotion),          // ranges and masks out of loops, before they get layouts
      step(loopUnroll),                       // after loop-invariant code, which need not be copied, is out of the loop
  };
  if (t.vendor == ir::Vendor::Amd) // before the default layouts
    p.push_back(step(loadRepeatedOnce, {.threads = numWarps * t.warpSize, .mostBits = t.tuning.repeatedLoadMostBits}));
  const Pipeline rest = {
      step(fullBlockVersions, {.numWarps = numWarps}), // after unrolling: kernels with loops get no versions
      step(canonicalize),         // drops loop-carried values without uses, folds unrolled counters
      step(commonSubexpressions), // merges what the copies of a body share
      step(symbolDce),            // drops functions that were inlined
      step(alignmentVersions),    // late: only TTGIR passes use what it states about addresses
      step(commonSubexpressions), // constants of both
  };
  return concat(std::move(p), rest);
}

/// The last steps to TTGIR, the same for both vendors: clean-up, then the order of the operations.
static Pipeline cleanUpAndOrder() {
  return {
      step(canonicalize),            // constants and splats are in their final layouts
      step(loopInvariantCodeMotion), // hoists index arithmetic that the passes before put into loops
      step(commonSubexpressions),    // … or computed twice
      step(symbolDce),               // drops functions that nothing calls
      step(reorderInstructions),     // moves loads of dot operands down to their uses
      step(issueLoadsEarly),         // last: the passes before merge and move operations in any order
  };
}

Pipeline nvidiaTtgirPipeline(const ir::TargetInfo &t, const TtgirPipelineOptions &o) {
  Pipeline p = {
      convertToTtgir(t, o), // every tensor gets its default blocked layout
      step(orderPrograms),  // before loops are peeled: the bounds are the kernel's own
      step(coalesce),       // the layouts of memory accesses, which the others follow
      step(accelerateMatmul, {.tensorMemory = o.tensorMemory}), // layouts of dots, before layouts are propagated
      step(removeLayoutConversions),                            // propagates layouts; most conversions vanish
      step(optimizeThreadLocality),  // layouts are final: what a thread can reduce alone is known
      step(loopInvariantCodeMotion), // hoists conversions of loop-invariant operands
      step(commonSubexpressions),    // an operand of several dots is converted once
      step(optimizeDotOperands),     // remaining conversions into dot operands go through shared memory
      step(loopInvariantCodeMotion), // hoists loop-invariant loads from shared memory
      step(commonSubexpressions),    // merges buffers of one tile, before pipelineLoads makes them multi-buffers
      step(loadScalarsAhead),        // what pipelineLoads does not issue ahead
      // Asynchronous copies; addresses are still simple.
      step(pipelineLoads, {.numStages = o.numStages, .producerWarps = o.mayAddWarps}),
  };
  // Both need the multi-buffers of pipelineLoads, and come before later passes reorder the body.
  // automaticWarpSpecialization takes the copies out of loops; then overlapDots can keep dots of two iterations in
  // flight.
  if (o.mayAddWarps) p.push_back(step(automaticWarpSpecialization));
  p.push_back(step(overlapDots));
  p.push_back(step(issueDotsEarly));  // the waits that it counts on are there, and dots that stay in flight are marked
  p.push_back(step(holdDotOperands)); // with the registers that the passes before left
  // The passes before order dots and copies as for wgmma, and know values alone.
  if (t.matrixUnit == ir::MatrixUnit::Tcgen05) p.push_back(step(dotsInTensorMemory));
  const Pipeline rest = {
      // Operands of mma.sync. Needs the multi-buffers; before canonicalize merges their indices with other arithmetic.
      step(prefetch),
      step(stripMine),              // blocks beyond the registers; no later pass changes layouts
      step(optimizeThreadLocality), // loops over strips carry what a thread has of a reduction
      // Its loads have predicates (hasPredicatedAccess): on AMD only loops that request it. Counts conversions, at
      // which threads synchronise; no later pass adds one.
      step(runLoadsAhead),
  };
  return concat(concat(std::move(p), rest), cleanUpAndOrder());
}

Pipeline amdTtgirPipeline(const ir::TargetInfo &t, const TtgirPipelineOptions &o) {
  Pipeline p = {
      convertToTtgir(t, o), // every tensor gets its default blocked layout
      step(orderPrograms),  // before loops are peeled: the bounds are the kernel's own
      step(coalesce),       // the layouts of memory accesses, which the others follow
      step(accelerateMatmul, {.matrixInstructionSize = o.matrixInstructionSize}), // amd_mfma and amd_wmma layouts
      step(accelerateScaledDot,
           {.matrixInstructionSize = o.matrixInstructionSize}), // the same for microscaled operands
      step(inThreadTranspose),       // layouts of loads that suit the dots' operands, before layouts are propagated
      step(removeLayoutConversions), // propagates layouts; most conversions vanish
      step(optimizeThreadLocality),  // layouts are final: what a thread can reduce alone is known
      step(loopInvariantCodeMotion), // hoists conversions of loop-invariant operands
      step(commonSubexpressions),    // several loops share one such operand: the registers of its source are free
      step(optimizeDotOperands),     // remaining conversions into dot operands go through LDS
      step(loopInvariantCodeMotion), // hoists loop-invariant loads from LDS
      step(commonSubexpressions),    // merges buffers of one tile, before pipelineLoads makes them multi-buffers
      step(warpCopyLayouts),         // after all that chooses layouts of buffers
      step(pipelineLoads, {.numStages = o.numStages}), // through registers, or by copies; addresses are still simple
      step(prefetch),               // operands of MFMA; needs the buffers, before canonicalize merges their indices
      step(stripMine),              // blocks beyond the registers; no later pass changes layouts
      step(optimizeThreadLocality), // loops over strips carry what a thread has of a reduction
      step(runLoadsAhead),          // of loops that request stages; masks become those of buffer accesses
      step(canonicalizePointers),   // no later pass adds accesses, and index arithmetic can still be hoisted
  };
  return concat(std::move(p), cleanUpAndOrder());
}

Pipeline ttgirPipeline(const ir::TargetInfo &t, const TtgirPipelineOptions &o) {
  switch (t.vendor) {
  case ir::Vendor::Nvidia: return nvidiaTtgirPipeline(t, o);
  case ir::Vendor::Amd: return amdTtgirPipeline(t, o);
  }
  llvm_unreachable("a target is of one of the vendors");
}

Pipeline givenTtgirPipeline(const ir::TargetInfo &) {
  return {
      step(keepReshapedOrder),       // the order that the interpreter evaluates, too
      step(decomposeScaledUpcast),   // the lowering knows their parts
      step(decomposeGivenScaledDot), // the same
  };
}

Pipeline loweringPipeline(const ir::TargetInfo &t) {
  Pipeline p;
  if (t.hasTensorCopy) p.push_back(step(tmaLowering)); // its buffers and barriers are memory like all others
  p = concat(std::move(p), {
                               step(widenFloat8),       // arithmetic on 8-bit floats that is left
                               step(chooseScanLayouts), // before the conversions that it makes get shared memory
                           });
  if (t.matrixUnit == ir::MatrixUnit::Wgmma) {
    p.push_back(step(warpGroupStores));  // of the copies that tmaLowering made
    p.push_back(step(insertWgmmaWaits)); // before barriers, whose placement takes waits into account
    // Fences for wgmma; those for TMA come from insertBarriers. Before barriers, which must come after the fences.
    p.push_back(step(fenceInsertion));
  }
  if (t.matrixUnit == ir::MatrixUnit::Tcgen05) {
    p.push_back(step(chooseTensorMemoryLayouts)); // before the conversions that it makes get shared memory
    p.push_back(step(allocateTensorMemory));      // columns, which insertBarriers compares
  }
  return concat(std::move(p), {
                                  step(allocateWarpGroups),    // before memory is counted per warp
                                  step(allocateGlobalScratch), // tensor maps that the kernel makes
                                  step(allocateSharedMemory),  // offsets, which insertBarriers compares
                                  step(insertBarriers),        // last: nothing may move across a barrier afterwards
                              });
}

} // namespace tessera::transforms
