// Pass tritongpu-automatic-warp-specialization: gives the copies of a pipelined loop to a warp of their own, the
// producer. The kernel's own warps, the consumers, are left with the dots and the work between them.
//
//   mbarriers %full                                     mbarriers %full, and %empty (a count of the own warps)
//   copies of the first iterations                      copies of the first iterations
//   scf.for %i … iter_args(%read, %fill, %phase, …)     ttg.warp_specialize
//     wait for %full[%read]                             default
//     dots that read the buffers %read          →         scf.for %i … iter_args(%read, %phase, …)
//     work                                                  wait for %full[%read]
//     copies to the buffers %fill                           dots, work
//                                                           arrive at %empty[%read], each warp for itself
//                                                       partition0 num_warps(1)
//                                                         scf.for %i … iter_args(%fill, %filled, …)
//                                                           wait for %empty[%fill]
//                                                           copies to the buffers %fill
//
// Where there are two buffers (a third is needed otherwise, see overlap_dots.cpp), those that different dots read (K
// and V of attention) have mbarriers of their own, full and empty: each is waited for and released where its own dots
// are. (Measured: NVIDIA H200, 2026-11, `tessera bench`, attention forward, heads of 128, 128 x 128, 8 warps, 2 stages:
// 1.52 times the speed with common mbarriers, causal 1.30. With 3 and 4 stages they cost more than they give: 128 x 128
// 0.995, causal 1.00; 128 x 64 1.05, causal 0.96, with 4 stages 0.94.)
//
// In the loop as it was, a copy overwrites what all warps have read in the iteration before: there is a barrier of all
// warps in each iteration, and they do the same at the same time: all use the matrix units, then none does. Consumers
// wait for the producer alone, which is a few iterations ahead: a warp group computes while another one uses the matrix
// units, and dots of one iteration overlap the work of the next (overlap-dots, which runs after this pass).
//
// The producer needs few registers and returns the others to the consumers (setmaxnreg), where those are whole warp
// groups: 240 of each thread for 8 warps, which could have 255 without the producer.
//
// Runs: NVIDIA pipeline, after tritongpu-pipeline. Targets with wgmma.
//
// Conditions:
//   - The loop stands in a kernel, in no branch and no other loop than one over tiles (producer_of_nest.cpp), and no
//     other loop of the kernel is specialised, those that follow it aside (loops_of_producer.cpp): warps of partitions
//     then need no messages about what to run.
//   - All asynchronous copies of the loop are bulk copies (TMA) to multi-buffers, and the loop waits for them by one
//     mbarrier. What they need is computed from scalars alone. Their descriptors are arguments of the kernel.
//   - Nothing reads these buffers but asynchronous dots that the same iteration waits for.
//   - Nothing else in the loop synchronises with other agents.
// The first copies stay before the loop: the consumers' first thread issues them. Those of a loop that follows another
// one (loops_of_producer.cpp) are the producer's.
//
// Worth it: if dots can then overlap work (overlap-dots), which takes two warp groups or more and three buffers, and if
// a multiprocessor would not run two blocks of the kernel as it is: those overlap by themselves, and do not fit beside
// the producer's warps. (Measured: NVIDIA H200, 2026-11, `tessera bench`, attention forward by 8 warps, 3 stages,
// N = 4,096, specialised against not: heads of 128 with blocks of 128 x 128 1.17, 128 x 64 1.05, heads of 64 with
// 256 x 64 1.13, one block either way; with two blocks, heads of 64, 128 x 128 0.88, 128 x 64 0.84, 128 x 32 0.73.)
// Or if the loop has `tt.warp_specialize` (tl.range(…, warp_specialize=True)). `tessera.warp_specialize = false`
// prevents it.
#include "transforms/schedule/automatic_warp_specialization.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/diagnostic.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/partitions.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/scratch.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/schedule/loops_of_producer.h"
#include "transforms/schedule/overlap_plan.h"
#include "transforms/schedule/producer_of_nest.h"
#include "transforms/schedule/producer_partition.h"
#include "transforms/schedule/specialization_plan.h"
#include "transforms/schedule/specialized_loops.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace tessera::transforms {
using namespace ir;

