// Pass triton-nvidia-tma-lowering: makes bulk copies (TMA) of the loads and stores through tensor descriptors that
// tritongpu-pipeline has left, by way of a buffer in the descriptor's layout. One thread starts a copy; for a load an
// mbarrier counts its bytes and all threads wait for it; a store's buffer is waited for before it can be reused.
//
//   %v = tt.descriptor_load %d[%i, %j]        %b = ttg.local_alloc ; %m = ttg.local_alloc ; ttng.init_barrier %m, 1
//                                             ttng.barrier_expect %m, bytes
//                                       →     ttng.async_tma_copy_global_to_local %d[%i, %j] %b, %m
//                                             … to the first use: the first copies of a loop over K are issued here
//                                             ttng.wait_barrier %m, 0 ; ttng.inval_barrier %m
//                                             %v = ttg.local_load %b
//
//   tt.descriptor_store %d[%i, %j], %v        %b = ttg.local_alloc %v
//                                       →     ttng.async_tma_copy_local_to_global %d[%i, %j] %b
//                                             ttng.async_tma_store_wait {pendings = 0, read_only}
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
// Stores in loops that read nothing of what they write stay in flight: their buffer lives as long as the outermost loop
// (where shared memory has room for it beside what the loop needs), and is waited for before it is filled again.
//
//   %b = ttg.local_alloc
//   scf.for … {
//     ttng.async_tma_store_wait {pendings = 0, read_only} ; ttg.local_store %v, %b
//     ttng.async_tma_copy_local_to_global %d[%i, %j] %b
//   }
//   ttng.async_tma_store_wait {pendings = 0, read_only}
//
// If the loop's only two stores alternate (the halves of a tile), each has a buffer of its own where both fit, and
// waits for all copies but the last one.
//
// These waits are for the buffers. bulk_store_order.cpp adds those for what later operations rely on.
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
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/tensor_map.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/memory/bulk_store_order.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/scratch.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// How many more mbarriers a function has room for at the place where it has most in shared memory.
class RoomForMbarriers {
public:
  explicit RoomForMbarriers(const TargetInfo *target) : target_(target) {}
  bool takeMbarrier(Operation *load) {
    if (!target_) return false;
    auto [it, isNew] = left_.try_emplace(load->parentOfType<tt::FuncOp>().op, 0);
    if (isNew) it->second = target_->sharedMemoryPerBlock - sharedBytesDuring(it->first, {}, *target_);
    it->second -= alignedBufferBytes(kBytesOfMbarrier);
    return it->second >= 0;
  }

private:
  static constexpr int64_t kBytesOfMbarrier = 8;
  const TargetInfo *target_;
  llvm::DenseMap<Operation *, int64_t> left_; // bytes, by function
};

/// Whether the buffer that is made of a loaded block will be the copy's own.
bool isBufferOfCopy(ttg::LocalAllocOp alloc, tt::DescriptorLoadOp load, MemDescType bufferType) {
  return alloc->block() == load->block() &&
         alloc.result().type().cast<MemDescType>().encoding() == bufferType.encoding() && isOnlyRead(alloc.result());
}

/// Where the block is waited for: before the first operation that reads it, so that several loads are in flight
/// together, and the first copies of a loop with them; but not after one that may write what the copy still reads.
/// `besideOthers`: there is room for the mbarrier beside the buffers that are allocated until then.
Operation *placeOfWait(tt::DescriptorLoadOp load, MemDescType bufferType, bool besideOthers) {
  llvm::SmallPtrSet<Operation *, 4> views; // of the buffer: they read nothing
  auto reads = [&](Operation *op) {
    bool isView = false, uses = false;
    for (Value v : op->operands()) {
      Operation *from = v.isBlockArgument() ? nullptr : v.definingOp();
      uses |= from == load.op || views.contains(from);
    }
    if (auto alloc = op->dyn<ttg::LocalAllocOp>()) isView = besideOthers && isBufferOfCopy(alloc, load, bufferType);
    isView |= isMemdescView(op);
    if (uses && isView) views.insert(op);
    return uses && !isView;
  };
  for (Operation *op = load->next();; op = op->next()) {
    bool mayWrite = effectsOf(op) & (kWritesGlobal | kSynchronizes);
    if (reads(op) || mayWrite || op->numRegions() || op->info().has(kTerminator)) return op;
  }
}

