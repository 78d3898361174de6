// The pass registry: one row per pass.
#include "transforms/passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::transforms {

namespace {

/// How the registry calls a pass: without its types.
template <auto Pass> struct Erased;
template <absl::StatusOr<bool> (*Pass)(ir::Module &, PassContext &)> struct Erased<Pass> {
  static absl::StatusOr<bool> run(ir::Module &m, const std::any &, PassContext &c) { return Pass(m, c); }
};
template <typename Options, absl::StatusOr<bool> (*Pass)(ir::Module &, const Options &, PassContext &)>
struct Erased<Pass> {
  static absl::StatusOr<bool> run(ir::Module &m, const std::any &options, PassContext &c) {
    const auto *given = std::any_cast<Options>(&options);
    return Pass(m, given ? *given : Options(), c);
  }
};

template <auto Pass>
PassInfo row(llvm::StringRef name, llvm::StringRef help, llvm::ArrayRef<PassOption> options = {}, uint8_t traits = 0) {
  return {name, reinterpret_cast<AnyFunction>(Pass), Erased<Pass>::run, help, options, traits};
}

/// Whether a text names a target as `ttg.target` does: `cuda:90`, `hip:gfx942`. Which targets exist is not checked.
bool isTargetAttribute(llvm::StringRef text) {
  auto [kind, arch] = text.split(':');
  auto isNumber = [](llvm::StringRef s) {
    return !s.empty() && llvm::all_of(s, [](char c) { return llvm::isHexDigit(c); });
  };
  if (kind == "cuda") return isNumber(arch);
  return kind == "hip" && arch.consume_front("gfx") && isNumber(arch);
}

} // namespace

