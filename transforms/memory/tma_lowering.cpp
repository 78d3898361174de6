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
//   %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one]            (with a layout)
//     →
//   %t = ttg.global_scratch_alloc                                      at the start of the function
//   …
//   ttng.tensormap_create %t, %p, [box], [%n, %m], [%s · bytes], [1, 1] ; ttng.tensormap_fenceproxy_acquire %t
//   %d = ttng.reinterpret_tensor_descriptor %t
//
// tt.descriptor_reduce becomes ttng.async_tma_reduce likewise. Conversions of a loaded value read the buffer in their
// own layout, and buffers that it is stored to (operands of wgmma) are that buffer; conversions of a stored value are
// not made: any layout can be written to shared memory.
//
// A map that is made in a loop is written where the last iteration's was. No copy may still read it there. Copies to
// shared memory do not: every thread waits for the mbarrier of each before the iteration ends, those of the warp that
// writes the map included. Copies from shared memory are waited for by the one thread that started them, which is of
// that warp, too: the wait that precedes the map (pendings = 0) is for those that the store's own did not cover. It
// covers reads of the map (PTX ISA, "cp.async.bulk.wait_group", .read).
//
// Fences and barriers between threads and the copies come from insert-barriers.
//
// Runs: before lowering, on targets with TMA, first: the buffers are allocated with all others.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/tensor_map.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/scratch.h"
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

// ---- descriptors that the kernel makes ----

bool isInLoop(Operation *op) {
  for (Operation *p = op->parentOp(); p; p = p->parentOp())
    if (p->is<scf::ForOp>() || p->is<scf::WhileOp>()) return true;
  return false;
}

/// The tensor's sizes and strides as a tensor map has them: innermost dimension first, strides in bytes and without the
/// innermost one, at least one element along each dimension (triton-nvidia-optimize-descriptor-encoding moves the
/// accesses of other tensors outside).
struct TensorMapOperands {
  llvm::SmallVector<Value, 5> box, sizes, strides, elementStrides;
};
TensorMapOperands operandsOf(tt::MakeTensorDescriptorOp make, llvm::ArrayRef<int64_t> box, Builder &b) {
  auto type = make.result().type().cast<TensorDescType>();
  Location loc = make->loc();
  Context &c = b.context();
  Value one = b.intConstant(loc, c.i32(), 1);
  Value bytes = b.intConstant(loc, c.i64(), type.element().bitWidth() / 8);
  TensorMapOperands out;
  for (unsigned d = type.rank(); d-- > 0;) {
    Value size = make.shape()[d];
    auto known = intConstantOf(size);
    if (!known || *known < 1) size = arith::MaxsiOp::create(b, loc, size, one).result();
    out.box.push_back(b.intConstant(loc, c.i32(), box[d]));
    out.sizes.push_back(size);
    out.elementStrides.push_back(one);
    if (d + 1 < type.rank()) out.strides.push_back(arith::MuliOp::create(b, loc, make.strides()[d], bytes).result());
  }
  return out;
}

/// Makes the tensor map of a descriptor with a layout.
bool lowerMake(tt::MakeTensorDescriptorOp make) {
  auto type = make.result().type().cast<TensorDescType>();
  auto *shared = layouts::dynCast<layouts::NvmmaSharedEncoding>(type.encoding());
  auto box = shared ? shared->copyBox(type.shape()) : absl::InvalidArgumentError("");
  if (!box.ok()) return false;
  Context &c = make->context();
  Location loc = make->loc();
  Builder entry(make->parentOfType<tt::FuncOp>().body().front()->front());
  Value map = ttg::GlobalScratchAllocOp::create(
                  entry, loc, PointerType::get(IntegerType::get(c, 8)),
                  {entry.i32Attr("nbytes", kTensorMapBytes), entry.i32Attr("alignment", kTensorMapBytes)})
                  .result();
  Builder b(make.op);
  bool isStoredThrough =
      llvm::any_of(make.result().users(), [](Operation *user) { return !user->is<tt::DescriptorLoadOp>(); });
  if (isStoredThrough && isInLoop(make.op)) ttng::AsyncTmaStoreWaitOp::create(b, loc, {b.i32Attr("pendings", 0)});
  TensorMapOperands operands = operandsOf(make, *box, b);
  ttng::TensormapCreateOp::create(
      b, loc, map, make.base(), operands.box, operands.sizes, operands.strides, operands.elementStrides,
      {b.i32Attr("elem_type", tensorMapElementType(type.element())), b.i32Attr("interleave_layout", 0),
       b.i32Attr("swizzle_mode", tensorMapSwizzle(*shared)),
       b.i32Attr("fill_mode", make.padding() == PaddingOption::Nan)});
  ttng::TensormapFenceproxyAcquireOp::create(b, loc, map);
  make.result().replaceAllUsesWith(ttng::ReinterpretTensorDescriptorOp::create(b, loc, type, map).result());
  make->erase();
  return true;
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
  llvm::SmallVector<tt::MakeTensorDescriptorOp, 4> made;
  m.op()->walk([&](Operation *op) {
    if (auto make = op->dyn<tt::MakeTensorDescriptorOp>()) made.push_back(make);
    if (op->is<tt::DescriptorLoadOp>() || op->is<tt::DescriptorStoreOp>() || op->is<tt::DescriptorReduceOp>())
      accesses.push_back(op);
  });
  bool changed = false;
  for (auto make : made) changed |= lowerMake(make);
  for (Operation *op : accesses) changed |= lower(op); // others are refused when they are lowered
  return changed;
}

} // namespace tessera::transforms
