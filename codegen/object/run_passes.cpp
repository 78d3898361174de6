// Running a list of LLVM passes of our own on a module.
#include "codegen/object/run_passes.h"
#include "codegen/object/collect_diagnostics.h"
#include "codegen/object/share_carried_offsets.h"
#include "codegen/object/share_divisions.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tessera::codegen {

absl::Status runPasses(llvm::Module &module, llvm::TargetMachine &tm,
                       llvm::function_ref<void(llvm::PassBuilder &, llvm::ModulePassManager &)> addPasses) {
  CollectDiagnostics diagnostics(module.getContext());
  // Managers refer to each other: they die in the reverse of this order.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&tm);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  addPasses(builder, passes);
  passes.run(module, modules);
  if (diagnostics.hasErrors()) return absl::InternalError("LLVM's passes failed: " + diagnostics.text());
  return absl::OkStatus();
}

static bool hasHelperFunctions(const llvm::Module &module) {
  for (const llvm::Function &f : module)
    if (!f.isDeclaration() && f.getCallingConv() != llvm::CallingConv::PTX_Kernel &&
        f.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL)
      return true;
  return false;
}

bool addCleaning(const llvm::Module &module, llvm::PassBuilder &builder, llvm::ModulePassManager &passes,
                 int optLevel) {
  using namespace llvm;
  bool helpers = hasHelperFunctions(module);
  builder.invokePipelineStartEPCallbacks(passes, optLevel ? OptimizationLevel::O2 : OptimizationLevel::O0);
  if (helpers) passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/true)); // most of libdevice is marked so
  if (optLevel < 1) return helpers;
  FunctionPassManager clean;
  clean.addPass(SROAPass(SROAOptions::ModifyCFG));    // structs and arrays of element values to scalars
  clean.addPass(EarlyCSEPass(/*UseMemorySSA=*/true)); // index arithmetic comes many times over from the lowering
  clean.addPass(SimplifyCFGPass());
  clean.addPass(InstCombinePass()); // or-disjoint, known bits of indices, addresses
  clean.addPass(ShareDivisionsPass());
  clean.addPass(ShareCarriedOffsetsPass());
  if (helpers && optLevel >= 2) {
    ModuleInlinerWrapperPass inliner(getInlineParams());
    inliner.getPM().addPass(createCGSCCToFunctionPassAdaptor(std::move(clean)));
    passes.addPass(std::move(inliner));
  } else {
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(clean)));
  }
  return helpers;
}

} // namespace tessera::codegen
