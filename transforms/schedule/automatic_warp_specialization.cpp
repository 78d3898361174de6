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
//   - The loop stands in a kernel, in no other loop or branch, and no other loop of the kernel is specialised: warps of
//     partitions then need no messages about what to run.
//   - All asynchronous copies of the loop are bulk copies (TMA) to multi-buffers, and the loop waits for them by one
//     mbarrier. What they need is computed from scalars alone. Their descriptors are arguments of the kernel.
//   - Nothing reads these buffers but asynchronous dots that the same iteration waits for.
//   - Nothing else in the loop synchronises with other agents.
// The first copies stay before the loop: the consumers' first thread issues them.
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
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/diagnostic.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/schedule/loops_of_producer.h"
#include "transforms/schedule/overlap_plan.h"
#include "transforms/schedule/specialization_plan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace tessera::transforms {
using namespace ir;

namespace {

// ---- the transformation ----

/// A loop that the producer serves.
struct ServedLoop {
  scf::ForOp loop;
  const SpecializationPlan &plan;
  llvm::SetVector<Operation *> addresses; // of the plan, and those of further mbarriers
  const FollowingLoop *following;         // null: the first loop

  Block &body() const { return *scf::ForOp(loop).body().front(); }
};

class SpecializedLoops {
public:
  SpecializedLoops(scf::ForOp loop, const SpecializationPlan &plan, llvm::ArrayRef<FollowingLoop> following)
      : plan_(plan), c_(loop->context()), loc_(loop->loc()), b_(loop.op), warps_(numWarps(loop->module().op())) {
    loops_.push_back({loop, plan, plan.addresses, nullptr});
    for (auto &f : following) loops_.push_back({f.loop, f.plan, f.plan.addresses, &f});
  }

  void build() {
    for (auto &s : following()) adopt(*s.following);
    separateMbarriers();
    for (size_t g = 0; g < plan_.groups.size(); ++g) empty_.push_back(createMbarriers(b_, loc_, plan_.buffers, warps_));
    collectCaptures();
    findUsedResults();
    llvm::SmallVector<Type, 8> types;
    for (Value r : used_) types.push_back(r.type());
    auto op =
        ttg::WarpSpecializeOp::create(b_, loc_, types, captures_.getArrayRef(),
                                      {{"partitionNumWarps", DenseArrayAttr::getI32(c_, {1})},
                                       {"requestedRegisters", DenseArrayAttr::getI32(c_, {kRegistersOfProducer})}});
    emitProducer(op);
    emitConsumers(op);
    for (auto &s : following()) eraseSetUp(*s.following);
    b_.setInsertionPointAfter(op.op);
    for (Value mbarriers : empty_) releaseMbarriers(b_, loc_, mbarriers);
    for (Value mbarriers : llvm::drop_begin(full_)) releaseMbarriers(b_, loc_, mbarriers);
    for (auto &s : loops_) dropUnneededCarriedValues(s.loop);
  }

private:
  llvm::ArrayRef<ServedLoop> following() const { return llvm::ArrayRef(loops_).drop_front(); }

  /// Computes what the producer needs before the first loop, and lets the following loop use the first one's buffers.
  void adopt(const FollowingLoop &f) {
    for (Operation *op : f.scalars) op->moveBefore(loops_.front().loop.op);
    scf::ForOp loop = f.loop;
    loop->walk([&](Operation *op) {
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (auto it = f.buffers.find(op->operand(i)); it != f.buffers.end()) op->setOperand(i, it->second);
    });
  }