namespace {

// ---- the transformation ----

class SpecializedLoops {
public:
  SpecializedLoops(scf::ForOp loop, const SpecializationPlan &plan, llvm::ArrayRef<FollowingLoop> following)
      : plan_(plan), loc_(loop->loc()), b_(loop.op), warps_(numWarps(loop->module().op())), producer_(plan, loc_) {
    loops_.push_back({loop, plan, plan.addresses, nullptr});
    for (auto &f : following) loops_.push_back({f.loop, f.plan, f.plan.addresses, &f});
  }

  void build() {
    for (auto &s : following()) adopt(*s.following);
    separateGroups();
    producer_.createEmptyMbarriers(b_, warps_);
    findUsedResults();
    llvm::SmallVector<Type, 8> types;
    for (Value r : used_) types.push_back(r.type());
    auto specialized = createWithProducer(b_, loc_, types);
    emitProducer(*specialized.partition);
    captureOuterValues(specialized);
    emitConsumers(specialized.op);
    for (auto &s : following()) ProducerOfLoops::eraseSetUp(*s.following);
    b_.setInsertionPointAfter(specialized.op.op);
    producer_.releaseMbarriers(b_);
    for (auto &s : loops_) dropUnneededCarriedValues(s.loop);
  }

private:
  llvm::ArrayRef<ServedLoop> following() const { return llvm::ArrayRef(loops_).drop_front(); }

  /// Computes what the producer needs before the first loop, and lets the following loop use the first one's buffers.
  void adopt(const FollowingLoop &f) {
    for (Operation *op : f.scalars) op->moveBefore(loops_.front().loop.op);
    ProducerOfLoops::useBuffersOfFirst(f);
  }

  /// Gives all groups but the first mbarriers of their own.
  void separateGroups() {
    Builder b(plan_.mbarriers.op);
    producer_.createFullMbarriers(b, plan_.mbarriers.result());
    for (auto &s : loops_) producer_.separateGroups(s);
    if (plan_.groups.size() == 1) return;
    llvm::SmallVector<ttng::BarrierExpectOp, 4> firsts; // before the loops
    for (auto *view : plan_.mbarriers.result().users()) {
      if (!view->is<ttg::MemdescIndexOp>()) continue;
      for (auto *user : view->result().users())
        if (auto expect = user->dyn<ttng::BarrierExpectOp>(); expect && user->block() == loops_[0].loop->block())
          firsts.push_back(expect);
    }
    for (auto expect : firsts) producer_.separateCopies(expect, nullptr);
  }

  /// Results that are used by others than the loops.
  void findUsedResults() {
    for (auto &s : loops_)
      for (Value r : s.loop->results())
        if (llvm::any_of(r.users(), [&](Operation *user) { return !isOfLaterLoop(user); })) used_.push_back(r);
  }
  bool isOfLaterLoop(Operation *user) const {
    return llvm::any_of(following(), [&](auto &s) { return s.loop->isAncestorOf(user); });
  }

  void emitProducer(Block &partition) {
    Builder b = Builder::atEnd(&partition);
    ValueMap map;
    FillPosition start = producer_.start(b);
    for (auto &s : loops_) {
      FillPosition fill = {{}, start.phase};
      if (s.following) fill = producer_.emitFirstCopies(b, *s.following, map, start);
      start = producer_.emitLoop(b, s, map, fill, start, &s == &loops_.back());
    }
    ttg::WarpReturnOp::create(b, loc_);
  }

