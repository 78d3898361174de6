// Pass dots-in-tensor-memory: dots whose accumulator is still a value (layout/tensor_memory_dot.h) get it in tensor
// memory, with an mbarrier at which each dot arrives. (Triton: tc-gen5-mma, hoist-tmem-alloc and the pipelining of
// tc_gen5_mma together.)
// Runs: NVIDIA pipeline, after the software pipelines. Targets with tensor memory.
//
//   %r = scf.for … iter_args(%acc = %zeros) {        %acc = ttng.tmem_alloc                    (in the entry block)
//     %d = ttng.warp_group_dot %a, %b, %acc           %bar = ttg.local_alloc; ttng.init_barrier %bar, 1
//     scf.yield %d                               →    scf.for … iter_args(%adds = false, %phase = 0) {
//   }                                                   ttng.tc_gen5_mma %a, %b, %acc, %adds, %true, %bar {is_async}
//   tt.store %p, %r                                     ttng.wait_barrier %bar, %phase
//                                                       scf.yield true, %phase ^ 1
//                                                     }
//                                                     ttng.inval_barrier %bar
//                                                     %r = ttng.tmem_load %acc
//
// 1. Accumulators. One that a loop carries, and that only dots add to, stays in tensor memory while the loop runs. Zeros
//    before it are not stored: the first dot does not add. Of a loop that need not iterate, the result is loaded if it
//    did. All others are stored before their dot, unless they are zeros, and loaded after it. Several dots one after the
//    other that add to one accumulator are loaded after the last. Accumulators of one type that do not live at the same
//    time share a buffer.
// 2. Waits. All threads wait directly after a dot, or where the pipeline has put the wait for it, after the next copies.
//    The dots of a block share an mbarrier: each is the next of its phases.
// 3. Dots in flight. Where an iteration waits for the dots of the one before (ttng.warp_group_dot_wait with pending
//    dots), an iteration has one arrival, at one of two mbarriers in turn: a wait tells a phase from the next one, but
//    not from the one after that, which may be complete as well. The counter of iterations says which and its phase; the
//    wait of the first iteration, for none, is for the phase before the first, which counts as complete.
//
// Nothing to do: no such dots. Not done: accumulators that a loop restarts (persistent loops that Triton flattens) are
// loaded and stored in each iteration; so are those that it scales.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "ir/verify_hook.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/layout/tensor_memory_dot.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/tensor_memory.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;
using Dot = ttng::WarpGroupDotOp;
using DotWait = ttng::WarpGroupDotWaitOp;

namespace {

/// Dots that add to one accumulator, one after the other, in one block.
struct Accumulation {
  llvm::SmallVector<Dot, 2> dots;
  std::optional<unsigned> carriedIndex; // of the loop whose body the block is: it only passes through the dots
  DotWait wait;                         // in the block, which the result passes; null: none
  bool inFlight = false;                // the wait is for the iteration before
  Value buffer;

