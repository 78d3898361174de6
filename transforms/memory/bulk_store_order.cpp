// Bulk copies to global memory are asynchronous: before their buffer is used again, the thread that started them waits
// until they have read it (ttng.async_tma_store_wait {read_only}). What they write may arrive later. Where a later
// operation relies on it, that thread waits until it has arrived, and the others wait for that thread:
//
//   ttng.async_tma_copy_local_to_global %d[%i, %j] %b
//   ttng.async_tma_store_wait {pendings = 0, read_only}
//   …
//   ttng.async_tma_store_wait {pendings = 0}                      inserted
//   gpu.barrier                                                   inserted
//   %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %one           other blocks may read the tile
//
// Operations that rely on it:
//   - atomics that release, calls, inline assembly with effects, and the end of a called function: all stores;
//   - barriers of the program (tl.debug_barrier): all stores, since what follows a barrier may read what other threads
//     stored before it. The barrier itself is the one for the other threads;
//   - loads, stores and other atomics through a pointer or descriptor of the same root: the stores through that root.
//     Pointers of other roots need a barrier of the program, like any pointers by which threads read what other threads
//     wrote;
//   - bulk stores through the same root, which are not ordered among each other, unless they are known to store
//     different blocks: their indices differ by constants of at least the block's size. One store in two iterations of
//     a loop stores different blocks if its indices vary in the loop. No barrier is needed: one thread starts them.
//
// A store that is the only one of its function and in no loop is marked (kEachWarpStartsAttr): all warps may start
// parts of it.
//
// The default region of a ttg.warp_specialize is on the way, with the thread that starts copies. Functions whose other
// partitions store by copies, by threads of their own, order these themselves.
#include "transforms/memory/bulk_store_order.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/pointer_root.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// A ttng.async_tma_copy_local_to_global or ttng.async_tma_reduce.
struct BulkStore {
  Operation *op;
  Value desc;
  llvm::SmallVector<Value, 5> indices;
  llvm::ArrayRef<int64_t> block;
  bool reduces;

  static std::optional<BulkStore> of(Operation *op) {
    if (auto copy = op->dyn<ttng::AsyncTmaCopyLocalToGlobalOp>())
      return BulkStore{op, copy.desc(), copy.coord().vec(), copy.src().type().cast<MemDescType>().shape(), false};
    if (auto reduce = op->dyn<ttng::AsyncTmaReduceOp>())
      return BulkStore{op, reduce.desc(), reduce.coord().vec(), reduce.src().type().cast<MemDescType>().shape(), true};
    return std::nullopt;
  }
};

/// An integer as a value plus a constant.
std::pair<Value, int64_t> splitConstant(Value v) {
  int64_t sum = 0;
  while (auto add = v.definedBy<arith::AddiOp>()) {
    auto constant = intConstantOf(add.rhs());
    if (!constant) break;
    sum += *constant;
    v = add.lhs();
  }
  if (auto constant = intConstantOf(v)) return {Value(), sum + *constant};
  return {v, sum};
}

/// Two indices where their stores store something: not those of empty tensors (optimize_descriptor_encoding.cpp).
std::pair<Value, Value> whereNotEmpty(Value x, Value y) {
  auto a = x.definedBy<arith::SelectOp>();
  auto b = y.definedBy<arith::SelectOp>();
  bool areOfOneTensor = a && b && a.condition() == b.condition() && intConstantOf(a.trueValue()) == kOutsideTensor &&
                        intConstantOf(b.trueValue()) == kOutsideTensor;
  return areOfOneTensor ? std::pair(a.falseValue(), b.falseValue()) : std::pair(x, y);
}