  void emitConsumers(ttg::WarpSpecializeOp op) {
    for (auto &s : loops_) {
      producer_.releaseBuffers(s);
      ProducerOfLoops::eraseCopies(s);
    }
    // What follows uses the operation's results instead of the loops'.
    ValueMap inner;
    for (auto [r, outer] : llvm::zip_equal(used_, op->results())) {
      llvm::SmallVector<OpOperand *, 8> uses;
      for (OpOperand *use = r.firstUse(); use; use = use->nextUse) uses.push_back(use);
      for (OpOperand *use : uses)
        if (!isOfLaterLoop(use->owner)) use->set(outer);
      inner.map(outer, r);
    }
    Builder b = Builder::atEnd(op.defaultRegion().front());
    auto yield = ttg::WarpYieldOp::create(b, loc_, used_);
    b.setInsertionPoint(yield.op);
    ReadPosition before{};
    for (auto &s : loops_) {
      ReadPosition position{};
      if (loops_.size() > 1) position = *readPosition(s.plan);
      if (s.following) {
        computeInside(b, s, inner);
        scf::ForOp previous = (&s - 1)->loop;
        carried(s.loop, position.index).setInit(carried(previous, before.index).result);
        carried(s.loop, position.phase).setInit(carried(previous, before.phase).result);
      }
      s.loop->moveBefore(yield.op);
      before = position;
    }
  }
  /// Repeats what the following loop needs of the operations between the loops, which remain for others.
  void computeInside(Builder &b, const ServedLoop &s, ValueMap &inner) {
    for (Operation *op : s.following->computations) b.clone(op, inner);
    scf::ForOp loop = s.loop;
    loop->walk([&](Operation *op) {
      for (unsigned i = 0; i < op->numOperands(); ++i) op->setOperand(i, inner.lookupOrSelf(op->operand(i)));
    });
  }
  llvm::SmallVector<ServedLoop, 2> loops_; // the first one, whose buffers all use, and those after it
  const SpecializationPlan &plan_;         // of the first loop
  Location loc_;
  Builder b_; // around the first loop
  int64_t warps_;
  ProducerOfLoops producer_;
  llvm::SmallVector<Value, 8> used_; // results of the loops that others use
};

/// Bytes of the buffers that exist at an operation, of its block and those around it.
int64_t sharedBytesAt(Operation *at) {
  int64_t bytes = 0;
  for (auto *op = at->block()->front(); op != at; op = op->next()) {
    auto dealloc = op->dyn<ttg::LocalDeallocOp>();
    auto alloc = dealloc ? allocationOf(dealloc.src()) : op->dyn<ttg::LocalAllocOp>();
    if (!alloc) continue;
    bytes += (dealloc ? -1 : 1) * bufferBytes(alloc.result().type().cast<MemDescType>());
  }
  return bytes;
}

/// Why warps should not be specialised for a loop in which they can be; empty: they should.
std::string whyNotWorth(scf::ForOp loop, const TargetInfo &target) {
  int64_t bytes = sharedBytesAt(loop.op);
  if (bytes + kBytesOfProducer > target.sharedMemoryPerBlock)
    return llvm::formatv("its buffers of {0} bytes leave no room for more mbarriers", bytes);
  Operation *around = loop->parentOp();
  if (loop->hasAttr(kWarpSpecializeAttr) || around->hasAttr(kWarpSpecializeAttr)) return "";
  int64_t warps = numWarps(loop->module().op());
  if (warps < 2 * kWarpGroup) return llvm::formatv("{0} warps are fewer than two warp groups", warps);
  int64_t held = heldRegisters(around->is<scf::ForOp>() ? around->parentOp() : around);
  if (target.blocksBySharedMemory(bytes) >= 2 &&
      held * 100 <=
          target.registersPerThread(2 * warps, RegisterSplit::Evenly) * target.tuning.twoBlocksRegistersPercent)
    return llvm::formatv("a multiprocessor runs two blocks of it, which overlap ({0} bytes of shared memory, {1} "
                         "registers a thread held at dots)",
                         bytes, held);
  return whyNoOverlapOfDots(loop, target, registersBesideProducer(target, loop->module().op()));
}

} // namespace

