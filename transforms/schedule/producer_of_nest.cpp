// A producer warp for loops inside of a loop over tiles, such as those of attention whose programs run several blocks
// of queries. Part of tritongpu-automatic-warp-specialization; what holds of one loop is said there and in
// loops_of_producer.cpp.
//
//   scf.for %tile = … {                       buffers, mbarriers %full and %empty
//     addresses; queries                      ttg.warp_specialize
//     buffers, mbarriers; first copies        default
//     scf.for %i = … { }                        scf.for %tile = … iter_args(%read, %phase, …) {
//     end of the buffers                          addresses; queries
//     stores                             →        scf.for %i = … iter_args(%read, %phase, …) { }
//   }                                             stores
//                                               }
//                                             partition0 num_warps(1)
//                                               scf.for %tile = … iter_args(%fill, %filled, …) {
//                                                 addresses of the copies; first copies
//                                                 scf.for %i = … iter_args(%fill, %filled, …) { copies }
//                                               }
//                                             end of the buffers
//
// The buffers remain from one tile to the next, so that the producer fills them for the next tile while this one is
// stored. (Loops whose dots stay in flight, as those of a matmul do, get their producer when they are pipelined:
// producer_of_tiles.cpp.)
//
// Conditions, beside those of loops one after the other:
//   - The loop over tiles stands in a kernel, in no other loop or branch.
//   - Nothing in it writes what the copies read, or orders memory.
//   - What copies, bounds and addresses need of a tile is computed from scalars, without results of the inner loops.
//   - The buffers fit beside what the stores of a tile take.
#include "transforms/schedule/producer_of_nest.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/schedule/producer_partition.h"
#include "transforms/schedule/specialized_loops.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class SpecializedNest {
public:
  explicit SpecializedNest(LoopNest &nest)
      : nest_(nest), plan_(nest.loops.front().plan), loc_(nest.tiles->loc()), b_(nest.tiles.op),
        warps_(numWarps(nest.tiles->module().op())), producer_(plan_, loc_) {}

  void build() {
    createBuffers();
    llvm::SmallVector<Type, 8> types;
    for (unsigned i = 0; i < nest_.tiles->numResults(); ++i)
      if (!nest_.tiles->result(i).useEmpty()) {
        used_.push_back(i);
        types.push_back(nest_.tiles->result(i).type());
      }
    auto specialized = createWithProducer(b_, loc_, types);
    emitProducer(*specialized.partition);
    captureOuterValues(specialized);
    emitConsumers(specialized.op);
    b_.setInsertionPointAfter(specialized.op.op);
    producer_.releaseMbarriers(b_);
    releaseMbarriers(b_, loc_, mbarriers_);
    for (Value buffer : buffers_) ttg::LocalDeallocOp::create(b_, loc_, buffer);
  }

