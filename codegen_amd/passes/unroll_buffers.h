// Unrolls loops that cycle through buffers (see unroll_buffers.cpp).
#pragma once
#include "ir/target.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class UnrollBuffersPass : public llvm::PassInfoMixin<UnrollBuffersPass> {
public:
  explicit UnrollBuffersPass(const ir::TargetInfo &info) : info_(info) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::TargetInfo &info_;
};

} // namespace tessera::amd