  Dot first() const { return dots.front(); }
  Dot last() const { return dots.back(); }
  Block *block() const { return first()->block(); }
  TensorType type() const { return tensorOf(first().d()); }
};

/// Whether a dot is executed between two operations of a block.
bool hasDotBetween(Operation *from, Operation *to) {
  bool has = false;
  for (Operation *op = from->next(); op && op != to; op = op->next())
    op->walk([&](Operation *inner) { has |= inner->is<Dot>(); });
  return has;
}

/// The loop whose body a block is; null: it is none's.
scf::ForOp loopOf(Block *block) {
  Operation *parent = block->parentOp();
  return parent ? parent->dyn<scf::ForOp>() : scf::ForOp();
}

// ---- 1. accumulators ------------------------------------------------------------------------------------------------

/// The dot that adds to another one's result next, without other dots between; null: none.
Dot nextOf(Dot dot) {
  if (dot.isAsync() || !dot.d().hasOneUse()) return {};
  auto next = dot.d().firstUse()->owner->dyn<Dot>();
  bool follows = next && next.c() == dot.d() && next->block() == dot->block() && !next.isAsync();
  return follows && !hasDotBetween(dot.op, next.op) ? next : Dot();
}

/// The wait that a dot's result passes, alone; null: none.
DotWait waitOf(Dot dot) {
  if (!dot.isAsync() || !dot.d().hasOneUse()) return {};
  auto wait = dot.d().firstUse()->owner->dyn<DotWait>();
  return wait && wait->block() == dot->block() ? wait : DotWait();
}

Accumulation accumulationFrom(Dot dot) {
  Accumulation a;
  for (Dot next = dot; next; next = nextOf(next)) a.dots.push_back(next);
  a.wait = waitOf(a.last());
  Value result = a.wait ? a.wait->result(a.last().d().firstUse()->index()) : a.last().d();
  auto carried = dot.c().isBlockArgument() ? carriedByArgument(dot.c()) : std::nullopt;
  bool isOfLoop = carried && dot.c().ownerBlock() == a.block() && dot.c().hasOneUse();
  if (isOfLoop && carried->yielded == result && result.hasOneUse()) a.carriedIndex = carried->index;
  if (a.wait && a.wait.pendings()) {
    a.inFlight = a.carriedIndex.has_value();
    if (!a.inFlight) a.wait = DotWait();
  }
  bool waitsLater = a.wait && !a.inFlight;
  if (waitsLater && hasDotBetween(a.last().op, a.wait.op)) a.wait = DotWait(); // they share an mbarrier
  return a;
}

std::vector<Accumulation> findAccumulations(Operation *func) {
  std::vector<Accumulation> found;
  llvm::DenseSet<Operation *> seen;
  for (auto dot : collect<Dot>(func)) {
    if (!seen.insert(dot.op).second || dot.useC()) continue;
    found.push_back(accumulationFrom(dot));
    for (auto d : found.back().dots) seen.insert(d.op);
  }
  return found;
}

/// An iteration has one arrival for all of its dots in flight: none of them is, if one of the loop's dots is not.
void agreeOnDotsInFlight(std::vector<Accumulation> &all) {
  llvm::DenseMap<Block *, bool> allInFlight;
  for (auto &a : all) {
    auto [known, isNew] = allInFlight.try_emplace(a.block(), true);
    known->second &= a.inFlight;
  }
  for (auto &a : all)
    if (a.inFlight && !allInFlight[a.block()]) {
      a.inFlight = false;
      a.wait = DotWait();
    }
}

// ---- 2. waits -------------------------------------------------------------------------------------------------------

/// The mbarrier that the dots of a block share, and the phase of the next one.
class BlockBarrier {
public:
  explicit BlockBarrier(Block *block, Operation *firstDot) : block_(block) {
    auto loop = loopOf(block);
    Builder b(loop ? loop.op : firstDot);
    Location loc = firstDot->loc();
    mbarriers_ = createMbarriers(b, loc, 1, 1);
    Value zero = b.intConstant(loc, b.context().i32(), 0);
    barrier_ = mbarrierAt(b, loc, mbarriers_, zero);
    phase_ = zero;
    if (!loop) return;
    auto phase = carryMore(loop, zero);
    phase_ = phase.argument;
    index_ = phase.index;
  }
  Value barrier() const { return barrier_; }
  void wait(Builder &b, Location loc) {
    lastWait_ = ttng::WaitBarrierOp::create(b, loc, barrier_, phase_, Value(), {}).op;
    phase_ = arith::XoriOp::create(b, loc, phase_, b.intConstant(loc, b.context().i32(), 1)).op->result();
  }
  void finish() {
    auto loop = loopOf(block_);
    if (loop) carried(loop, index_).setYielded(phase_);
    Builder b = Builder::after(loop ? loop.op : lastWait_);
    releaseMbarriers(b, lastWait_->loc(), mbarriers_);
  }

private:
  Block *block_;
  Value mbarriers_, barrier_, phase_;
  unsigned index_ = 0; // of the phase among what the loop carries
  Operation *lastWait_ = nullptr;
};

class DotsOfFunction {
public:
  explicit DotsOfFunction(tt::FuncOp func) : func_(func) {}

  bool run() {
    all_ = findAccumulations(func_.op);
    if (all_.empty()) return false;
    agreeOnDotsInFlight(all_);
    allocate();
    llvm::MapVector<Block *, llvm::SmallVector<Accumulation *, 4>> blocks;
    for (auto &a : all_) blocks[a.block()].push_back(&a);
    for (auto &[block, accumulations] : blocks)
      accumulations.front()->inFlight ? keepInFlight(block, accumulations) : waitForEach(block, accumulations);
    for (auto wait : collect<DotWait>(func_.op)) { // all dots are waited for otherwise
      for (auto [result, operand] : llvm::zip(wait->results(), wait->operands()))
        Value(result).replaceAllUsesWith(operand);
      wait->erase();
    }
    for (auto loop : collect<scf::ForOp>(func_.op)) dropUnneededCarriedValues(loop);
    return true;
  }

private:
  Value boolean(Builder &b, Location loc, bool v) { return b.intConstant(loc, IntegerType::get(b.context(), 1), v); }

