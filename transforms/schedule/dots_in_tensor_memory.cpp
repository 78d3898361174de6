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
// 1. Accumulators. One that a loop carries, and that only dots add to, stays in tensor memory while the loop runs.
//    Zeros before it are not stored: the first dot does not add. Of a loop that need not iterate, the result is loaded
//    if it did. A loop or a dot that continues with such a result (the last iteration, which a pipeline has peeled)
//    continues with the buffer.
//    One that a loop carries and changes itself (attention scales it) waits in tensor memory for the next iteration,
//    which loads it where it is needed, and stores it before the dot: registers are free meanwhile.
//    All others are stored before their dot, unless they are zeros, and loaded after it. Several dots one after the
//    other that add to one accumulator are loaded after the last. Accumulators of one type that do not live at the
//    same time share a buffer.
// 2. Waits. All threads wait directly after a dot, or where the pipeline has put the wait, after the next copies.
//    The dots of a block share an mbarrier: each is the next of its phases.
// 3. Dots in flight. Where an iteration waits for the dots of the one before (ttng.warp_group_dot_wait with pending
//    dots), an iteration has one arrival, at one of two mbarriers in turn: a wait distinguishes a phase from the next
//    one, but not from the one after that, which may be complete as well. The counter of iterations gives the mbarrier
//    and its phase; the wait of the first iteration, for none, is for the phase before the first, which counts as
//    complete.
// 4. Operands. A buffer in shared memory that only dots read ends (ttg.local_dealloc) after the last wait for them, or
//    after the loop that the wait is in: nothing else says which wait is the one for a dot, and the buffers of several
//    loops would not share memory.
//
// Nothing to do: no such dots. Not done: accumulators that a loop restarts (persistent loops that Triton flattens) are
// loaded and stored in each iteration.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "ir/verify_hook.h"
#include "transforms/analyses/accumulator_buffers.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/tensor_memory.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;
using Dot = ttng::WarpGroupDotOp;
using DotWait = ttng::WarpGroupDotWaitOp;

namespace {

constexpr unsigned kNoBuffer = 1U << 20; // none is left: allocate-tensor-memory reports it

/// Dots that add to one accumulator, one after the other, in one block.
struct Accumulation {
  llvm::SmallVector<Dot, 2> dots;
  Block *block = nullptr;
  std::optional<unsigned> carriedIndex; // of the loop whose body the block is: it only passes through the dots
  std::optional<unsigned> changedIndex; // … or is changed by other operations before them
  Accumulation *before = nullptr;       // whose loop's result this one continues with, in the same buffer
  std::optional<unsigned> addsIndex;    // of the loop's flag that something is in the buffer; none: something surely is
  Value start;                          // what it is if nothing is
  DotWait wait;                         // in the block, which the result passes; null: none
  bool inFlight = false;                // the wait is for the iteration before
  unsigned bufferNumber = 0;
  Value buffer;

