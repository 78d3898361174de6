// LLVM's loop unroller with the options that our passes share, and the question by how much they unroll: after how many
// iterations a loop's buffers are those of the first one again.
#pragma once
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace llvm {
class AssumptionCache;
class Constant;
class DominatorTree;
class Loop;
class LoopInfo;
class OptimizationRemarkEmitter;
class PHINode;
class ScalarEvolution;
class TargetTransformInfo;
class Value;
} // namespace llvm

namespace tessera::codegen {

/// The value of `v` where the phi is the constant; null if it depends on anything but the phi and constants.
llvm::Constant *valueWhere(const llvm::PHINode &phi, llvm::Constant *is, llvm::Value *v);

/// After how many iterations, of `most` at most, an integer that the loop carries is what it was at first. 1: it starts
/// with no constant, depends on more than itself and constants, or takes more iterations.
/// @pre the loop has a preheader and one latch; the phi is of its header.
unsigned iterationsUntilRepeated(const llvm::PHINode &, const llvm::Loop &, unsigned most);

/// Unrolls loops of one function, and keeps the analyses that the unroller needs current. Not thread-safe, as they are
/// not.
class LoopUnroller {
public:
  LoopUnroller(llvm::Function &, llvm::FunctionAnalysisManager &);

  /// Whether the loop's trip count may be anything. If it may not, the caller has seen to it that `copies` divides it.
  enum class TripCount { Divisible, Any };

  /// Makes `copies` of the body one iteration, whatever LLVM's cost model says of it. With TripCount::Any, the
  /// iterations that are left over follow it one by one, each in a copy of its own, where what depends on the iteration
  /// modulo `copies` is a constant as it is in the loop. Brings the loop into LCSSA form first.
  llvm::LoopUnrollResult unroll(llvm::Loop &, unsigned copies, TripCount);
  /// Peels the first iterations off. @pre llvm::canPeel.
  void peel(llvm::Loop &, unsigned iterations);

  llvm::LoopInfo &loops() { return loops_; }
  llvm::DominatorTree &dominators() { return dominators_; }
  llvm::ScalarEvolution &evolution() { return evolution_; }

private:
  llvm::LoopInfo &loops_;
  llvm::DominatorTree &dominators_;
  llvm::AssumptionCache &assumptions_;
  llvm::ScalarEvolution &evolution_;
  llvm::TargetTransformInfo &costs_;
  llvm::OptimizationRemarkEmitter &remarks_;
};

} // namespace tessera::codegen
