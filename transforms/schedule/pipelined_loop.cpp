// Building pipelined loops (see pipelined_loop.h; docs/software_pipelining.md shows the results):
//
//   buffers    a multi-buffer for each load that goes to shared memory; mbarriers and tensor maps for bulk copies
//   guard      an scf.if, if the peeled last iteration might not exist
//   prologue   the producer of the first iterations
//   loop       the producer some iterations ahead of the consumer, in the order that the plan gives
//   epilogue   waits for what is in flight, or the consumer of the last iteration
//
// With a loop over tiles around it: see pipelined_tiles.cpp and producer_of_tiles.cpp. What a new loop carries:
// pipelined_carried.h.
#include "transforms/schedule/pipelined_loop.h"
#include "ir/attribute_names.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/schedule/overlap_plan.h"
#include "transforms/schedule/pipelined_loop_builder.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

void PipelinedLoopBuilder::build() {
  if (plan_.hasProducerWarp) return buildWithProducer();
  if (plan_.tiles.loop) b_.setInsertionPoint(plan_.tiles.loop.op);
  allocateBuffers();
  openGuard();
  if (plan_.tiles.loop)
    beginTiles();
  else
    emitPrologue(ValueMap(), Value());
  emitLoop();
  emitEpilogue();
  closeGuard();
  if (plan_.tiles.loop) endTiles();
  releaseBuffers();
  for (unsigned i : usedResults_) loop_->result(i).replaceAllUsesWith(finals_[i]);
  if (!plan_.asyncCopies) eraseDead(*loop_->block(), loop_.op); // what the last iteration computed for a next one
  loop_->dropAllReferences();
  loop_->erase();
  if (lastWait_) sinkAddressesOfStores();
  dropUnneededCarriedValues(newLoop_);
  if (firstLoop_) dropUnneededCarriedValues(firstLoop_);
  if (tileLoop_) dropUnneededCarriedValues(tileLoop_);
}

void PipelinedLoopBuilder::openGuard() {
  for (unsigned i = 0; i < loop_->numResults(); ++i)
    if (!loop_->result(i).useEmpty()) usedResults_.push_back(i);
  if (plan_.asyncCopies || surelyIterates()) return;
  llvm::SmallVector<Type, 8> types;
  for (unsigned i : usedResults_) types.push_back(loop_->result(i).type());
  Value iterates = compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound());
  guard_ = scf::IfOp::create(b_, loc_, types, iterates);
  b_.setInsertionPointToEnd(guard_.thenRegion().addBlock());
}

void PipelinedLoopBuilder::closeGuard() {
  if (!guard_) return;
  Location at = body_.terminator()->loc();
  llvm::SmallVector<Value, 8> then, otherwise;
  for (unsigned i : usedResults_) {
    then.push_back(finals_[i]);
    otherwise.push_back(loop_.initArgs()[i]);
  }
  scf::YieldOp::create(b_, at, then);
  Builder other = Builder::atEnd(guard_.elseRegion().addBlock());
  scf::YieldOp::create(other, at, otherwise);
  for (auto [k, i] : llvm::enumerate(usedResults_)) finals_[i] = guard_->result(k);
  b_.setInsertionPointAfter(guard_.op);
}

void PipelinedLoopBuilder::emitPrologue(const ValueMap &outer, Value exists) {
  producerState_.clear();
  for (auto i : plan_.producer.carried) producerState_.push_back(outer.lookupOrSelf(loop_.initArgs()[i]));
  Value lower = outer.lookupOrSelf(loop_.lowerBound());
  Value upper = outer.lookupOrSelf(loop_.upperBound());
  Value step = outer.lookupOrSelf(loop_.step());
  Value index = firstReadIndex_ ? firstReadIndex_ : integer(b_, 0);
  // Addresses of a next tile that does not exist are this tile's. Those of the first tile may be anywhere.
  Value firstTile = tileLoop_ ? Value() : exists;
  for (int64_t d = 0; d < plan_.distance; ++d) {
    ValueMap map = outer;
    beginProducer(map, d ? make<arith::AddiOp>(b_, lower, steps(b_, step, d)) : lower);
    Value predicate;
    bool mayNotExist = plan_.asyncCopies || d > 0;
    if (mayNotExist) predicate = compare(b_, CmpIPredicate::Slt, lower, boundBefore(b_, upper, step, d));
    if (exists) predicate = make<arith::AndiOp>(b_, predicate, exists);
    emitProducer(b_, map, predicate);
    if (plan_.asyncCopies) {
      emitCopies(b_, map, predicate, index, firstTile);
      index = nextIndex(index, d + 1);
    } else {
      prologueLoaded_ = emitLoads(b_, map, predicate);
      if (d == 0) storeToBuffers(b_, prologueLoaded_, integer(b_, 0));
    }
    advanceProducer(map);
  }
  fillIndex_ = index;
}

