// Arithmetic of two 16-bit floats that is rounded to 16 bits is done in 16 bits (see narrow_arithmetic.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class NarrowArithmeticPass : public llvm::PassInfoMixin<NarrowArithmeticPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