void lowerLoad(tt::DescriptorLoadOp load, MemDescType bufferType, bool besideOthers) {
  Builder b(load.op);
  Context &c = b.context();
  Location loc = load->loc();
  Value buffer = ttg::LocalAllocOp::create(b, loc, bufferType, Value()).result();
  Value mbarrier = ttg::LocalAllocOp::create(b, loc, mbarrierType(c), Value()).result();
  Value always = b.constant(loc, c.i1(), IntegerAttr::getBool(c, true));
  ttng::InitBarrierOp::create(b, loc, mbarrier, {b.i32Attr("count", 1)});
  ttng::BarrierExpectOp::create(b, loc, mbarrier, always, {b.i32Attr("size", totalBytes(bufferType))});
  ttng::AsyncTmaCopyGlobalToLocalOp::create(b, loc, load.desc(), load.indices().vec(), {}, mbarrier, buffer, always,
                                            cacheAttrsOf(load.op));
  b.setInsertionPoint(placeOfWait(load, bufferType, besideOthers));
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
      if (!isBufferOfCopy(alloc, load, bufferType)) continue;
      alloc.result().replaceAllUsesWith(buffer);
      user->erase();
    }
  }
  load.result().replaceAllUsesWith(loaded.result());
  if (loaded.result().useEmpty()) loaded->erase();
  load->erase();
}

void eraseStore(Operation *op, Value stored) {
  op->erase();
  while (auto conversion = stored.definedBy<ttg::ConvertLayoutOp>()) {
    if (!stored.useEmpty()) break;
    stored = conversion.src();
    conversion->erase();
  }
}

// ---- stores and reductions ----

/// A tt.descriptor_store or tt.descriptor_reduce.
struct BlockStore {
  Operation *op;
  Value desc, value;
  llvm::SmallVector<Value, 5> indices;
  MemDescType buffer; // null: the descriptor has no layout

  static std::optional<BlockStore> of(Operation *op) {
    if (auto store = op->dyn<tt::DescriptorStoreOp>())
      return BlockStore{op, store.desc(), store.src(), store.indices().vec(),
                        bufferOfBlock(store.desc(), tensorOf(store.src()), true)};
    if (auto reduce = op->dyn<tt::DescriptorReduceOp>())
      return BlockStore{op, reduce.desc(), reduce.src(), reduce.indices().vec(),
                        bufferOfBlock(reduce.desc(), tensorOf(reduce.src()), true)};
    return std::nullopt;
  }
  void copyFrom(Builder &b, Value from) const {
    if (auto reduce = op->dyn<tt::DescriptorReduceOp>())
      ttng::AsyncTmaReduceOp::create(b, op->loc(), desc, indices, from, {b.i32Attr("kind", int(reduce.kind()))});
    else
      ttng::AsyncTmaCopyLocalToGlobalOp::create(b, op->loc(), desc, indices, from);
  }
};

void waitForStores(Builder &b, Location loc, unsigned pending) {
  ttng::AsyncTmaStoreWaitOp::create(b, loc,
                                    {b.i32Attr("pendings", pending), b.named("read_only", UnitAttr::get(b.context()))});
}

class StoreLowering {
public:
  explicit StoreLowering(const TargetInfo *target) : target_(target) {}

