// Predicates next to the accesses that they guard (see sink_predicates.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class SinkPredicatesPass : public llvm::PassInfoMixin<SinkPredicatesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
