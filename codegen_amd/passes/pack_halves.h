// Packs arithmetic on f16 (see pack_halves.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class PackHalvesPass : public llvm::PassInfoMixin<PackHalvesPass> {
public:
  explicit PackHalvesPass(const ir::Tuning &tuning) : minOperations_(tuning.packHalvesMinOperations) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  unsigned minOperations_;
};

} // namespace tessera::amd
