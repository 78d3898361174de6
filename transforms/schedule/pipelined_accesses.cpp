// The buffers of a pipelined loop, and the two halves that its iterations are cloned from: the producer, whose copies
// fill a buffer, and the consumer, which reads one (see pipelined_loop.cpp).
#include "ir/attribute_names.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/iteration_masks.h"
#include "transforms/cleanup/predicated_load.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/schedule/pipelined_loop_builder.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

MemDescType PipelinedLoopBuilder::multiBufferType(MemDescType buffer, int64_t buffers) {
  llvm::SmallVector<int64_t, 4> shape(buffer.shape());
  shape.insert(shape.begin(), buffers);
  return MemDescType::get(shape, buffer.element(), buffer.encoding(), buffer.memorySpace(), true);
}

void PipelinedLoopBuilder::allocateBuffers() {
  for (auto &a : plan_.loads) {
    if (!a.bufferType) continue;
    MemDescType type = multiBufferType(a.bufferType, a.isLate ? 1 : plan_.buffers);
    multiBuffers_[&a] = ttg::LocalAllocOp::create(b_, a.op->loc(), type, Value()).result();
  }
  if (plan_.hasBulkCopies()) mbarriers_ = createMbarriers(b_, loc_, plan_.buffers, 1);
}

void PipelinedLoopBuilder::releaseBuffers() {
  if (plan_.hasBulkCopies()) releaseMbarriers(b_, loc_, mbarriers_);
  if (plan_.hasThreadCopies()) waitForAllCopies(b_);
  // Before stores that follow, this barrier orders memory, not the one of the loop, which would wait for all copies.
  if (plan_.byWarps) gpu::BarrierOp::create(b_, loc_);
  for (auto &a : plan_.loads)
    if (Value buffers = multiBuffers_.lookup(&a)) ttg::LocalDeallocOp::create(b_, loc_, buffers);
}

void PipelinedLoopBuilder::beginProducer(ValueMap &map, Value inductionVariable) {
  map.map(ir::inductionVariable(loop_), inductionVariable);
  for (auto [k, i] : llvm::enumerate(plan_.producer.carried)) map.map(carried(loop_, i).argument, producerState_[k]);
}

void PipelinedLoopBuilder::advanceProducer(ValueMap &map) {
  for (auto [k, i] : llvm::enumerate(plan_.producer.carried))
    producerState_[k] = map.lookupOrSelf(carried(loop_, i).yielded);
}

bool PipelinedLoopBuilder::usesBuffers() const {
  return llvm::any_of(plan_.loads, [](auto &a) { return bool(a.bufferType); });
}

const PipelinedLoad *PipelinedLoopBuilder::loadThat(llvm::function_ref<bool(const PipelinedLoad &)> holds) const {
  auto it = llvm::find_if(plan_.loads, holds);
  return it == plan_.loads.end() ? nullptr : &*it;
}

const SlicedDot *PipelinedLoopBuilder::slicedDotOf(Operation *op) const {
  auto it = llvm::find_if(plan_.slicedDots, [&](auto &s) { return s.replaces(op); });
  return it == plan_.slicedDots.end() ? nullptr : &*it;
}

void PipelinedLoopBuilder::emitConsumer(Builder &b, ValueMap &map, Value readIndex, llvm::ArrayRef<Value> loaded,
                                        Value token) {
  llvm::DenseSet<Operation *> done; // loads from buffers, created with the buffer
  const Value *nextLoaded = loaded.begin();
  auto readBuffer = [&](const PipelinedLoad &a, Operation *op, Type type) {
    return ttg::LocalLoadOp::create(b, op->loc(), type, bufferAt(b, a, readIndex), token).result();
  };
  for (auto &op : body_) {
    if (&op == body_.terminator() || done.contains(&op)) continue;
    if (auto *sliced = slicedDotOf(&op)) {
      if (sliced->dot.op == &op) map.map(op.result(), emitSlices(b, *sliced, map, token));
      continue;
    }
    if (auto *a = loadThat([&](auto &a) { return a.bufferType && a.isConversion(&op); })) {
      map.map(op.result(), readBuffer(*a, &op, op.result().type()));
    } else if (auto *a = loadThat([&](auto &a) { return a.bufferType && a.isAcrossRows(&op); })) {
      Value squares = readBuffer(*a, &op, tensorOf(a->result()).withEncoding(a->squares));
      auto alloc = ttg::LocalAllocOp::create(b, op.loc(), op.result().type().cast<MemDescType>(), squares);
      map.map(op.result(), alloc.result());
    } else if (auto *a = loadThat([&](auto &a) { return a.isBuffer(&op); })) {
      Value view = bufferAt(b, *a, readIndex);
      map.map(op.result(), view); // for dots that read shared memory, and for views
      for (auto *user : op.result().users()) {
        if (!user->is<ttg::LocalLoadOp>() || slicedDotOf(user)) continue;
        auto load = ttg::LocalLoadOp::create(b, user->loc(), user->result().type(), view, token);
        map.map(user->result(), load.result());
        done.insert(user);
      }
    } else if (auto *a = loadThat([&](auto &a) { return a.op == &op; })) {
      if (!a->bufferType)
        map.map(op.result(), *nextLoaded++);
      else if (hasOtherUsers(*a))
        map.map(op.result(), withOther(b, *a, map, readBuffer(*a, &op, op.result().type())));
    } else {
      if (plan_.lateLoads()) emitWaitForLateCopies(b, &op);
      Operation *copy = b.clone(&op, map);
      if (plan_.dotsInFlight && copy->is<ttng::WarpGroupDotOp>())
        copy->setAttr(kIsAsyncAttr, IntegerAttr::getBool(c_, true));
    }
  }
}

