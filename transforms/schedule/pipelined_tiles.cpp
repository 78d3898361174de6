// The loop over tiles around a pipelined loop (see tile_loop.h and pipelined_loop.cpp).
//
// If the plan has such a loop, the buffers are allocated before that loop, and the prologue before
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
//     The buffer index continues across tiles, as it does in a loop over K.
//   - else after the new loop, by a second prologue. (Copies that the last iterations did not issue leave buffers
//     free, of which the next tile's first copies fill the first ones.)
//
// A copy by threads (cp.async) for an iteration that does not exist fills its buffer with zeros. Another copy into that
// buffer must wait for it: nothing says which of two is last, not even of one thread's (PTX ISA, "cp.async").
#include "ir/op_table.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/schedule/pipelined_loop_builder.h"

namespace tessera::transforms {
using namespace ir;

void PipelinedLoopBuilder::beginTiles() {
  const TileLoop &tiles = plan_.tiles;
  scf::ForOp loop = tiles.loop;
  Value exists = compare(b_, CmpIPredicate::Slt, loop.lowerBound(), loop.upperBound());
  ValueMap first;
  first.map(inductionVariable(loop), loop.lowerBound());
  for (unsigned i : tiles.addresses.carried) first.map(carried(loop, i).argument, carried(loop, i).init);
  cloneAddresses(b_, tiles, first, exists);
  emitPrologue(first, exists);

  PipelinedCarried inits;
  inits.ofLoop.assign(loop.initArgs().begin(), loop.initArgs().end());
  inits.ofProducer = producerState_;
  inits.readIndex = integer(b_, 0);
  inits.fillIndex = fillIndex_;
  if (plan_.hasBulkCopies()) inits.phase = integer(b_, 0);
  position_ = positionOfTile(tiles, target_.tuning);
  for (Value v : position_) inits.position.push_back(first.lookupOrSelf(v));
  PipelinedCarried ofTile = takeTileLoop(inits);
  producerState_ = ofTile.ofProducer;
  firstReadIndex_ = ofTile.readIndex;
  fillIndex_ = ofTile.fillIndex;
  firstPhase_ = ofTile.phase;
  carriedPosition_ = ofTile.position;
  b_.setInsertionPoint(loop_.op);
}

PipelinedCarried PipelinedLoopBuilder::takeTileLoop(const PipelinedCarried &inits) {
  scf::ForOp loop = plan_.tiles.loop;
  auto values = inits.values();
  llvm::SmallVector<Type, 16> types;
  for (auto v : values) types.push_back(v.type());
  tileLoop_ = scf::ForOp::create(b_, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), values,
                                 loop->attrs());
  tileLoop_.body().takeBody(loop.body());
  Block &body = *tileLoop_.body().front();
  for (Type t : llvm::ArrayRef(types).drop_front(inits.ofLoop.size())) body.addArg(t, loc_);
  for (unsigned i = 0; i < inits.ofLoop.size(); ++i) loop->result(i).replaceAllUsesWith(tileLoop_->result(i));
  loop->erase();
  return inits.argumentsOf(body);
}

void PipelinedLoopBuilder::findNextTile() {
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

llvm::MapVector<Value, Value> PipelinedLoopBuilder::neededOfTile() {
  llvm::MapVector<Value, Value> needed;
  auto need = [&](Value v, Value current) {
    bool isOfTile =
        v == inductionVariable(tileLoop_) || plan_.tiles.addresses.operations.contains(v.definingOp()) ||
        llvm::any_of(plan_.tiles.addresses.carried, [&](unsigned i) { return v == carried(tileLoop_, i).argument; });
    if (isOfTile) needed.insert({v, current});
  };
  for (auto [k, i] : llvm::enumerate(plan_.producer.carried)) need(loop_.initArgs()[i], firstResults_.ofProducer[k]);
  for (Value v : {loop_.lowerBound(), loop_.upperBound(), loop_.step()}) need(v, v);
  for (Value v : position_) need(v, v);
  auto needOperands = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value v : inner->operands()) need(v, v);
    });
  };
  for (auto *op : plan_.producer.operations) needOperands(op);
  for (auto &load : plan_.loads) needOperands(load.op);
  return needed;
}