  Dot first() const { return dots.front(); }
  Dot last() const { return dots.back(); }
  /// The operation during which it is in the buffer.
  Operation *extent() const { return carriedIndex || changedIndex ? block->parentOp() : first().op; }
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

/// The first operation of a block that uses the value, itself or in a region; null: none does.
Operation *firstUserIn(Block *block, Value v) {
  Operation *first = nullptr;
  for (Operation *user : v.users()) {
    while (user->block() != block) user = user->parentOp();
    if (!first || user->isBeforeInBlock(first)) first = user;
  }
  return first;
}

/// The index of the carried value that `result` becomes, and that the loop's body uses only before the dots.
std::optional<unsigned> indexIfChanged(const Accumulation &a, Value result) {
  Block *block = a.block;
  if (a.carriedIndex || !loopOf(block) || !result.hasOneUse()) return std::nullopt;
  OpOperand *use = *result.uses().begin();
  if (use->owner != block->terminator()) return std::nullopt;
  auto value = carried(loopOf(block), use->index());
  for (Operation *user : value.argument.users()) {
    while (user->block() != block) user = user->parentOp();
    if (!user->isBeforeInBlock(a.first().op)) return std::nullopt;
  }
  return value.argument.useEmpty() ? std::nullopt : std::optional(value.index);
}

Accumulation accumulationFrom(Dot dot) {
  Accumulation a;
  a.block = dot->block();
  for (Dot next = dot; next; next = nextOf(next)) a.dots.push_back(next);
  a.wait = waitOf(a.last());
  Value result = a.wait ? a.wait->result(a.last().d().firstUse()->index()) : a.last().d();
  auto carried = dot.c().isBlockArgument() ? carriedByArgument(dot.c()) : std::nullopt;
  bool isOfLoop = carried && dot.c().ownerBlock() == a.block && dot.c().hasOneUse();
  if (isOfLoop && carried->yielded == result && result.hasOneUse()) a.carriedIndex = carried->index;
  a.changedIndex = indexIfChanged(a, result);
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

/// An iteration has one arrival for all of its dots in flight, and one wait, which leaves all of them pending: none of
/// them is in flight, if one of the loop's dots is not.
void agreeOnDotsInFlight(std::vector<Accumulation> &all) {
  struct Facts {
    bool allInFlight = true;
    DotWait wait;
    int64_t dots = 0;
  };
  llvm::DenseMap<Block *, Facts> facts;
  for (auto &a : all) {
    Facts &f = facts[a.block];
    if (!f.wait) f.wait = a.wait;
    f.dots += int64_t(a.dots.size());
    f.allInFlight &= a.inFlight && a.wait.op == f.wait.op;
  }
  for (auto &a : all)
    if (Facts &f = facts[a.block]; a.inFlight && !(f.allInFlight && f.wait.pendings() >= f.dots)) {
      a.inFlight = false;
      a.wait = DotWait();
    }
}

/// An accumulation that begins with the result of another one's loop, and nothing else uses that, continues with it.
void findContinuations(std::vector<Accumulation> &all) {
  for (auto &a : all) {
    bool isOfLoop = a.carriedIndex.has_value();
    if (a.changedIndex) continue;
    Value start = isOfLoop ? carried(loopOf(a.block), *a.carriedIndex).init : a.first().c();
    auto source = carriedByResult(start);
    if (!source || !start.hasOneUse() || source->loop->block() != a.extent()->block()) continue;
    if (hasDotBetween(source->loop.op, a.extent())) continue;
    for (auto &other : all)
      if (other.carriedIndex && other.extent() == source->loop.op && *other.carriedIndex == source->index)
        a.before = &other;
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
  /// Returns the wait.
  Operation *wait(Builder &b, Location loc) {
    lastWait_ = ttng::WaitBarrierOp::create(b, loc, barrier_, phase_, Value(), {}).op;
    phase_ = arith::XoriOp::create(b, loc, phase_, b.intConstant(loc, b.context().i32(), 1)).op->result();
    return lastWait_;
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
  unsigned index_ = 0; // of the phase among the loop-carried values
  Operation *lastWait_ = nullptr;
};

unsigned depthOf(Block *block) {
  unsigned depth = 0;
  for (Operation *op = block->parentOp(); op; op = op->parentOp()) ++depth;
  return depth;
}

class DotsOfFunction {
public:
  explicit DotsOfFunction(tt::FuncOp func) : func_(func) {}

  bool run() {
    all_ = findAccumulations(func_.op);
    if (all_.empty()) return false;
    agreeOnDotsInFlight(all_);
    findContinuations(all_);
    allocate();
    llvm::MapVector<Block *, llvm::SmallVector<Accumulation *, 4>> blocks;
    for (auto &a : all_) blocks[a.block].push_back(&a);
    // Inner loops first: a block continues with their results.
    auto ordered = blocks.takeVector();
    llvm::stable_sort(ordered, [](auto &a, auto &b) { return depthOf(a.first) > depthOf(b.first); });
    for (auto &[block, accumulations] : ordered)
      accumulations.front()->inFlight ? keepInFlight(block, accumulations) : waitForEach(block, accumulations);
    for (auto wait : collect<DotWait>(func_.op)) { // all dots are waited for otherwise
      for (auto [result, operand] : llvm::zip(wait->results(), wait->operands()))
        Value(result).replaceAllUsesWith(operand);
      wait->erase();
    }
    for (auto alloc : collect<ttg::LocalAllocOp>(func_.op)) endAfterDots(alloc);
    auto loops = collect<scf::ForOp>(func_.op);
    for (auto loop : llvm::reverse(loops)) dropUnneededCarriedValues(loop);
    return true;
  }

private:
  Value boolean(Builder &b, Location loc, bool v) { return b.intConstant(loc, IntegerType::get(b.context(), 1), v); }

  // ---- 1. ----

  MemDescType bufferType(TensorType type) {
    auto *layout = accumulatorEncoding(func_->context().encodings(), type.shape(), type.element().bitWidth());
    return MemDescType::get(type.shape(), type.element(), layout, OpaqueAttr::get(func_->context(), kTensorMemorySpace),
                            true);
  }

  /// Buffers, in the entry block. All accumulators fit if those that their loops change are in registers between the
  /// iterations: accelerate-matmul has counted so.
  void allocate() {
    while (!numberBuffers()) {
      auto changed = llvm::find_if(llvm::reverse(all_), [](auto &a) { return a.changedIndex.has_value(); });
      if (changed == all_.rend()) break;
      changed->changedIndex.reset();
    }
    llvm::DenseMap<unsigned, Value> buffers;
    for (auto &a : all_) {
      Value &buffer = buffers[a.bufferNumber];
      if (!buffer) {
        Builder b = Builder::atStart(func_.body().front());
        buffer = ttng::TmemAllocOp::create(b, func_->loc(), {bufferType(a.type())}, Value()).result();
      }
      a.buffer = buffer;
    }
  }
  /// Whether there is room for all.
  bool numberBuffers() {
    TensorMemoryBudget budget;
    bool isRoom = true;
    for (auto &a : all_) {
      if (a.before && !budget.extend(a.before->bufferNumber, a.extent())) a.before = nullptr;
      auto number = a.before ? std::optional(a.before->bufferNumber)
                             : budget.add(a.type(), tensorMemoryColumns(bufferType(a.type())).value_or(0), a.extent());
      a.bufferNumber = number.value_or(kNoBuffer + unsigned(&a - all_.data()));
      isRoom &= number.has_value();
    }
    return isRoom;
  }

  Value load(Builder &b, const Accumulation &a) {
    return ttng::TmemLoadOp::create(b, a.last()->loc(), {a.type()}, a.buffer, Value()).result();
  }
  void store(Builder &b, const Accumulation &a, Value v) {
    Location loc = a.first()->loc();
    ttng::TmemStoreOp::create(b, loc, {}, a.buffer, Value(), v, boolean(b, loc, true));
  }

  /// Lets the loop carry no accumulator any more. Returns whether the first dot adds.
  Value takeOutOfLoop(Accumulation &a) {
    Block *block = a.block;
    auto accumulator = carried(loopOf(block), *a.carriedIndex);
    Location loc = a.first()->loc();
    accumulator.setYielded(accumulator.argument); // dropped later
    Builder before(loopOf(block).op);
    a.start = a.before ? a.before->start : accumulator.init;
    bool isFilled = a.before ? !a.before->addsIndex : !isZero(accumulator.init);
    if (isFilled) {
      if (!a.before) store(before, a, accumulator.init);
      loadAfter(a, accumulator, Value());
      return boolean(before, loc, true);
    }
    bool surelyIterates = constantIterations(loopOf(block)).value_or(0) > 0;
    auto adds = carryMore(loopOf(block), a.before ? addsAfter(*a.before) : boolean(before, loc, false));
    Builder atEnd(block->terminator());
    adds.setYielded(boolean(atEnd, loc, true));
    if (!surelyIterates) a.addsIndex = adds.index;
    loadAfter(a, carried(loopOf(block), *a.carriedIndex), surelyIterates ? Value() : adds.result);
    return adds.argument;
  }
  /// `exists`: whether there is something to load; else the result is what there was at the start. Null: there is.
  void loadAfter(const Accumulation &a, const CarriedValue &accumulator, Value exists) {
    if (accumulator.result.useEmpty() || isContinued(a)) return;
    Builder b = Builder::after(accumulator.loop.op);
    Location loc = a.last()->loc();
    if (!exists) {
      Value loaded = load(b, a);
      accumulator.result.replaceAllUsesWith(loaded);
      return;
    }
    auto branch = scf::IfOp::create(b, loc, {a.type()}, exists);
    Builder then = Builder::atEnd(branch.thenRegion().addBlock()),
            other = Builder::atEnd(branch.elseRegion().addBlock());
    scf::YieldOp::create(then, loc, {load(then, a)});
    scf::YieldOp::create(other, loc, {a.start});
    accumulator.result.replaceAllUsesWith(branch->result(0));
  }

  /// Whether something is in the buffer after the loop. @pre addsIndex
  static Value addsAfter(const Accumulation &a) { return carried(loopOf(a.block), *a.addsIndex).result; }
  bool isContinued(const Accumulation &a) const {
    return llvm::any_of(all_, [&](const Accumulation &other) { return other.before == &a; });
  }

  /// The accumulator waits in its buffer for the next iteration, and for the end of the loop.
  void keepBetweenIterations(const Accumulation &a) {
    Block *block = a.block;
    auto accumulator = carried(loopOf(block), *a.changedIndex);
    Builder before(loopOf(block).op);
    store(before, a, accumulator.init);
    Builder atUse(firstUserIn(block, accumulator.argument));
    Value loaded = load(atUse, a);
    accumulator.argument.replaceAllUsesWith(loaded);
    accumulator.setYielded(accumulator.argument); // dropped later
    loadAfter(a, accumulator, Value());
  }

  /// Dot `i` of an accumulation, with its arrival if there is a barrier.
  ttng::TcGen5MmaOp issue(const Accumulation &a, unsigned i, Value adds, Value barrier) {
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
    return ttng::TcGen5MmaOp::create(b, loc, {}, dot.a(), dot.b(), a.buffer, Value(), i ? always : adds, always,
                                     barriers, predicates, {isAsync});
  }

  // ---- 2. ----

  void waitForEach(Block *block, llvm::ArrayRef<Accumulation *> accumulations) {
    // In the order of the block: chains have no other dots between theirs.
    BlockBarrier barrier(block, accumulations.front()->first().op);
    for (Accumulation *a : accumulations) {
      Value adds = a->carriedIndex ? takeOutOfLoop(*a) : enter(*a);
      for (unsigned i = 0; i < a->dots.size(); ++i) {
        Operation *dot = issue(*a, i, adds, barrier.barrier()).op;
        Operation *at = a->wait && i + 1 == a->dots.size() ? a->wait.op : a->dots[i].op;
        Builder b(at);
        waits_[dot] = barrier.wait(b, a->dots[i]->loc());
      }
      if (a->changedIndex)
        keepBetweenIterations(*a);
      else if (!a->carriedIndex)
        loadResult(*a);
    }
    barrier.finish();
    for (Accumulation *a : accumulations) eraseDots(*a);
  }
  void loadResult(const Accumulation &a) {
    Builder b(a.wait ? a.wait.op : a.last().op);
    // The users of a result that is waited for come after the wait.
    Value result = a.wait ? a.wait->result(a.last().d().firstUse()->index()) : a.last().d();
    Value loaded = load(b, a);
    result.replaceAllUsesWith(loaded);
  }

  /// The accumulator of dots that no loop carries; whether the first one adds.
  Value enter(const Accumulation &a) {
    Builder b(a.first().op);
    if (a.before && a.before->addsIndex) return addsAfter(*a.before);
    bool adds = a.before || !isZero(a.first().c());
    if (adds && !a.before) store(b, a, a.first().c());
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
    llvm::SmallVector<Operation *, 4> inFlight;
    for (Accumulation *a : accumulations) {
      Value adds = takeOutOfLoop(*a);
      for (unsigned i = 0; i < a->dots.size(); ++i) inFlight.push_back(issue(*a, i, adds, Value()).op);
    }
    Builder b(lastOne.last().op);
    auto integer = [&](Builder &at, int64_t v) { return at.intConstant(loc, at.context().i32(), v); };
    Value turn = arith::AndiOp::create(b, loc, counter.argument, integer(b, 1)).op->result();
    ttng::TcGen5CommitOp::create(b, loc, mbarrierAt(b, loc, mbarriers, turn), Value(), {});
    Builder atWait(lastOne.wait.op);
    waitForPrevious(atWait, loc, mbarriers, counter.argument);
    Operation *loop = loopOf(block).op;
    Builder after = Builder::after(loop);
    Operation *lastWait = waitForPrevious(after, loc, mbarriers, carried(loopOf(block), counter.index).result);
    for (Operation *dot : inFlight) waits_[dot] = lastWait;
    releaseMbarriers(after, loc, mbarriers);
    for (Accumulation *a : accumulations) eraseDots(*a);
  }
  static Value addTo(Block *block, Value counter, Location loc) {
    Builder b(block->terminator());
    return arith::AddiOp::create(b, loc, counter, b.intConstant(loc, b.context().i32(), 1)).op->result();
  }
  /// Waits for the arrival before number `count`. Returns the wait.
  static Operation *waitForPrevious(Builder &b, Location loc, Value mbarriers, Value count) {
    auto integer = [&](int64_t v) { return b.intConstant(loc, b.context().i32(), v); };
    Value previous = arith::SubiOp::create(b, loc, count, integer(1)).op->result();
    Value turn = arith::AndiOp::create(b, loc, previous, integer(1)).op->result();
    Value round = arith::ShrsiOp::create(b, loc, previous, integer(1)).op->result();
    Value phase = arith::AndiOp::create(b, loc, round, integer(1)).op->result();
    return ttng::WaitBarrierOp::create(b, loc, mbarrierAt(b, loc, mbarriers, turn), phase, Value(), {}).op;
  }

  // ---- 4. ----

  void endAfterDots(ttg::LocalAllocOp alloc) {
    Operation *last = nullptr; // of the buffer's block
    if (!findLastWait(alloc.result(), alloc->block(), last) || !last) return;
    makeMutable(alloc.result()); // so that no pass merges it with a buffer that ends elsewhere
    Builder b = Builder::after(last);
    ttg::LocalDeallocOp::create(b, alloc->loc(), alloc.result());
  }
  /// The buffer and its views.
  static void makeMutable(Value buffer) {
    auto type = buffer.type().cast<MemDescType>();
    buffer.setType(
        MemDescType::get(type.shape(), type.element(), type.encoding(), type.memorySpace(), true, type.allocShape()));
    for (Operation *user : buffer.users())
      if (isMemdescView(user)) makeMutable(user->result());
  }
  /// Whether only dots read the buffer, and all are waited for in the block or in regions of its operations, the last
  /// of which is `last` then.
  bool findLastWait(Value buffer, Block *block, Operation *&last) const {
    return llvm::all_of(buffer.users(), [&](Operation *user) {
      if (isMemdescView(user)) return findLastWait(user->result(), block, last);
      Operation *wait = waits_.lookup(user);
      while (wait && wait->block() != block) wait = wait->parentOp();
      if (wait && (!last || last->isBeforeInBlock(wait))) last = wait;
      return wait != nullptr;
    });
  }

  tt::FuncOp func_;
  std::vector<Accumulation> all_;
  llvm::DenseMap<Operation *, Operation *> waits_; // of dots in tensor memory: the one after which it has ended
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