void PipelinedLoopBuilder::storeToBuffers(Builder &b, llvm::ArrayRef<Value> loaded, Value index) {
  for (auto [a, v] : llvm::zip(plan_.loads, loaded))
    if (a.bufferType) ttg::LocalStoreOp::create(b, loc_, v, bufferAt(b, a, index));
}

Value PipelinedLoopBuilder::nextIndex(Value index, int64_t constant) {
  if (!firstReadIndex_) return integer(b_, constant);
  return createNextBufferIndex(b_, loc_, index, plan_.buffers);
}

PipelinedCarried PipelinedLoopBuilder::carriedInits() {
  PipelinedCarried inits;
  inits.ofLoop.assign(loop_.initArgs().begin(), loop_.initArgs().end());
  inits.ofProducer = producerState_;
  if (plan_.buffers > 1 && usesBuffers()) {
    inits.readIndex = firstReadIndex_ ? firstReadIndex_ : integer(b_, 0);
    if (plan_.asyncCopies && !plan_.refillsStage) inits.fillIndex = fillIndex_;
  }
  if (!plan_.asyncCopies) {
    for (auto [a, v] : llvm::zip(plan_.loads, prologueLoaded_))
      if (plan_.isCarried(a)) inits.loaded.push_back(v);
    inits.nextIteration = loop_.lowerBound();
  }
  if (plan_.hasBulkCopies()) inits.phase = firstPhase_ ? firstPhase_ : integer(b_, 0);
  return inits;
}

void PipelinedLoopBuilder::findDots() {
  for (auto &op : body_)
    if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) {
      dots_.push_back(dot.d());
      accumulators_.push_back(carriedByArgument(dot.c())->index);
      auto *sliced = slicedDotOf(dot.op);
      dotsOfIteration_ += sliced ? sliced->slices : 1;
    }
}

void PipelinedLoopBuilder::emitLoop() {
  auto inits = carriedInits();
  if (plan_.dotsInFlight) findDots();
  Value lower = loop_.lowerBound();
  Value bound = loop_.upperBound();
  stepsAhead_ = steps(b_, loop_.step(), plan_.distance);
  // If the loop iterates at all, from a start that is not negative, the bound is positive, and one step less does
  // not wrap.
  auto *start = constantBits(lower);
  bool cannotWrap = !plan_.asyncCopies && plan_.distance == 1 && start && start->isNonNegative();
  boundAhead_ =
      cannotWrap ? make<arith::SubiOp>(b_, bound, stepsAhead_) : boundBefore(b_, bound, loop_.step(), plan_.distance);
  Value upper = plan_.asyncCopies ? bound : boundAhead_;
  if (plan_.loadsTwoAhead()) upper = boundBefore(b_, bound, loop_.step(), 1);
  if (!plan_.copiesCrossTiles()) {
    newLoop_ = emitIterations(CopiesFor::LaterIteration, lower, upper, inits);
    results_ = inits.resultsOf(newLoop_);
    return;
  }
  inits.counter = lower;
  firstLoop_ = emitIterations(CopiesFor::ExistingIteration, lower, boundAhead_, inits);
  firstResults_ = inits.resultsOf(firstLoop_);
  b_.setInsertionPointAfter(firstLoop_.op);
  findNextTile();
  inits = firstResults_;
  inits.counter = emitMissingIterations(firstResults_.readIndex);
  inits.ofProducer = producerState_;
  newLoop_ = emitIterations(CopiesFor::NextTile, firstResults_.counter, bound, inits);
  results_ = inits.resultsOf(newLoop_);
}

scf::ForOp PipelinedLoopBuilder::emitIterations(CopiesFor copiesFor, Value lower, Value upper,
                                                const PipelinedCarried &inits) {
  auto values = inits.values();
  llvm::SmallVector<Type, 16> types;
  for (auto v : values) types.push_back(v.type());
  auto loop = scf::ForOp::create(b_, loc_, types, lower, upper, loop_.step(), values, loop_->attrs());
  if (plan_.keepsLastBuffers) loop->setAttr(kKeepsLastBuffersAttr, UnitAttr::get(c_));
  Block *block = loop.body().addBlock();
  Value oldCounter = inductionVariable(loop_);
  block->addArg(oldCounter.type(), oldCounter.loc());
  for (auto [i, t] : llvm::enumerate(types))
    block->addArg(t, i < inits.ofLoop.size() ? carriedArgument(body_, i).loc() : loc_);
  emitBody(*block, copiesFor, inits.argumentsOf(*block));
  return loop;
}

