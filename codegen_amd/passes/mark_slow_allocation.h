// Marks functions for which LLVM's register allocator would take long (see mark_slow_allocation.cpp).
#pragma once
#include "ir/target.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class MarkSlowAllocationPass : public llvm::PassInfoMixin<MarkSlowAllocationPass> {
public:
  explicit MarkSlowAllocationPass(const ir::TargetInfo &info) : info_(info) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::TargetInfo &info_;
};

} // namespace tessera::amd
