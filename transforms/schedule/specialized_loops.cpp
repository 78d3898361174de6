// What a producer warp does for pipelined loops (see specialized_loops.h).
#include "transforms/schedule/specialized_loops.h"
#include "ir/loops.h"
#include "ir/partitions.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/schedule/producer_partition.h"

namespace tessera::transforms {
using namespace ir;

static bool isCopyOrAnnouncement(Operation &op) {
  return op.is<ttng::AsyncTmaCopyGlobalToLocalOp>() || op.is<ttng::BarrierExpectOp>();
}
static bool isFillIndex(const ServedLoop &s, unsigned carriedIndex) {
  return carried(s.loop, carriedIndex).argument == s.plan.fill;
}

ProducerOfLoops::ProducerOfLoops(const SpecializationPlan &plan, Location loc)
    : plan_(plan), c_(plan.mbarriers.op->context()), loc_(loc) {}

void ProducerOfLoops::createEmptyMbarriers(Builder &b, int64_t warps) {
  for (size_t g = 0; g < plan_.groups.size(); ++g) empty_.push_back(createMbarriers(b, loc_, plan_.buffers, warps));
}

void ProducerOfLoops::releaseEmptyMbarriers(Builder &b) const {
  for (Value mbarriers : empty_) releaseMbarriers(b, loc_, mbarriers);
}

// ---- the producer ----

FillPosition ProducerOfLoops::start(Builder &b) const {
  return {b.intConstant(loc_, c_.i32(), 0), b.intConstant(loc_, c_.i32(), 1)};
}

FillPosition ProducerOfLoops::next(Builder &b, FillPosition p) const {
  Value index = createNextBufferIndex(b, loc_, p.index, plan_.buffers);
  return {index, createNextPhase(b, loc_, p.phase, index)};
}

FillPosition ProducerOfLoops::emitFirstCopies(Builder &b, const FollowingLoop &f, ValueMap map, FillPosition at) const {
  bool isFirst = true;
  for (Operation *op : f.firstCopies) {
    auto expect = op->dyn<ttng::BarrierExpectOp>();
    if (expect) {
      if (!isFirst) at = next(b, at);
      isFirst = false;
      Value isEmpty = mbarrierAt(b, loc_, empty_.front(), at.index);
      ttng::WaitBarrierOp::create(b, loc_, isEmpty, at.phase, map.lookupOrSelf(expect.pred()), {});
      map.map(expect.alloc(), mbarrierAt(b, loc_, full.front(), at.index));
    } else {
      auto copy = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
      Value buffers = f.buffers.lookup(allocationOf(copy.result()).result());
      map.map(copy.barrier(), mbarrierAt(b, loc_, full.front(), at.index));
      map.map(copy.result(),
              ttg::MemdescIndexOp::create(b, loc_, copy.result().type(), buffers, at.index).op->result());
    }
    b.clone(op, map);
  }
  return next(b, at);
}

FillPosition ProducerOfLoops::emitLoop(Builder &b, const ServedLoop &s, ValueMap &map, FillPosition fill,
                                       FillPosition start, bool isLast) const {
  llvm::SmallVector<Value, 8> inits;
  for (unsigned i : s.plan.carried)
    inits.push_back(s.following && isFillIndex(s, i) ? fill.index : map.lookupOrSelf(carried(s.loop, i).init));
  inits.push_back(fill.phase);
  if (!isLast) inits.append({start.index, start.phase});
  auto loop = createLoopLike(s.loop, b, map, inits);
  Block &body = *loop.body().front();
  map.map(inductionVariable(s.loop), inductionVariable(body));
  unsigned n = 0;
  for (unsigned i : s.plan.carried) map.map(carried(s.loop, i).argument, carriedArgument(body, n++));
  Value phase = carriedArgument(body, n++);
  Builder in = Builder::atEnd(&body);
  emitIteration(in, s, map, phase, isLast);
  llvm::SmallVector<Value, 8> yields;
  for (unsigned i : s.plan.carried) yields.push_back(map.lookupOrSelf(carried(s.loop, i).yielded));
  yields.push_back(createNextPhase(in, loc_, phase, map.lookup(carriedByArgument(s.plan.fill)->yielded)));
  if (!isLast) {
    FillPosition after = next(in, {carriedArgument(body, n), carriedArgument(body, n + 1)});
    yields.append({after.index, after.phase});
  }
  scf::YieldOp::create(in, loc_, yields);
  return isLast ? start : FillPosition{loop->result(n), loop->result(n + 1)};
}

void ProducerOfLoops::emitIteration(Builder &b, const ServedLoop &s, ValueMap &map, Value phase, bool isLast) const {
  for (auto &op : s.body())
    if (s.addresses.contains(&op)) b.clone(&op, map);
  for (size_t g = 0; g < plan_.groups.size(); ++g) {
    llvm::SmallVector<Operation *, 4> copies;
    for (auto &op : s.body())
      if (isCopyOrAnnouncement(op) && (s.following || groupOf(op) == g)) copies.push_back(&op);
    // The last iterations have no copies. Waiting all the same would keep the next loop's first ones back.
    auto announced = llvm::find_if(copies, [](Operation *op) { return op->is<ttng::BarrierExpectOp>(); });
    bool isPredicated = !isLast && announced != copies.end();
    Value predicate = isPredicated ? map.lookupOrSelf((*announced)->cast<ttng::BarrierExpectOp>().pred()) : Value();
    Value isEmpty = mbarrierAt(b, loc_, empty_[g], map.lookup(s.plan.fill));
    ttng::WaitBarrierOp::create(b, loc_, isEmpty, phase, predicate, {});
    for (Operation *op : copies) b.clone(op, map);
  }
}

size_t ProducerOfLoops::groupOf(Operation &op) const {
  if (auto copy = op.dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return plan_.groupOf(copy);
  return llvm::find(full, allocationOf(op.cast<ttng::BarrierExpectOp>().alloc()).result()) - full.begin();
}

// ---- the consumers ----

void ProducerOfLoops::releaseBuffers(const ServedLoop &s) const {
  for (auto [group, empty] : llvm::zip_equal(s.plan.groups, empty_)) {
    Builder b = Builder::after(group.lastRead);
    auto arrive = ttng::ArriveBarrierOp::create(b, loc_, mbarrierAt(b, loc_, empty, s.plan.read), Value(),
                                                {b.i32Attr("count", 1)});
    arrive->setAttr(kEachWarpArrivesAttr, UnitAttr::get(c_));
  }
}

void ProducerOfLoops::eraseCopies(const ServedLoop &s) {
  for (auto *op = s.body().terminator()->prev(); op;) {
    auto *before = op->prev();
    bool isUnusedAddress =
        s.addresses.contains(op) && llvm::all_of(op->results(), [](Value r) { return r.useEmpty(); });
    if (isCopyOrAnnouncement(*op) || isUnusedAddress) op->erase();
    op = before;
  }
}

void ProducerOfLoops::replaceBuffers(const FollowingLoop &f) {
  scf::ForOp loop = f.loop;
  loop->walk([&](Operation *op) {
    for (unsigned i = 0; i < op->numOperands(); ++i)
      if (auto it = f.buffers.find(op->operand(i)); it != f.buffers.end()) op->setOperand(i, it->second);
  });
}

static void eraseWithUsers(Operation *op) {
  for (Value r : op->results())
    while (!r.useEmpty()) eraseWithUsers(*r.users().begin());
  op->erase();
}

void ProducerOfLoops::eraseSetUp(const FollowingLoop &f) {
  for (auto &[mine, firsts] : f.buffers) eraseWithUsers(mine.definingOp());
}

} // namespace tessera::transforms
