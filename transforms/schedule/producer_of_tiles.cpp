// A producer warp for a loop over tiles (see producer_of_tiles.h and tile_loop.h).
//
//   scf.for %tile = … {                  mbarriers %full, and %empty (a count of the kernel's own warps)
//     addresses of the tile              ttg.warp_specialize
//     scf.for %k = … {                   default
//       copies of A and B                  scf.for %tile = … iter_args(%read, %last, %phase, …) {
//       dots                                 addresses of the tile, for its stores
//     }                                      scf.for %k = … iter_args(%read, %last, %phase, …) {
//     stores                          →        wait for %full[%read]; dots that read the buffers %read
//   }                                          wait for the dots of the iteration before
//                                              arrive at %empty[%last], each warp for itself, if there was one
//                                            }
//                                            wait for the last dots; arrive at %empty[%last]; stores
//                                          }
//                                        partition0 num_warps(1)
//                                          scf.for %tile = … iter_args(%fill, %filled, …) {
//                                            addresses of the tile, for its copies
//                                            scf.for %k = … iter_args(%fill, %filled, …) {
//                                              wait for %empty[%fill]; copies of A and B to the buffers %fill
//                                            }
//                                          }
//
// Without a producer (pipelined_tiles.cpp) one of the kernel's own threads issues the copies, after a barrier of all
// warps in each iteration: all of them compute addresses, come to the matrix units and store at the same time. The
// producer copies for the next tiles while one is stored, as far as there are buffers, and no iteration has a barrier
// of the block: a warp group waits for copies alone.
//
// Measured: NVIDIA H200, 2026-11, `benchmarks/triton_tutorials.py`, persistent matmul 8192 x 8192 by TMA, f16: K = 512
// 0.1146 ms (Triton 0.1208, cuBLAS 0.1173; without a producer 0.975 of cuBLAS's speed in another run), K = 4096 0.8325
// (0.873, 0.8648). `benchmarks/configurations.py`, tiles of 128 x 256 by 8 warps, with and without: 1.02 and 1.03 where
// a program has several tiles, 0.95 to 0.97 where it has one, which no pass can know.
//
// Conditions, beside those of a loop over tiles:
//   - All blocks are bulk copies (TMA) through descriptors that are arguments of the kernel. What their places are
//     computed from is scalars, and none of it is loaded.
//   - Nothing reads the buffers but dots that stay in flight to the next iteration.
//   - The loop over tiles is the only place of a kernel at which warps part.
//   - Two warp groups or more, so that one computes while the other one stores, three buffers or more, and no shared
//     memory for a second block on the multiprocessor, which would hide the latency as well, and whose registers the
//     consumers take; or the loop over tiles, or the one over K, has `tt.warp_specialize`.
//     `tessera.warp_specialize = false` prevents it.
#include "transforms/schedule/producer_of_tiles.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/schedule/pipelined_loop_builder.h"
#include "transforms/schedule/producer_partition.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

// ---- the decision ----

/// Whether no operation of the producer loads, or has a tensor.
static bool isArithmeticOfScalars(const llvm::SetVector<Operation *> &operations) {
  return llvm::all_of(operations, [](Operation *op) {
    bool hasTensor = llvm::any_of(op->results(), [](Value r) { return r.type().isTensor(); }) ||
                     llvm::any_of(op->operands(), [](Value v) { return v.type().isTensor(); });
    return !hasTensor && isPure(op) && !op->numRegions();
  });
}

/// Whether nothing uses a buffer, itself or through views, but dots by warp groups.
static bool onlyDotsRead(Value memdesc) {
  return llvm::all_of(memdesc.users(), [](Operation *user) {
    return user->is<ttng::WarpGroupDotOp>() || (isMemdescView(user) && onlyDotsRead(user->result()));
  });
}

/// Whether nothing uses a loaded block but dots by warp groups, which read it from shared memory.
static bool onlyDotsRead(const PipelinedLoad &a) {
  return a.alloc && llvm::all_of(a.result().users(),
                                 [&](Operation *user) { return a.isBuffer(user) && onlyDotsRead(user->result()); });
}

