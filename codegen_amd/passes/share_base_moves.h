// Adds the distance by which a buffer's base is moved to what offsets have in common (see share_base_moves.cpp).
#pragma once
#include "ir/target.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ShareBaseMovesPass : public llvm::PassInfoMixin<ShareBaseMovesPass> {
public:
  explicit ShareBaseMovesPass(const ir::TargetInfo &info) : info_(info) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::TargetInfo &info_;
};

} // namespace tessera::amd