void PipelinedLoopBuilder::endTiles() {
  firstReadIndex_ = results_.readIndex;
  if (plan_.copiesCrossTiles()) {
    fillIndex_ = results_.fillIndex;
    producerState_ = results_.ofProducer;
  } else {
    findNextTile();
    if (plan_.hasThreadCopies()) waitForAllCopies(b_); // the last iterations' fill the same buffers
    emitPrologue(nextTile_, nextExists_);
  }
  if (plan_.dotsInFlight) {
    Builder atUse(firstUseOfDots());
    waitForLastDots(atUse);
    lastWait_ = finals_[accumulators_[0]].definingOp();
  }

  Operation *oldYield = tileLoop_.body().front()->terminator();
  PipelinedCarried next;
  next.ofLoop.assign(oldYield->operands().begin(), oldYield->operands().end());
  next.ofProducer = producerState_;
  next.readIndex = firstReadIndex_;
  next.fillIndex = fillIndex_;
  next.phase = results_.phase;
  for (Value v : position_) next.position.push_back(nextTile_.lookupOrSelf(v));
  for (auto [v, argument] : llvm::zip(position_, carriedPosition_))
    v.replaceAllUsesWith(argument); // all clones are made
  b_.setInsertionPoint(oldYield);
  scf::YieldOp::create(b_, oldYield->loc(), next.values());
  oldYield->erase();
  b_.setInsertionPointAfter(tileLoop_.op);
}

Operation *PipelinedLoopBuilder::firstUseOfDots() {
  Operation *first = loop_->block()->terminator();
  for (unsigned i : accumulators_)
    for (Operation *user : loop_->result(i).users()) {
      while (user->block() != loop_->block()) user = user->parentOp();
      if (user->isBeforeInBlock(first)) first = user;
    }
  return first;
}

void PipelinedLoopBuilder::sinkAddressesOfStores() {
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

Value PipelinedLoopBuilder::emitMissingIterations(Value readIndex) {
  producerState_.clear();
  for (auto i : plan_.producer.carried) producerState_.push_back(nextTile_.lookupOrSelf(loop_.initArgs()[i]));
  Value counter = nextTile_.lookupOrSelf(loop_.lowerBound());
  if (surelyIterates(plan_.distance)) return counter;
  Value iterations = integer(b_, 0); // n, or D if there are more
  for (int64_t d = 0; d < plan_.distance; ++d) {
    Value bound = boundBefore(b_, loop_.upperBound(), loop_.step(), d);
    Value exists = compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), bound);
    iterations = make<arith::AddiOp>(b_, iterations, arith::ExtuiOp::create(b_, loc_, c_.i32(), exists).op->result());
  }
  Value missing = make<arith::SubiOp>(b_, integer(b_, plan_.distance), iterations);
  // Copies of iterations that this tile does not have fill the same buffers.
  if (plan_.hasThreadCopies()) {
    Value areMissing = compare(b_, CmpIPredicate::Sgt, missing, integer(b_, 0));
    auto branch = scf::IfOp::create(b_, loc_, {}, areMissing);
    Builder then = Builder::atEnd(branch.thenRegion().addBlock());
    waitForAllCopies(then);
    scf::YieldOp::create(then, loc_, {});
  }
  // The buffers of this tile's iterations are in use.
  Value fill = make<arith::AddiOp>(b_, readIndex, iterations);
  Value wraps = compare(b_, CmpIPredicate::Sge, fill, integer(b_, plan_.buffers));
  Value wrapped = make<arith::SubiOp>(b_, fill, integer(b_, plan_.buffers));
  fill = arith::SelectOp::create(b_, loc_, wraps, wrapped, fill).op->result();

  PipelinedCarried inits;
  inits.ofProducer = producerState_;
  inits.fillIndex = fill;
  inits.counter = counter;
  auto values = inits.values();
  llvm::SmallVector<Type, 8> types;
  for (auto v : values) types.push_back(v.type());
  auto loop = scf::ForOp::create(b_, loc_, types, integer(b_, 0), missing, integer(b_, 1), values, {});
  Block *block = loop.body().addBlock();
  block->addArg(c_.i32(), loc_);
  for (Type t : types) block->addArg(t, loc_);
  Builder in = Builder::atEnd(block);
  PipelinedCarried carried = inits.argumentsOf(*block), next;
  producerState_ = carried.ofProducer;
  ValueMap map;
  next.counter = produceForNextTile(in, map, carried.counter, carried.fillIndex);
  next.ofProducer = producerState_;
  next.fillIndex = createNextBufferIndex(in, loc_, carried.fillIndex, plan_.buffers);
  scf::YieldOp::create(in, loc_, next.values());
  PipelinedCarried results = inits.resultsOf(loop);
  producerState_ = results.ofProducer;
  return results.counter;
}

Value PipelinedLoopBuilder::produceForNextTile(Builder &b, ValueMap &map, Value counter, Value fillIndex) {
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

} // namespace tessera::transforms
