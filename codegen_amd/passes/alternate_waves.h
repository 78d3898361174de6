// Two waves of a SIMD alternate between memory and the matrix unit (see alternate_waves.cpp).
#pragma once
#include "ir/target.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class AlternateWavesPass : public llvm::PassInfoMixin<AlternateWavesPass> {
public:
  explicit AlternateWavesPass(const ir::TargetInfo &info) : info_(info) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::TargetInfo &info_;
};

} // namespace tessera::amd
