// The pass registry: one row per pass.
#include "transforms/passes.h"

namespace tessera::transforms {

llvm::ArrayRef<PassInfo> allPasses() {
  static const PassInfo rows[] = {
      {"inline", inlineCalls, "inline calls of functions that are not noinline", ""},
      {"canonicalize", canonicalize, "fold constants, apply simplifying patterns and drop dead code", ""},
      {"cse", commonSubexpressions, "merge operations that compute the same", ""},
      {"triton-loop-aware-cse", loopAwareCse, "merge values that loops carry twice", ""},
      {"loop-invariant-code-motion", loopInvariantCodeMotion, "move what a loop does not change out of it", ""},
      {"triton-licm", loopInvariantCodeMotion, "move what a loop does not change out of it", ""},
      {"symbol-dce", symbolDce, "drop private functions that nothing calls", ""},
      {"triton-combine", combine, "merge pointer additions, masked selects and the like", ""},
      {"triton-reorder-broadcast", reorderBroadcast, "do elementwise work before broadcasting its operands", ""},
      {"sccp", sccp, "propagate constants along the paths that can be taken", ""},
      {"triton-loop-unroll", loopUnroll, "unroll the loops that have tt.loop_unroll_factor", ""},
      {"triton-rewrite-tensor-pointer", rewriteTensorPointer, "write block pointers as plain ones", "", kRequired},
      {"triton-rewrite-tensor-descriptor-to-pointer", rewriteTensorDescriptorToPointer, "write tensor descriptors as plain pointers", "", kRequired},
      {"triton-decompose-scaled-dot", decomposeScaledDot, "write products of microscaled matrices as plain ones", "", kRequired},
      {"convert-triton-to-tritongpu", convertTritonToTritonGpu, "give every tensor its default layout", "target=NAME num-warps=N threads-per-warp=N num-ctas=N", kRequired},
      {"tritongpu-coalesce", coalesce, "choose layouts for memory accesses that coalesce", "", kNeedsLayouts},
      {"tritongpu-accelerate-matmul", accelerateMatmul, "give multiplications the layouts of the target's matrix instructions", "matrix-instruction-size=N", kNeedsLayouts},
      {"tritonamdgpu-in-thread-transpose", transposeInThreads, "load operands of multiplications by columns where rows cannot be loaded in vectors", "", kNeedsLayouts},
      {"tritongpu-optimize-dot-operands", optimizeDotOperands, "read operands of multiplications from swizzled shared memory", "", kNeedsLayouts},
      {"tritongpu-pipeline", pipelineLoads, "run the loads of multiplications some iterations ahead", "num-stages=N", kNeedsLayouts},
      {"tritongpu-remove-layout-conversions", removeLayoutConversions, "propagate layouts and remove conversions between them", "", kNeedsLayouts},
      {"tritongpu-prefetch", prefetch, "load operands of multiplications from shared memory one step ahead", "", kNeedsLayouts},
      {"strip-mine", stripMine, "work in strips on blocks that a thread's registers cannot hold", "registers=N", kNeedsLayouts},
      {"run-loads-ahead", runLoadsAhead, "run the loads of serial loops some iterations ahead", "", kNeedsLayouts},
      {"tritonamdgpu-canonicalize-pointers", canonicalizePointers, "write pointers into small buffers as offsets of 32 bits", ""},
      {"issue-loads-early", issueLoadsEarly, "issue loads before the arithmetic on what earlier loads bring", "", kNeedsLayouts},
      {"tritongpu-optimize-thread-locality", optimizeThreadLocality, "keep reductions of loops inside threads until the loop's end", "", kNeedsLayouts},
      {"triton-nvidia-gpu-fence-insertion", fenceInsertion, "make what threads wrote to shared memory visible to the matrix unit", "", kRequired | kNeedsLayouts},
      {"tritongpu-reduce-data-duplication", optimizeDotOperands, "convert into operands of multiplications through shared memory", "", kNeedsLayouts},
      {"tritongpu-reorder-instructions", reorderInstructions, "load operands of multiplications late where registers are scarce", "", kNeedsLayouts},
      {"test-print-alignment", testPrintAlignment, "report what AxisInfo knows of every value as a remark", ""},
      {"widen-float8", widenFloat8, "compute with 8-bit floats in f32", "", kRequired},
      {"choose-scan-layouts", chooseScanLayouts, "give scans layouts in which their axis runs through registers, lanes and warps in order", "", kRequired | kNeedsLayouts},
      {"settle-products", settleProducts, "wait for multiplications in the background before their results are used", "", kRequired | kNeedsLayouts},
      {"tritongpu-allocate-warp-groups", allocateWarpGroups, "give the partitions of ttg.warp_specialize their warps and registers", "", kRequired | kNeedsLayouts},
      {"allocate-shared-memory", allocateSharedMemory, "give every buffer in shared memory an offset", "", kRequired | kNeedsLayouts},
      {"tritongpu-global-scratch-memory-allocation", allocateGlobalScratch, "give every piece of scratch in global memory an offset", "", kRequired},
      {"insert-barriers", insertBarriers, "put barriers between accesses to shared memory that conflict", "", kRequired | kNeedsLayouts},
  };
  return rows;
}

} // namespace tessera::transforms
