// Running a list of LLVM passes of our own on a module.
#include "codegen/run_passes.h"
#include "codegen/collect_diagnostics.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

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

bool hasHelperFunctions(const llvm::Module &module) {
  for (const llvm::Function &f : module)
    if (!f.isDeclaration() && f.getCallingConv() != llvm::CallingConv::PTX_Kernel &&
        f.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL)
      return true;
  return false;
}

} // namespace tessera::codegen
