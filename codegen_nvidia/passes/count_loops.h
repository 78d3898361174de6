// Loops of constant trip count get a counter that ptxas understands (see count_loops.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace llvm {
class Loop;
class Pass;
} // namespace llvm

namespace tessera::nvidia {

/// Makes a new counter from 0 decide when a loop ends. What decided before may be dead then.
/// @pre the loop has a preheader, and its latch alone leaves it, by a conditional branch
void countTo(unsigned trips, llvm::Loop &);

/// Records the constant trip counts of loops that ptxas may unroll, as metadata. Comes last: what unrolls or peels
/// loops afterwards makes the counts wrong.
class RecordTripCountsPass : public llvm::PassInfoMixin<RecordTripCountsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

/// A pass on functions, to run after LLVM's loop strength reduction: counters for those loops. The caller owns it.
llvm::Pass *createCountLoops();

} // namespace tessera::nvidia