void PipelinedLoopBuilder::emitBody(Block &block, CopiesFor copiesFor, const PipelinedCarried &carried) {
  Iteration it{block, carried, Builder::atEnd(&block), copiesFor};
  it.consumer.map(inductionVariable(loop_), inductionVariable(block));
  for (auto [i, v] : llvm::enumerate(carried.ofLoop)) it.consumer.map(carriedArgument(body_, i), v);
  it.readIndex = carried.readIndex ? carried.readIndex : integer(it.in, 0);
  it.fillIndex = plan_.refillsStage ? it.readIndex : carried.fillIndex;
  emitWaitForStage(it);
  bool copiesComeLater =
      plan_.dotsInFlight || plan_.operandsFirst || plan_.copiesAfter || plan_.refillsStage || plan_.loadsTwoAhead();
  if (!copiesComeLater) produceNext(it);
  // What the last iteration loaded is for this one, or, two iterations ahead, for the next one.
  (plan_.loadsTwoAhead() ? it.forBuffers : it.forConsumer) = carried.loaded;
  emitConsumer(it.in, it.consumer, it.readIndex, it.forConsumer, it.token);
  if (plan_.refillsStage)
    produceAfterReads(it);
  else if (plan_.operandsFirst)
    produceBeforeFirstDot(it);
  if (plan_.copiesAfter) produceAfterDot(it);
  if (plan_.dotsInFlight) produceAfterLastIterationsDots(it);
  emitYield(it);
}

void PipelinedLoopBuilder::emitWaitForStage(Iteration &it) {
  if (plan_.hasBulkCopies())
    ttng::WaitBarrierOp::create(it.in, loc_, mbarrierAt(it.in, loc_, mbarriers_, it.readIndex), it.carried.phase,
                                Value(), {});
  if (plan_.hasThreadCopies())
    it.token = ttg::AsyncWaitOp::create(it.in, loc_, {}, {it.in.i32Attr("num", plan_.distance - 1)}).op->result();
  if (plan_.lateLoads()) emitLateCopies(it.in, it.consumer);
}

void PipelinedLoopBuilder::produceNext(Iteration &it) {
  if (it.copiesFor == CopiesFor::Nothing) return releaseLastIterationsBuffers(it);
  producerState_ = it.carried.ofProducer;
  if (it.copiesFor == CopiesFor::NextTile) {
    it.nextCounter = produceForNextTile(it.in, it.producer, it.carried.counter, it.fillIndex);
    return;
  }
  Value counter = inductionVariable(it.block);
  if (it.copiesFor == CopiesFor::ExistingIteration) it.nextCounter = nextCounter(it);
  Value predicate;
  bool mayNotExist = plan_.asyncCopies || plan_.loadsTwoAhead();
  if (mayNotExist && it.copiesFor == CopiesFor::LaterIteration)
    predicate = compare(it.in, CmpIPredicate::Slt, counter, boundAhead_);
  beginProducer(it.producer, plan_.distance == 1 ? nextCounter(it) : make<arith::AddiOp>(it.in, counter, stepsAhead_));
  emitProducer(it.in, it.producer, predicate);
  if (plan_.asyncCopies)
    emitCopies(it.in, it.producer, predicate, it.fillIndex);
  else
    it.loaded = emitLoads(it.in, it.producer, predicate);
  advanceProducer(it.producer);
}

void PipelinedLoopBuilder::produceBeforeFirstDot(Iteration &it) {
  it.in.setInsertionPoint(&*llvm::find_if(it.block, [](Operation &op) { return op.is<tt::DotOp>(); }));
  produceNext(it);
  it.in.setInsertionPointToEnd(&it.block);
}

void PipelinedLoopBuilder::produceAfterDot(Iteration &it) {
  Value oldResult = ttng::WarpGroupDotOp(plan_.copiesAfter).d();
  auto dot = it.consumer.lookupOrSelf(oldResult).definingOp()->cast<ttng::WarpGroupDotOp>();
  dot->setAttr(kIsAsyncAttr, IntegerAttr::getBool(c_, true));
  it.in.setInsertionPointAfter(dot.op);
  produceNext(it);
  Value done = waitForDots(it.in, {dot.d()}, 0)[0];
  dot.d().replaceUsesIf(done, [&](OpOperand &use) { return use.owner != done.definingOp(); });
  it.consumer.map(oldResult, done);
  it.in.setInsertionPointToEnd(&it.block);
}

