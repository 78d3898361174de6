// The LLVM passes of an AMD module. LLVM's O3 takes three times as long for code that is no better: over 16 kernels
// this list gives the same number of machine instructions within 1.5 % and up to 7 % fewer registers (gfx942, gfx1100;
// the attention kernels have 3 % more instructions than with O3). Unlike on NVIDIA no second compiler follows, so loops
// are rotated here and redundancy across blocks is removed by GVN.
#include "codegen_amd/llvm_passes.h"
#include "codegen/object/closed_form_loops.h"
#include "codegen/object/run_passes.h"
#include "codegen/object/signed_constants.h"
#include "codegen_amd/passes/advance_offsets.h"
#include "codegen_amd/passes/alternate_waves.h"
#include "codegen_amd/passes/atomic_loops.h"
#include "codegen_amd/passes/buffer_immediates.h"
#include "codegen_amd/passes/carry_words.h"
#include "codegen_amd/passes/drop_masked_buffers.h"
#include "codegen_amd/passes/expand_divisions.h"
#include "codegen_amd/passes/hoist_short_branches.h"
#include "codegen_amd/passes/keep_carried_pointers.h"
#include "codegen_amd/passes/keep_wmma_in_blocks.h"
#include "codegen_amd/passes/limit_buffers.h"
#include "codegen_amd/passes/mark_slow_allocation.h"
#include "codegen_amd/passes/medians.h"
#include "codegen_amd/passes/merge_branches.h"
#include "codegen_amd/passes/mfma_scheduler.h"
#include "codegen_amd/passes/pack_halves.h"
#include "codegen_amd/passes/permute_bytes.h"
#include "codegen_amd/passes/rare_nans.h"
#include "codegen_amd/passes/round_to_bfloat.h"
#include "codegen_amd/passes/scalar_offsets.h"
#include "codegen_amd/passes/scale_indices.h"
#include "codegen_amd/passes/share_base_moves.h"
#include "codegen_amd/passes/share_muls.h"
#include "codegen_amd/passes/unroll_buffers.h"
#include "codegen_amd/passes/unroll_loads.h"
#include "codegen_amd/passes/vector_partials.h"
#include "codegen_amd/passes/work_after_branches.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/Sink.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

namespace tessera::amd {
using namespace llvm;

namespace {
/// LLVM's SLP vectoriser, except for functions so large that it would take over a minute: for every group of inserted
/// elements it numbers the instructions of the block again. Measured: x86-64, 2026-11, tessera compile --target gfx942
/// --emit llir: 31,000 instructions 3 s, 158,000 over a minute.
class PackFloatsPass : public PassInfoMixin<PackFloatsPass> {
public:
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &analyses) {
    constexpr unsigned kMostInstructions = 65536;
    if (f.getInstructionCount() > kMostInstructions) return PreservedAnalyses::all();
    return SLPVectorizerPass().run(f, analyses);
  }
};
} // namespace

