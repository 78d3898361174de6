// Unrolls loops of warp-group dots by their buffers (see unroll_dot_loops.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class UnrollDotLoopsPass : public llvm::PassInfoMixin<UnrollDotLoopsPass> {
public:
  explicit UnrollDotLoopsPass(const ir::Tuning &tuning) : tuning_(&tuning) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::Tuning *tuning_;
};

} // namespace tessera::nvidia