  /// Gives all groups but the first mbarriers of their own, which their copies signal and their first dots wait for.
  void separateMbarriers() {
    full_.push_back(plan_.mbarriers.result());
    if (plan_.groups.size() == 1) return;
    Builder b(plan_.mbarriers.op);
    for (size_t g = 1; g < plan_.groups.size(); ++g) full_.push_back(createMbarriers(b, loc_, plan_.buffers, 1));
    llvm::SmallVector<ttng::BarrierExpectOp, 8> announcements;
    for (auto *view : full_.front().users()) {
      if (!view->is<ttg::MemdescIndexOp>()) continue;
      for (auto *user : view->result().users())
        if (auto expect = user->dyn<ttng::BarrierExpectOp>()) announcements.push_back(expect);
    }
    for (auto expect : announcements) separateCopies(expect);
    for (size_t g = 1; g < plan_.groups.size(); ++g) {
      Builder at(plan_.groups[g].firstRead);
      ttng::WaitBarrierOp::create(at, loc_, mbarrierAt(at, loc_, full_[g], plan_.read), plan_.wait.phase(), Value(),
                                  {});
    }
  }
  /// Announces the bytes of each group's copies after an announcement of all of them.
  void separateCopies(ttng::BarrierExpectOp all) {
    ServedLoop &first = loops_.front();
    Value index = all.alloc().definedBy<ttg::MemdescIndexOp>().index();
    llvm::SmallVector<ttng::BarrierExpectOp, 2> announced(plan_.groups.size());
    llvm::SmallVector<int64_t, 2> bytes(plan_.groups.size(), 0);
    for (Operation *op = all->next(); op && !op->is<ttng::BarrierExpectOp>(); op = op->next()) {
      auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
      if (!copy || copy.barrier() != all.alloc()) continue;
      size_t g = plan_.groupOf(copy);
      auto type = copy.result().type().cast<MemDescType>();
      bytes[g] += type.numElements() * type.element().bitWidth() / 8;
      if (!g) continue;
      Builder b(op);
      if (!announced[g]) {
        Value mbarrier = mbarrierAt(b, loc_, full_[g], index);
        announced[g] = ttng::BarrierExpectOp::create(b, loc_, mbarrier, all.pred(), {b.i32Attr("size", 0)});
        if (op->block() == &first.body()) first.addresses.insert(mbarrier.definingOp());
      }
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (op->operand(i) == all.alloc()) op->setOperand(i, announced[g].alloc());
    }
    announced[0] = all;
    for (auto [expect, n] : llvm::zip(announced, bytes))
      if (expect) expect->setAttr("size", b_.i32Attr("size", n).value);
  }

