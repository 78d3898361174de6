// What a producer warp does for pipelined loops, and what remains of them for the consumers (see
// automatic_warp_specialization.cpp).
#pragma once
#include "ir/builder.h"
#include "transforms/schedule/loops_of_producer.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {

/// A loop that the producer serves.
struct ServedLoop {
  ir::scf::ForOp loop;
  const SpecializationPlan &plan;
  llvm::SetVector<ir::Operation *> addresses; // of the plan, and those of further mbarriers
  const FollowingLoop *following;             // null: its first copies are issued before the warps part

  ir::Block &body() const { return *ir::scf::ForOp(loop).body().front(); }
};

/// The buffer that is filled next, and the phase of its mbarrier in which it is free.
struct FillPosition {
  ir::Value index, phase;
};

class ProducerOfLoops {
public:
  /// `plan` is that of the loop whose buffers all loops use.
  ProducerOfLoops(const SpecializationPlan &plan, ir::Location loc);

  // ---- mbarriers of each group of buffers ----

  /// Those that say that buffers are filled, the first group's being `ofFirst`.
  void createFullMbarriers(ir::Builder &b, ir::Value ofFirst);
  /// Those that say that buffers have been read, by so many warps.
  void createEmptyMbarriers(ir::Builder &b, int64_t warps);
  void releaseMbarriers(ir::Builder &b) const; // all but `ofFirst`
  /// Lets all loops use other buffers and mbarriers than the first one's, to which `map` maps these.
  void replaceBuffers(const ir::ValueMap &map);
  /// Gives the copies of all groups but the first the mbarriers of these: each group's bytes are announced, and waited
  /// for before the group's first dot.
  void separateGroups(ServedLoop &s) const;
  /// The same of the copies that follow an announcement. Adds what it computes for them to `addresses`, unless null.
  void separateCopies(ir::ttng::BarrierExpectOp all, llvm::SetVector<ir::Operation *> *addresses) const;

  // ---- in the producer's partition, on the values of `map`. It captures others afterwards (captureOuterValues). ----

  /// The first buffer. All are free: the phase before the first one counts as complete.
  FillPosition start(ir::Builder &b) const;
  /// Copies for a loop's first iterations. Returns the position after them.
  FillPosition emitFirstCopies(ir::Builder &b, const FollowingLoop &f, ir::ValueMap map, FillPosition at) const;
  /// The loop with nothing but its copies, the first of which goes to `fill` (its index: if the loop's first copies are
  /// the producer's). If another loop's copies come after it, `start` counts iterations of all loops: returns it as it
  /// is after the loop.
  FillPosition emitLoop(ir::Builder &b, const ServedLoop &s, ir::ValueMap &map, FillPosition fill, FillPosition start,
                        bool isLast) const;

  // ---- in the loops, which the consumers keep ----

  /// Lets each warp say when it has read an iteration's buffers.
  void releaseBuffers(const ServedLoop &s) const;
  static void eraseCopies(const ServedLoop &s);
  /// Lets the loop use the buffers of the first one.
  static void useBuffersOfFirst(const FollowingLoop &f);
  /// Erases the buffers that the loop had, with all that still uses them: first copies, the mbarriers' ends.
  static void eraseSetUp(const FollowingLoop &f);

private:
  FillPosition next(ir::Builder &b, FillPosition p) const;
  void emitIteration(ir::Builder &b, const ServedLoop &s, ir::ValueMap &map, ir::Value phase, bool isLast) const;
  void emitFirstCopiesOfGroup(ir::Builder &b, const FollowingLoop &f, ir::ttng::BarrierExpectOp announced, size_t group,
                              ir::ValueMap &map, FillPosition at) const;
  size_t numGroups() const { return plan_.groups.size(); }
  size_t groupOf(ir::Operation &op) const;

  const SpecializationPlan &plan_;
  ir::Context &c_;
  ir::Location loc_;
  // Of each group:
  llvm::SmallVector<ir::Value, 2> full_, empty_; // mbarriers: buffers are filled, and have been read
  llvm::SmallVector<llvm::SmallVector<ir::Value, 2>, 2> buffers_;
};

} // namespace tessera::transforms
