// The pipelines (see pipelines.h).
#include "transforms/pipelines.h"
#include "transforms/passes.h"

namespace tessera::transforms {

static PipelineStep convertToTtgir(const ir::TargetInfo &t, int numWarps, int numCtas) {
  return step(convertTritonToTritonGpu,
              {.target = t.tritonTarget.str(), .numWarps = numWarps, .threadsPerWarp = t.warpSize, .numCtas = numCtas});
}

Pipeline ttirPipeline(const ir::TargetInfo &) {
  return {
      step(inlineCalls),                      // first: everything after sees whole kernels
      step(rewriteTensorPointer),             // block pointers are an abstraction of the language only
      step(rewriteTensorDescriptorToPointer), // no target's descriptors are lowered yet
      step(decomposeScaledDot),               // nor are instructions for microscaled operands
      step(sccp),                             // constants of the specialisation reach branches and loops
      step(canonicalize),                     // what inlining and rewriting left
      step(combine),                          // pointer additions, masked selects
      step(canonicalize),                     // folds what combining made
      step(reorderBroadcast),                 // fewer elements to compute
      step(loopAwareCse),                     // shared index arithmetic once, carried offsets too
      step(loopInvariantCodeMotion),          // ranges and masks out of loops, before layouts tie them down
      step(loopUnroll),                       // after what need not be copied is out of the loop
      step(canonicalize),                     // values that loops now carry for nothing, unrolled counters
      step(commonSubexpressions),             // what the copies of a body share
      step(symbolDce),                        // functions that were inlined
  };
}

Pipeline nvidiaTtgirPipeline(const ir::TargetInfo &t, int numWarps, int numCtas, int numStages) {
  return {
      convertToTtgir(t, numWarps, numCtas), // convert-triton-to-tritongpu: every tensor its default blocked layout
      step(coalesce),                       // the layouts of memory accesses are what the rest follows
      step(accelerateMatmul),               // nvidia_mma layouts, before layouts are propagated
      step(removeLayoutConversions),        // most conversions vanish
      step(optimizeThreadLocality),         // layouts are final: what of a reduction stays in a thread is known
      step(loopInvariantCodeMotion),        // conversions of operands that no iteration changes
      step(optimizeDotOperands),            // what is still converted into an operand goes through shared memory
      step(loopInvariantCodeMotion),        // what every iteration would load again
      step(commonSubexpressions),           // buffers of one tile, before their loads get slots
      step(pipelineLoads, {.numStages = numStages}), // cp.async: buffers are known, addresses still simple
      step(prefetch),                // rings and their slots are there, and not yet merged with other arithmetic
      step(stripMine),               // blocks beyond the registers, once nothing changes layouts any more
      step(runLoadsAhead),           // conversions, at which threads meet, are as they stay
      step(canonicalize),            // constants and splats in their final layouts
      step(loopInvariantCodeMotion), // index arithmetic that was computed again in a loop
      step(commonSubexpressions),    // … or twice
      step(symbolDce),
      step(reorderInstructions), // operands of multiplications no earlier than they are needed
      step(issueLoadsEarly),     // last: everything before merges and moves operations as it likes
  };
}

Pipeline amdTtgirPipeline(const ir::TargetInfo &t, int numWarps, int numCtas, int numStages, int matrixInstrNonkdim) {
  return {
      convertToTtgir(t, numWarps, numCtas), // convert-triton-to-tritongpu: every tensor its default blocked layout
      step(coalesce),                       // the layouts of memory accesses are what the rest follows
      step(accelerateMatmul, {.matrixInstructionSize =
                                  matrixInstrNonkdim}), // amd_mfma and amd_wmma layouts, before layouts are propagated
      step(inThreadTranspose),                          // layouts of loads by what their multiplications want
      step(removeLayoutConversions),                    // most conversions vanish
      step(optimizeThreadLocality),  // layouts are final: what of a reduction stays in a thread is known
      step(loopInvariantCodeMotion), // conversions of operands that no iteration changes
      step(optimizeDotOperands),     // what is still converted into an operand goes through LDS
      step(loopInvariantCodeMotion), // what every iteration would load again
      step(commonSubexpressions),    // buffers of one tile, before their loads get slots
      step(pipelineLoads, {.numStages = numStages}), // through registers: buffers are known, addresses still simple
      step(stripMine),               // blocks beyond the registers, once nothing changes layouts any more
      step(canonicalizePointers),    // all accesses are there, and what follows takes index arithmetic out of loops
      step(canonicalize),            // constants and splats in their final layouts
      step(loopInvariantCodeMotion), // index arithmetic that was computed again in a loop
      step(commonSubexpressions),    // … or twice
      step(symbolDce),
      step(reorderInstructions), // operands of multiplications no earlier than they are needed
      step(issueLoadsEarly),     // last: everything before merges and moves operations as it likes
  };
}

Pipeline ttgirPipeline(const ir::TargetInfo &t, int numWarps, int numCtas, int numStages, int matrixInstrNonkdim) {
  switch (t.vendor) {
  case ir::Vendor::Nvidia: return nvidiaTtgirPipeline(t, numWarps, numCtas, numStages);
  case ir::Vendor::Amd: return amdTtgirPipeline(t, numWarps, numCtas, numStages, matrixInstrNonkdim);
  }
  llvm_unreachable("a target is of one of the vendors");
}

Pipeline loweringPipeline(const ir::TargetInfo &t) {
  Pipeline p;
  p.push_back(step(widenFloat8));       // what is left of their arithmetic
  p.push_back(step(chooseScanLayouts)); // before the conversions that it makes get their memory
  if (t.matrixUnit == ir::MatrixUnit::Wgmma) {
    p.push_back(step(insertWgmmaWaits)); // before barriers, which count waits
    p.push_back(step(fenceInsertion));   // before barriers, which order the fences too
  }
  p.push_back(step(allocateWarpGroups));    // which partitions there are, before what they need
  p.push_back(step(allocateGlobalScratch)); // tensor maps that the kernel makes
  p.push_back(step(allocateSharedMemory));  // offsets, which the barrier placement compares
  p.push_back(step(insertBarriers));        // last: nothing may move across a barrier afterwards
  return p;
}

} // namespace tessera::transforms
