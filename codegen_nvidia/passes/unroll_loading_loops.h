// Unrolls short loops of loads (see unroll_loading_loops.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class LPMUpdater;
class Loop;
} // namespace llvm
namespace tessera::nvidia {

class UnrollLoadingLoopsPass : public llvm::PassInfoMixin<UnrollLoadingLoopsPass> {
public:
  explicit UnrollLoadingLoopsPass(const ir::Tuning &tuning) : tuning_(tuning) {}
  llvm::PreservedAnalyses run(llvm::Loop &, llvm::LoopAnalysisManager &, llvm::LoopStandardAnalysisResults &,
                              llvm::LPMUpdater &);

private:
  const ir::Tuning &tuning_;
};

} // namespace tessera::nvidia
