// Divisions of 32-bit integers (see expand_divisions.cpp).
#pragma once
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

/// The quotient or remainder of two i32, of any values: by zero the quotient is all ones and the remainder x, and the
/// smallest integer by -1 is itself. It is a call that the pass below replaces.
llvm::Value *createDivision(llvm::IRBuilder<> &, llvm::Instruction::BinaryOps, llvm::Value *x, llvm::Value *y);

class ExpandDivisionsPass : public llvm::PassInfoMixin<ExpandDivisionsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
