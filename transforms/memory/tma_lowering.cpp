// Pass triton-nvidia-tma-lowering: makes bulk copies (TMA) of the loads and stores through tensor descriptors that
// tritongpu-pipeline has left, by way of a buffer in the descriptor's layout. One thread starts a copy; for a load an
// mbarrier counts its bytes and all threads wait for it; a store's buffer is waited for before it can be reused.
//
//   %v = tt.descriptor_load %d[%i, %j]        %b = ttg.local_alloc ; %m = ttg.local_alloc ; ttng.init_barrier %m, 1
//                                             ttng.barrier_expect %m, bytes
//                                       →     ttng.async_tma_copy_global_to_local %d[%i, %j] %b, %m
//                                             … to the first use
//                                             ttng.wait_barrier %m, 0 ; ttng.inval_barrier %m
//                                             %v = ttg.local_load %b
//
//   tt.descriptor_store %d[%i, %j], %v        %b = ttg.local_alloc %v
//                                       →     ttng.async_tma_copy_local_to_global %d[%i, %j] %b
//                                             ttng.async_tma_store_wait {pendings = 0}
//
// tt.descriptor_reduce becomes ttng.async_tma_reduce likewise. Conversions of a loaded value read the buffer in their
// own layout, and buffers that it is stored to (operands of wgmma) are that buffer; conversions of a stored value are
// not made: any layout can be written to shared memory.
//
// Fences and barriers between threads and the copies come from insert-barriers.
//
// Runs: before lowering, on targets with TMA, first: the buffers are allocated with all others.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

int64_t bytesOf(MemDescType buffer) { return buffer.numElements() * buffer.element().bitWidth() / 8; }

/// Where the block is waited for: before the first operation that uses it, so that several loads are in flight
/// together, but not behind one that may write what the copy still reads.
Operation *placeOfWait(tt::DescriptorLoadOp load) {
  Value v = load.result();
  for (Operation *op = load->next();; op = op->next()) {
    bool mayWrite = effectsOf(op) & (kWritesGlobal | kSynchronizes);
    bool uses = llvm::is_contained(op->operands(), v);
    if (uses || mayWrite || op->numRegions() || op->info().has(kTerminator)) return op;
  }
}

void lowerLoad(tt::DescriptorLoadOp load, MemDescType bufferType) {
  Builder b(load.op);
  Context &c = b.context();
  Location loc = load->loc();
  Value buffer = ttg::LocalAllocOp::create(b, loc, bufferType, Value()).result();
  Value mbarrier = ttg::LocalAllocOp::create(b, loc, mbarrierType(c), Value()).result();
  Value always = b.constant(loc, c.i1(), IntegerAttr::getBool(c, true));
  ttng::InitBarrierOp::create(b, loc, mbarrier, {b.i32Attr("count", 1)});
  ttng::BarrierExpectOp::create(b, loc, mbarrier, always, {b.i32Attr("size", bytesOf(bufferType))});
  ttng::AsyncTmaCopyGlobalToLocalOp::create(b, loc, load.desc(), load.indices().vec(), {}, mbarrier, buffer, always,
                                            cacheAttrsOf(load.op));
  b.setInsertionPoint(placeOfWait(load));
  ttng::WaitBarrierOp::create(b, loc, mbarrier, b.intConstant(loc, c.i32(), 0), Value(), {});
  ttng::InvalBarrierOp::create(b, loc, mbarrier);
  auto loaded = ttg::LocalLoadOp::create(b, loc, load.result().type(), buffer, Value());

  auto users = load.result().users();
  for (Operation *user : llvm::SmallVector<Operation *, 4>(users.begin(), users.end())) {
    if (user->block() != load->block()) continue;
    if (auto conversion = user->dyn<ttg::ConvertLayoutOp>()) {
      Builder at(user);
      Value v = ttg::LocalLoadOp::create(at, user->loc(), conversion.result().type(), buffer, Value()).result();
      conversion.result().replaceAllUsesWith(v);
      user->erase();
    } else if (auto alloc = user->dyn<ttg::LocalAllocOp>()) {
      bool isSame = alloc.result().type().cast<MemDescType>().encoding() == bufferType.encoding();
      if (!isSame || !isOnlyRead(alloc.result())) continue;
      alloc.result().replaceAllUsesWith(buffer);
      user->erase();
    }
  }
  load.result().replaceAllUsesWith(loaded.result());
  if (loaded.result().useEmpty()) loaded->erase();
  load->erase();
}

/// The value in a buffer of the descriptor's layout.
Value toBuffer(Builder &b, Operation *op, Value desc, Value v) {
  Value unconverted = beforeConversions(v);
  return ttg::LocalAllocOp::create(b, op->loc(), bufferOfBlock(desc, tensorOf(v), false), unconverted).result();
}

void eraseStore(Operation *op, Value stored) {
  op->erase();
  while (auto conversion = stored.definedBy<ttg::ConvertLayoutOp>()) {
    if (!stored.useEmpty()) break;
    stored = conversion.src();
    conversion->erase();
  }
}

bool lower(Operation *op) {
  Builder b(op);
  auto waitForStore = [&] { ttng::AsyncTmaStoreWaitOp::create(b, op->loc(), {b.i32Attr("pendings", 0)}); };
  if (auto load = op->dyn<tt::DescriptorLoadOp>()) {
    MemDescType buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), true);
    if (!buffer) return false;
    lowerLoad(load, buffer);
    return true;
  }
  if (auto store = op->dyn<tt::DescriptorStoreOp>()) {
    Value v = store.src();
    if (!bufferOfBlock(store.desc(), tensorOf(v), false)) return false;
    ttng::AsyncTmaCopyLocalToGlobalOp::create(b, op->loc(), store.desc(), store.indices().vec(),
                                              toBuffer(b, op, store.desc(), v));
    waitForStore();
    eraseStore(op, v);
    return true;
  }
  if (auto reduce = op->dyn<tt::DescriptorReduceOp>()) {
    Value v = reduce.src();
    if (!bufferOfBlock(reduce.desc(), tensorOf(v), false)) return false;
    ttng::AsyncTmaReduceOp::create(b, op->loc(), reduce.desc(), reduce.indices().vec(),
                                   toBuffer(b, op, reduce.desc(), v), {b.i32Attr("kind", int(reduce.kind()))});
    waitForStore();
    eraseStore(op, v);
    return true;
  }
  return false;
}

} // namespace

absl::StatusOr<bool> tmaLowering(Module &m, PassContext &) {
  llvm::SmallVector<Operation *, 8> accesses;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::DescriptorLoadOp>() || op->is<tt::DescriptorStoreOp>() || op->is<tt::DescriptorReduceOp>())
      accesses.push_back(op);
  });
  bool changed = false;
  for (Operation *op : accesses) changed |= lower(op); // others are refused when they are lowered
  return changed;
}

} // namespace tessera::transforms
