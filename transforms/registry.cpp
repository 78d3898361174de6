// The pass registry: one row per pass, and one descriptor per option. docs/passes.md is generated from it.
#include "transforms/passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

namespace tessera::transforms {
using ir::IrStage;
using ir::IrStages;

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

/// What a row says besides its name, file and help.
struct RowFacts {
  llvm::ArrayRef<PassOption> options = {};
  ir::IrStages needs = {};
  ir::IrStages establishes = {};
  bool required = false;
  llvm::StringRef aliasOf = "";
};

template <auto Pass>
PassInfo row(llvm::StringRef name, llvm::StringRef file, llvm::StringRef help, const RowFacts &facts = {}) {
  return {name,
          file,
          reinterpret_cast<AnyFunction>(Pass),
          Erased<Pass>::run,
          help,
          facts.options,
          facts.needs,
          facts.establishes,
          facts.required,
          facts.aliasOf};
}

/// Whether a text names a target as `ttg.target` does: `cuda:90`, `hip:gfx942`. Which targets exist is not checked.
bool isTargetAttribute(llvm::StringRef text) {
  auto [kind, arch] = text.split(':');
  if (kind == "cuda") return !arch.empty() && llvm::all_of(arch, llvm::isDigit);
  bool isGfx = kind == "hip" && arch.consume_front("gfx");
  // The last digits of an AMD architecture are hexadecimal: gfx90a.
  return isGfx && !arch.empty() && llvm::all_of(arch, [](char c) { return llvm::isHexDigit(c); });
}

// ---- options

constexpr int64_t kNoOrYes[] = {0, 1};

llvm::ArrayRef<PassOption> convertOptions() {
  using Options = ConvertTritonToTritonGpuOptions;
  static const PassOption options[] = {
      passOption<&Options::target>(
          "target", OptionRange::text(isTargetAttribute, "as ttg.target has it, such as cuda:90 or hip:gfx942"),
          "the target that the module's ttg.target is set to", "that of --target"),
      passOption<&Options::numWarps>("num-warps", OptionRange::powerOfTwo(64), "warps of a block"),
      passOption<&Options::threadsPerWarp>("threads-per-warp", OptionRange::powerOfTwo(64), "threads of a warp",
                                           "the target's, or 32"),
      passOption<&Options::numCtas>("num-ctas", OptionRange::powerOfTwo(16), "blocks of a cluster"),
  };
  return options;
}

llvm::ArrayRef<PassOption> fullBlockOptions() {
  static const PassOption options[] = {
      passOption<&FullBlockVersionsOptions::numWarps>("num-warps", OptionRange::powerOfTwo(64), "warps of a block"),
  };
  return options;
}

llvm::ArrayRef<PassOption> loadRepeatedOptions() {
  static const PassOption options[] = {
      passOption<&LoadRepeatedOnceOptions::threads>("threads", OptionRange::powerOfTwo(4096), "threads of a block"),
      passOption<&LoadRepeatedOnceOptions::mostBits>("most-bits", OptionRange::powerOfTwo(64),
                                                     "elements of more bits are loaded as they are"),
  };
  return options;
}

template <class Options> llvm::ArrayRef<PassOption> matrixInstructionOptions() {
  static constexpr int64_t kSizes[] = {0, 16, 32}; // as the compile option (runtime/options.def)
  static const PassOption options[] = {
      passOption<&Options::matrixInstructionSize>("matrix-instruction-size", OptionRange::oneOf(kSizes),
                                                  "rows and columns of AMD's matrix instructions; 0: the pass chooses"),
  };
  return options;
}

llvm::ArrayRef<PassOption> accelerateMatmulOptions() {
  static const PassOption options[] = {
      matrixInstructionOptions<AccelerateMatmulOptions>()[0],
      passOption<&AccelerateMatmulOptions::tensorMemory>(
          "tensor-memory", OptionRange::oneOf(kNoOrYes),
          "0: no dot has its accumulator in tensor memory, also where the target has it"),
  };
  return options;
}

llvm::ArrayRef<PassOption> pipelineOptions() {
  static const PassOption options[] = {
      passOption<&PipelineLoadsOptions::numStages>(
          "num-stages", OptionRange::atLeast(0),
          "stages of loops without tt.num_stages; 0: no loop is pipelined, 1: only wgmma loops with few warps"),
      passOption<&PipelineLoadsOptions::producerWarps>(
          "producer-warps", OptionRange::oneOf(kNoOrYes),
          "whether a warp of its own may issue the copies of a loop over tiles; 0: no, 1: where it is worth while"),
  };
  return options;
}

llvm::ArrayRef<PassOption> stripMineOptions() {
  static const PassOption options[] = {
      passOption<&StripMineOptions::registers>("registers", OptionRange::atLeast(0),
                                               "registers that the values of a thread may take",
                                               "usableRegistersPercent of a thread's"),
  };
  return options;
}

// ---- rows, by folder

using Rows = std::vector<PassInfo>;
constexpr IrStages kLayouts = IrStage::LayoutsAssigned;

Rows cleanupPasses() {
  return {
      row<inlineCalls>("inline", "cleanup/inline.cpp", "inline calls of functions that are not noinline"),
      row<canonicalize>("canonicalize", "cleanup/canonicalize.cpp",
                        "fold constants, apply simplifying patterns and drop dead code"),
      row<commonSubexpressions>("cse", "cleanup/cse.cpp", "merge operations that compute the same value"),
      row<loopAwareCse>("triton-loop-aware-cse", "cleanup/loop_aware_cse.cpp",
                        "merge loop-carried values that are equal in every iteration"),
      row<loopInvariantCodeMotion>("loop-invariant-code-motion", "cleanup/loop_invariant_code_motion.cpp",
                                   "move loop-invariant operations out of loops"),
      row<loopInvariantCodeMotion>("triton-licm", "cleanup/loop_invariant_code_motion.cpp",
                                   "move loop-invariant operations out of loops",
                                   {.aliasOf = "loop-invariant-code-motion"}),
      row<symbolDce>("symbol-dce", "cleanup/symbol_dce.cpp", "drop private functions that are never called"),
      row<sccp>("sccp", "cleanup/sccp.cpp", "propagate constants along the paths that can be taken"),
      row<loopUnroll>("triton-loop-unroll", "cleanup/loop_unroll.cpp", "unroll loops that have tt.loop_unroll_factor"),
      row<testPrintAlignment>("test-print-alignment", "analyses/test_print_alignment.cpp",
                              "report what AxisInfo knows of every value as a remark"),
  };
}

Rows ttirPasses() {
  return {
      row<combine>("triton-combine", "ttir/combine.cpp", "merge pointer additions, masked selects and the like"),
      row<reorderBroadcast>("triton-reorder-broadcast", "ttir/reorder_broadcast.cpp",
                            "do elementwise work before broadcasting its operands"),
      row<dropUnitDimensions>("drop-unit-dimensions", "ttir/drop_unit_dimensions.cpp",
                              "load blocks for dots, and carry their results, without dimensions of one element"),
      row<rewriteTensorPointer>("triton-rewrite-tensor-pointer", "ttir/rewrite_tensor_pointer.cpp",
                                "rewrite block pointers as tensors of pointers", {.required = true}),
      row<optimizeDescriptorEncoding>("triton-nvidia-optimize-descriptor-encoding",
                                      "ttir/optimize_descriptor_encoding.cpp",
                                      "give descriptors that TMA can serve a layout in shared memory"),
      row<rewriteTensorDescriptorToPointer>("triton-rewrite-tensor-descriptor-to-pointer",
                                            "ttir/rewrite_tensor_descriptor_to_pointer.cpp",
                                            "rewrite tensor descriptors as tensors of pointers", {.required = true}),
      row<decomposeScaledDot>("triton-decompose-scaled-dot", "ttir/decompose_scaled_dot.cpp",
                              "rewrite dots of microscaled operands as plain dots", {.required = true}),
      row<alignmentVersions>("alignment-versions", "ttir/alignment_versions.cpp",
                             "give kernels with dots a version for arguments that make rows aligned or contiguous"),
      row<fullBlockVersions>("full-block-versions", "ttir/full_block_versions.cpp",
                             "give kernels without loops a version for programs whose block needs no masks",
                             {.options = fullBlockOptions()}),
      row<loadRepeatedOnce>("load-repeated-once", "ttir/load_repeated_once.cpp",
                            "load elements of a dot's block that have one address once",
                            {.options = loadRepeatedOptions()}),
      row<convertTritonToTritonGpu>(
          "convert-triton-to-tritongpu", "ttir/convert_triton_to_tritongpu.cpp",
          "give every tensor its default blocked layout",
          {.options = convertOptions(), .establishes = IrStage::LayoutsAssigned, .required = true}),
  };
}

Rows layoutPasses() {
  return {
      row<coalesce>("tritongpu-coalesce", "layout/coalesce.cpp", "choose layouts in which memory accesses coalesce",
                    {.needs = kLayouts}),
      row<accelerateMatmul>("tritongpu-accelerate-matmul", "layout/accelerate_matmul.cpp",
                            "give dots the layouts of the target's matrix instructions",
                            {.options = accelerateMatmulOptions(), .needs = kLayouts}),
      row<accelerateScaledDot>(
          "tritongpu-accelerate-scaled-dot", "layout/accelerate_scaled_dot.cpp",
          "give dots of microscaled operands the layouts of the target's matrix instructions",
          {.options = matrixInstructionOptions<AccelerateScaledDotOptions>(), .needs = kLayouts, .required = true}),
      row<inThreadTranspose>("tritonamdgpu-in-thread-transpose", "layout/in_thread_transpose.cpp",
                             "load dot operands by columns where rows cannot be loaded as vectors",
                             {.needs = kLayouts}),
      row<decomposeGivenScaledDot>("decompose-given-scaled-dot", "layout/decompose_given_scaled_dot.cpp",
                                   "rewrite dots of microscaled operands that have layouts as plain dots",
                                   {.needs = kLayouts, .required = true}),
      row<decomposeScaledUpcast>("decompose-scaled-upcast", "layout/decompose_scaled_upcast.cpp",
                                 "rewrite conversions that multiply by scales as a conversion and arith.mulf",
                                 {.required = true}),
      row<keepReshapedOrder>("keep-reshaped-order", "layout/keep_reshaped_order.cpp",
                             "keep row-major order at reshapes with allow_reorder where something depends on it",
                             {.needs = kLayouts, .required = true}),
      row<removeLayoutConversions>("tritongpu-remove-layout-conversions", "layout/remove_layout_conversions.cpp",
                                   "propagate layouts and remove conversions between them", {.needs = kLayouts}),
      row<optimizeThreadLocality>("tritongpu-optimize-thread-locality", "layout/optimize_thread_locality.cpp",
                                  "keep reductions of loops inside threads until after the loop", {.needs = kLayouts}),
      row<optimizeDotOperands>("tritongpu-optimize-dot-operands", "layout/optimize_dot_operands.cpp",
                               "read dot operands from swizzled shared memory", {.needs = kLayouts}),
      row<optimizeDotOperands>("tritongpu-reduce-data-duplication", "layout/optimize_dot_operands.cpp",
                               "read dot operands from swizzled shared memory",
                               {.needs = kLayouts, .aliasOf = "tritongpu-optimize-dot-operands"}),
      row<warpCopyLayouts>("warp-copy-layouts", "layout/warp_copy_layouts.cpp",
                           "load what fills buffers in the layouts by which warps copy it there", {.needs = kLayouts}),
      row<canonicalizePointers>("tritonamdgpu-canonicalize-pointers", "layout/canonicalize_pointers.cpp",
                                "rewrite pointers into small buffers as 32-bit offsets"),
      row<chooseTensorMemoryLayouts>("choose-tensor-memory-layouts", "layout/choose_tensor_memory_layouts.cpp",
                                     "load and store tensor memory in layouts that an access moves",
                                     {.needs = kLayouts}),
      row<chooseScanLayouts>("choose-scan-layouts", "layout/choose_scan_layouts.cpp",
                             "give scans layouts in which their axis runs through registers, lanes and warps in order",
                             {.needs = kLayouts, .required = true}),
  };
}

Rows schedulePasses() {
  return {
      row<pipelineLoads>("tritongpu-pipeline", "schedule/pipeline.cpp",
                         "issue the loads of dot operands some iterations ahead",
                         {.options = pipelineOptions(), .needs = kLayouts}),
      row<automaticWarpSpecialization>("tritongpu-automatic-warp-specialization",
                                       "schedule/automatic_warp_specialization.cpp",
                                       "give the copies of a pipelined loop to a producer warp", {.needs = kLayouts}),
      row<overlapDots>("overlap-dots", "schedule/overlap_dots.cpp",
                       "issue the last dots of an iteration under the work of the next one", {.needs = kLayouts}),
      row<issueDotsEarly>("issue-dots-early", "schedule/issue_dots_early.cpp",
                          "keep several dots in flight under the arithmetic between them", {.needs = kLayouts}),
      row<holdDotOperands>("hold-dot-operands", "schedule/hold_dot_operands.cpp",
                           "keep A operands that a loop does not change in registers", {.needs = kLayouts}),
      row<dotsInTensorMemory>("dots-in-tensor-memory", "schedule/dots_in_tensor_memory.cpp",
                              "keep the accumulators of dots in tensor memory", {.needs = kLayouts, .required = true}),
      row<prefetch>("tritongpu-prefetch", "schedule/prefetch.cpp",
                    "load dot operands from shared memory one step of K ahead", {.needs = kLayouts}),
      row<stripMine>("strip-mine", "schedule/strip_mine.cpp",
                     "process blocks that exceed a thread's registers in strips",
                     {.options = stripMineOptions(), .needs = kLayouts}),
      row<loadScalarsAhead>("load-scalars-ahead", "schedule/load_scalars_ahead.cpp",
                            "load scalars, repeated values and indices of loops with dots an iteration ahead",
                            {.needs = kLayouts}),
      row<runLoadsAhead>("run-loads-ahead", "schedule/run_loads_ahead.cpp",
                         "issue the loads of serial loops some iterations ahead", {.needs = kLayouts}),
      row<reorderInstructions>("tritongpu-reorder-instructions", "schedule/reorder_instructions.cpp",
                               "load dot operands late where registers are scarce", {.needs = kLayouts}),
      row<issueLoadsEarly>("issue-loads-early", "schedule/issue_loads_early.cpp",
                           "issue loads before the arithmetic that uses earlier loads", {.needs = kLayouts}),
      row<orderPrograms>("order-programs", "schedule/order_programs.cpp",
                         "run neighbouring programs on the same die, or long programs first"),
      row<insertWgmmaWaits>("insert-wgmma-waits", "schedule/insert_wgmma_waits.cpp",
                            "wait for asynchronous dots before their results are used",
                            {.needs = kLayouts, .required = true}),
  };
}

Rows memoryPasses() {
  return {
      row<widenFloat8>("widen-float8", "memory/widen_float8.cpp", "compute with 8-bit floats in f32",
                       {.required = true}),
      row<tmaLowering>("triton-nvidia-tma-lowering", "memory/tma_lowering.cpp",
                       "turn loads and stores through tensor descriptors into bulk copies",
                       {.needs = kLayouts, .required = true}),
      row<warpGroupStores>("tritongpu-warp-group-stores", "memory/warp_group_stores.cpp",
                           "let each warp group store its own rows of a tile", {.needs = kLayouts}),
      row<fenceInsertion>("triton-nvidia-gpu-fence-insertion", "memory/fence_insertion.cpp",
                          "make writes to shared memory visible to the matrix unit",
                          {.needs = kLayouts, .required = true}),
      row<allocateWarpGroups>("tritongpu-allocate-warp-groups", "memory/allocate_warp_groups.cpp",
                              "give the partitions of ttg.warp_specialize their warps and registers",
                              {.needs = kLayouts, .establishes = IrStage::WarpGroupsAllocated, .required = true}),
      row<allocateGlobalScratch>("tritongpu-global-scratch-memory-allocation",
                                 "memory/global_scratch_memory_allocation.cpp",
                                 "give every scratch buffer in global memory an offset", {.required = true}),
      row<allocateSharedMemory>("allocate-shared-memory", "memory/allocate_shared_memory.cpp",
                                "give every buffer in shared memory an offset",
                                {.needs = kLayouts, .establishes = IrStage::SharedMemoryAllocated, .required = true}),
      row<allocateTensorMemory>("allocate-tensor-memory", "memory/allocate_tensor_memory.cpp",
                                "give every buffer in tensor memory its columns",
                                {.needs = kLayouts, .required = true}),
      row<insertBarriers>("insert-barriers", "memory/insert_barriers.cpp",
                          "insert barriers between accesses to shared memory that conflict",
                          {.needs = kLayouts | IrStage::SharedMemoryAllocated,
                           .establishes = IrStage::BarriersInserted,
                           .required = true}),
  };
}

} // namespace

llvm::ArrayRef<PassInfo> allPasses() {
  static const Rows rows = [] {
    Rows all;
    for (const Rows &part : {cleanupPasses(), ttirPasses(), layoutPasses(), schedulePasses(), memoryPasses()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rows;
}

} // namespace tessera::transforms