  /// What the producer uses from outside of the loops.
  void collectCaptures() {
    captures_.insert(empty_.begin(), empty_.end());
    for (auto &s : loops_) {
      for (Value v : {s.loop.lowerBound(), s.loop.upperBound(), s.loop.step()}) captures_.insert(v);
      for (unsigned i : s.plan.carried)
        if (!s.following || !isFillIndex(s, i)) captures_.insert(carried(s.loop, i).init);
      for (auto *op : s.addresses) captureOperands(s, op);
      for (auto &op : s.body())
        if (isCopyOrAnnouncement(op)) captureOperands(s, &op);
      for (unsigned i : s.plan.carried) // a value that the loop only passes on, or replaces by one from outside
        captureIfOutside(s, carried(s.loop, i).yielded);
      if (!s.following) continue;
      captures_.insert(full_.front());
      for (Operation *op : s.following->firstCopies) {
        for (Value v : op->operands())
          if (!v.type().isa<MemDescType>()) captures_.insert(v);
      }
    }
  }
  void captureOperands(const ServedLoop &s, Operation *op) {
    for (Value v : op->operands()) captureIfOutside(s, v);
  }
  void captureIfOutside(const ServedLoop &s, Value v) {
    Block *block = v.isBlockArgument() ? v.ownerBlock() : v.definingOp()->block();
    if (block != &s.body()) captures_.insert(v);
  }
  static bool isFillIndex(const ServedLoop &s, unsigned carriedIndex) {
    return carried(s.loop, carriedIndex).argument == s.plan.fill;
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

  // ---- the producer ----

  /// A buffer that is filled next, and the phase in which it has been left.
  struct Position {
    Value index, phase;
  };
  Position next(Builder &b, Position p) {
    Value index = createNextBufferIndex(b, loc_, p.index, plan_.buffers);
    return {index, createNextPhase(b, loc_, p.phase, index)};
  }

  void emitProducer(ttg::WarpSpecializeOp op) {
    Builder holder = Builder::atEnd(op.partitionOpHolder().addBlock());
    auto partitions = ttg::WarpSpecializePartitionsOp::create(holder, loc_, {}, 1);
    Block *block = partitions->region(0).addBlock();
    ValueMap map;
    for (Value v : captures_) map.map(v, block->addArg(v.type(), v.loc()));
    Builder b = Builder::atEnd(block);
    // The phase before the first one counts as complete: the first buffers are free.
    Position start = {integer(b, 0), integer(b, 1)};
    for (auto &s : loops_) {
      Position fill = {{}, integer(b, 1)};
      if (s.following) fill = emitFirstCopies(b, *s.following, map, start);
      start = emitProducerLoop(b, s, map, fill, start);
    }
    ttg::WarpReturnOp::create(b, loc_);
  }
  /// Copies for a following loop's first iterations. Returns the position after them.
  Position emitFirstCopies(Builder &b, const FollowingLoop &f, const ValueMap &captured, Position at) {
    bool isFirst = true;
    ValueMap map = captured;
    for (Operation *op : f.firstCopies) {
      auto expect = op->dyn<ttng::BarrierExpectOp>();
      if (expect) {
        if (!isFirst) at = next(b, at);
        isFirst = false;
        Value isEmpty = mbarrierAt(b, loc_, map.lookup(empty_.front()), at.index);
        ttng::WaitBarrierOp::create(b, loc_, isEmpty, at.phase, map.lookup(expect.pred()), {});
        map.map(expect.alloc(), mbarrierAt(b, loc_, map.lookup(full_.front()), at.index));
      } else {
        auto copy = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
        Value buffers = map.lookup(f.buffers.lookup(allocationOf(copy.result()).result()));
        map.map(copy.barrier(), mbarrierAt(b, loc_, map.lookup(full_.front()), at.index));
        map.map(copy.result(),
                ttg::MemdescIndexOp::create(b, loc_, copy.result().type(), buffers, at.index).op->result());
      }
      b.clone(op, map);
    }
    return next(b, at);
  }
  /// The loop with nothing but its copies, the first of which goes to `fill` (its index: of a following loop). `start`
  /// counts iterations of all loops; returns it as it is after the loop.
  Position emitProducerLoop(Builder &b, const ServedLoop &s, ValueMap &map, Position fill, Position start) {
    bool isLast = &s == &loops_.back();
    llvm::SmallVector<Value, 8> inits;
    for (unsigned i : s.plan.carried)
      inits.push_back(s.following && isFillIndex(s, i) ? fill.index : map.lookup(carried(s.loop, i).init));
    inits.push_back(fill.phase);
    if (!isLast) inits.append({start.index, start.phase});
    llvm::SmallVector<Type, 8> types;
    for (Value v : inits) types.push_back(v.type());
    auto bound = [&](Value v) { return map.lookup(v); };
    auto loop = scf::ForOp::create(b, loc_, types, bound(s.loop.lowerBound()), bound(s.loop.upperBound()),
                                   bound(s.loop.step()), inits);
    Block *body = loop.body().addBlock();
    map.map(inductionVariable(s.loop), body->addArg(inductionVariable(s.loop).type(), loc_));
    for (unsigned i : s.plan.carried)
      map.map(carried(s.loop, i).argument, body->addArg(carried(s.loop, i).argument.type(), loc_));
    Value phase = body->addArg(c_.i32(), loc_);
    Builder in = Builder::atEnd(body);
    emitCopies(in, s, map, phase);
    llvm::SmallVector<Value, 8> yields;
    for (unsigned i : s.plan.carried) yields.push_back(map.lookup(carried(s.loop, i).yielded));
    yields.push_back(createNextPhase(in, loc_, phase, map.lookup(carriedByArgument(s.plan.fill)->yielded)));
    if (!isLast) {
      Value index = body->addArg(c_.i32(), loc_);
      Position after = next(in, {index, body->addArg(c_.i32(), loc_)});
      yields.append({after.index, after.phase});
    }
    scf::YieldOp::create(in, loc_, yields);
    if (isLast) return start;
    unsigned last = loop->numResults() - 1;
    return {loop->result(last - 1), loop->result(last)};
  }
  /// What the producer does in an iteration.
  void emitCopies(Builder &b, const ServedLoop &s, ValueMap &map, Value phase) {
    for (auto &op : s.body())
      if (s.addresses.contains(&op)) b.clone(&op, map);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      Value isEmpty = mbarrierAt(b, loc_, map.lookup(empty_[g]), map.lookup(s.plan.fill));
      ttng::WaitBarrierOp::create(b, loc_, isEmpty, phase, Value(), {});
      for (auto &op : s.body())
        if (isCopyOrAnnouncement(op) && (s.following || groupOf(op) == g)) b.clone(&op, map);
    }
  }