void PipelinedLoopBuilder::produceAfterReads(Iteration &it) {
  llvm::DenseSet<Operation *> buffers;
  for (auto &[load, buffer] : multiBuffers_) buffers.insert(buffer.definingOp());
  auto reads = [&](Operation *op) {
    return llvm::any_of(op->operands(), [&](Value v) {
      return v.type().isa<MemDescType>() && buffers.contains(memdescRoot(v).definingOp());
    });
  };
  Operation *last = nullptr;
  for (auto &op : it.block) {
    bool isLast = isDot(&op) && !plan_.operandsFirst; // by mma.sync, operands are read between instructions
    op.walk([&](Operation *inner) { isLast |= reads(inner); });
    if (isLast) last = &op;
  }
  it.in.setInsertionPointAfter(last);
  produceNext(it);
  it.in.setInsertionPointToEnd(&it.block);
}

void PipelinedLoopBuilder::produceAfterLastIterationsDots(Iteration &it) {
  llvm::SmallVector<Value, 2> issued;
  for (auto v : dots_) issued.push_back(it.consumer.lookupOrSelf(v));
  if (llvm::any_of(issued, [](Value v) { return !v.useEmpty(); })) it.in.setInsertionPointAfter(lastOf(issued));
  auto wait = [&](int64_t pending) {
    auto done = waitForDots(it.in, issued, pending);
    for (auto [k, v] : llvm::enumerate(dots_)) {
      issued[k].replaceUsesIf(done[k], [&](OpOperand &use) { return use.owner != done[k].definingOp(); });
      it.consumer.map(v, done[k]);
    }
  };
  if (hasOperandsInRegisters()) {
    // One wait for all, after which registers of left operands are free (dot_slices.h). The last iteration's dots are
    // over, so that their buffers can be filled.
    produceNext(it);
    wait(0);
  } else {
    // To wait for the next stage first would save the barrier before the copies, but issues them a latency later: with
    // three stages, 0.77 of the speed on an H200. Computing their addresses before the wait gains nothing there (0.98
    // to 1.00 of the speed).
    wait(dotsOfIteration_);
    produceNext(it);
  }
  it.in.setInsertionPointToEnd(&it.block);
}

bool PipelinedLoopBuilder::hasOperandsInRegisters() const {
  return llvm::any_of(dots_, [&](Value v) { return slicedDotOf(v.definingOp()); });
}

void PipelinedLoopBuilder::emitYield(Iteration &it) {
  Operation *oldYield = body_.terminator();
  PipelinedCarried next;
  for (auto v : oldYield->operands()) next.ofLoop.push_back(it.consumer.lookupOrSelf(v));
  if (it.carried.readIndex) next.readIndex = createNextBufferIndex(it.in, loc_, it.readIndex, plan_.buffers);
  if (it.copiesFor == CopiesFor::Nothing)
    next.fillIndex = it.readIndex;
  else if (it.carried.fillIndex)
    next.fillIndex = createNextBufferIndex(it.in, loc_, it.fillIndex, plan_.buffers);
  if (!plan_.asyncCopies) {
    // The stores wait for the loads: they stay after the dots.
    if (target_.hasScheduleBarriers && usesBuffers())
      rocdl::SchedBarrierOp::create(it.in, loc_, {it.in.i32Attr("mask", 0)});
    if (!plan_.loadsTwoAhead()) it.forBuffers = it.loaded;
    Value toFill = next.readIndex ? next.readIndex : it.readIndex;
    storeToBuffers(it.in, it.forBuffers, toFill);
    if (plan_.loadsTwoAhead()) produceNext(it); // into the registers that the stores have left
    for (auto [a, v] : llvm::zip(plan_.loads, it.loaded))
      if (plan_.isCarried(a)) next.loaded.push_back(v);
    next.nextIteration = nextCounter(it);
  }
  next.ofProducer = producerState_;
  if (it.carried.phase)
    next.phase = createNextPhase(it.in, loc_, it.carried.phase, next.readIndex ? next.readIndex : it.readIndex);
  next.counter = it.nextCounter;
  scf::YieldOp::create(it.in, oldYield->loc(), next.values());
}