llvm::ArrayRef<PassInfo> allPasses() {
  using Convert = ConvertTritonToTritonGpuOptions;
  static const PassOption convertOptions[] = {
      passOption<&Convert::target>(
          "target", OptionRange::text(isTargetAttribute, "as ttg.target has it, such as cuda:90 or hip:gfx942"),
          "the target that the module's ttg.target is set to", "that of --target"),
      passOption<&Convert::numWarps>("num-warps", OptionRange::powerOfTwo(64), "warps of a block"),
      passOption<&Convert::threadsPerWarp>("threads-per-warp", OptionRange::powerOfTwo(64), "threads of a warp",
                                           "the target's, or 32"),
      passOption<&Convert::numCtas>("num-ctas", OptionRange::powerOfTwo(16), "blocks of a cluster"),
  };
  static const PassOption accelerateMatmulOptions[] = {
      passOption<&AccelerateMatmulOptions::matrixInstructionSize>(
          "matrix-instruction-size", {}, "rows and columns of AMD's matrix instructions; 0: the pass chooses"),
  };
  static const PassOption pipelineOptions[] = {
      passOption<&PipelineLoadsOptions::numStages>("num-stages", OptionRange::atLeast(1),
                                                   "stages of loops without tt.num_stages"),
  };
  static const PassOption stripMineOptions[] = {
      passOption<&StripMineOptions::registers>("registers", OptionRange::atLeast(0),
                                               "registers that the values of a thread may take",
                                               "three quarters of a thread's"),
  };
  static const PassInfo rows[] = {
      row<inlineCalls>("inline", "inline calls of functions that are not noinline"),
      row<canonicalize>("canonicalize", "fold constants, apply simplifying patterns and drop dead code"),
      row<commonSubexpressions>("cse", "merge operations that compute the same"),
      row<loopAwareCse>("triton-loop-aware-cse", "merge values that loops carry twice"),
      row<loopInvariantCodeMotion>("loop-invariant-code-motion", "move what a loop does not change out of it"),
      row<loopInvariantCodeMotion>("triton-licm", "move what a loop does not change out of it"),
      row<symbolDce>("symbol-dce", "drop private functions that nothing calls"),
      row<combine>("triton-combine", "merge pointer additions, masked selects and the like"),
      row<reorderBroadcast>("triton-reorder-broadcast", "do elementwise work before broadcasting its operands"),
      row<sccp>("sccp", "propagate constants along the paths that can be taken"),
      row<loopUnroll>("triton-loop-unroll", "unroll the loops that have tt.loop_unroll_factor"),
      row<rewriteTensorPointer>("triton-rewrite-tensor-pointer", "write block pointers as plain ones", {}, kRequired),
      row<rewriteTensorDescriptorToPointer>("triton-rewrite-tensor-descriptor-to-pointer",
                                            "write tensor descriptors as plain pointers", {}, kRequired),
      row<decomposeScaledDot>("triton-decompose-scaled-dot", "write products of microscaled matrices as plain ones", {},
                              kRequired),
      row<convertTritonToTritonGpu>("convert-triton-to-tritongpu", "give every tensor its default layout",
                                    convertOptions, kRequired),
      row<coalesce>("tritongpu-coalesce", "choose layouts for memory accesses that coalesce", {}, kNeedsLayouts),
      row<accelerateMatmul>("tritongpu-accelerate-matmul",
                            "give multiplications the layouts of the target's matrix instructions",
                            accelerateMatmulOptions, kNeedsLayouts),
      row<inThreadTranspose>("tritonamdgpu-in-thread-transpose",
                             "load operands of multiplications by columns where rows cannot be loaded in vectors", {},
                             kNeedsLayouts),
      row<optimizeDotOperands>("tritongpu-optimize-dot-operands",
                               "read operands of multiplications from swizzled shared memory", {}, kNeedsLayouts),
      row<pipelineLoads>("tritongpu-pipeline", "run the loads of multiplications some iterations ahead",
                         pipelineOptions, kNeedsLayouts),
      row<removeLayoutConversions>("tritongpu-remove-layout-conversions",
                                   "propagate layouts and remove conversions between them", {}, kNeedsLayouts),
      row<prefetch>("tritongpu-prefetch", "load operands of multiplications from shared memory one step ahead", {},
                    kNeedsLayouts),
      row<stripMine>("strip-mine", "work in strips on blocks that a thread's registers cannot hold", stripMineOptions,
                     kNeedsLayouts),
      row<runLoadsAhead>("run-loads-ahead", "run the loads of serial loops some iterations ahead", {}, kNeedsLayouts),
      row<canonicalizePointers>("tritonamdgpu-canonicalize-pointers",
                                "write pointers into small buffers as offsets of 32 bits"),
      row<issueLoadsEarly>("issue-loads-early", "issue loads before the arithmetic on what earlier loads bring", {},
                           kNeedsLayouts),
      row<optimizeThreadLocality>("tritongpu-optimize-thread-locality",
                                  "keep reductions of loops inside threads until the loop's end", {}, kNeedsLayouts),
      row<fenceInsertion>("triton-nvidia-gpu-fence-insertion",
                          "make what threads wrote to shared memory visible to the matrix unit", {},
                          kRequired | kNeedsLayouts),
      row<optimizeDotOperands>("tritongpu-reduce-data-duplication",
                               "convert into operands of multiplications through shared memory", {}, kNeedsLayouts),
      row<reorderInstructions>("tritongpu-reorder-instructions",
                               "load operands of multiplications late where registers are scarce", {}, kNeedsLayouts),
      row<testPrintAlignment>("test-print-alignment", "report what AxisInfo knows of every value as a remark"),
      row<widenFloat8>("widen-float8", "compute with 8-bit floats in f32", {}, kRequired),
      row<chooseScanLayouts>("choose-scan-layouts",
                             "give scans layouts in which their axis runs through registers, lanes and warps in order",
                             {}, kRequired | kNeedsLayouts),
      row<insertWgmmaWaits>("insert-wgmma-waits",
                            "wait for multiplications in the background before their results are used", {},
                            kRequired | kNeedsLayouts),
      row<allocateWarpGroups>("tritongpu-allocate-warp-groups",
                              "give the partitions of ttg.warp_specialize their warps and registers", {},
                              kRequired | kNeedsLayouts),
      row<allocateSharedMemory>("allocate-shared-memory", "give every buffer in shared memory an offset", {},
                                kRequired | kNeedsLayouts),
      row<allocateGlobalScratch>("tritongpu-global-scratch-memory-allocation",
                                 "give every piece of scratch in global memory an offset", {}, kRequired),
      row<insertBarriers>("insert-barriers", "put barriers between accesses to shared memory that conflict", {},
                          kRequired | kNeedsLayouts),
  };
  return rows;
}

} // namespace tessera::transforms
