// The LLVM passes of an NVIDIA module. LLVM's O3 takes three times as long for code that is no better: over 18 kernels
// this list gives 3 % fewer machine instructions than O3 and the same registers. What is left out does nothing here
// (interprocedural passes, SLP: the lowering writes vectors itself) or is done again and better by NVPTX's own passes
// (straight-line strength reduction, splitting constant offsets off addresses) and by ptxas (rotating and unrolling
// loops, scheduling, sinking).
#include "codegen_nvidia/llvm_passes.h"
#include "codegen/object/closed_form_loops.h"
#include "codegen/object/run_passes.h"
#include "codegen/object/signed_constants.h"
#include "codegen_nvidia/passes/addresses_beside_wgmma.h"
#include "codegen_nvidia/passes/compare_differences.h"
#include "codegen_nvidia/passes/count_loops.h"
#include "codegen_nvidia/passes/descriptors_in_loops.h"
#include "codegen_nvidia/passes/dots_behind_loads.h"
#include "codegen_nvidia/passes/finish_library_calls.h"
#include "codegen_nvidia/passes/narrow_arithmetic.h"
#include "codegen_nvidia/passes/narrow_offsets.h"
#include "codegen_nvidia/passes/order_by_results.h"
#include "codegen_nvidia/passes/share_descriptors.h"
#include "codegen_nvidia/passes/share_pointers.h"
#include "codegen_nvidia/passes/sink_predicates.h"
#include "codegen_nvidia/passes/sums_before_barriers.h"
#include "codegen_nvidia/passes/unroll_dot_loops.h"
#include "codegen_nvidia/passes/unroll_loading_loops.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tessera::nvidia {
using namespace llvm;

absl::Status runLLVMPasses(llvm::Module &module, llvm::TargetMachine &tm, int optLevel, const ir::Tuning &tuning) {
  return codegen::runPasses(module, tm, [&](PassBuilder &builder, ModulePassManager &passes) {
    // First NVPTX's own: __nvvm_reflect calls of libdevice become constants (also at level 0, they must), thread ids
    // get ranges.
    if (optLevel >= 1) passes.addPass(FinishLibraryCallsPass());
    bool helpers = codegen::addCleaning(module, builder, passes, optLevel);
    if (optLevel >= 2) {
      FunctionPassManager late;
      late.addPass(ReassociatePass()); // thread-dependent and constant parts of indices apart, so that both are shared
      LoopPassManager loops;
      loops.addPass(LICMPass(LICMOptions())); // hoists masks and addresses
      loops.addPass(codegen::ClosedFormLoopsPass());
      late.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
      late.addPass(createFunctionToLoopPassAdaptor(UnrollLoadingLoopsPass(tuning)));
      late.addPass(LoopUnrollPass(LoopUnrollOptions(/*OptLevel=*/3, /*OnlyWhenForced=*/true))); // those that it marks
      late.addPass(UnrollDotLoopsPass(tuning));          // leaves indices of buffers that the next three fold
      late.addPass(EarlyCSEPass(/*UseMemorySSA=*/true)); // what reassociation made equal
      late.addPass(InstCombinePass());                   // and folds into addressing
      late.addPass(NarrowArithmeticPass());              // its fmas are additions to InstCombine
      late.addPass(SimplifyCFGPass());                   // small ifs to selects
      late.addPass(SharePointersPass());                 // distances are folded into constants
      late.addPass(ADCEPass());                          // whole cycles of dead phis
      late.addPass(codegen::SignedConstantsPass());      // after InstCombine, which clears their upper bits
      late.addPass(CompareDifferencesPass(tuning.leastDifferences)); // sums that nothing else uses are gone
      late.addPass(NarrowOffsetsPass(tuning));                       // before code generation reduces their strength
      late.addPass(AddressesBesideWgmmaPass());                      // … those that are left
      late.addPass(ShareDescriptorsPass());                          // after what is invariant has left the loops
      late.addPass(DescriptorsInLoopsPass(tuning.invariantDescriptorRegisters)); // … unless they are too many
      late.addPass(DotsBehindLoadsPass());                                       // with the zero of these
      late.addPass(SumsBeforeBarriersPass());                                    // what was reassociated
      late.addPass(SinkPredicatesPass());   // after all CSE, which would share predicates again
      late.addPass(OrderByResultsPass());   // keeps predicates at their accesses
      late.addPass(RecordTripCountsPass()); // no loop changes any more
      passes.addPass(createModuleToFunctionPassAdaptor(std::move(late)));
    }
    if (helpers) passes.addPass(GlobalDCEPass()); // bodies that were inlined everywhere
  });
}

} // namespace tessera::nvidia