Value PipelinedLoopBuilder::withOther(Builder &b, const PipelinedLoad &a, ValueMap &map, Value read) {
  if (!plan_.asyncCopies || !a.selectsOther) return read;
  auto load = a.load();
  Value mask = map.lookupOrSelf(load.mask());
  return arith::SelectOp::create(b, load->loc(), mask, read, map.lookupOrSelf(load.other())).result();
}

Value PipelinedLoopBuilder::zeros(Builder &b, const PipelinedLoad &a) {
  auto type = tensorOf(a.result());
  return b.constant(a.op->loc(), type, DenseElementsAttr::get(type, {llvm::APInt::getZero(type.element().bitWidth())}));
}

bool PipelinedLoopBuilder::hasOtherUsers(const PipelinedLoad &a) {
  return llvm::any_of(a.result().users(),
                      [&](Operation *u) { return !a.isBuffer(u) && !a.isConversion(u) && !a.isAcrossRows(u); });
}

Value PipelinedLoopBuilder::bufferAt(Builder &b, const PipelinedLoad &a, Value index) {
  if (a.isLate) index = integer(b, 0);
  return ttg::MemdescIndexOp::create(b, loc_, a.bufferType, multiBuffers_.lookup(&a), index).op->result();
}

void PipelinedLoopBuilder::emitProducer(Builder &b, ValueMap &map, Value predicate) {
  for (auto &op : body_) {
    if (!plan_.producer.operations.contains(&op)) continue;
    if (auto load = op.dyn<tt::LoadOp>())
      map.map(op.result(), cloneLoad(b, loc_, load, map, predicate));
    else
      b.clone(&op, map);
  }
}

/// Whether several threads have the same elements of a tensor.
static bool isHeldBySeveralThreads(Value v) {
  auto tensor = tensorOf(v);
  if (!tensor.encoding()) return false;
  auto layout = tensor.encoding()->toLinearLayout(tensor.shape());
  return layout.ok() && llvm::any_of(layout->freeVariableMasks(), [](auto &free) {
           return free.second && (free.first == layouts::Dim::Lane || free.first == layouts::Dim::Warp);
         });
}

void PipelinedLoopBuilder::emitCopies(Builder &b, ValueMap &map, Value predicate, Value fillIndex, Value tile) {
  if (plan_.hasBulkCopies()) emitBulkCopies(b, map, predicate, fillIndex);
  if (!plan_.hasThreadCopies()) return;
  // Copies that some threads issue come last, one after another: the same threads may skip them.
  llvm::SmallVector<const PipelinedLoad *, 4> copies;
  for (auto &a : plan_.loads)
    if (!a.isBulkCopy && !a.isLate) copies.push_back(&a);
  std::stable_partition(copies.begin(), copies.end(), [](auto *a) { return !isHeldBySeveralThreads(a->result()); });
  llvm::SmallVector<Value, 4> tokens;
  for (auto *a : copies) tokens.push_back(emitThreadCopy(b, *a, map, predicate, bufferAt(b, *a, fillIndex), tile));
  ttg::AsyncCommitGroupOp::create(b, loc_, tokens);
}

