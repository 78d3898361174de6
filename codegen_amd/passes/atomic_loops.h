// Loops over compare-and-swap that read together (see atomic_loops.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetMachine;
}

namespace tessera::amd {

class AtomicLoopsPass : public llvm::PassInfoMixin<AtomicLoopsPass> {
public:
  explicit AtomicLoopsPass(const llvm::TargetMachine &tm) : tm_(tm) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const llvm::TargetMachine &tm_;
};

} // namespace tessera::amd
