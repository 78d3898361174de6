// Running a list of LLVM passes of our own on a module. Which passes is the vendors' choice (codegen_*/pipeline.cpp);
// here is only what every run needs: the analysis managers, the target's own registrations, and error capture.
#pragma once
#include "absl/status/status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Module;
class PassBuilder;
class TargetMachine;
} // namespace llvm
namespace tessera::codegen {

/// Runs the passes that `addPasses` adds. @pre tm is not in use elsewhere.
absl::Status runPasses(llvm::Module &, llvm::TargetMachine &tm,
                       llvm::function_ref<void(llvm::PassBuilder &, llvm::ModulePassManager &)> addPasses);

/// True if a function that is not a kernel has a body: then there is something to inline.
bool hasHelperFunctions(const llvm::Module &);

} // namespace tessera::codegen