  // ---- the consumers ----

  void emitConsumers(ttg::WarpSpecializeOp op) {
    for (auto &s : loops_) {
      releaseBuffers(s);
      eraseCopies(s);
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
    Builder b = Builder::atEnd(op.defaultRegion().addBlock());
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
  /// Lets each warp say when it has read an iteration's buffers.
  void releaseBuffers(const ServedLoop &s) {
    for (auto [group, empty] : llvm::zip_equal(s.plan.groups, empty_)) {
      Builder b = Builder::after(group.lastRead);
      auto arrive = ttng::ArriveBarrierOp::create(b, loc_, mbarrierAt(b, loc_, empty, s.plan.read), Value(),
                                                  {b.i32Attr("count", 1)});
      arrive->setAttr(kEachWarpArrivesAttr, UnitAttr::get(c_));
    }
  }
  void eraseCopies(const ServedLoop &s) {
    for (auto *op = s.body().terminator()->prev(); op;) {
      auto *before = op->prev();
      bool isUnusedAddress =
          s.addresses.contains(op) && llvm::all_of(op->results(), [](Value r) { return r.useEmpty(); });
      if (isCopyOrAnnouncement(*op) || isUnusedAddress) op->erase();
      op = before;
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
  /// Erases the buffers that a following loop had, with all that still uses them: first copies, the mbarriers' ends.
  static void eraseSetUp(const FollowingLoop &f) {
    for (auto &[mine, firsts] : f.buffers) eraseWithUsers(mine.definingOp());
  }
  static void eraseWithUsers(Operation *op) {
    for (Value r : op->results())
      while (!r.useEmpty()) eraseWithUsers(*r.users().begin());
    op->erase();
  }

  Value integer(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  static bool isCopyOrAnnouncement(Operation &op) {
    return op.is<ttng::AsyncTmaCopyGlobalToLocalOp>() || op.is<ttng::BarrierExpectOp>();
  }
  size_t groupOf(Operation &op) const {
    if (auto copy = op.dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return plan_.groupOf(copy);
    return llvm::find(full_, allocationOf(op.cast<ttng::BarrierExpectOp>().alloc()).result()) - full_.begin();
  }

  llvm::SmallVector<ServedLoop, 2> loops_; // the first one, whose buffers all use, and those after it
  const SpecializationPlan &plan_;         // of the first loop
  Context &c_;
  Location loc_;
  Builder b_; // around the first loop
  int64_t warps_;
  llvm::SmallVector<Value, 2> full_, empty_; // mbarriers of each group: the buffer is filled, and has been read
  llvm::SmallVector<Value, 8> used_;         // results of the loops that others use
  llvm::SetVector<Value> captures_;
};

/// Bytes of the buffers that exist at an operation, of its block and those around it.
int64_t sharedBytesAt(Operation *at) {
  int64_t bytes = 0;
  for (auto *op = at->block()->front(); op != at; op = op->next()) {
    auto dealloc = op->dyn<ttg::LocalDeallocOp>();
    auto alloc = dealloc ? allocationOf(dealloc.src()) : op->dyn<ttg::LocalAllocOp>();
    if (!alloc) continue;
    auto type = alloc.result().type().cast<MemDescType>();
    bytes += (dealloc ? -1 : 1) * type.numElements() * type.element().bitWidth() / 8;
  }
  return bytes;
}

/// Why warps should not be specialised for a loop in which they can be; empty: they should.
std::string whyNotWorth(scf::ForOp loop, const TargetInfo &target) {
  int64_t bytes = sharedBytesAt(loop.op);
  if (bytes + kBytesOfProducer > target.sharedMemoryPerBlock)
    return llvm::formatv("its buffers of {0} bytes leave no room for more mbarriers", bytes);
  if (loop->hasAttr(kWarpSpecializeAttr)) return "";
  int64_t warps = numWarps(loop->module().op());
  if (warps < 2 * kWarpGroup) return llvm::formatv("{0} warps are fewer than two warp groups", warps);
  int64_t held = heldRegisters(loop->parentOp());
  if (target.blocksBySharedMemory(bytes) >= 2 &&
      held * 100 <=
          target.registersPerThread(2 * warps, RegisterSplit::Evenly) * target.tuning.twoBlocksRegistersPercent)
    return llvm::formatv("a multiprocessor runs two blocks of it, which overlap ({0} bytes of shared memory, {1} "
                         "registers a thread held at dots)",
                         bytes, held);
  return whyNoOverlapOfDots(loop, target, registersBesideProducer(target, warps));
}

} // namespace

/// The loops after this one that its producer serves, too.
static std::vector<FollowingLoop> followingLoops(scf::ForOp loop, const SpecializationPlan &plan,
                                                 const Tuning &tuning) {
  std::vector<FollowingLoop> following;
  while (auto f = findFollowingLoop(loop, plan, tuning)) {
    loop = f->loop;
    following.push_back(std::move(*f));
  }
  return following;
}

int64_t registersOfConsumers(Operation *op, const TargetInfo &target) {
  int64_t warps = numWarps(op->module().op());
  if (!partitionOf(op)) return target.registersPerThread(warps, RegisterSplit::Evenly);
  return registersBesideProducer(target, warps);
}

absl::StatusOr<bool> automaticWarpSpecialization(Module &m, PassContext &c) {
  if (!c.target || !mayHaveProducers(*c.target)) return false;
  bool changed = false;
  // Loops that an earlier pass copied have one location: what holds of all is said once.
  std::set<std::pair<std::string, std::string>> said;
  llvm::SmallPtrSet<Operation *, 2> served; // together with a loop before; they have been replaced
  for (auto loop : collect<scf::ForOp>(m.op())) {
    if (served.contains(loop.op)) continue;
    bool copies = llvm::any_of(*loop.body().front(),
                               [](auto &op) { return op.template is<ttng::AsyncTmaCopyGlobalToLocalOp>(); });
    int64_t warps = numWarps(m.op());
    if (partitionOf(loop.op).hasOwnWarps()) continue; // the copies have their warp already
    if (!copies || forbidsProducer(loop.op) || !hasRoomForProducer(*c.target, warps)) continue;
    std::string whyNot;
    auto plan = planSpecialization(loop, c.target->tuning, whyNot);
    if (plan) whyNot = whyNotWorth(loop, *c.target);
    if (!whyNot.empty()) {
      if (!said.insert({describe(loop->loc()), whyNot}).second) continue;
      c.remark({Remark::Missed,
                "",
                "WarpsSpecialized",
                loop->loc(),
                "no producer warp issues the loop's copies: " + whyNot,
                {}});
      continue;
    }
    c.remark({Remark::Applied, "", "WarpsSpecialized", loop->loc(),
              llvm::formatv("a producer warp issues the loop's copies; the other {0} have {1} registers a thread",
                            warps, registersBesideProducer(*c.target, warps)),
              llvm::json::Object{{"consumers", warps}, {"buffers", plan->buffers}}});
    auto following = followingLoops(loop, *plan, c.target->tuning);
    for (auto &f : following) {
      served.insert(f.loop.op);
      c.remark({Remark::Applied,
                "",
                "WarpsSpecialized",
                f.loop->loc(),
                "the producer warp of the loop before issues this loop's copies, too, into the same buffers",
                {}});
    }
    SpecializedLoops(loop, *plan, following).build();
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
