// Builds one pipelined loop (see pipelined_loop.cpp). Its parts are in four files: pipelined_loop.cpp has the order of
// the new code, pipelined_accesses.cpp the buffers with producer and consumer, pipelined_tiles.cpp the loop over tiles
// around it, producer_of_tiles.cpp the same with a producer warp.
//
// The steps hand values to each other in the members, so their order is fixed. It stands in three functions and nowhere
// else: build() for the whole, emitLoop() for the new loops, emitBody() for an iteration. What a step needs and leaves:
//
//   step                           needs                                    leaves
//   ----                           -----                                    ------
//   allocateBuffers                b_ before the outermost new loop         multiBuffers_, mbarriers_
//   openGuard                                                               usedResults_, guard_; b_ inside the guard
//   beginTiles (loop over tiles)   b_ before the loop over tiles            tileLoop_, position_, carriedPosition_,
//                                                                           firstReadIndex_, firstPhase_, and what
//                                                                           emitPrologue leaves
//   emitPrologue                   multiBuffers_, firstReadIndex_           producerState_, fillIndex_,
//                                                                           prologueLoaded_
//   emitLoop                       all of these                             newLoop_, results_, dots_, accumulators_,
//                                                                           boundAhead_; if copies cross tiles,
//                                                                           firstLoop_, firstResults_, nextTile_
//   emitEpilogue                   newLoop_, results_                       finals_
//   closeGuard                     finals_, guard_                          finals_, now results of guard_; b_ after it
//   endTiles (loop over tiles)     results_, finals_, tileLoop_             nextTile_, lastWait_; b_ after the tiles
//   releaseBuffers                 b_ after all uses
//   sinkAddressesOfStores          lastWait_; the old loop erased
//
// The producer is used in the order beginProducer, emitProducer, then emitCopies or emitLoads, advanceProducer, on one
// map for each iteration: producerState_ is at the iteration that it began, and at the next one afterwards.
#pragma once
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "transforms/schedule/pipeline_plan.h"
#include "transforms/schedule/pipelined_carried.h"
#include "transforms/schedule/tile_loop.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::transforms {

class PipelinedLoopBuilder {
public:
  PipelinedLoopBuilder(ir::scf::ForOp loop, const PipelinePlan &plan, const ir::TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), target_(target), c_(loop->context()), loc_(loop->loc()),
        b_(loop.op) {}

  /// Builds the loop and erases the old one. Called once.
  void build();

private:
  // ---- buffers (pipelined_accesses.cpp) ----

  static ir::MemDescType multiBufferType(ir::MemDescType buffer, int64_t buffers);
  void allocateBuffers();
  void releaseBuffers();
  bool usesBuffers() const;
  ir::Value bufferAt(ir::Builder &b, const PipelinedLoad &a, ir::Value index);

  // ---- the producer (pipelined_accesses.cpp) ----

  /// Maps the body's arguments to the producer's values at the iteration that it is at.
  void beginProducer(ir::ValueMap &map, ir::Value inductionVariable);
  /// Takes the producer's carried values to the next iteration.
  void advanceProducer(ir::ValueMap &map);
  /// The producer's operations on the values of `map`; loads that addresses need are masked by the predicate.
  void emitProducer(ir::Builder &b, ir::ValueMap &map, ir::Value predicate);

  /// Asynchronous copies into the buffers of a stage, one commit group; not of late loads. `tile`: whether the tile
  /// exists that the addresses are of; null if it does. The predicate implies it.
  void emitCopies(ir::Builder &b, ir::ValueMap &map, ir::Value predicate, ir::Value fillIndex, ir::Value tile = {});
  /// The copy of one load by the threads, on the values of `map`. Returns its token.
  ir::Value emitThreadCopy(ir::Builder &b, const PipelinedLoad &a, ir::ValueMap &map, ir::Value predicate,
                           ir::Value buffer, ir::Value tile = {});
  /// All copies by threads arrive.
  void waitForAllCopies(ir::Builder &b);
  /// The copies of late loads for the iteration of `map`, one commit group.
  void emitLateCopies(ir::Builder &b, const ir::ValueMap &map);

