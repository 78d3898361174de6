// Special functions first, then one result after the other (see order_by_results.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

/// The attribute of a function in which the pass ordered a block.
inline constexpr llvm::StringLiteral kOrderedByResults = "tessera-ordered-by-results";

class OrderByResultsPass : public llvm::PassInfoMixin<OrderByResultsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