static bool areForDots(const PipelinePlan &plan) {
  return llvm::all_of(plan.loads, [](const PipelinedLoad &a) { return onlyDotsRead(a); });
}

/// Shared memory of all that the loop over tiles has at once.
static int64_t bytesOfTiles(const PipelinePlan &plan) {
  return plan.bytesOfBuffers(plan.buffers) + plan.otherBytesOfTiles;
}

/// Why no producer can issue the loop's copies, in whatever way; empty: one can.
static std::string whyNoCopiesByProducer(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target,
                                         int64_t warps) {
  scf::ForOp tiles = plan.tiles.loop;
  for (auto &a : plan.loads) {
    if (!a.isBulkCopy) return "not all blocks are copied by TMA";
    if (!isArgumentOfFunction(a.descriptorLoad().desc())) return "the kernel itself makes the tensor map of a copy";
  }
  if (forbidsProducer(loop.op) || forbidsProducer(tiles.op)) return "the loop has tessera.warp_specialize = false";
  if (std::string why = whyWarpsCannotPart(tiles.op); !why.empty()) return why;
  if (!hasRoomForProducer(target, warps))
    return llvm::formatv("a block of {0} warps has no room for one, or no whole warp groups", warps);
  int64_t bytes = bytesOfTiles(plan);
  if (bytes + kBytesOfProducer > target.sharedMemoryPerBlock)
    return llvm::formatv("buffers of {0} bytes leave no room for more mbarriers", bytes);
  return "";
}

/// Why warps cannot be specialised for the loop here; empty: they can.
static std::string whyNotPossible(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target, int64_t warps) {
  if (std::string why = whyNoCopiesByProducer(loop, plan, target, warps); !why.empty()) return why;
  if (!isArithmeticOfScalars(plan.producer.operations) || !isArithmeticOfScalars(plan.tiles.addresses.operations) ||
      !isArithmeticOfScalars(plan.tiles.updates))
    return "addresses of copies depend on tensors or loads";
  if (!plan.dotsInFlight || !areForDots(plan)) return "copied blocks are read by more than dots that stay in flight";
  return "";
}

/// Whether automatic-warp-specialization is to give a producer to the loop and the one over tiles: several dots, which
/// cannot stay in flight but can overlap the work between them.
static bool isLeftToNest(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target, int64_t warps) {
  auto isDot = [](Operation &op) { return op.is<ttng::WarpGroupDotOp>(); };
  bool hasSeveral = llvm::count_if(*loop.body().front(), isDot) > 1;
  return hasSeveral && !plan.dotsInFlight && areForDots(plan) &&
         whyNoCopiesByProducer(loop, plan, target, warps).empty();
}

/// Why it would not be worth while; empty: it is.
static std::string whyNotWorthWhile(const PipelinePlan &plan, const TargetInfo &target, int64_t warps) {
  constexpr int64_t kLeastGroups = 2, kLeastBuffers = 3;
  if (warps < kLeastGroups * kWarpGroup) return llvm::formatv("{0} warps are fewer than two warp groups", warps);
  if (plan.dotsInFlight && plan.buffers < kLeastBuffers)
    return llvm::formatv("{0} stages are fewer than three", plan.buffers);
  if (int64_t blocks = target.blocksBySharedMemory(bytesOfTiles(plan) + kBytesOfProducer); blocks > 1)
    return llvm::formatv("a multiprocessor has shared memory for {0} blocks, which hide each other's latency", blocks);
  return "";
}