  // ---- 1. ----

  MemDescType bufferType(TensorType type) {
    auto *layout = accumulatorEncoding(func_->context().encodings(), type.shape(), type.element().bitWidth());
    return MemDescType::get(type.shape(), type.element(), layout,
                            OpaqueAttr::get(func_->context(), kTensorMemorySpace), true);
  }

  /// Buffers, in the entry block. Accumulators that find no room while a loop runs are loaded and stored in it.
  void allocate() {
    TensorMemoryBudget budget;
    llvm::DenseMap<unsigned, Value> buffers;
    for (auto &a : all_) {
      auto type = bufferType(a.type());
      int64_t columns = tensorMemoryColumns(type).value_or(0);
      Operation *extent = a.carriedIndex ? a.block()->parentOp() : a.first().op;
      auto number = budget.add(a.type(), columns, extent);
      Value &buffer = buffers[number.value_or(~1U)];
      if (!buffer) {
        Builder b = Builder::atStart(func_.body().front());
        buffer = ttng::TmemAllocOp::create(b, func_->loc(), {type}, Value()).result();
      }
      a.buffer = buffer;
    }
  }

  Value load(Builder &b, const Accumulation &a) {
    return ttng::TmemLoadOp::create(b, a.last()->loc(), {a.type()}, a.buffer, Value()).result();
  }
  void store(Builder &b, const Accumulation &a, Value v) {
    Location loc = a.first()->loc();
    ttng::TmemStoreOp::create(b, loc, {}, a.buffer, Value(), v, boolean(b, loc, true));
  }

  /// Lets the loop carry no accumulator any more. Returns whether the first dot adds.
  Value takeOutOfLoop(const Accumulation &a) {
    Block *block = a.block();
    auto accumulator = carried(loopOf(block), *a.carriedIndex);
    Location loc = a.first()->loc();
    accumulator.setYielded(accumulator.argument); // dropped later
    Builder before(loopOf(block).op);
    if (!isZero(accumulator.init)) {
      store(before, a, accumulator.init);
      loadAfter(a, accumulator, Value());
      return boolean(before, loc, true);
    }
    bool surelyIterates = constantIterations(loopOf(block)).value_or(0) > 0;
    auto adds = carryMore(loopOf(block), boolean(before, loc, false));
    Builder atEnd(block->terminator());
    adds.setYielded(boolean(atEnd, loc, true));
    loadAfter(a, carried(loopOf(block), *a.carriedIndex), surelyIterates ? Value() : adds.result);
    return adds.argument;
  }
  /// `exists`: whether there is something to load; else the result is what entered the loop. Null: there is.
  void loadAfter(const Accumulation &a, const CarriedValue &accumulator, Value exists) {
    if (accumulator.result.useEmpty()) return;
    Builder b = Builder::after(accumulator.loop.op);
    Location loc = a.last()->loc();
    if (!exists) {
      Value loaded = load(b, a);
      accumulator.result.replaceAllUsesWith(loaded);
      return;
    }
    auto branch = scf::IfOp::create(b, loc, {a.type()}, exists);
    Builder then = Builder::atEnd(branch.thenRegion().addBlock()), other = Builder::atEnd(branch.elseRegion().addBlock());
    scf::YieldOp::create(then, loc, {load(then, a)});
    scf::YieldOp::create(other, loc, {accumulator.init});
    accumulator.result.replaceAllUsesWith(branch->result(0));
  }

  /// Dot `i` of an accumulation, with its arrival if there is a barrier.
  void issue(const Accumulation &a, unsigned i, Value adds, Value barrier) {
    Dot dot = a.dots[i];
    Builder b(dot.op);
    Location loc = dot->loc();
    Value always = boolean(b, loc, true);
    llvm::SmallVector<Value, 1> barriers, predicates;
    if (barrier) {
      barriers.push_back(barrier);
      predicates.push_back(always);
    }
    NamedAttribute isAsync{"is_async", UnitAttr::get(b.context())};
    ttng::TcGen5MmaOp::create(b, loc, {}, dot.a(), dot.b(), a.buffer, Value(), i ? always : adds, always, barriers,
                              predicates, {isAsync});
  }

  // ---- 2. ----

