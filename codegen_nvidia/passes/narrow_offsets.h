// Offsets of many accesses in a loop stay 32 bits wide (see narrow_offsets.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class NarrowOffsetsPass : public llvm::PassInfoMixin<NarrowOffsetsPass> {
public:
  explicit NarrowOffsetsPass(const ir::Tuning &tuning) : tuning_(tuning) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::Tuning &tuning_;
};

} // namespace tessera::nvidia