/// Whether the two store different blocks, in one iteration of the loops around both.
bool storeDifferentBlocks(const BulkStore &a, const BulkStore &b) {
  if (a.indices.size() != b.indices.size() || a.block != b.block) return false;
  for (auto [i, j, extent] : llvm::zip(a.indices, b.indices, a.block)) {
    auto [x, y] = whereNotEmpty(i, j);
    auto [xBase, xConstant] = splitConstant(x);
    auto [yBase, yConstant] = splitConstant(y);
    if (xBase == yBase && std::abs(xConstant - yConstant) >= extent) return true;
  }
  return false;
}

Operation *innermostLoop(Operation *op) {
  for (Operation *p = op->parentOp(); p && !p->is<tt::FuncOp>(); p = p->parentOp())
    if (p->is<scf::ForOp>() || p->is<scf::WhileOp>()) return p;
  return nullptr;
}
/// Whether an index of the store is computed in the innermost loop around it.
bool variesInLoop(const BulkStore &store) {
  Operation *loop = innermostLoop(store.op);
  return !loop || llvm::any_of(store.indices, [&](Value v) {
    Operation *at = v.isBlockArgument() ? v.ownerBlock()->parentOp() : v.definingOp();
    bool isArgument = at == loop && v.isBlockArgument();
    while (at && at != loop && !at->is<tt::FuncOp>()) at = at->parentOp();
    return isArgument || (at == loop && v.definingOp() != loop);
  });
}