  /// The pipelined loads, masked by the predicate if there is one. (A branch around them would merge their values
  /// element by element.)
  llvm::SmallVector<ir::Value, 4> emitLoads(ir::Builder &b, ir::ValueMap &map, ir::Value predicate);

  /// … with bulk copies (TMA).
  void emitBulkCopies(ir::Builder &b, ir::ValueMap &map, ir::Value predicate, ir::Value fillIndex);

  // ---- the consumer (pipelined_accesses.cpp) ----

  /// The dot that is emitted in slices and whose slices replace the operation of the body, or null.
  const SlicedDot *slicedDotOf(ir::Operation *) const;
  const PipelinedLoad *loadThat(llvm::function_ref<bool(const PipelinedLoad &)> holds) const;

  /// The body without the producer's loads, on the values of `map`. Loaded values are in the buffer `readIndex`, or in
  /// `loaded`, one for each load without a buffer.
  void emitConsumer(ir::Builder &b, ir::ValueMap &map, ir::Value readIndex, llvm::ArrayRef<ir::Value> loaded,
                    ir::Value token);
  /// Before an operation of the body that is the first to read a late load's buffer: waits for its copy.
  void emitWaitForLateCopies(ir::Builder &b, ir::Operation *op);
  /// Whether the loaded value has users other than the buffers and conversions that the multi-buffer replaces.
  static bool hasOtherUsers(const PipelinedLoad &a);
  /// The value read from the buffer, with the load's other value where the consumer's mask is false.
  ir::Value withOther(ir::Builder &b, const PipelinedLoad &a, ir::ValueMap &map, ir::Value read);
  static ir::Value zeros(ir::Builder &b, const PipelinedLoad &a);

  // ---- the loop over tiles (pipelined_tiles.cpp) ----

  /// The prologue of the first tile, and the loop over tiles with what it carries from tile to tile.
  void beginTiles();

  /// Replaces the loop over tiles by tileLoop_, at b_, which has its body and carries these values. Returns its
  /// arguments.
  PipelinedCarried takeTileLoop(const PipelinedCarried &inits);

  /// The addresses of the next tile.
  void findNextTile();

  /// What the producer, the bounds of its loop, and the loop over tiles need of a tile, with values that are there
  /// between two loops for the current tile.
  llvm::MapVector<ir::Value, ir::Value> neededOfTile();

  /// What the next tile begins with, after the new loop. If its prologue is emitted here: the buffers are those that
  /// the last dots do not read, so these may still be in flight; they are waited for before the first operation that
  /// uses their results.
  void endTiles();

  /// The first operation after the old loop that uses an accumulator, itself or in its regions.
  ir::Operation *firstUseOfDots();

  /// Moves what only the stores of the tile need from before the new loop to where its last dots are in flight.
  void sinkAddressesOfStores();

  /// Between two loops: if this tile has n < D iterations, the copies of the next tile's first D - n, which no
  /// iteration of the second loop issues. Returns the producer's counter after them, and leaves producerState_ there.
  ir::Value emitMissingIterations(ir::Value readIndex);

  /// The producer at an iteration of the next tile, if there is such a one. Returns its next counter.
  ir::Value produceForNextTile(ir::Builder &b, ir::ValueMap &map, ir::Value counter, ir::Value fillIndex);

  // ---- the loop over tiles with a producer warp (producer_of_tiles.cpp) ----

  struct Iteration;
  /// Instead of build(), for PipelinePlan::hasProducerWarp.
  void buildWithProducer();
  /// The partition: a loop over tiles with copies alone.
  void emitProducerOfTiles(ir::Block &partition);
  /// The copies of a tile, on the values of `ofTile`: a loop whose last results are the next buffer and phase.
  ir::scf::ForOp emitProducerOfTile(ir::Builder &b, const ir::ValueMap &ofTile, ir::Value fill, ir::Value phase);
  /// The default region: the loop over tiles without copies, at b_.
  void emitConsumersOfTiles();
  /// Lets the producer fill the buffers that the iteration before this one has read.
  void releaseLastIterationsBuffers(Iteration &it);
  /// Each warp for itself, if the predicate is true.
  void emitRelease(ir::Builder &b, ir::Value index, ir::Value predicate);

