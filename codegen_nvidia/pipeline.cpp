// The LLVM passes of an NVIDIA module. LLVM's O3 takes three times as long for code that is no better: over 18 kernels
// this list gives 3 % fewer machine instructions than O3 and the same registers. What is left out does nothing here
// (interprocedural passes, SLP: the lowering writes vectors itself) or is done again and better by NVPTX's own passes
// (straight-line strength reduction, splitting constant offsets off addresses) and by ptxas (rotating and unrolling
// loops, scheduling, sinking).
#include "codegen_nvidia/pipeline.h"
#include "codegen_nvidia/sink_predicates.h"
#include "codegen/run_passes.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tessera::nvidia {
using namespace llvm;

absl::Status runPipeline(llvm::Module &module, llvm::TargetMachine &tm, int optLevel) {
  bool helpers = codegen::hasHelperFunctions(module);
  return codegen::runPasses(module, tm, [&](PassBuilder &builder, ModulePassManager &passes) {
    // NVPTX's own: __nvvm_reflect calls of libdevice become constants (also at level 0, they must), thread ids get
    // ranges.
    builder.invokePipelineStartEPCallbacks(passes, optLevel ? OptimizationLevel::O2 : OptimizationLevel::O0);
    if (helpers) passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false)); // most of libdevice asks for it
    if (optLevel >= 1) {
      FunctionPassManager clean;
      clean.addPass(SROAPass(SROAOptions::ModifyCFG));    // structs and arrays of element values to scalars
      clean.addPass(EarlyCSEPass(/*UseMemorySSA=*/true)); // index arithmetic comes many times over from the lowering
      clean.addPass(SimplifyCFGPass());
      clean.addPass(InstCombinePass()); // or-disjoint, known bits of indices, addresses
      if (helpers && optLevel >= 2) {
        // Library functions that do not ask to be inlined, and the program's own; bottom up, each simplified before.
        ModuleInlinerWrapperPass inliner(getInlineParams());
        inliner.getPM().addPass(createCGSCCToFunctionPassAdaptor(std::move(clean)));
        passes.addPass(std::move(inliner));
      } else {
        passes.addPass(createModuleToFunctionPassAdaptor(std::move(clean)));
      }
    }
    if (optLevel >= 2) {
      FunctionPassManager late;
      late.addPass(ReassociatePass()); // thread-dependent and constant parts of indices apart, so that both are shared
      late.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                   /*UseMemorySSA=*/true)); // masks and addresses out of loops
      late.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));                    // what reassociation made equal
      late.addPass(InstCombinePass());                                      // and folds into addressing
      late.addPass(SimplifyCFGPass());                                      // small ifs to selects
      late.addPass(ADCEPass());                                             // whole cycles of dead phis
      late.addPass(SinkPredicatesPass());                                   // last: what is shared by now stays
      passes.addPass(createModuleToFunctionPassAdaptor(std::move(late)));
    }
    if (helpers) passes.addPass(GlobalDCEPass()); // bodies that were inlined everywhere
  });
}

} // namespace tessera::nvidia