Value PipelinedLoopBuilder::emitThreadCopy(Builder &b, const PipelinedLoad &a, ValueMap &map, Value predicate,
                                           Value buffer, Value tile) {
  auto load = a.load();
  Value ptr = map.lookupOrSelf(load.ptr());
  Value mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
  bool isImplied = plan_.byWarps && predicate && mask && isFalseAfterLoop(load.mask(), loop_, plan_.distance + 1);
  Value masked = maskByPredicate(b, loc_, ptr, mask, isImplied ? tile : predicate);
  Value other;
  if (a.selectsOther)
    other = zeros(b, a);
  else if (load.other())
    other = map.lookupOrSelf(load.other());
  return ttg::AsyncCopyGlobalToLocalOp::create(b, load->loc(), ptr, buffer, masked, other, cacheAttrsOf(a.op)).token();
}

void PipelinedLoopBuilder::waitForAllCopies(Builder &b) {
  ttg::AsyncWaitOp::create(b, loc_, {}, {b.i32Attr("num", 0)});
}

void PipelinedLoopBuilder::emitLateCopies(Builder &b, const ValueMap &iteration) {
  // The addresses, from the iteration's own values. The consumer's clones of these operations are merged with them.
  BodySlice addresses;
  for (auto &a : plan_.loads)
    for (Value v : a.op->operands())
      if (a.isLate) addToSlice(addresses, body_, v, Across::Nothing, [](Operation *) { return true; });
  ValueMap map = iteration;
  llvm::SmallVector<Value, 2> tokens;
  for (auto &op : body_) {
    if (addresses.operations.contains(&op)) b.clone(&op, map);
    if (auto *a = loadThat([&](auto &a) { return a.isLate && a.op == &op; }))
      tokens.push_back(emitThreadCopy(b, *a, map, Value(), bufferAt(b, *a, Value())));
  }
  ttg::AsyncCommitGroupOp::create(b, loc_, tokens);
}

/// Whether the operation reads the buffer, itself or through a view.
static bool reads(Operation *op, Value buffer) {
  return llvm::any_of(buffer.users(), [&](Operation *user) {
    return user == op || (user->is<ttg::MemdescTransOp>() && reads(op, user->result()));
  });
}

void PipelinedLoopBuilder::emitWaitForLateCopies(Builder &b, Operation *op) {
  if (!op->is<ttng::WarpGroupDotOp>()) return;
  auto isReadByDot = [&](Operation *dot) {
    return loadThat([&](auto &a) { return a.isLate && reads(dot, a.alloc.result()); }) != nullptr;
  };
  if (!isReadByDot(op)) return;
  for (auto *earlier = op->prev(); earlier; earlier = earlier->prev())
    if (earlier->is<ttng::WarpGroupDotOp>() && isReadByDot(earlier)) return;
  // The copies of a later iteration may be in flight, if they were issued after these.
  Operation *after = plan_.copiesAfter ? plan_.copiesAfter.op : nullptr;
  bool areIssued = !after || after->isBeforeInBlock(op);
  ttg::AsyncWaitOp::create(b, loc_, {}, {b.i32Attr("num", areIssued ? 1 : 0)});
}

llvm::SmallVector<Value, 4> PipelinedLoopBuilder::emitLoads(Builder &b, ValueMap &map, Value predicate) {
  llvm::SmallVector<Value, 4> values;
  for (auto &a : plan_.loads) {
    Value mask = a.load().mask();
    bool isImplied = predicate && mask && isFalseAfterLoop(mask, loop_, plan_.distance + 1);
    values.push_back(cloneLoad(b, loc_, a.load(), map, isImplied ? Value() : predicate));
  }
  return values;
}

void PipelinedLoopBuilder::emitBulkCopies(Builder &b, ValueMap &map, Value predicate, Value fillIndex) {
  if (!predicate) predicate = b.intConstant(loc_, IntegerType::get(c_, 1), 1);
  Value mbarrier = mbarrierAt(b, loc_, mbarriers_, fillIndex);
  int64_t bytes = 0;
  for (auto &a : plan_.loads)
    if (a.isBulkCopy) bytes += a.bytesOfBuffer();
  ttng::BarrierExpectOp::create(b, loc_, mbarrier, predicate, {b.i32Attr("size", bytes)});
  for (auto &a : plan_.loads) {
    if (!a.isBulkCopy) continue;
    auto load = a.descriptorLoad();
    llvm::SmallVector<Value, 5> coordinates;
    for (Value v : load.indices()) coordinates.push_back(map.lookupOrSelf(v));
    ttng::AsyncTmaCopyGlobalToLocalOp::create(b, a.op->loc(), map.lookupOrSelf(load.desc()), coordinates, {}, mbarrier,
                                              bufferAt(b, a, fillIndex), predicate, cacheAttrsOf(a.op));
  }
}

} // namespace tessera::transforms
