// Clamps that keep NaN, for which most waves have no instruction (see rare_nans.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class RareNansPass : public llvm::PassInfoMixin<RareNansPass> {
public:
  explicit RareNansPass(int warpSize) : warpSize_(warpSize) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  int warpSize_;
};

} // namespace tessera::amd