void planProducerOfTiles(scf::ForOp loop, PipelinePlan &plan, const TargetInfo &target) {
  if (!plan.tiles.loop || !plan.hasBulkCopies() || !mayHaveProducers(target)) return;
  int64_t warps = numWarps(loop->module().op());
  plan.whyNoProducer = whyNotPossible(loop, plan, target, warps);
  bool isRequested = loop->hasAttr(kWarpSpecializeAttr) || plan.tiles.loop->hasAttr(kWarpSpecializeAttr);
  std::string whyNotWorth = isRequested ? "" : whyNotWorthWhile(plan, target, warps);
  if (whyNotWorth.empty() && isLeftToNest(loop, plan, target, warps)) {
    plan.tiles = {}; // that producer copies for the next tile
    plan.whyNoProducer.clear();
    return;
  }
  if (plan.whyNoProducer.empty()) plan.whyNoProducer = whyNotWorth;
  plan.hasProducerWarp = plan.whyNoProducer.empty();
}

// ---- the transformation ----

void PipelinedLoopBuilder::buildWithProducer() {
  scf::ForOp tiles = plan_.tiles.loop;
  b_.setInsertionPoint(tiles.op);
  allocateBuffers();
  empty_ = createMbarriers(b_, loc_, plan_.buffers, numWarps(loop_->module().op()));
  llvm::SmallVector<unsigned, 4> used;
  llvm::SmallVector<Type, 4> types;
  for (unsigned i = 0; i < tiles->numResults(); ++i)
    if (!tiles->result(i).useEmpty()) {
      used.push_back(i);
      types.push_back(tiles->result(i).type());
    }
  auto specialized = createWithProducer(b_, loc_, types);
  auto op = specialized.op;
  for (auto [k, i] : llvm::enumerate(used)) tiles->result(i).replaceAllUsesWith(op->result(k));
  emitProducerOfTiles(*specialized.partition);
  captureOuterValues(specialized);
  b_.setInsertionPointToEnd(op.defaultRegion().front());
  emitConsumersOfTiles();
  llvm::SmallVector<Value, 4> results;
  for (unsigned i : used) results.push_back(tileLoop_->result(i));
  ttg::WarpYieldOp::create(b_, loc_, results);
  dropUnneededCarriedValues(newLoop_);
  dropUnneededCarriedValues(tileLoop_);
  b_.setInsertionPointAfter(op.op);
  releaseMbarriers(b_, loc_, empty_);
  releaseBuffers();
}

// ---- the producer ----

void PipelinedLoopBuilder::emitProducerOfTiles(Block &partition) {
  const TileLoop &tiles = plan_.tiles;
  Builder b = Builder::atEnd(&partition);
  llvm::SmallVector<Value, 8> inits;
  for (unsigned i : tiles.addresses.carried) inits.push_back(carried(tiles.loop, i).init);
  inits.push_back(integer(b, 0)); // the buffer to fill
  inits.push_back(integer(b, 1)); // the phase before the first one counts as complete: the first buffers are free
  auto loop = createLoopLike(tiles.loop, b, ValueMap(), inits);
  ttg::WarpReturnOp::create(b, loc_);

  Block &body = *loop.body().front();
  Builder in = Builder::atEnd(&body);
  ValueMap map;
  map.map(inductionVariable(tiles.loop), inductionVariable(body));
  for (auto [k, i] : llvm::enumerate(tiles.addresses.carried))
    map.map(carried(tiles.loop, i).argument, carriedArgument(body, k));
  cloneAddresses(in, tiles, map, Value());
  unsigned buffer = tiles.addresses.carried.size();
  auto copies = emitProducerOfTile(in, map, carriedArgument(body, buffer), carriedArgument(body, buffer + 1));
  for (auto &o : *tiles.loop.body().front())
    if (tiles.updates.contains(&o) && !tiles.addresses.operations.contains(&o)) in.clone(&o, map);
  llvm::SmallVector<Value, 8> next;
  for (unsigned i : tiles.addresses.carried) next.push_back(map.lookupOrSelf(carried(tiles.loop, i).yielded));
  for (unsigned k : {2u, 1u}) next.push_back(copies->result(copies->numResults() - k));
  scf::YieldOp::create(in, loc_, next);
}