  bool run(const BlockStore &store) {
    if (!store.buffer) return false;
    Builder b(store.op);
    Location loc = store.op->loc();
    Value value = beforeConversions(store.value); // any layout can be written to shared memory
    if (BufferOfStore outside = bufferOutsideLoop(store); outside.buffer) {
      waitForStores(b, loc, outside.othersInFlight);
      ttg::LocalStoreOp::create(b, loc, value, outside.buffer);
      store.copyFrom(b, outside.buffer);
    } else {
      MemDescType type = bufferOfBlock(store.desc, tensorOf(store.value), false);
      store.copyFrom(b, ttg::LocalAllocOp::create(b, loc, type, value).result());
      waitForStores(b, loc, 0);
    }
    eraseStore(store.op, store.value);
    return true;
  }

private:
  /// The outermost loop around the operation, through branches; null: there is none.
  static Operation *outermostLoop(Operation *op) {
    Operation *loop = nullptr;
    for (Operation *p = op->parentOp(); isLoop(p) || p->is<scf::IfOp>(); p = p->parentOp())
      if (isLoop(p)) loop = p;
    return loop;
  }

  /// The memory that the operation reads through a pointer or a descriptor; null for other operations.
  static Value memoryRead(Operation *op) {
    if (auto load = op->dyn<tt::LoadOp>()) return load.ptr();
    if (auto load = op->dyn<tt::DescriptorLoadOp>()) return load.desc();
    if (auto copy = op->dyn<ttg::AsyncCopyGlobalToLocalOp>()) return copy.src();
    if (auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return copy.desc();
    return {};
  }
  /// Whether nothing in the loop reads what the store writes, or orders it with other accesses.
  static bool canStayInFlight(Operation *loop, const BlockStore &store) {
    Value written = memoryArgument(store.desc);
    if (!written) return false;
    bool can = true;
    loop->walk([&](Operation *op) {
      constexpr uint8_t kGlobal = kReadsGlobal | kWritesGlobal;
      uint8_t effects = effectsOf(op);
      if (op->numRegions() || !(effects & (kGlobal | kSynchronizes))) return;
      bool isStore = op->is<tt::StoreOp>() || BlockStore::of(op) || op->is<ttng::AsyncTmaCopyLocalToGlobalOp>() ||
                     op->is<ttng::AsyncTmaReduceOp>() || op->is<ttng::AsyncTmaStoreWaitOp>();
      if (isStore) return;
      Value read = memoryRead(op);
      Value from = read ? memoryArgument(read) : Value();
      bool readsOther = from && from != written;
      bool isOfSharedMemory = !(effects & kGlobal) && !op->is<tt::CallOp>();
      can &= readsOther || isOfSharedMemory;
    });
    return can;
  }

  /// Whether so many buffers can live as long as the loop, and as many blocks fit into a multiprocessor.
  bool fits(Operation *loop, MemDescType type, int64_t number) const {
    llvm::SmallVector<Operation *, 8> replaced; // the stores, and conversions for them, which are not made
    loop->walk([&](Operation *op) {
      auto store = BlockStore::of(op);
      if (!store) return;
      replaced.push_back(op);
      for (Value v = store->value; auto conversion = v.definedBy<ttg::ConvertLayoutOp>(); v = conversion.src())
        if (v.hasOneUse()) replaced.push_back(conversion.op);
    });
    int64_t now = sharedBytesDuring(loop, {}, *target_);
    int64_t then = sharedBytesDuring(loop, replaced, *target_) + number * totalBytes(type);
    auto blocks = [&](int64_t bytes) { return target_->blocksBySharedMemory(bytes); };
    return then <= target_->sharedMemoryPerBlock && (then <= now || blocks(then) == blocks(now));
  }

  struct BufferOfStore {
    Value buffer;
    unsigned othersInFlight = 0; // copies from other buffers, begun since this one was filled
  };
  /// A buffer that lives as long as the loops around the store, so that its copy is in flight in the next iteration.
  /// Null: there is no loop, or it would not be right or not fit.
  BufferOfStore bufferOutsideLoop(const BlockStore &store) {
    Operation *loop = outermostLoop(store.op);
    if (!loop || !target_ || !canStayInFlight(loop, store)) return {};
    auto it = llvm::find_if(buffers_, [&](auto &b) { return b.loop == loop && b.type == store.buffer; });
    if (it == buffers_.end()) {
      buffers_.push_back({loop, store.buffer, {}, {}});
      it = std::prev(buffers_.end());
      allocate(*it);
    }
    if (it->buffers.empty()) return {};
    if (it->buffers.size() == 1) return {it->buffers.front(), 0};
    bool isFirst = it->pair.front() == store.op;
    return {it->buffers[isFirst ? 0 : 1], 1};
  }

  /// The buffers of a loop's stores of one type: none if it does not fit, one that all stores use, or one for each of
  /// the pair of stores that alternate.
  struct LoopBuffers {
    Operation *loop;
    MemDescType type;
    llvm::SmallVector<Value, 2> buffers;
    llvm::SmallVector<Operation *, 2> pair;
  };
  void allocate(LoopBuffers &of) {
    int64_t number = 0;
    of.pair = alternatingStores(of.loop, of.type);
    if (of.pair.size() == 2 && fits(of.loop, of.type, 2))
      number = 2;
    else if (fits(of.loop, of.type, 1))
      number = 1;
    if (!number) return;
    Location loc = of.loop->loc();
    Builder before(of.loop);
    for (int64_t i = 0; i < number; ++i)
      of.buffers.push_back(ttg::LocalAllocOp::create(before, loc, of.type, Value()).result());
    Builder after = Builder::after(of.loop);
    waitForStores(after, loc, 0);
    for (Value buffer : of.buffers) ttg::LocalDeallocOp::create(after, loc, buffer);
  }
  /// The two stores of the loop, if it has two, of this type, one after the other in each iteration of one body. Then
  /// all copies but the last one are done when either waits for all but one.
  static llvm::SmallVector<Operation *, 2> alternatingStores(Operation *loop, MemDescType type) {
    llvm::SmallVector<Operation *, 2> stores;
    bool areAlike = true;
    loop->walk([&](Operation *op) {
      bool isCopy = op->is<ttng::AsyncTmaCopyLocalToGlobalOp>() || op->is<ttng::AsyncTmaReduceOp>();
      auto store = BlockStore::of(op);
      areAlike &= !isCopy && (!store || store->buffer == type);
      if (store) stores.push_back(op);
    });
    bool alternate =
        areAlike && stores.size() == 2 && stores[0]->block() == stores[1]->block() && isLoop(stores[0]->parentOp());
    if (!alternate) stores.clear();
    return stores;
  }

  const TargetInfo *target_;
  std::vector<LoopBuffers> buffers_;
};

// ---- descriptors that the kernel makes ----

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
  bool isStoredThrough = llvm::any_of(make.result().users(),
                                      [](Operation *user) { return !user->is<ttng::AsyncTmaCopyGlobalToLocalOp>(); });
  if (isStoredThrough && isInLoop(make.op)) waitForStores(b, loc, 0);
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

} // namespace