/// Whether the operation relies on all stores before it. Those that only accessesThrough() knows do not.
bool reliesOnAll(Operation *op) {
  auto releases = [](MemSemantic s) { return s == MemSemantic::Release || s == MemSemantic::AcqRel; };
  if (auto rmw = op->dyn<tt::AtomicRmwOp>()) return releases(rmw.sem());
  if (auto cas = op->dyn<tt::AtomicCasOp>()) return releases(cas.sem());
  if (auto store = op->dyn<tt::AtomicStoreOp>()) return releases(store.sem());
  bool hasUnknownEffects = op->is<tt::ElementwiseInlineAsmOp>() && (effectsOf(op) & (kReadsGlobal | kWritesGlobal));
  return hasUnknownEffects || op->is<tt::CallOp>();
}
/// The pointer or descriptor through which the operation accesses global memory, not by a bulk store; null: none.
Value accessesThrough(Operation *op) {
  if (auto access = op->dyn<GlobalAccessOp>()) return access.ptr();
  if (auto copy = op->dyn<ttg::AsyncCopyGlobalToLocalOp>()) return copy.src();
  if (auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return copy.desc();
  return {};
}
bool isBarrier(Operation *op) {
  return (op->is<gpu::BarrierOp>() && !op->hasAttr(kWarpGroupBarrierAttr)) || op->is<ttg::BarrierOp>();
}

class StoreOrder {
public:
  explicit StoreOrder(tt::FuncOp func) : func_(func) {}

  bool run() {
    llvm::SmallVector<Operation *, 4> stores;
    bool storesInPartitions = false;
    func_->walk([&](Operation *op) {
      if (!BulkStore::of(op)) return;
      stores.push_back(op);
      storesInPartitions |= bool(op->parentOfType<ttg::WarpSpecializePartitionsOp>());
    });
    if (stores.empty() || storesInPartitions) return false;
    bool isAlone = stores.size() == 1 && !innermostLoop(stores[0]) && func_.symVisibility() != "private";
    if (isAlone) stores[0]->setAttr(kEachWarpStartsAttr, UnitAttr::get(func_->context()));
    Stores inFlight;
    throughRegion(func_.body(), inFlight);
    for (Operation *op : waitBefore_) {
      Builder b(op);
      ttng::AsyncTmaStoreWaitOp::create(b, op->loc(), {b.i32Attr("pendings", 0)});
      bool needsBarrier = !isBarrier(op) && !BulkStore::of(op);
      if (needsBarrier) gpu::BarrierOp::create(b, op->loc());
    }
    return isAlone || !waitBefore_.empty();
  }

private:
  using Stores = llvm::SetVector<Operation *>; // those that may not have arrived

  bool reliesOn(Operation *op, Operation *before) {
    if (isBarrier(op) || reliesOnAll(op) || op->is<tt::ReturnOp>()) return true;
    auto earlier = BulkStore::of(before);
    Value root = pointerRoot(earlier->desc);
    if (Value through = accessesThrough(op)) return pointerRoot(through) == root;
    auto store = BulkStore::of(op);
    bool commute = store && store->reduces && earlier->reduces;
    if (!store || commute || pointerRoot(store->desc) != root) return false;
    return op == before ? !variesInLoop(*store) : !storeDifferentBlocks(*store, *earlier);
  }

  void through(Operation *op, Stores &s) {
    if (isLoop(op)) return throughLoop(op, s);
    if (op->is<scf::IfOp>()) return throughBranches(op, s);
    if (auto specialize = op->dyn<ttg::WarpSpecializeOp>()) return throughPartitions(specialize, s);
    bool endsKernel = op->is<tt::ReturnOp>() && func_.symVisibility() != "private";
    if (auto wait = op->dyn<ttng::AsyncTmaStoreWaitOp>(); wait && !wait.readOnly() && wait.pendings() == 0) s.clear();
    if (waitBefore_.contains(op)) s.clear();
    if (!endsKernel && llvm::any_of(s, [&](Operation *before) { return reliesOn(op, before); })) {
      waitBefore_.insert(op);
      s.clear();
    }
    if (BulkStore::of(op)) s.insert(op);
  }

  /// Any number of iterations; an scf.while may be left in the middle of one.
  void throughLoop(Operation *op, Stores &s) {
    size_t before = 0;
    do {
      before = s.size();
      Stores entry = s;
      for (unsigned i = 0; i < op->numRegions(); ++i) {
        throughRegion(op->region(i), entry);
        s.insert(entry.begin(), entry.end());
      }
    } while (s.size() != before);
  }
  void throughBranches(Operation *op, Stores &s) {
    Stores out;
    bool mayPass = false;
    for (auto &r : op->regions()) {
      mayPass |= r.empty();
      Stores branch = s;
      throughRegion(r, branch);
      out.insert(branch.begin(), branch.end());
    }
    if (mayPass) out.insert(s.begin(), s.end());
    s = std::move(out);
  }

  /// What other partitions rely on is waited for before they begin.
  void throughPartitions(ttg::WarpSpecializeOp op, Stores &s) {
    bool rely = waitBefore_.contains(op.op);
    op->walk([&](Operation *inner) {
      bool isInPartition(inner->parentOfType<ttg::WarpSpecializePartitionsOp>());
      rely |= isInPartition && llvm::any_of(s, [&](Operation *before) { return reliesOn(inner, before); });
    });
    if (rely) {
      waitBefore_.insert(op.op);
      s.clear();
    }
    throughRegion(op.defaultRegion(), s);
  }

  void throughBlock(Block &b, Stores &s) {
    for (auto &op : b) through(&op, s);
  }
  /// From the region's entry to its exits.
  void throughRegion(Region &r, Stores &s) {
    if (r.empty()) return;
    if (r.hasOneBlock()) return throughBlock(*r.front(), s);
    llvm::DenseMap<Block *, Stores> in;
    in[r.front()] = s;
    Stores exits;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto *b = r.front(); b; b = b->next()) {
        Stores now = in[b];
        throughBlock(*b, now);
        if (b->successors().empty()) exits.insert(now.begin(), now.end());
        for (auto *next : b->successors()) {
          Stores &to = in[next];
          size_t size = to.size();
          to.insert(now.begin(), now.end());
          changed |= to.size() != size;
        }
      }
    }
    s = std::move(exits);
  }

  tt::FuncOp func_;
  llvm::SetVector<Operation *> waitBefore_;
};

} // namespace

bool orderBulkStores(tt::FuncOp func) { return StoreOrder(func).run(); }

} // namespace tessera::transforms
