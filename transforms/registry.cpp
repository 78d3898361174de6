// The pass registry: one row per pass.
#include "transforms/passes.h"

namespace tessera::transforms {

llvm::ArrayRef<PassInfo> allPasses() {
  static const PassInfo rows[] = {
      {"inline", inlineCalls, "inline calls of functions that are not noinline", ""},
      {"canonicalize", canonicalize, "fold constants, apply simplifying patterns and drop dead code", ""},
      {"cse", commonSubexpressions, "merge operations that compute the same", ""},
      {"loop-invariant-code-motion", loopInvariantCodeMotion, "move what a loop does not change out of it", ""},
      {"triton-licm", loopInvariantCodeMotion, "move what a loop does not change out of it", ""},
      {"symbol-dce", symbolDce, "drop private functions that nothing calls", ""},
      {"triton-combine", combine, "merge pointer additions, masked selects and the like", ""},
      {"triton-reorder-broadcast", reorderBroadcast, "do elementwise work before broadcasting its operands", ""},
      {"triton-rewrite-tensor-pointer", rewriteTensorPointer, "write block pointers as plain ones", ""},
      {"triton-rewrite-tensor-descriptor-to-pointer", rewriteTensorDescriptorToPointer, "write tensor descriptors as plain pointers", ""},
      {"convert-triton-to-tritongpu", convertTritonToTritonGpu, "give every tensor its default layout", "target num-warps threads-per-warp num-ctas"},
      {"tritongpu-coalesce", coalesce, "choose layouts for memory accesses that coalesce", "", true},
      {"tritongpu-remove-layout-conversions", removeLayoutConversions, "propagate layouts and remove conversions between them", "", true},
      {"issue-loads-early", issueLoadsEarly, "issue loads before the arithmetic on what earlier loads bring", "", true},
      {"test-print-alignment", testPrintAlignment, "report what AxisInfo knows of every value as a remark", ""},
      {"allocate-shared-memory", allocateSharedMemory, "give every buffer in shared memory an offset", "", true},
      {"insert-barriers", insertBarriers, "put barriers between accesses to shared memory that conflict", "", true},
  };
  return rows;
}

} // namespace tessera::transforms