void PipelinedLoopBuilder::emitEpilogue() {
  b_.setInsertionPointAfter(newLoop_.op);
  finals_.resize(loop_->numResults());
  for (unsigned i : usedResults_) finals_[i] = newLoop_->result(i);
  if (plan_.dotsInFlight && !tileLoop_) waitForLastDots(b_);
  if (plan_.asyncCopies) return;
  ValueMap last;
  last.map(inductionVariable(loop_), results_.nextIteration);
  for (auto [i, v] : llvm::enumerate(results_.ofLoop)) last.map(carriedArgument(body_, i), v);
  llvm::SmallVector<Value, 4> forConsumer;
  if (!plan_.loadsTwoAhead()) forConsumer = results_.loaded;
  Value readIndex = results_.readIndex ? results_.readIndex : integer(b_, 0);
  emitConsumer(b_, last, readIndex, forConsumer, Value());
  for (unsigned i : usedResults_) finals_[i] = last.lookupOrSelf(carried(loop_, i).yielded);
}

void PipelinedLoopBuilder::waitForLastDots(Builder &b) {
  llvm::SmallVector<Value, 2> issued;
  for (auto i : accumulators_) issued.push_back(newLoop_->result(i));
  auto done = waitForDots(b, issued, 0);
  for (auto [k, i] : llvm::enumerate(accumulators_)) finals_[i] = done[k];
}

bool PipelinedLoopBuilder::surelyIterates(int64_t iterations) {
  if (auto known = constantIterations(loop_)) return *known >= iterations;
  auto lower = intConstantOf(loop_.lowerBound());
  auto upper = intConstantOf(loop_.upperBound());
  return iterations == 1 && lower && upper && *lower < *upper; // the step is not known
}

Operation *PipelinedLoopBuilder::lastOf(llvm::ArrayRef<Value> values) {
  Operation *last = values[0].definingOp();
  for (auto v : values.drop_front())
    if (last->isBeforeInBlock(v.definingOp())) last = v.definingOp();
  return last;
}

void PipelinedLoopBuilder::eraseDead(Block &block, Operation *after) {
  llvm::SmallVector<Operation *, 64> ops;
  for (auto *op = after->next(); op; op = op->next()) ops.push_back(op);
  for (auto *op : llvm::reverse(ops))
    if (op != block.terminator() && isTriviallyDead(op)) op->erase();
}

Value PipelinedLoopBuilder::nextCounter(Iteration &it) {
  auto next = arith::AddiOp::create(it.in, loc_, inductionVariable(it.block), loop_.step());
  constexpr int64_t kNoSignedWrap = 1, kNoUnsignedWrap = 2;
  next->setAttr("overflowFlags", IntegerAttr::getI32(c_, loop_.unsignedCmp() ? kNoUnsignedWrap : kNoSignedWrap));
  return next.op->result();
}

Value PipelinedLoopBuilder::steps(Builder &b, Value step, int64_t iterations) {
  if (iterations == 1) return step;
  return make<arith::MuliOp>(b, step, b.intConstant(loc_, step.type(), iterations));
}

llvm::SmallVector<Value, 2> PipelinedLoopBuilder::waitForDots(Builder &b, llvm::ArrayRef<Value> dots,
                                                              unsigned pending) {
  llvm::SmallVector<Type, 2> types;
  for (auto v : dots) types.push_back(v.type());
  auto wait = ttng::WarpGroupDotWaitOp::create(b, loc_, types, dots, {b.i32Attr("pendings", pending)});
  return llvm::SmallVector<Value, 2>(wait->results().begin(), wait->results().end());
}

Value PipelinedLoopBuilder::boundBefore(Builder &b, Value bound, Value step, int64_t iterations) {
  if (!iterations) return bound;
  Type type = bound.type();
  constexpr unsigned kWidest = 64;
  unsigned bits = type.isInteger() ? type.bitWidth() : kWidest;
  int64_t least = bits < kWidest ? -(int64_t(1) << (bits - 1)) : std::numeric_limits<int64_t>::min();
  if (bits < kWidest) {
    auto extend = [&](Value v) { return arith::ExtsiOp::create(b, loc_, c_.i64(), v).op->result(); };
    Value ahead = make<arith::MuliOp>(b, extend(step), b.intConstant(loc_, c_.i64(), iterations));
    Value difference = make<arith::SubiOp>(b, extend(bound), ahead);
    Value exact = make<arith::MaxsiOp>(b, difference, b.intConstant(loc_, c_.i64(), least));
    return arith::TrunciOp::create(b, loc_, type, exact).op->result();
  }
  Value before = make<arith::SubiOp>(b, bound, steps(b, step, iterations));
  Value wraps = compare(b, CmpIPredicate::Sgt, before, bound);
  return arith::SelectOp::create(b, loc_, wraps, b.intConstant(loc_, type, least), before).op->result();
}

void buildPipelinedLoop(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target) {
  PipelinedLoopBuilder(loop, plan, target).build();
}

} // namespace tessera::transforms
