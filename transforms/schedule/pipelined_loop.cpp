// Building pipelined loops (see pipelined_loop.h; pipeline.cpp shows the results):
//
//   buffers    a multi-buffer for each load that goes to shared memory; mbarriers and tensor maps for bulk copies
//   guard      an scf.if, if the peeled last iteration might not exist
//   prologue   the producer of the first iterations
//   loop       the producer some iterations ahead of the consumer, in the order that the plan gives
//   epilogue   waits for what is in flight, or the consumer of the last iteration
//
// If the plan has a loop over tiles (tile_loop.h), the buffers are allocated before that loop, and the prologue before
// it is for its first tile. The loop over tiles carries the producer's values, the indices of the buffers to read and
// to fill, and the phase of the mbarriers, which continue where the tile before ended, and the tile's position. The
// copies of the next tile's first D iterations are issued
//
//   - by the last D iterations, if dots stay in flight. Two loops follow one another:
//
//       the first one, to ub - D·s    copies for iteration i + D, which exists: without a predicate
//       addresses of the next tile    under the last dots of the first loop, if there is a next tile
//       missing iterations            copies for which this tile has too few iterations: none if it has D
//       the second one, to ub         copies for the next tile's iterations 0, 1, …, predicated by their existence
//
//     The buffers go round across tiles, as they do in a loop over K.
//   - else behind the new loop, by a second prologue. (Copies that the last iterations did not issue leave buffers
//     free, of which the next tile's first copies fill the first ones.)
//
// A new loop carries, in this order: the values of the old loop; those of the producer, which are for the iteration
// that it is at; the index of the buffer to read; the index of the buffer to fill (asynchronous copies); loaded values
// that are in registers; the induction variable of the next iteration (through registers); the phase of the mbarriers
// (bulk copies); with two loops, the counter of the next iteration (the first one) or of the producer (the second one).
#include "transforms/schedule/pipelined_loop.h"
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/scratch.h"
#include "transforms/schedule/tile_loop.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

class PipelinedLoop {
public:
  PipelinedLoop(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), target_(target), c_(loop->context()), loc_(loop->loc()),
        b_(loop.op) {}

  void build() {
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

private:
  // ---- buffers ----

  static MemDescType multiBufferType(MemDescType buffer, int64_t buffers) {
    llvm::SmallVector<int64_t, 4> shape(buffer.shape());
    shape.insert(shape.begin(), buffers);
    return MemDescType::get(shape, buffer.element(), buffer.encoding(), buffer.memorySpace(), true);
  }
  void allocateBuffers() {
    for (auto &a : plan_.loads) {
      if (!a.bufferType) continue;
      MemDescType type = multiBufferType(a.bufferType, plan_.buffers);
      multiBuffers_[&a] = ttg::LocalAllocOp::create(b_, a.op->loc(), type, Value()).result();
    }
    if (!plan_.hasBulkCopies()) return;
    mbarrierType_ = mbarrierType(c_);
    mbarriers_ = ttg::LocalAllocOp::create(b_, loc_, multiBufferType(mbarrierType_, plan_.buffers), Value()).result();
    for (int64_t k = 0; k < plan_.buffers; ++k)
      ttng::InitBarrierOp::create(b_, loc_, mbarrierAt(b_, integer(b_, k)), {b_.i32Attr("count", 1)});
  }

  void releaseBuffers() {
    if (plan_.hasBulkCopies()) {
      for (int64_t k = 0; k < plan_.buffers; ++k)
        ttng::InvalBarrierOp::create(b_, loc_, mbarrierAt(b_, integer(b_, k)));
      ttg::LocalDeallocOp::create(b_, loc_, mbarriers_);
    }
    if (plan_.hasThreadCopies()) ttg::AsyncWaitOp::create(b_, loc_, {}, {b_.i32Attr("num", 0)});
    for (auto &a : plan_.loads)
      if (Value buffers = multiBuffers_.lookup(&a)) ttg::LocalDeallocOp::create(b_, loc_, buffers);
  }

  // ---- the loop over tiles ----

  /// The prologue of the first tile, and the loop over tiles with what it carries from tile to tile.
  void beginTiles() {
    const TileLoop &tiles = plan_.tiles;
    scf::ForOp loop = tiles.loop;
    Value exists = compare(b_, CmpIPredicate::Slt, loop.lowerBound(), loop.upperBound());
    ValueMap first;
    first.map(inductionVariable(loop), loop.lowerBound());
    for (unsigned i : tiles.carried) first.map(carried(loop, i).argument, carried(loop, i).init);
    cloneAddresses(b_, tiles, first, exists);
    emitPrologue(first, exists);

    llvm::SmallVector<Value, 16> inits(loop.initArgs().begin(), loop.initArgs().end());
    firstOfTile_ = inits.size();
    inits.append(producerState_.begin(), producerState_.end());
    inits.append({integer(b_, 0), fillIndex_});
    if (plan_.hasBulkCopies()) inits.push_back(integer(b_, 0));
    position_ = positionOfTile(tiles);
    for (Value v : position_) inits.push_back(first.lookupOrSelf(v));
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());
    tileLoop_ = scf::ForOp::create(b_, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), inits,
                                   loop->attrs());
    tileLoop_.body().takeBody(loop.body());
    Block &body = *tileLoop_.body().front();
    for (unsigned i = firstOfTile_; i < inits.size(); ++i) body.addArg(types[i], loc_);
    for (unsigned i = 0; i < firstOfTile_; ++i) loop->result(i).replaceAllUsesWith(tileLoop_->result(i));
    loop->erase();

