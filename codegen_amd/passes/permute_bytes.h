// Permutes bytes by one instruction for four of them (see permute_bytes.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class PermuteBytesPass : public llvm::PassInfoMixin<PermuteBytesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