private:
  /// Buffers and mbarriers for all tiles, which replace those of all loops.
  void createBuffers() {
    Value mbarriers = createMbarriers(b_, loc_, plan_.buffers, 1);
    ValueMap common;
    common.map(plan_.mbarriers.result(), mbarriers);
    for (auto &group : plan_.groups)
      for (auto *alloc : group.allocs) {
        buffers_.push_back(b_.clone(alloc)->result());
        common.map(alloc->result(), buffers_.back());
      }
    producer_.replaceBuffers(common);
    producer_.createFullMbarriers(b_, mbarriers);
    producer_.createEmptyMbarriers(b_, warps_);
    for (auto &f : nest_.loops) {
      for (auto &[mine, firsts] : f.buffers) firsts = common.lookup(firsts);
      ProducerOfLoops::useBuffersOfFirst(f);
      loops_.push_back({f.loop, f.plan, f.plan.addresses, &f});
      producer_.separateGroups(loops_.back());
    }
    mbarriers_ = mbarriers;
  }

  void emitProducer(Block &partition) {
    Builder b = Builder::atEnd(&partition);
    FillPosition at = producer_.start(b);
    llvm::SmallVector<Value, 8> inits;
    for (unsigned i : nest_.scalars.carried) inits.push_back(carried(nest_.tiles, i).init);
    inits.append({at.index, at.phase});
    auto tiles = createLoopLike(nest_.tiles, b, ValueMap(), inits);
    ttg::WarpReturnOp::create(b, loc_);

    Block &body = *tiles.body().front();
    Builder in = Builder::atEnd(&body);
    ValueMap map;
    map.map(inductionVariable(nest_.tiles), inductionVariable(body));
    unsigned n = 0;
    for (unsigned i : nest_.scalars.carried) map.map(carried(nest_.tiles, i).argument, carriedArgument(body, n++));
    at = {carriedArgument(body, n), carriedArgument(body, n + 1)};
    auto next = loops_.begin();
    for (auto &op : *nest_.tiles.body().front()) {
      if (nest_.scalars.operations.contains(&op)) in.clone(&op, map);
      if (next == loops_.end() || next->loop.op != &op) continue;
      FillPosition fill = producer_.emitFirstCopies(in, *next->following, map, at);
      at = producer_.emitLoop(in, *next++, map, fill, at, /*isLast=*/false);
    }
    llvm::SmallVector<Value, 8> yields;
    for (unsigned i : nest_.scalars.carried) yields.push_back(map.lookupOrSelf(carried(nest_.tiles, i).yielded));
    yields.append({at.index, at.phase});
    scf::YieldOp::create(in, loc_, yields);
  }

  void emitConsumers(ttg::WarpSpecializeOp op) {
    Builder before(op.op);
    Value zero = before.intConstant(loc_, before.context().i32(), 0);
    CarriedValue index = carryMore(nest_.tiles, zero);
    CarriedValue phase = carryMore(index.loop, zero);
    scf::ForOp tiles = phase.loop;
    index = carried(tiles, index.index);
    Value atIndex = index.argument, atPhase = phase.argument;
    for (auto &s : loops_) {
      producer_.releaseBuffers(s);
      ProducerOfLoops::eraseCopies(s);
      ReadPosition position = *readPosition(s.plan);
      CarriedValue ofLoop = carried(s.loop, position.index), phaseOfLoop = carried(s.loop, position.phase);
      ofLoop.setInit(atIndex);
      phaseOfLoop.setInit(atPhase);
      atIndex = ofLoop.result;
      atPhase = phaseOfLoop.result;
    }
    index.setYielded(atIndex);
    phase.setYielded(atPhase);
    for (auto &f : nest_.loops) ProducerOfLoops::eraseSetUp(f);

    llvm::SmallVector<Value, 8> results;
    for (auto [i, outer] : llvm::zip_equal(used_, op->results())) {
      results.push_back(tiles->result(i));
      tiles->result(i).replaceAllUsesWith(outer);
    }
    Builder b = Builder::atEnd(op.defaultRegion().front());
    auto yield = ttg::WarpYieldOp::create(b, loc_, results);
    tiles->moveBefore(yield.op);
    for (auto &s : loops_) dropUnneededCarriedValues(s.loop);
    dropUnneededCarriedValues(tiles);
  }

  LoopNest &nest_;
  const SpecializationPlan &plan_; // of the first loop
  Location loc_;
  Builder b_; // before the loop over tiles
  int64_t warps_;
  ProducerOfLoops producer_;
  llvm::SmallVector<ServedLoop, 2> loops_;
  Value mbarriers_;                     // for all tiles: buffers of the first group are filled
  llvm::SmallVector<Value, 4> buffers_; // for all tiles
  llvm::SmallVector<unsigned, 8> used_; // results of the loop over tiles that others use
};

} // namespace

void specializeNest(LoopNest &nest) { SpecializedNest(nest).build(); }

} // namespace tessera::transforms