/// The passes of optimisation levels 2 and 3, after the clean-up of level 1.
static FunctionPassManager optimizations(const ir::TargetInfo &info, const TargetMachine &tm) {
  FunctionPassManager p;
  p.addPass(
      ReassociatePass()); // splits indices into lane-dependent and uniform parts: the latter go to scalar registers
  LoopPassManager loops;
  loops.addPass(LoopRotatePass()); // puts a loop's test at its end, so that LICM may hoist loads
  loops.addPass(LICMPass(LICMOptions()));
  loops.addPass(codegen::ClosedFormLoopsPass());
  p.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  p.addPass(createFunctionToLoopPassAdaptor(LoopFullUnrollPass(/*OptLevel=*/2))); // short loops of a constant count
  p.addPass(UnrollLoadsPass(info.tuning));     // after what LLVM unrolls; before GVN, which removes what copies repeat
  p.addPass(UnrollBuffersPass(info));          // makes a buffer's number a constant
  p.addPass(SCCPPass());                       // … which it still carries round
  p.addPass(DropMaskedBuffersPass());          // before GVN, which removes what only these accesses used
  p.addPass(GVNPass());                        // redundancy across blocks
  p.addPass(InstCombinePass());                // folds what GVN made equal
  p.addPass(SinkingPass());                    // numbers of iterations to where there are some
  p.addPass(CorrelatedValuePropagationPass()); // narrow divisions of 64-bit numbers that are known to be small
  p.addPass(DivRemPairsPass());                // one division for a quotient and a remainder of the same numbers
  p.addPass(MergeBranchesPass(info.tuning));   // masks that GVN found equal
  p.addPass(HoistShortBranchesPass(info.tuning)); // … also with a mul
  p.addPass(SimplifyCFGPass());                   // small ifs to selects
  if (info.hasPackedF32) {                        // CDNA: pairs of f32 and of f16
    p.addPass(PackFloatsPass());
    p.addPass(InstCombinePass());
  } else { // RDNA: pairs of f16; those of f32 are formed when instructions are encoded
    p.addPass(PackHalvesPass(info.tuning));
  }
  // No InstCombine from here on: it would undo what the passes below make.
  p.addPass(ExpandDivisionsPass()); // after GVN, which finds divisions of the same numbers
  if (info.matrixUnit == ir::MatrixUnit::Mfma) p.addPass(MediansPass());
  p.addPass(ShareMulsPass());
  p.addPass(WorkAfterBranchesPass());
  p.addPass(BufferImmediatesPass());
  p.addPass(LimitBuffersPass());
  p.addPass(VectorPartialsPass(info.tuning));
  if (!info.hasBf16Conversion) p.addPass(RoundToBfloatPass());
  p.addPass(CarryWordsPass());   // after SLP, which vectorizes what is carried to vectors of bytes
  p.addPass(PermuteBytesPass()); // InstCombine makes the chains of shuffles that it takes
  p.addPass(ADCEPass());
  p.addPass(codegen::SignedConstantsPass()); // after InstCombine, which clears their upper bits
  p.addPass(AdvanceOffsetsPass());           // after the passes that change offsets and their masks
  p.addPass(ScalarOffsetsPass());            // … and before all that hides them
  p.addPass(ShareBaseMovesPass(info));       // … and before their sums change
  p.addPass(KeepCarriedPointersPass());      // hides where pointers start: after the passes that use it
  p.addPass(ScaleIndicesPass());             // after the passes that know shifted indices
  if (info.matrixUnit == ir::MatrixUnit::Mfma) p.addPass(RareNansPass(info.warpSize)); // … and blocks
  p.addPass(AtomicLoopsPass(tm));
  p.addPass(AlternateWavesPass(info)); // after all that changes loops
  p.addPass(MfmaSchedulerPass());      // after the passes that remove matrix instructions
  return p;
}

/// Without the wave's IEEE mode, minima and maxima ignore signalling NaNs as they ignore quiet ones. With it they do
/// not, so LLVM quiets operands that it does not know, by an instruction each (v_max x, x). All functions get the
/// attribute: LLVM does not inline one into another of a different mode.
static void leaveIeeeMode(Module &module) {
  for (Function &f : module)
    if (!f.isDeclaration()) f.addFnAttr("amdgpu-ieee", "false");
}

absl::Status runLLVMPasses(llvm::Module &module, llvm::TargetMachine &tm, int optLevel, const ir::TargetInfo &info) {
  if (info.hasIeeeMode) leaveIeeeMode(module);
  absl::Status parsed;
  absl::Status ran = codegen::runPasses(module, tm, [&](PassBuilder &builder, ModulePassManager &passes) {
    // First AMDGPU's own (predicates on features). Calls are expensive on AMD (registers for the worst case, scratch):
    // LLVM's thresholds for inlining take nearly all of ocml.
    bool helpers = codegen::addCleaning(module, builder, passes, optLevel);
    if (optLevel >= 2)
      passes.addPass(createModuleToFunctionPassAdaptor(optimizations(info, tm)));
    else
      passes.addPass(createModuleToFunctionPassAdaptor(ExpandDivisionsPass()));
    bool isRdna3 = info.matrixUnit == ir::MatrixUnit::Wmma && info.matrixVersion == 1;
    if (optLevel >= 1 && isRdna3) passes.addPass(createModuleToFunctionPassAdaptor(KeepWmmaInBlocksPass()));
    if (optLevel >= 1) passes.addPass(createModuleToFunctionPassAdaptor(MarkSlowAllocationPass(info)));
    if (helpers) passes.addPass(GlobalDCEPass()); // bodies that were inlined everywhere
    // Finds the implicit inputs (dispatch packet, queue, y and z of ids, accumulation registers, …) that are not used:
    // registers are set up and kept for the others. At level 0 too: without it the metadata would name hidden
    // arguments.
    if (Error e = builder.parsePassPipeline(passes, "amdgpu-attributor"))
      parsed = absl::InternalError(toString(std::move(e)));
  });
  if (!ran.ok()) return ran;
  // y and z of the block's id are halves of one register. A kernel that does not use z must not take the whole register
  // for y, since the launch may have more than one block along z all the same.
  if (info.packsBlockIds)
    for (Function &f : module)
      for (StringRef attribute : {"amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z"})
        f.removeFnAttr(attribute);
  return parsed;
}

} // namespace tessera::amd
