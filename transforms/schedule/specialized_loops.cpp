// What a producer warp does for pipelined loops (see specialized_loops.h).
#include "transforms/schedule/specialized_loops.h"
#include "ir/loops.h"
#include "ir/partitions.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/scratch.h"
#include "transforms/schedule/producer_partition.h"

namespace tessera::transforms {
using namespace ir;

static bool isFillIndex(const ServedLoop &s, unsigned carriedIndex) {
  return carried(s.loop, carriedIndex).argument == s.plan.fill;
}

ProducerOfLoops::ProducerOfLoops(const SpecializationPlan &plan, Location loc)
    : plan_(plan), c_(plan.mbarriers.op->context()), loc_(loc) {
  for (auto &group : plan.groups) {
    auto &buffers = buffers_.emplace_back();
    for (Operation *alloc : group.allocs) buffers.push_back(alloc->result());
  }
}

// ---- mbarriers ----

void ProducerOfLoops::createFullMbarriers(Builder &b, Value ofFirst) {
  full_.push_back(ofFirst);
  for (size_t g = 1; g < numGroups(); ++g) full_.push_back(createMbarriers(b, loc_, plan_.buffers, 1));
}

void ProducerOfLoops::createEmptyMbarriers(Builder &b, int64_t warps) {
  for (size_t g = 0; g < numGroups(); ++g) empty_.push_back(createMbarriers(b, loc_, plan_.buffers, warps));
}

void ProducerOfLoops::releaseMbarriers(Builder &b) const {
  for (Value mbarriers : empty_) transforms::releaseMbarriers(b, loc_, mbarriers);
  for (Value mbarriers : llvm::drop_begin(full_)) transforms::releaseMbarriers(b, loc_, mbarriers);
}

void ProducerOfLoops::replaceBuffers(const ValueMap &map) {
  for (auto &buffers : buffers_)
    for (Value &buffer : buffers) buffer = map.lookupOrSelf(buffer);
}

void ProducerOfLoops::separateGroups(ServedLoop &s) const {
  if (numGroups() == 1) return;
  llvm::SmallVector<ttng::BarrierExpectOp, 2> announcements;
  for (auto &op : s.body())
    if (auto expect = op.dyn<ttng::BarrierExpectOp>()) announcements.push_back(expect);
  for (auto expect : announcements) separateCopies(expect, &s.addresses);
  for (size_t g = 1; g < numGroups(); ++g) {
    Builder at(s.plan.groups[g].firstRead);
    ttng::WaitBarrierOp::create(at, loc_, mbarrierAt(at, loc_, full_[g], s.plan.read), s.plan.wait.phase(), Value(),
                                {});
  }
}

static int64_t bytesOf(ttng::AsyncTmaCopyGlobalToLocalOp copy) {
  return bufferBytes(copy.result().type().cast<MemDescType>());
}

void ProducerOfLoops::separateCopies(ttng::BarrierExpectOp all, llvm::SetVector<Operation *> *addresses) const {
  Value index = all.alloc().definedBy<ttg::MemdescIndexOp>().index();
  llvm::SmallVector<ttng::BarrierExpectOp, 2> announced(numGroups());
  llvm::SmallVector<int64_t, 2> bytes(numGroups(), 0);
  announced[0] = all;
  for (Operation *op = all->next(); op && !op->is<ttng::BarrierExpectOp>(); op = op->next()) {
    auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
    if (!copy || copy.barrier() != all.alloc()) continue;
    size_t g = groupOf(*op);
    bytes[g] += bytesOf(copy);
    Builder b(op);
    if (!announced[g]) {
      Value mbarrier = mbarrierAt(b, loc_, full_[g], index);
      announced[g] = ttng::BarrierExpectOp::create(b, loc_, mbarrier, all.pred(), {b.i32Attr("size", 0)});
      if (addresses) addresses->insert(mbarrier.definingOp());
    }
    for (unsigned i = 0; i < op->numOperands(); ++i)
      if (op->operand(i) == all.alloc()) op->setOperand(i, announced[g].alloc());
  }
  for (auto [expect, n] : llvm::zip(announced, bytes))
    if (expect) expect->setAttr("size", IntegerAttr::getI32(c_, n));
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
  for (Operation *op : f.firstCopies) {
    auto announced = op->dyn<ttng::BarrierExpectOp>();
    if (!announced) continue;
    for (size_t g = 0; g < numGroups(); ++g) emitFirstCopiesOfGroup(b, f, announced, g, map, at);
    at = next(b, at);
  }
  return at;
}

void ProducerOfLoops::emitFirstCopiesOfGroup(Builder &b, const FollowingLoop &f, ttng::BarrierExpectOp announced,
                                             size_t group, ValueMap &map, FillPosition at) const {
  llvm::SmallVector<ttng::AsyncTmaCopyGlobalToLocalOp, 2> copies;
  int64_t bytes = 0;
  for (Operation *op : f.firstCopies) {
    auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
    if (!copy || copy.barrier() != announced.alloc() || f.plan.groupOf(copy) != group) continue;
    copies.push_back(copy);
    bytes += bytesOf(copy);
  }
  if (copies.empty()) return;
  Value predicate = map.lookupOrSelf(announced.pred());
  ttng::WaitBarrierOp::create(b, loc_, mbarrierAt(b, loc_, empty_[group], at.index), at.phase, predicate, {});
  Value mbarrier = mbarrierAt(b, loc_, full_[group], at.index);
  ttng::BarrierExpectOp::create(b, loc_, mbarrier, predicate, {b.i32Attr("size", bytes)});
  map.map(announced.alloc(), mbarrier);
  for (auto copy : copies) {
    Value buffers = f.buffers.lookup(allocationOf(copy.result()).result());
    map.map(copy.result(), ttg::MemdescIndexOp::create(b, loc_, copy.result().type(), buffers, at.index).op->result());
    b.clone(copy.op, map);
  }
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
  for (size_t g = 0; g < numGroups(); ++g) {
    llvm::SmallVector<Operation *, 4> copies;
    for (auto &op : s.body())
      if (isCopyOrAnnouncement(&op) && groupOf(op) == g) copies.push_back(&op);
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
  if (auto copy = op.dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) {
    Value alloc = allocationOf(copy.result()).result();
    return llvm::find_if(buffers_, [&](auto &buffers) { return llvm::is_contained(buffers, alloc); }) -
           buffers_.begin();
  }
  return llvm::find(full_, allocationOf(op.cast<ttng::BarrierExpectOp>().alloc()).result()) - full_.begin();
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
    if (isCopyOrAnnouncement(op) || isUnusedAddress) op->erase();
    op = before;
  }
}

void ProducerOfLoops::useBuffersOfFirst(const FollowingLoop &f) {
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