scf::ForOp PipelinedLoopBuilder::emitProducerOfTile(Builder &b, const ValueMap &ofTile, Value fill, Value phase) {
  llvm::SmallVector<Value, 8> inits;
  for (unsigned i : plan_.producer.carried) inits.push_back(ofTile.lookupOrSelf(loop_.initArgs()[i]));
  inits.push_back(fill);
  inits.push_back(phase);
  auto loop = createLoopLike(loop_, b, ofTile, inits);
  Block &body = *loop.body().front();
  Builder in = Builder::atEnd(&body);
  producerState_.clear();
  for (unsigned k = 0; k < plan_.producer.carried.size(); ++k) producerState_.push_back(carriedArgument(body, k));
  fill = carriedArgument(body, plan_.producer.carried.size());
  phase = carriedArgument(body, plan_.producer.carried.size() + 1);
  ValueMap map = ofTile;
  beginProducer(map, inductionVariable(body));
  emitProducer(in, map, Value());
  ttng::WaitBarrierOp::create(in, loc_, mbarrierAt(in, loc_, empty_, fill), phase, Value(), {});
  emitBulkCopies(in, map, Value(), fill);
  advanceProducer(map);
  llvm::SmallVector<Value, 8> next = producerState_;
  next.push_back(createNextBufferIndex(in, loc_, fill, plan_.buffers));
  next.push_back(createNextPhase(in, loc_, phase, next.back()));
  scf::YieldOp::create(in, loc_, next);
  producerState_.clear();
  return loop;
}

// ---- the consumers ----

void PipelinedLoopBuilder::emitConsumersOfTiles() {
  PipelinedCarried inits;
  inits.ofLoop.assign(plan_.tiles.loop.initArgs().begin(), plan_.tiles.loop.initArgs().end());
  inits.readIndex = integer(b_, 0);
  inits.fillIndex = integer(b_, plan_.buffers - 1);
  inits.phase = integer(b_, 0);
  PipelinedCarried ofTile = takeTileLoop(inits);
  b_.setInsertionPoint(loop_.op);
  findDots();
  ofTile.ofLoop.assign(loop_.initArgs().begin(), loop_.initArgs().end());
  newLoop_ = emitIterations(CopiesFor::Nothing, loop_.lowerBound(), loop_.upperBound(), ofTile);
  results_ = ofTile.resultsOf(newLoop_);
  finals_.assign(results_.ofLoop.begin(), results_.ofLoop.end());
  Builder atUse(firstUseOfDots());
  waitForLastDots(atUse);
  lastWait_ = finals_[accumulators_[0]].definingOp();
  Value hasIterated = compare(atUse, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound());
  emitRelease(atUse, results_.fillIndex, hasIterated);

  Operation *oldYield = tileLoop_.body().front()->terminator();
  b_.setInsertionPoint(oldYield);
  PipelinedCarried next = results_;
  next.ofLoop.assign(oldYield->operands().begin(), oldYield->operands().end());
  scf::YieldOp::create(b_, oldYield->loc(), next.values());
  oldYield->erase();
  for (unsigned i = 0; i < loop_->numResults(); ++i) loop_->result(i).replaceAllUsesWith(finals_[i]);
  loop_->dropAllReferences();
  loop_->erase();
  sinkAddressesOfStores();
  b_.setInsertionPointAfter(tileLoop_.op);
}

void PipelinedLoopBuilder::releaseLastIterationsBuffers(Iteration &it) {
  // The first iteration's were released after the last dots of the tile before.
  Value isLater = compare(it.in, CmpIPredicate::Sgt, inductionVariable(it.block), loop_.lowerBound());
  emitRelease(it.in, it.fillIndex, isLater);
}

void PipelinedLoopBuilder::emitRelease(Builder &b, Value index, Value predicate) {
  auto arrive =
      ttng::ArriveBarrierOp::create(b, loc_, mbarrierAt(b, loc_, empty_, index), predicate, {b.i32Attr("count", 1)});
  arrive->setAttr(kEachWarpArrivesAttr, UnitAttr::get(c_));
}

} // namespace tessera::transforms