  // ---- guard (pipelined_loop.cpp, with what follows) ----

  /// Puts an scf.if around everything that follows, if the last iteration is peeled and there may be none.
  void openGuard();
  void closeGuard();

  // ---- prologue ----

  /// `outer`: what the values of the loop's surroundings are (those of another tile). `exists` (i1): whether there is
  /// such a tile; null: there is.
  void emitPrologue(const ir::ValueMap &outer, ir::Value exists);
  /// Through registers: `loaded`, one value for each load, into the buffers of that index.
  void storeToBuffers(ir::Builder &b, llvm::ArrayRef<ir::Value> loaded, ir::Value index);
  /// The index of the buffer after `index`; `constant` if the prologue begins at the first buffer.
  ir::Value nextIndex(ir::Value index, int64_t constant);

  // ---- the loop ----

  /// What the new loop's carried values start with.
  PipelinedCarried carriedInits();
  /// What the copies are for that an iteration issues.
  enum class CopiesFor {
    LaterIteration,    // D iterations ahead, if there is one
    ExistingIteration, // D iterations ahead, which exists
    NextTile,          // an iteration of the next tile, if there is one
    Nothing,           // a producer warp issues them
  };

  /// PipelinePlan::dotsInFlight: fills dots_, accumulators_ and dotsOfIteration_.
  void findDots();

  void emitLoop();

  ir::scf::ForOp emitIterations(CopiesFor copiesFor, ir::Value lower, ir::Value upper, const PipelinedCarried &inits);

  /// One iteration of the new loop while it is built.
  struct Iteration {
    ir::Block &block;
    PipelinedCarried carried; // the arguments
    ir::Builder in;
    CopiesFor copiesFor;
    ir::ValueMap consumer = {}; // old values of this iteration to new ones
    ir::ValueMap producer = {}; // … and of the iteration that the producer is at
    ir::Value readIndex = {};   // of the buffer that the consumer reads
    ir::Value fillIndex = {};   // … and that the producer fills
    ir::Value token = {};       // of the wait for the consumer's copies
    ir::Value nextCounter = {}; // what the next iteration gets as PipelinedCarried::counter
    // Through registers: loaded values.
    llvm::SmallVector<ir::Value, 4> forConsumer = {}; // of this iteration, one for each load without a buffer
    llvm::SmallVector<ir::Value, 4> forBuffers = {};  // of the next iteration, which this one stores into its buffers
    llvm::SmallVector<ir::Value, 4> loaded = {};      // by this iteration's producer
  };

  void emitBody(ir::Block &block, CopiesFor copiesFor, const PipelinedCarried &carried);

  /// Waits until the copies into the buffers of this iteration's stage are done; those of late loads are issued then.
  void emitWaitForStage(Iteration &it);

  /// The producer, at the iteration `distance` ahead.
  void produceNext(Iteration &it);

  /// PipelinePlan::operandsFirst: after the loads of operands from shared memory.
  void produceBeforeFirstDot(Iteration &it);

  /// PipelinePlan::copiesAfter: between the issue of the dot and the wait for it.
  void produceAfterDot(Iteration &it);

  /// PipelinePlan::refillsStage: after the last operation that reads the iteration's buffers. No dot is asynchronous.
  void produceAfterReads(Iteration &it);

  /// PipelinePlan::dotsInFlight: this iteration's dots stay in flight; those of the last one are done after the wait,
  /// so that their buffers can be filled. With left operands in registers the wait is for this iteration's, after the
  /// copies. Branches that use accumulators come after.
  void produceAfterLastIterationsDots(Iteration &it);
  bool hasOperandsInRegisters() const;

  void emitYield(Iteration &it);

  // ---- epilogue ----

