// Loops that one producer warp can serve, one after the other (see loops_of_producer.cpp).
#pragma once
#include "transforms/analyses/body_slice.h"
#include "transforms/schedule/specialization_plan.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace tessera::transforms {

/// A loop that fills and reads the buffers of the loop before it in turn.
struct FollowingLoop {
  ir::scf::ForOp loop;
  SpecializationPlan plan;
  llvm::MapVector<ir::Value, ir::Value> buffers;     // its buffers and mbarriers, and those of the first loop
  llvm::SmallVector<ir::Operation *, 8> firstCopies; // announcements and copies of its first iterations, in order
  // Computed after the first loop, in order: scalars that its copies need, beside those of loops before, and what it
  // needs itself.
  llvm::SmallVector<ir::Operation *, 8> scalars, computations;
};

/// The loop that follows `firstLoop` and those `served` with it in their block, if the producer can serve it, too.
/// `first` is the plan of the first loop.
std::optional<FollowingLoop> findFollowingLoop(ir::scf::ForOp firstLoop, llvm::ArrayRef<FollowingLoop> served,
                                               const SpecializationPlan &first, const ir::Tuning &);

/// Loops in the body of a loop around them, over tiles, that one producer can serve in all tiles. All go round the same
/// buffers, from one tile into the next.
struct LoopNest {
  ir::scf::ForOp tiles;
  std::vector<FollowingLoop> loops; // the first one, too; its `buffers` are its own
  BodySlice scalars;                // of the body of `tiles`: what the producer computes itself
};

/// The nest whose first loop is `first`, which stands in another loop; none, and `whyNot`: why not.
std::optional<LoopNest> findLoopNest(ir::scf::ForOp first, const ir::TargetInfo &, std::string &whyNot);

/// The phase of the mbarrier that the loop waits for, and the index of the buffer, as the loop carries both.
struct ReadPosition {
  unsigned index, phase; // among the carried values
};
/// Nothing if they do not start at the first buffer, or do not step by createNextBufferIndex and createNextPhase.
std::optional<ReadPosition> readPosition(const SpecializationPlan &);

} // namespace tessera::transforms