absl::StatusOr<bool> tmaLowering(Module &m, PassContext &c) {
  llvm::SmallVector<Operation *, 8> accesses;
  llvm::SmallVector<tt::MakeTensorDescriptorOp, 4> made;
  llvm::SmallVector<tt::FuncOp, 2> funcs;
  m.op()->walk([&](Operation *op) {
    if (auto func = op->dyn<tt::FuncOp>()) funcs.push_back(func);
    if (op->is<tt::DescriptorLoadOp>() || BlockStore::of(op)) accesses.push_back(op);
    if (auto make = op->dyn<tt::MakeTensorDescriptorOp>()) made.push_back(make);
  });
  bool changed = false; // accesses through other descriptors are refused when they are lowered
  RoomForMbarriers room(c.target);
  StoreLowering stores(c.target);
  for (Operation *op : accesses) {
    if (auto load = op->dyn<tt::DescriptorLoadOp>()) {
      MemDescType buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), true);
      if (buffer) lowerLoad(load, buffer, room.takeMbarrier(load.op));
      changed |= bool(buffer);
    } else {
      changed |= stores.run(*BlockStore::of(op));
    }
  }
  for (auto func : funcs) changed |= orderBulkStores(func);
  for (auto make : made) changed |= lowerMake(make); // last: which memory an access reaches is read off its descriptor
  return changed;
}

} // namespace tessera::transforms