  /// Waits for dots in flight, or the peeled last iteration. Fills finals_.
  void emitEpilogue();

  /// Waits for the dots that are in flight after the loop.
  void waitForLastDots(ir::Builder &b);

  /// Whether the loop surely has so many iterations.
  bool surelyIterates(int64_t iterations = 1);

  /// @pre all are of one block
  static ir::Operation *lastOf(llvm::ArrayRef<ir::Value> values);

  /// Erases what is without uses after an operation of the block.
  static void eraseDead(ir::Block &block, ir::Operation *after);

  // ---- values and operations ----

  ir::Value integer(ir::Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  template <class OpT> ir::Value make(ir::Builder &b, ir::Value x, ir::Value y) {
    return OpT::create(b, loc_, x, y).op->result();
  }
  ir::Value compare(ir::Builder &b, ir::CmpIPredicate p, ir::Value x, ir::Value y) {
    return ir::compare(b, loc_, p, x, y);
  }
  /// The counter of the loop's next iteration. It does not wrap, like the loop's own addition, with which LLVM merges
  /// this one: LLVM counts the iterations of a loop whose step is not one only if both say so.
  ir::Value nextCounter(Iteration &);
  /// iterations · step
  ir::Value steps(ir::Builder &b, ir::Value step, int64_t iterations);
  llvm::SmallVector<ir::Value, 2> waitForDots(ir::Builder &b, llvm::ArrayRef<ir::Value> dots, unsigned pending);
  /// bound − iterations · step, or the least number of the type where that wraps: no counter is below it.
  ir::Value boundBefore(ir::Builder &b, ir::Value bound, ir::Value step, int64_t iterations);
  ir::scf::ForOp loop_;
  ir::Block &body_;
  const PipelinePlan &plan_;
  const ir::TargetInfo &target_;
  ir::Context &c_;
  ir::Location loc_;
  ir::Builder b_; // around the loop
  llvm::DenseMap<const PipelinedLoad *, ir::Value> multiBuffers_;
  ir::Value mbarriers_; // bulk copies: of the stages
  ir::Value empty_;     // a producer warp: mbarriers of stages that have been read
  // With a loop over tiles; else null.
  ir::scf::ForOp tileLoop_;
  llvm::SmallVector<ir::Value, 8> position_;        // positionOfTile, which the loop over tiles need not compute again
  llvm::SmallVector<ir::Value, 8> carriedPosition_; // … and as the loop over tiles carries it
  ir::Value firstReadIndex_;                        // of the buffer that the first iteration reads
  ir::Value firstPhase_;                            // of the mbarriers
  ir::Value fillIndex_;                             // of the buffer that the first iteration fills
  ir::ValueMap nextTile_;                           // values of this tile to those of the next one
  ir::Value nextExists_;                            // i1: whether there is a next tile
  ir::scf::ForOp firstLoop_;                        // before newLoop_, if copies cross tiles
  ir::Operation *lastWait_ = nullptr;               // for the dots that are in flight after the new loop
  ir::scf::IfOp guard_;
  ir::scf::ForOp newLoop_;
  PipelinedCarried results_;                       // of newLoop_
  PipelinedCarried firstResults_;                  // of firstLoop_
  ir::Value stepsAhead_, boundAhead_;              // D·s and ub - D·s
  llvm::SmallVector<unsigned, 8> usedResults_;     // indices of the old loop's results that have uses
  llvm::SmallVector<ir::Value, 8> finals_;         // what replaces them, by index
  llvm::SmallVector<ir::Value, 8> producerState_;  // the producer's carried values, at the iteration that it is at
  llvm::SmallVector<ir::Value, 4> prologueLoaded_; // through registers: values that the prologue loaded last
  llvm::SmallVector<ir::Value, 2> dots_;           // PipelinePlan::dotsInFlight: results in the old body
  llvm::SmallVector<unsigned, 2> accumulators_;    // indices of the carried values that these become
  int64_t dotsOfIteration_ = 0;                    // … with all slices
};

} // namespace tessera::transforms
