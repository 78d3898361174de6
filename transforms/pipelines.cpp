// The pipelines (see pipelines.h).
#include "transforms/pipelines.h"

namespace tessera::transforms {

static PipelineStep convertToTtgir(const ir::TargetInfo &t, int numWarps, int numCtas) {
  return step("convert-triton-to-tritongpu", {{"target", t.tritonTarget.str()},
                                              {"num-warps", std::to_string(numWarps)},
                                              {"threads-per-warp", std::to_string(t.warpSize)},
                                              {"num-ctas", std::to_string(numCtas)}});
}

Pipeline ttirPipeline(const ir::TargetInfo &) {
  return {
      step("inline"),                                      // first: everything after sees whole kernels
      step("triton-rewrite-tensor-pointer"),               // block pointers are an abstraction of the language only
      step("triton-rewrite-tensor-descriptor-to-pointer"), // no target's descriptors are lowered yet
      step("triton-decompose-scaled-dot"),                 // nor are instructions for microscaled operands
      step("sccp"),                                        // constants of the specialisation reach branches and loops
      step("canonicalize"),                                // what inlining and rewriting left
      step("triton-combine"),                              // pointer additions, masked selects
      step("canonicalize"),                                // folds what combining made
      step("triton-reorder-broadcast"),                    // fewer elements to compute
      step("triton-loop-aware-cse"),                       // shared index arithmetic once, carried offsets too
      step("loop-invariant-code-motion"), // ranges and masks out of loops, before layouts tie them down
      step("triton-loop-unroll"),         // after what need not be copied is out of the loop
      step("canonicalize"),               // values that loops now carry for nothing, unrolled counters
      step("cse"),                        // what the copies of a body share
      step("symbol-dce"),                 // functions that were inlined
  };
}

Pipeline nvidiaTtgirPipeline(const ir::TargetInfo &t, int numWarps, int numCtas, int numStages) {
  return {
      convertToTtgir(t, numWarps, numCtas), // convert-triton-to-tritongpu: every tensor its default blocked layout
      step("tritongpu-coalesce"),           // the layouts of memory accesses are what the rest follows
      step("tritongpu-accelerate-matmul"),  // nvidia_mma layouts, before layouts are propagated
      step("tritongpu-remove-layout-conversions"), // most conversions vanish
      step("tritongpu-optimize-thread-locality"),  // layouts are final: what of a reduction stays in a thread is known
      step("loop-invariant-code-motion"),          // conversions of operands that no iteration changes
      step("tritongpu-optimize-dot-operands"),     // what is still converted into an operand goes through shared memory
      step("loop-invariant-code-motion"),          // what every iteration would load again
      step("cse"),                                 // buffers of one tile, before their loads get slots
      step("tritongpu-pipeline",
           {{"num-stages", std::to_string(numStages)}}), // cp.async: buffers are known, addresses still simple
      step("tritongpu-prefetch"),         // rings and their slots are there, and not yet merged with other arithmetic
      step("strip-mine"),                 // blocks beyond the registers, once nothing changes layouts any more
      step("run-loads-ahead"),            // conversions, at which threads meet, are as they stay
      step("canonicalize"),               // constants and splats in their final layouts
      step("loop-invariant-code-motion"), // index arithmetic that was computed again in a loop
      step("cse"),                        // … or twice
      step("symbol-dce"),
      step("tritongpu-reorder-instructions"), // operands of multiplications no earlier than they are needed
      step("issue-loads-early"),              // last: everything before merges and moves operations as it likes
  };
}

Pipeline amdTtgirPipeline(const ir::TargetInfo &t, int numWarps, int numCtas, int numStages, int matrixInstrNonkdim) {
  return {
      convertToTtgir(t, numWarps, numCtas), // convert-triton-to-tritongpu: every tensor its default blocked layout
      step("tritongpu-coalesce"),           // the layouts of memory accesses are what the rest follows
      step("tritongpu-accelerate-matmul",
           {{"matrix-instruction-size",
             std::to_string(matrixInstrNonkdim)}}), // amd_mfma and amd_wmma layouts, before layouts are propagated
      step("tritonamdgpu-in-thread-transpose"),     // layouts of loads by what their multiplications want
      step("tritongpu-remove-layout-conversions"),  // most conversions vanish
      step("tritongpu-optimize-thread-locality"),   // layouts are final: what of a reduction stays in a thread is known
      step("loop-invariant-code-motion"),           // conversions of operands that no iteration changes
      step("tritongpu-optimize-dot-operands"),      // what is still converted into an operand goes through LDS
      step("loop-invariant-code-motion"),           // what every iteration would load again
      step("cse"),                                  // buffers of one tile, before their loads get slots
      step("tritongpu-pipeline",
           {{"num-stages", std::to_string(numStages)}}), // through registers: buffers are known, addresses still simple
      step("strip-mine"), // blocks beyond the registers, once nothing changes layouts any more
      step(
          "tritonamdgpu-canonicalize-pointers"), // all accesses are there, and what follows takes index arithmetic out of loops
      step("canonicalize"),                      // constants and splats in their final layouts
      step("loop-invariant-code-motion"), // index arithmetic that was computed again in a loop
      step("cse"),                        // … or twice
      step("symbol-dce"),
      step("tritongpu-reorder-instructions"), // operands of multiplications no earlier than they are needed
      step("issue-loads-early"),              // last: everything before merges and moves operations as it likes
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
  p.push_back(step("widen-float8"));        // what is left of their arithmetic
  p.push_back(step("choose-scan-layouts")); // before the conversions that it makes get their memory
  if (t.matrixUnit == ir::MatrixUnit::Wgmma) {
    p.push_back(step("insert-wgmma-waits"));                // before barriers, which count waits
    p.push_back(step("triton-nvidia-gpu-fence-insertion")); // before barriers, which order the fences too
  }
  p.push_back(step("tritongpu-allocate-warp-groups"));             // which partitions there are, before what they need
  p.push_back(step("tritongpu-global-scratch-memory-allocation")); // tensor maps that the kernel makes
  p.push_back(step("allocate-shared-memory"));                     // offsets, which the barrier placement compares
  p.push_back(step("insert-barriers"));                            // last: nothing may move across a barrier afterwards
  return p;
}

} // namespace tessera::transforms