  void waitForEach(Block *block, llvm::ArrayRef<Accumulation *> accumulations) {
    // In the order of the block: chains have no other dots between theirs.
    BlockBarrier barrier(block, accumulations.front()->first().op);
    for (Accumulation *a : accumulations) {
      Value adds = a->carriedIndex ? takeOutOfLoop(*a) : enter(*a);
      for (unsigned i = 0; i < a->dots.size(); ++i) {
        issue(*a, i, adds, barrier.barrier());
        Operation *at = a->wait && i + 1 == a->dots.size() ? a->wait.op : a->dots[i].op;
        Builder b(at);
        barrier.wait(b, a->dots[i]->loc());
      }
      if (!a->carriedIndex) {
        Builder b(a->wait ? a->wait.op : a->last().op);
        Value loaded = load(b, *a);
        if (a->wait) { // its users come after the wait
          Value passed = a->wait->result(a->last().d().firstUse()->index());
          passed.replaceAllUsesWith(loaded);
        } else {
          a->last().d().replaceAllUsesWith(loaded);
        }
      }
    }
    barrier.finish();
    for (Accumulation *a : accumulations) eraseDots(*a);
  }

  /// The accumulator of dots that no loop carries; whether the first one adds.
  Value enter(const Accumulation &a) {
    Builder b(a.first().op);
    bool adds = !isZero(a.first().c());
    if (adds) store(b, a, a.first().c());
    return boolean(b, a.first()->loc(), adds);
  }

  void eraseDots(Accumulation &a) {
    for (auto dot : llvm::reverse(a.dots)) {
      dot.d().replaceAllUsesWith(dot.c()); // of carried ones in waits, whose results nothing uses
      dot->erase();
    }
  }

  // ---- 3. ----

  void keepInFlight(Block *block, llvm::ArrayRef<Accumulation *> accumulations) {
    Accumulation &lastOne = *accumulations.back();
    Location loc = lastOne.last()->loc();
    Builder before(loopOf(block).op);
    Value mbarriers = createMbarriers(before, loc, 2, 1);
    auto counter = carryMore(loopOf(block), before.intConstant(loc, before.context().i32(), 0));
    counter.setYielded(addTo(block, counter.argument, loc));
    for (Accumulation *a : accumulations) {
      Value adds = takeOutOfLoop(*a);
      for (unsigned i = 0; i < a->dots.size(); ++i) issue(*a, i, adds, Value());
    }
    Builder b(lastOne.last().op);
    auto integer = [&](Builder &at, int64_t v) { return at.intConstant(loc, at.context().i32(), v); };
    Value turn = arith::AndiOp::create(b, loc, counter.argument, integer(b, 1)).op->result();
    ttng::TcGen5CommitOp::create(b, loc, mbarrierAt(b, loc, mbarriers, turn), Value(), {});
    Builder atWait(lastOne.wait.op);
    waitForPrevious(atWait, loc, mbarriers, counter.argument);
    Operation *loop = loopOf(block).op;
    Builder after = Builder::after(loop);
    waitForPrevious(after, loc, mbarriers, carried(loopOf(block), counter.index).result);
    releaseMbarriers(after, loc, mbarriers);
    for (Accumulation *a : accumulations) eraseDots(*a);
  }
  static Value addTo(Block *block, Value counter, Location loc) {
    Builder b(block->terminator());
    return arith::AddiOp::create(b, loc, counter, b.intConstant(loc, b.context().i32(), 1)).op->result();
  }
  /// Waits for the arrival before number `count`.
  static void waitForPrevious(Builder &b, Location loc, Value mbarriers, Value count) {
    auto integer = [&](int64_t v) { return b.intConstant(loc, b.context().i32(), v); };
    Value previous = arith::SubiOp::create(b, loc, count, integer(1)).op->result();
    Value turn = arith::AndiOp::create(b, loc, previous, integer(1)).op->result();
    Value round = arith::ShrsiOp::create(b, loc, previous, integer(1)).op->result();
    Value phase = arith::AndiOp::create(b, loc, round, integer(1)).op->result();
    ttng::WaitBarrierOp::create(b, loc, mbarrierAt(b, loc, mbarriers, turn), phase, Value(), {});
  }

  tt::FuncOp func_;
  std::vector<Accumulation> all_;
};

} // namespace

absl::StatusOr<bool> dotsInTensorMemory(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Tcgen05) return false;
  bool changed = false;
  for (auto &op : *m.body()) {
    auto func = op.dyn<tt::FuncOp>();
    if (func && !func.body().empty()) changed |= DotsOfFunction(func).run();
  }
  return changed;
}

} // namespace tessera::transforms