    unsigned at = firstOfTile_;
    for (auto &v : producerState_) v = carriedArgument(body, at++);
    firstReadIndex_ = carriedArgument(body, at++);
    fillIndex_ = carriedArgument(body, at++);
    if (plan_.hasBulkCopies()) firstPhase_ = carriedArgument(body, at++);
    b_.setInsertionPoint(loop_.op);
  }

  /// The addresses of the next tile.
  void findNextTile() {
    TileLoop tiles = plan_.tiles;
    tiles.loop = tileLoop_;
    Value bound = boundBefore(b_, tileLoop_.upperBound(), tileLoop_.step(), 1);
    nextExists_ = compare(b_, CmpIPredicate::Slt, inductionVariable(tileLoop_), bound);
    if (!firstLoop_) {
      nextTile_ = nextTile(b_, tiles, loop_.op, nextExists_);
      cloneAddresses(b_, tiles, nextTile_, Value());
      return;
    }
    // Between two loops they are computed in a branch: assemblers would move what has no condition to before the first
    // loop, where no dots are in flight. Without a next tile they stay what they are.
    auto needed = neededOfTile();
    llvm::SmallVector<Type, 16> types;
    llvm::SmallVector<Value, 16> ofNext, ofThis;
    for (auto [v, current] : needed) types.push_back(v.type());
    auto branch = scf::IfOp::create(b_, loc_, types, nextExists_);
    Builder then = Builder::atEnd(branch.thenRegion().addBlock());
    Builder otherwise = Builder::atEnd(branch.elseRegion().addBlock());
    ValueMap next = nextTile(then, tiles, loop_.op, nextExists_);
    cloneAddresses(then, tiles, next, Value());
    for (auto [k, value] : llvm::enumerate(needed)) {
      ofNext.push_back(next.lookupOrSelf(value.first));
      ofThis.push_back(value.second);
      nextTile_.map(value.first, branch->result(k));
    }
    scf::YieldOp::create(then, loc_, ofNext);
    scf::YieldOp::create(otherwise, loc_, ofThis);
  }

  /// What the producer, the bounds of its loop, and the loop over tiles need of a tile, with values that are there
  /// between two loops for the current tile.
  llvm::MapVector<Value, Value> neededOfTile() {
    llvm::MapVector<Value, Value> needed;
    auto need = [&](Value v, Value current) {
      bool isOfTile =
          v == inductionVariable(tileLoop_) || plan_.tiles.addresses.contains(v.definingOp()) ||
          llvm::any_of(plan_.tiles.carried, [&](unsigned i) { return v == carried(tileLoop_, i).argument; });
      if (isOfTile) needed.insert({v, current});
    };
    for (auto [k, i] : llvm::enumerate(plan_.producerCarried))
      need(loop_.initArgs()[i], firstLoop_->result(at_.producer + k));
    for (Value v : {loop_.lowerBound(), loop_.upperBound(), loop_.step()}) need(v, v);
    for (Value v : position_) need(v, v);
    auto needOperands = [&](Operation *op) {
      op->walk([&](Operation *inner) {
        for (Value v : inner->operands()) need(v, v);
      });
    };
    for (auto *op : plan_.producer) needOperands(op);
    for (auto &load : plan_.loads) needOperands(load.op);
    return needed;
  }

  /// What the next tile begins with, behind the new loop. If its prologue is emitted here: the buffers are those that
  /// the last dots do not read, so these may still be in flight; they are waited for before the first operation that
  /// uses their results.
  void endTiles() {
    Block &body = *tileLoop_.body().front();
    firstReadIndex_ = newLoop_->result(at_.readIndex);
    if (plan_.copiesCrossTiles()) {
      fillIndex_ = newLoop_->result(at_.fillIndex);
      for (unsigned k = 0; k < producerState_.size(); ++k) producerState_[k] = newLoop_->result(at_.producer + k);
    } else {
      findNextTile();
      emitPrologue(nextTile_, nextExists_);
    }
    if (plan_.dotsInFlight) {
      Builder atUse(firstUseOfDots());
      waitForLastDots(atUse);
      lastWait_ = finals_[accumulators_[0]].definingOp();
    }

    Operation *oldYield = body.terminator();
    llvm::SmallVector<Value, 16> yields(oldYield->operands().begin(), oldYield->operands().end());
    yields.append(producerState_.begin(), producerState_.end());
    yields.append({firstReadIndex_, fillIndex_});
    if (plan_.hasBulkCopies()) yields.push_back(newLoop_->result(at_.phase));
    unsigned at = yields.size();
    for (Value v : position_) yields.push_back(nextTile_.lookupOrSelf(v));
    for (Value v : position_) v.replaceAllUsesWith(carriedArgument(body, at++)); // all clones are made
    b_.setInsertionPoint(oldYield);
    scf::YieldOp::create(b_, oldYield->loc(), yields);
    oldYield->erase();
    b_.setInsertionPointAfter(tileLoop_.op);
  }

  /// The first operation behind the old loop that uses an accumulator, itself or in its regions.
  Operation *firstUseOfDots() {
    Operation *first = loop_->block()->terminator();
    for (unsigned i : accumulators_)
      for (Operation *user : loop_->result(i).users()) {
        while (user->block() != loop_->block()) user = user->parentOp();
        if (user->isBeforeInBlock(first)) first = user;
      }
    return first;
  }

  /// Moves what only the stores of the tile need from before the new loop to where its last dots are in flight.
  void sinkAddressesOfStores() {
    Operation *loop = firstLoop_ ? firstLoop_.op : newLoop_.op;
    for (Operation *op = loop->prev(); op;) {
      Operation *before = op->prev();
      Operation *place = lastWait_;
      bool sinks = isPure(op) && !op->numRegions() && op->numResults();
      for (auto result : op->results())
        for (Operation *user : result.users()) {
          while (user->block() != op->block()) user = user->parentOp();
          sinks &= newLoop_->isBeforeInBlock(user);
          if (user->isBeforeInBlock(place)) place = user;
        }
      if (sinks) op->moveBefore(place);
      op = before;
    }
  }

  // ---- guard ----

  /// Puts an scf.if around everything that follows, if the last iteration is peeled and there may be none.
  void openGuard() {
    for (unsigned i = 0; i < loop_->numResults(); ++i)
      if (!loop_->result(i).useEmpty()) usedResults_.push_back(i);
    if (plan_.asyncCopies || surelyIterates()) return;
    llvm::SmallVector<Type, 8> types;
    for (unsigned i : usedResults_) types.push_back(loop_->result(i).type());
    Value iterates = compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound());
    guard_ = scf::IfOp::create(b_, loc_, types, iterates);
    b_.setInsertionPointToEnd(guard_.thenRegion().addBlock());
  }
  void closeGuard() {
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

  // ---- prologue ----

  /// Maps the body's arguments to the producer's values at the iteration that it is at.
  void beginProducer(ValueMap &map, Value inductionVariable) {
    map.map(ir::inductionVariable(loop_), inductionVariable);
    for (auto [k, i] : llvm::enumerate(plan_.producerCarried)) map.map(carried(loop_, i).argument, producerState_[k]);
  }
  /// Takes the producer's carried values to the next iteration.
  void advanceProducer(ValueMap &map) {
    for (auto [k, i] : llvm::enumerate(plan_.producerCarried))
      producerState_[k] = map.lookupOrSelf(carried(loop_, i).yielded);
  }

  /// `outer`: what the values of the loop's surroundings are (those of another tile). `exists` (i1): whether there is
  /// such a tile; null: there is.
  void emitPrologue(const ValueMap &outer, Value exists) {
    producerState_.clear();
    for (auto i : plan_.producerCarried) producerState_.push_back(outer.lookupOrSelf(loop_.initArgs()[i]));
    Value lower = outer.lookupOrSelf(loop_.lowerBound());
    Value upper = outer.lookupOrSelf(loop_.upperBound());
    Value step = outer.lookupOrSelf(loop_.step());
    Value index = firstReadIndex_ ? firstReadIndex_ : integer(b_, 0);
    for (int64_t d = 0; d < plan_.distance; ++d) {
      ValueMap map = outer;
      beginProducer(map, d ? make<arith::AddiOp>(b_, lower, steps(b_, step, d)) : lower);
      Value predicate;
      if (plan_.asyncCopies) predicate = compare(b_, CmpIPredicate::Slt, lower, boundBefore(b_, upper, step, d));
      if (exists) predicate = make<arith::AndiOp>(b_, predicate, exists);
      emitProducer(b_, map, predicate);
      if (plan_.asyncCopies) {
        emitCopies(b_, map, predicate, index);
        index = nextIndex(index, d + 1);
      } else {
        loaded_ = emitLoads(b_, map, predicate);
        for (auto [a, v] : llvm::zip(plan_.loads, loaded_))
          if (a.bufferType) ttg::LocalStoreOp::create(b_, loc_, v, bufferAt(b_, a, integer(b_, 0)));
      }
      advanceProducer(map);
    }
    fillIndex_ = index;
  }
  /// The index of the buffer after `index`; `constant` if the prologue begins at the first buffer.
  Value nextIndex(Value index, int64_t constant) {
    if (!firstReadIndex_) return integer(b_, constant);
    return createNextBufferIndex(b_, loc_, index, plan_.buffers);
  }

  // ---- the loop ----

  /// What the new loop's carried values start with, in the order that the head of the file gives.
  llvm::SmallVector<Value, 16> carriedInits() {
    llvm::SmallVector<Value, 16> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    at_.producer = inits.size();
    inits.append(producerState_.begin(), producerState_.end());
    at_.readIndex = inits.size();
    carriesIndices_ = plan_.buffers > 1 && usesBuffers();
    if (carriesIndices_) inits.push_back(firstReadIndex_ ? firstReadIndex_ : integer(b_, 0));
    at_.fillIndex = inits.size();
    if (carriesIndices_ && plan_.asyncCopies) inits.push_back(fillIndex_);
    at_.loaded = inits.size();
    if (!plan_.asyncCopies)
      for (auto [a, v] : llvm::zip(plan_.loads, loaded_))
        if (!a.bufferType) inits.push_back(v);
    at_.nextIteration = inits.size();
    if (!plan_.asyncCopies) inits.push_back(loop_.lowerBound());
    at_.phase = inits.size();
    if (plan_.hasBulkCopies()) inits.push_back(firstPhase_ ? firstPhase_ : integer(b_, 0));
    return inits;
  }
  bool usesBuffers() const {
    return llvm::any_of(plan_.loads, [](auto &a) { return bool(a.bufferType); });
  }
  /// What the copies are for that an iteration issues.
  enum class CopiesFor {
    LaterIteration,    // D iterations ahead, if there is one
    ExistingIteration, // D iterations ahead, which exists
    NextTile,          // an iteration of the next tile, if there is one
  };

  void emitLoop() {
    auto inits = carriedInits();
    if (plan_.dotsInFlight)
      for (auto &op : body_)
        if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) {
          dots_.push_back(dot.d());
          accumulators_.push_back(carriedByArgument(dot.c())->index);
        }
    Value lower = loop_.lowerBound();
    Value bound = loop_.upperBound();
    stepsAhead_ = steps(b_, loop_.step(), plan_.distance);
    // If the loop iterates at all, from a start that is not negative, the bound is positive, and one step less does
    // not wrap.
    auto *start = constantBits(lower);
    bool cannotWrap = !plan_.asyncCopies && start && start->isNonNegative();
    boundAhead_ =
        cannotWrap ? make<arith::SubiOp>(b_, bound, stepsAhead_) : boundBefore(b_, bound, loop_.step(), plan_.distance);
    if (!plan_.copiesCrossTiles()) {
      newLoop_ = emitIterations(CopiesFor::LaterIteration, lower, plan_.asyncCopies ? bound : boundAhead_, inits);
      return;
    }
    at_.counter = inits.size();
    inits.push_back(lower);
    firstLoop_ = emitIterations(CopiesFor::ExistingIteration, lower, boundAhead_, inits);
    b_.setInsertionPointAfter(firstLoop_.op);
    findNextTile();
    inits.assign(firstLoop_->results().begin(), firstLoop_->results().end());
    Value counter = emitMissingIterations(firstLoop_->result(at_.readIndex));
    llvm::copy(producerState_, inits.begin() + at_.producer);
    inits[at_.counter] = counter;
    newLoop_ = emitIterations(CopiesFor::NextTile, firstLoop_->result(at_.counter), bound, inits);
  }

  scf::ForOp emitIterations(CopiesFor copiesFor, Value lower, Value upper, llvm::ArrayRef<Value> inits) {
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(b_, loc_, types, lower, upper, loop_.step(), inits, loop_->attrs());
    Block *block = loop.body().addBlock();
    Value oldCounter = inductionVariable(loop_);
    block->addArg(oldCounter.type(), oldCounter.loc());
    for (auto [i, t] : llvm::enumerate(types))
      block->addArg(t, i < at_.producer ? carriedArgument(body_, i).loc() : loc_);
    emitBody(*block, copiesFor);
    return loop;
  }

  /// Between two loops: if this tile has n < D iterations, the copies of the next tile's first D - n, which no
  /// iteration of the second loop issues. Returns the producer's counter behind them, and leaves producerState_ there.
  Value emitMissingIterations(Value readIndex) {
    producerState_.clear();
    for (auto i : plan_.producerCarried) producerState_.push_back(nextTile_.lookupOrSelf(loop_.initArgs()[i]));
    Value counter = nextTile_.lookupOrSelf(loop_.lowerBound());
    if (surelyIterates(plan_.distance)) return counter;
    Value iterations = integer(b_, 0); // n, or D if there are more
    for (int64_t d = 0; d < plan_.distance; ++d) {
      Value bound = boundBefore(b_, loop_.upperBound(), loop_.step(), d);
      Value exists = compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), bound);
      iterations = make<arith::AddiOp>(b_, iterations, arith::ExtuiOp::create(b_, loc_, c_.i32(), exists).op->result());
    }
    Value missing = make<arith::SubiOp>(b_, integer(b_, plan_.distance), iterations);
    // The buffers of this tile's iterations are in use.
    Value fill = make<arith::AddiOp>(b_, readIndex, iterations);
    Value wraps = compare(b_, CmpIPredicate::Sge, fill, integer(b_, plan_.buffers));
    Value wrapped = make<arith::SubiOp>(b_, fill, integer(b_, plan_.buffers));
    fill = arith::SelectOp::create(b_, loc_, wraps, wrapped, fill).op->result();

    llvm::SmallVector<Value, 8> inits(producerState_);
    inits.append({counter, fill});
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(b_, loc_, types, integer(b_, 0), missing, integer(b_, 1), inits, {});
    Block *block = loop.body().addBlock();
    block->addArg(c_.i32(), loc_);
    for (Type t : types) block->addArg(t, loc_);
    Builder in = Builder::atEnd(block);
    for (auto [k, v] : llvm::enumerate(producerState_)) v = carriedArgument(*block, k);
    Value at = carriedArgument(*block, producerState_.size());
    Value fillIndex = carriedArgument(*block, producerState_.size() + 1);
    ValueMap map;
    at = produceForNextTile(in, map, at, fillIndex);
    llvm::SmallVector<Value, 8> yields(producerState_);
    yields.append({at, createNextBufferIndex(in, loc_, fillIndex, plan_.buffers)});
    scf::YieldOp::create(in, loc_, yields);
    for (unsigned k = 0; k < producerState_.size(); ++k) producerState_[k] = loop->result(k);
    return loop->result(producerState_.size());
  }

  /// The producer at an iteration of the next tile, if there is such a one. Returns its next counter.
  Value produceForNextTile(Builder &b, ValueMap &map, Value counter, Value fillIndex) {
    map = nextTile_;
    Value inLoop = compare(b, CmpIPredicate::Slt, counter, nextTile_.lookupOrSelf(loop_.upperBound()));
    Value predicate = make<arith::AndiOp>(b, inLoop, nextExists_);
    beginProducer(map, counter);
    emitProducer(b, map, predicate);
    emitCopies(b, map, predicate, fillIndex);
    advanceProducer(map);
    // A counter that has left the loop stays where it is: it might wrap.
    Value next = make<arith::AddiOp>(b, counter, nextTile_.lookupOrSelf(loop_.step()));
    return arith::SelectOp::create(b, loc_, inLoop, next, counter).op->result();
  }

  /// One iteration of the new loop while it is built.
  struct Iteration {
    Block &block;
    Builder in;
    CopiesFor copiesFor;
    ValueMap consumer = {}; // old values of this iteration to new ones
    ValueMap producer = {}; // … and of the iteration that the producer is at
    Value readIndex = {};   // of the buffer that the consumer reads
    Value fillIndex = {};   // … and that the producer fills
    Value token = {};       // of the wait for the consumer's copies
    Value nextCounter = {}; // what the next iteration gets as the counter that a loop carries
  };

  void emitBody(Block &block, CopiesFor copiesFor) {
    Iteration it{block, Builder::atEnd(&block), copiesFor};
    it.consumer.map(inductionVariable(loop_), inductionVariable(block));
    for (unsigned i = 0; i < at_.producer; ++i) it.consumer.map(carriedArgument(body_, i), carriedArgument(block, i));
    it.readIndex = carriesIndices_ ? carriedArgument(block, at_.readIndex) : integer(it.in, 0);
    if (plan_.asyncCopies) it.fillIndex = carriedArgument(block, at_.fillIndex);
    emitWaitForStage(it);
    bool copiesComeLater = plan_.dotsInFlight || plan_.operandsFirst || plan_.copiesAfter;
    if (!copiesComeLater) produceNext(it);
    llvm::SmallVector<Value, 4> loaded;
    for (unsigned i = at_.loaded; i < at_.nextIteration; ++i) loaded.push_back(carriedArgument(block, i));
    emitConsumer(it.in, it.consumer, it.readIndex, loaded, it.token);
    if (plan_.operandsFirst) produceBeforeFirstDot(it);
    if (plan_.copiesAfter) produceAfterDot(it);
    if (plan_.dotsInFlight) produceAfterLastIterationsDots(it);
    emitYield(it);
  }

  /// Waits until the copies into the buffers of this iteration's stage are done.
  void emitWaitForStage(Iteration &it) {
    if (plan_.hasBulkCopies())
      ttng::WaitBarrierOp::create(it.in, loc_, mbarrierAt(it.in, it.readIndex), carriedArgument(it.block, at_.phase),
                                  Value(), {});
    if (plan_.hasThreadCopies())
      it.token = ttg::AsyncWaitOp::create(it.in, loc_, {}, {it.in.i32Attr("num", plan_.distance - 1)}).op->result();
  }

  /// The producer, at the iteration `distance` ahead.
  void produceNext(Iteration &it) {
    for (unsigned k = 0; k < producerState_.size(); ++k)
      producerState_[k] = carriedArgument(it.block, at_.producer + k);
    if (it.copiesFor == CopiesFor::NextTile) {
      it.nextCounter = produceForNextTile(it.in, it.producer, carriedArgument(it.block, at_.counter), it.fillIndex);
      return;
    }
    Value counter = inductionVariable(it.block);
    if (it.copiesFor == CopiesFor::ExistingIteration)
      it.nextCounter = make<arith::AddiOp>(it.in, counter, loop_.step());
    Value predicate;
    if (plan_.asyncCopies && it.copiesFor == CopiesFor::LaterIteration)
      predicate = compare(it.in, CmpIPredicate::Slt, counter, boundAhead_);
    beginProducer(it.producer, make<arith::AddiOp>(it.in, counter, stepsAhead_));
    emitProducer(it.in, it.producer, predicate);
    if (plan_.asyncCopies)
      emitCopies(it.in, it.producer, predicate, it.fillIndex);
    else
      loaded_ = emitLoads(it.in, it.producer, predicate);
    advanceProducer(it.producer);
  }

  /// PipelinePlan::operandsFirst: behind the loads of operands from shared memory.
  void produceBeforeFirstDot(Iteration &it) {
    it.in.setInsertionPoint(&*llvm::find_if(it.block, [](Operation &op) { return op.is<tt::DotOp>(); }));
    produceNext(it);
    it.in.setInsertionPointToEnd(&it.block);
  }

  /// PipelinePlan::copiesAfter: between the issue of the dot and the wait for it.
  void produceAfterDot(Iteration &it) {
    Value oldResult = ttng::WarpGroupDotOp(plan_.copiesAfter).d();
    auto dot = it.consumer.lookupOrSelf(oldResult).definingOp()->cast<ttng::WarpGroupDotOp>();
    dot->setAttr("isAsync", IntegerAttr::getBool(c_, true));
    it.in.setInsertionPointAfter(dot.op);
    produceNext(it);
    Value done = waitForDots(it.in, {dot.d()}, 0)[0];
    dot.d().replaceUsesIf(done, [&](OpOperand &use) { return use.owner != done.definingOp(); });
    it.consumer.map(oldResult, done);
    it.in.setInsertionPointToEnd(&it.block);
  }

  /// PipelinePlan::dotsInFlight: this iteration's dots stay in flight; those of the last one are done after the wait,
  /// so that their buffers can be filled. Branches that use accumulators come behind.
  void produceAfterLastIterationsDots(Iteration &it) {
    llvm::SmallVector<Value, 2> issued;
    for (auto v : dots_) issued.push_back(it.consumer.lookupOrSelf(v));
    if (llvm::any_of(issued, [](Value v) { return !v.useEmpty(); })) it.in.setInsertionPointAfter(lastOf(issued));
    auto done = waitForDots(it.in, issued, issued.size());
    for (auto [k, v] : llvm::enumerate(dots_)) {
      issued[k].replaceUsesIf(done[k], [&](OpOperand &use) { return use.owner != done[k].definingOp(); });
      it.consumer.map(v, done[k]);
    }
    produceNext(it);
    it.in.setInsertionPointToEnd(&it.block);
  }

  void emitYield(Iteration &it) {
    Operation *oldYield = body_.terminator();
    llvm::SmallVector<Value, 16> yields;
    for (auto v : oldYield->operands()) yields.push_back(it.consumer.lookupOrSelf(v));
    yields.append(producerState_.begin(), producerState_.end());
    Value nextRead = it.readIndex;
    if (carriesIndices_) {
      nextRead = createNextBufferIndex(it.in, loc_, it.readIndex, plan_.buffers);
      yields.push_back(nextRead);
      if (plan_.asyncCopies) yields.push_back(createNextBufferIndex(it.in, loc_, it.fillIndex, plan_.buffers));
    }
    if (!plan_.asyncCopies) {
      // The stores wait for the loads: they stay behind the dots.
      if (target_.hasScheduleBarriers && usesBuffers())
        rocdl::SchedBarrierOp::create(it.in, loc_, {it.in.i32Attr("mask", 0)});
      for (auto [a, v] : llvm::zip(plan_.loads, loaded_)) {
        if (a.bufferType)
          ttg::LocalStoreOp::create(it.in, loc_, v, bufferAt(it.in, a, nextRead));
        else
          yields.push_back(v);
      }
      yields.push_back(it.producer.lookupOrSelf(inductionVariable(loop_)));
    }
    if (plan_.hasBulkCopies()) yields.push_back(nextPhase(it, nextRead));
    if (it.nextCounter) yields.push_back(it.nextCounter);
    scf::YieldOp::create(it.in, oldYield->loc(), yields);
  }
  /// The phase of the mbarriers changes when the index returns to the first buffer.
  Value nextPhase(Iteration &it, Value nextRead) {
    Value phase = carriedArgument(it.block, at_.phase);
    Value wraps = compare(it.in, CmpIPredicate::Eq, nextRead, integer(it.in, 0));
    Value other = make<arith::XoriOp>(it.in, phase, integer(it.in, 1));
    return arith::SelectOp::create(it.in, loc_, wraps, other, phase).op->result();
  }

  // ---- epilogue ----

  /// Waits for dots in flight, or the peeled last iteration. Fills finals_.
  void emitEpilogue() {
    b_.setInsertionPointAfter(newLoop_.op);
    finals_.resize(loop_->numResults());
    for (unsigned i : usedResults_) finals_[i] = newLoop_->result(i);
    if (plan_.dotsInFlight && !tileLoop_) waitForLastDots(b_);
    if (plan_.asyncCopies) return;
    ValueMap last;
    last.map(inductionVariable(loop_), newLoop_->result(at_.nextIteration));
    for (unsigned i = 0; i < at_.producer; ++i) last.map(carriedArgument(body_, i), newLoop_->result(i));
    llvm::SmallVector<Value, 4> loaded;
    for (unsigned i = at_.loaded; i < at_.nextIteration; ++i) loaded.push_back(newLoop_->result(i));
    Value readIndex = carriesIndices_ ? newLoop_->result(at_.readIndex) : integer(b_, 0);
    emitConsumer(b_, last, readIndex, loaded, Value());
    for (unsigned i : usedResults_) finals_[i] = last.lookupOrSelf(carried(loop_, i).yielded);
  }

  /// Waits for the dots that are in flight behind the loop.
  void waitForLastDots(Builder &b) {
    llvm::SmallVector<Value, 2> issued;
    for (auto i : accumulators_) issued.push_back(newLoop_->result(i));
    auto done = waitForDots(b, issued, 0);
    for (auto [k, i] : llvm::enumerate(accumulators_)) finals_[i] = done[k];
  }

  /// Whether the loop surely has so many iterations.
  bool surelyIterates(int64_t iterations = 1) {
    auto lower = intConstantOf(loop_.lowerBound());
    auto upper = intConstantOf(loop_.upperBound());
    auto step = intConstantOf(loop_.step());
    if (!lower || !upper || *lower >= *upper) return false;
    int64_t range = 0;
    bool isKnown = step && *step > 0 && !llvm::SubOverflow(*upper, *lower, range);
    return iterations == 1 || (isKnown && (range - 1) / *step >= iterations - 1);
  }

  // ---- the consumer ----

  const PipelinedLoad *loadThat(llvm::function_ref<bool(const PipelinedLoad &)> holds) const {
    auto it = llvm::find_if(plan_.loads, holds);
    return it == plan_.loads.end() ? nullptr : &*it;
  }

  /// The body without the producer's loads, on the values of `map`. Loaded values are in the buffer `readIndex`, or in
  /// `loaded`, one for each load without a buffer.
  void emitConsumer(Builder &b, ValueMap &map, Value readIndex, llvm::ArrayRef<Value> loaded, Value token) {
    llvm::DenseSet<Operation *> done; // loads from buffers, created with the buffer
    const Value *nextLoaded = loaded.begin();
    auto readBuffer = [&](const PipelinedLoad &a, Operation *op, Type type) {
      return ttg::LocalLoadOp::create(b, op->loc(), type, bufferAt(b, a, readIndex), token).result();
    };
    for (auto &op : body_) {
      if (&op == body_.terminator() || done.contains(&op)) continue;
      if (auto *a = loadThat([&](auto &a) { return a.bufferType && a.isConversion(&op); })) {
        map.map(op.result(), readBuffer(*a, &op, op.result().type()));
      } else if (auto *a = loadThat([&](auto &a) { return a.isBuffer(&op); })) {
        Value view = bufferAt(b, *a, readIndex);
        map.map(op.result(), view); // for dots that read shared memory, and for views
        for (auto *user : op.result().users()) {
          if (!user->is<ttg::LocalLoadOp>()) continue;
          auto load = ttg::LocalLoadOp::create(b, user->loc(), user->result().type(), view, token);
          map.map(user->result(), load.result());
          done.insert(user);
        }
      } else if (auto *a = loadThat([&](auto &a) { return a.op == &op; })) {
        if (!a->bufferType)
          map.map(op.result(), *nextLoaded++);
        else if (hasOtherUsers(*a))
          map.map(op.result(), readBuffer(*a, &op, op.result().type()));
      } else {
        Operation *copy = b.clone(&op, map);
        if (plan_.dotsInFlight && copy->is<ttng::WarpGroupDotOp>())
          copy->setAttr("isAsync", IntegerAttr::getBool(c_, true));
      }
    }
  }
  /// Whether the loaded value has users other than the buffers and conversions that the multi-buffer replaces.
  static bool hasOtherUsers(const PipelinedLoad &a) {
    return llvm::any_of(a.result().users(), [&](Operation *u) { return !a.isBuffer(u) && !a.isConversion(u); });
  }

  /// @pre all are of one block
  static Operation *lastOf(llvm::ArrayRef<Value> values) {
    Operation *last = values[0].definingOp();
    for (auto v : values.drop_front())
      if (last->isBeforeInBlock(v.definingOp())) last = v.definingOp();
    return last;
  }

  /// Erases what is without uses after an operation of the block.
  static void eraseDead(Block &block, Operation *after) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto *op = after->next(); op; op = op->next()) ops.push_back(op);
    for (auto *op : llvm::reverse(ops))
      if (op != block.terminator() && isTriviallyDead(op)) op->erase();
  }

  // ---- values and operations ----

  Value integer(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  template <class OpT> Value make(Builder &b, Value x, Value y) { return OpT::create(b, loc_, x, y).op->result(); }
  Value compare(Builder &b, CmpIPredicate p, Value x, Value y) { return ir::compare(b, loc_, p, x, y); }
  /// iterations · step
  Value steps(Builder &b, Value step, int64_t iterations) {
    if (iterations == 1) return step;
    return make<arith::MuliOp>(b, step, b.intConstant(loc_, step.type(), iterations));
  }
  llvm::SmallVector<Value, 2> waitForDots(Builder &b, llvm::ArrayRef<Value> dots, unsigned pending) {
    llvm::SmallVector<Type, 2> types;
    for (auto v : dots) types.push_back(v.type());
    auto wait = ttng::WarpGroupDotWaitOp::create(b, loc_, types, dots, {b.i32Attr("pendings", pending)});
    return llvm::SmallVector<Value, 2>(wait->results().begin(), wait->results().end());
  }
  /// bound − iterations · step, or the least number of the type where that wraps: no counter is below it.
  Value boundBefore(Builder &b, Value bound, Value step, int64_t iterations) {
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
  Value bufferAt(Builder &b, const PipelinedLoad &a, Value index) {
    return ttg::MemdescIndexOp::create(b, loc_, a.bufferType, multiBuffers_.lookup(&a), index).op->result();
  }
  Value mbarrierAt(Builder &b, Value index) {
    return ttg::MemdescIndexOp::create(b, loc_, mbarrierType_, mbarriers_, index).op->result();
  }
  /// The mask and the predicate of the iteration, as one mask. Either may be null.
  Value maskOf(Builder &b, Value ptr, Value mask, Value predicate) {
    if (!predicate) return mask;
    if (mask && !mask.type().isTensor() && ptr.type().isTensor()) return make<arith::AndiOp>(b, mask, predicate);
    if (ptr.type().isTensor())
      predicate = tt::SplatOp::create(b, loc_, tensorOf(ptr).withElement(c_.i1()), predicate).result();
    return mask ? make<arith::AndiOp>(b, mask, predicate) : predicate;
  }

  // ---- the producer ----

  /// A load on the values of `map`, masked by the predicate, if there is one.
  Value emitLoad(Builder &b, tt::LoadOp load, ValueMap &map, Value predicate) {
    Value ptr = map.lookupOrSelf(load.ptr());
    Value mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
    Value other = load.other() ? map.lookupOrSelf(load.other()) : Value();
    return tt::LoadOp::create(b, load->loc(), load.result().type(), ptr, maskOf(b, ptr, mask, predicate), other,
                              load->attrs())
        .result();
  }
  /// The producer's operations on the values of `map`; loads that addresses need are masked by the predicate.
  void emitProducer(Builder &b, ValueMap &map, Value predicate) {
    for (auto &op : body_) {
      if (!plan_.producer.contains(&op)) continue;
      if (auto load = op.dyn<tt::LoadOp>())
        map.map(op.result(), emitLoad(b, load, map, predicate));
      else
        b.clone(&op, map);
    }
  }

  /// Asynchronous copies into the buffers of a stage, one commit group.
  void emitCopies(Builder &b, ValueMap &map, Value predicate, Value fillIndex) {
    if (plan_.hasBulkCopies()) emitBulkCopies(b, map, predicate, fillIndex);
    if (!plan_.hasThreadCopies()) return;
    llvm::SmallVector<Value, 4> tokens;
    for (auto &a : plan_.loads) {
      if (a.isBulkCopy) continue;
      auto load = a.load();
      Value ptr = map.lookupOrSelf(load.ptr());
      Value mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
      Value buffer = bufferAt(b, a, fillIndex);
      Value masked = maskOf(b, ptr, mask, predicate);
      Value other = load.other() ? map.lookupOrSelf(load.other()) : Value();
      tokens.push_back(
          ttg::AsyncCopyGlobalToLocalOp::create(b, load->loc(), ptr, buffer, masked, other, cacheAttrsOf(a.op))
              .token());
    }
    ttg::AsyncCommitGroupOp::create(b, loc_, tokens);
  }

  /// The pipelined loads, masked by the predicate if there is one. (A branch around them would merge their values
  /// element by element.)
  llvm::SmallVector<Value, 4> emitLoads(Builder &b, ValueMap &map, Value predicate) {
    llvm::SmallVector<Value, 4> values;
    for (auto &a : plan_.loads) values.push_back(emitLoad(b, a.load(), map, predicate));
    return values;
  }

  // ---- bulk copies (TMA) ----

  void emitBulkCopies(Builder &b, ValueMap &map, Value predicate, Value fillIndex) {
    if (!predicate) predicate = b.intConstant(loc_, IntegerType::get(c_, 1), 1);
    Value mbarrier = mbarrierAt(b, fillIndex);
    int64_t bytes = 0;
    for (auto &a : plan_.loads)
      if (a.isBulkCopy) bytes += a.bufferType.numElements() * a.bufferType.element().bitWidth() / 8;
    ttng::BarrierExpectOp::create(b, loc_, mbarrier, predicate, {b.i32Attr("size", bytes)});
    for (auto &a : plan_.loads) {
      if (!a.isBulkCopy) continue;
      auto load = a.descriptorLoad();
      llvm::SmallVector<Value, 5> coordinates;
      for (Value v : load.indices()) coordinates.push_back(map.lookupOrSelf(v));
      ttng::AsyncTmaCopyGlobalToLocalOp::create(b, a.op->loc(), map.lookupOrSelf(load.desc()), coordinates, {},
                                                mbarrier, bufferAt(b, a, fillIndex), predicate, cacheAttrsOf(a.op));
    }
  }

  scf::ForOp loop_;
  Block &body_;
  const PipelinePlan &plan_;
  const TargetInfo &target_;
  Context &c_;
  Location loc_;
  Builder b_; // around the loop
  llvm::DenseMap<const PipelinedLoad *, Value> multiBuffers_;
  MemDescType mbarrierType_; // bulk copies: of one stage
  Value mbarriers_;
  // With a loop over tiles; else null.
  scf::ForOp tileLoop_;
  llvm::SmallVector<Value, 8> position_; // of the tile, which the loop over tiles carries
  unsigned firstOfTile_ = 0;             // index of the first value that it carries for the pipelined loop
  Value firstReadIndex_;                 // of the buffer that the first iteration reads
  Value firstPhase_;                     // of the mbarriers
  Value fillIndex_;                      // of the buffer that the first iteration fills
  ValueMap nextTile_;                    // values of this tile to those of the next one
  Value nextExists_;                     // i1: whether there is a next tile
  scf::ForOp firstLoop_;                 // before newLoop_, if copies cross tiles
  Operation *lastWait_ = nullptr;        // for the dots that are in flight behind the new loop
  scf::IfOp guard_;
  scf::ForOp newLoop_;
  Value stepsAhead_, boundAhead_;              // D·s and ub - D·s
  llvm::SmallVector<unsigned, 8> usedResults_; // indices of the old loop's results that have uses
  llvm::SmallVector<Value, 8> finals_;         // what replaces them, by index
  llvm::SmallVector<Value, 8> producerState_;  // the producer's carried values, at the iteration that it is at
  llvm::SmallVector<Value, 4> loaded_;         // values of the last emitted loads (through registers)
  /// Where each kind of carried values begins, among those of the new loop.
  struct {
    unsigned producer = 0, readIndex = 0, fillIndex = 0, loaded = 0, nextIteration = 0, phase = 0, counter = 0;
  } at_;
  bool carriesIndices_ = false;                 // there are several buffers
  llvm::SmallVector<Value, 2> dots_;            // PipelinePlan::dotsInFlight: results in the old body
  llvm::SmallVector<unsigned, 2> accumulators_; // indices of the carried values that these become
};

} // namespace

void buildPipelinedLoop(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target) {
  PipelinedLoop(loop, plan, target).build();
}

} // namespace tessera::transforms
