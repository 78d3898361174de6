// Results of library functions that are computed before the next call (see finish_library_calls.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class FinishLibraryCallsPass : public llvm::PassInfoMixin<FinishLibraryCallsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
};

} // namespace tessera::nvidia