/// The loops after this one that its producer serves, too.
static std::vector<FollowingLoop> followingLoops(scf::ForOp loop, const SpecializationPlan &plan,
                                                 const Tuning &tuning) {
  std::vector<FollowingLoop> following;
  while (auto f = findFollowingLoop(loop, following, plan, tuning)) following.push_back(std::move(*f));
  return following;
}

int64_t registersOfConsumers(Operation *op, const TargetInfo &target) {
  int64_t warps = numWarps(op->module().op());
  if (!partitionOf(op)) return target.registersPerThread(warps, RegisterSplit::Evenly);
  return registersBesideProducer(target, op->module().op());
}

/// Whether the loop itself, not one inside of it, issues bulk copies that it reads.
static bool copies(scf::ForOp loop) {
  auto isCopy = [](Operation &op) { return op.is<ttng::AsyncTmaCopyGlobalToLocalOp>(); };
  auto copiesInside = [&](Operation &op) {
    auto inner = op.dyn<scf::ForOp>();
    return inner && llvm::any_of(*inner.body().front(), isCopy);
  };
  return llvm::any_of(*loop.body().front(), isCopy) && llvm::none_of(*loop.body().front(), copiesInside);
}

absl::StatusOr<bool> automaticWarpSpecialization(Module &m, PassContext &c) {
  if (!c.target || !mayHaveProducers(*c.target)) return false;
  bool changed = false;
  // Loops that an earlier pass copied have one location: what holds of all is said once.
  std::set<std::pair<std::string, std::string>> said;
  llvm::SmallPtrSet<Operation *, 2> served; // together with a loop before; they have been replaced
  for (auto loop : collect<scf::ForOp>(m.op())) {
    if (served.contains(loop.op)) continue;
    int64_t warps = numWarps(m.op());
    if (partitionOf(loop.op).hasOwnWarps()) continue; // the copies have their warp already
    if (!copies(loop) || forbidsProducer(loop.op) || !hasRoomForProducer(*c.target, warps)) continue;
    std::string whyNot;
    std::optional<SpecializationPlan> plan;
    std::optional<LoopNest> nest;
    if (loop->parentOp()->is<scf::ForOp>())
      nest = findLoopNest(loop, *c.target, whyNot);
    else
      plan = planSpecialization(loop, c.target->tuning, whyNot);
    if (whyNot.empty()) whyNot = whyNotWorth(loop, *c.target);
    if (!whyNot.empty()) {
      if (!said.insert({describe(loop->loc()), whyNot}).second) continue;
      c.remark({Remark::Missed,
                "",
                "WarpsSpecialized",
                loop.op,
                "no producer warp issues the loop's copies: " + whyNot,
                {}});
      continue;
    }
    std::string inAllTiles = nest ? ", from one iteration of the loop around it to the next" : "";
    c.remark({Remark::Applied, "", "WarpsSpecialized", loop.op,
              llvm::formatv("a producer warp issues the loop's copies{0}; the other {1} have {2} registers a thread",
                            inAllTiles, warps, registersBesideProducer(*c.target, m.op())),
              llvm::json::Object{{"consumers", warps}, {"buffers", (nest ? nest->loops[0].plan : *plan).buffers}}});
    auto following = nest ? std::vector<FollowingLoop>() : followingLoops(loop, *plan, c.target->tuning);
    for (auto &f : nest ? llvm::ArrayRef(nest->loops).drop_front() : llvm::ArrayRef(following)) {
      served.insert(f.loop.op);
      c.remark({Remark::Applied,
                "",
                "WarpsSpecialized",
                f.loop.op,
                "the producer warp of the loop before issues this loop's copies, too, into the same buffers",
                {}});
    }
    if (nest) {
      served.insert(nest->tiles.op);
      specializeNest(*nest);
    } else {
      SpecializedLoops(loop, *plan, following).build();
    }
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
