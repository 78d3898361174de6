// Barrier placement. Operations reach shared memory in an order that only a barrier makes hold for all threads, so
// between two accesses that overlap, at least one of which writes, there must be a barrier on every path:
//
//   ttg.local_store %x, %buf                 ttg.local_store %x, %buf
//   %y = ttg.local_load %buf          →      gpu.barrier
//                                            %y = ttg.local_load %buf
//
// The analysis walks each function forwards with the set of byte ranges read and written since the last barrier;
// loops are walked until their entry state no longer grows, branches are joined. Operations with a barrier of their
// own inside (reductions across warps, conversions through memory) leave only what they read after it. A barrier is
// put before an operation only if some path needs it. Accesses of one warp alone are no exception: the barrier of a
// one-warp block is cheap, and the target decides what it is.
//
// Two slots of one buffer (`ttg.memdesc_index` of it) whose indices are known to differ do not overlap. That is known
// of two constants, of a value and the slot after it in a ring: `select(i + 1 >= n, 0, i + 1)` of i, and of two
// values that a loop carries around one ring from different constants. An index that a loop carries into its next
// iteration is followed there; of others' earlier values nothing is known: at a loop's back edge such slots become
// whole buffers.
//
// A multiplication in the background (`ttng.warp_group_dot` with isAsync) reads until a `ttng.warp_group_dot_wait` that
// leaves it none pending: its reads count as made at the waits after it, and a barrier after those orders them before
// another thread's writes. Which products a wait leaves under way is the program's to know, as with copies.
//
// Global memory. A program may count on these barriers for accesses to global memory as well: all threads load what
// the first one stores after a reduction. So they order global memory too, unless no pair of accesses needs that of
// this barrier: it gets `tessera.local` where no write to global memory comes before it since the last barrier, and
// none after it before the next one. Every pair of accesses with a write that has a barrier between them still has
// one that orders global memory: the first after the write, or the last before it. In a loop that multiplies what was
// loaded ahead there is no write, so that no barrier waits for those loads. Barriers within the lowering of an
// operation do not count.
//
// A copy in the background (`ttg.async_copy_global_to_local`) writes at any time until the wait that its token goes
// to. Whoever reads the buffer in between is told nothing by a barrier, and a program that has the token does not; so
// the copy is ordered after the accesses before it like any write, and counts as written at the wait: the barrier
// that other threads' reads need stands after that.
//
// Bulk copies of tensors. One thread starts them, and one thread changes a barrier in shared memory; what all threads
// did before to the buffer comes before that by a barrier of the block. A copy to shared memory is waited for by
// every reader itself (`ttng.wait_barrier`), so that it does not count as a write; its unit writes by the
// asynchronous proxy, so that ordinary writes that no `ttng.fence_async_shared` followed need one before the barrier.
// A copy from shared memory reads until a `ttng.async_tma_store_wait` that leaves none pending, like a multiplication
// in the background. An arrival (`ttng.arrive_barrier`) tells others that the block is done with something, so that
// all accesses come before it.
//
// Partitions (`ttg.warp_specialize`) begin and end with a barrier of all warps. In between, what one partition does
// to what another uses is the program's to order; barriers inside of a partition are its own warps' and order their
// accesses alone. Buffers that only a partition uses share nothing with others' (allocate_shared_memory.h).
//
// Global memory is the program's to order, but for what it cannot see: where warps hold copies of one element (a
// scalar; a tensor with fewer elements than the block has threads) each loads it, and one alone stores it. A store or
// an atomic to memory that such a load of the same pointer read comes after a barrier, not one inside an operation,
// which may order shared memory alone, or else a late warp loads what an early one stored. Pointers that come from no
// argument of the kernel (they were loaded, a loop lets them change places, a caller passed them) may be the same.
// What is loaded through an argument only to be stored again, after elementwise work, asks for no barrier: the thread
// that stores an element loads it itself, and it alone (analyses/only_stored.h; where stores are branches, LLVM moves
// such loads into them, else they have the stores' predicates).
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "transforms/analyses/only_stored.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/ring_step.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Bytes [first, second), perhaps of one slot of a ring of buffers alone.
struct Range {
  int64_t first = 0, second = 0;
  ValueImpl *slot = nullptr;   // the index of the slot; null: all of them
  ValueImpl *buffer = nullptr; // whose slot it is: others in the same memory may have slots of other sizes
  auto operator<=>(const Range &) const = default;
};

struct State {
  std::set<Range> reads, writes;
  std::set<Range> copies;      // of copies in the background that nothing has waited for
  std::set<Range> products;    // that multiplications in the background read
  std::set<Range> stores;      // that bulk copies to global memory read
  std::set<Range> unfenced;    // ordinary writes that no fence of the asynchronous proxy followed, where that matters
  std::set<ValueImpl *> loads; // the pointers from which several warps loaded the same elements
  bool join(const State &o) {
    size_t before = size();
    reads.insert(o.reads.begin(), o.reads.end());
    writes.insert(o.writes.begin(), o.writes.end());
    copies.insert(o.copies.begin(), o.copies.end());
    products.insert(o.products.begin(), o.products.end());
    stores.insert(o.stores.begin(), o.stores.end());
    unfenced.insert(o.unfenced.begin(), o.unfenced.end());
    loads.insert(o.loads.begin(), o.loads.end());
    return size() != before;
  }
  size_t size() const {
    return reads.size() + writes.size() + copies.size() + products.size() + stores.size() + unfenced.size() +
           loads.size();
  }
  void clear() { clearShared(), loads.clear(); }
  void clearShared() { reads.clear(), writes.clear(); } // a barrier that orders shared memory alone
  /// Slots get the names that they have from here on; those without one become whole buffers.
  void renameSlots(llvm::function_ref<ValueImpl *(ValueImpl *)> nameOf) {
    for (auto *set : {&reads, &writes, &copies, &products, &stores, &unfenced}) {
      std::set<Range> renamed;
      for (auto r : *set) renamed.insert({r.first, r.second, r.slot ? nameOf(r.slot) : nullptr, r.buffer});
      *set = std::move(renamed);
    }
  }
  void forgetSlots() {
    renameSlots([](ValueImpl *) { return nullptr; });
  }
};

/// The number of slots of the ring in which b is the slot after a; nothing if it is not, or not seen to be.
std::optional<int64_t> ringOf(Value a, Value b) {
  auto step = ringStep(b);
  return step && step->from == a ? std::optional(step->slots) : std::nullopt;
}
bool isNextInRing(Value a, Value b) { return ringOf(a, b).value_or(1) >= 2; }

/// What the loop yields for a value that it carries, and where it starts.
struct Carried {
  scf::ForOp loop;
  Value init, next;
};
std::optional<Carried> carried(Value v) {
  auto *parent = v.isBlockArgument() ? v.ownerBlock()->parentOp() : nullptr;
  auto loop = parent ? parent->dyn<scf::ForOp>() : scf::ForOp();
  if (!loop || v.index() == 0) return {};
  return Carried{loop, loop.initArgs()[v.index() - 1], v.ownerBlock()->terminator()->operand(v.index() - 1)};
}
/// Whether two slots go around the same ring from different places.
bool goAround(Value a, Value b) {
  auto x = carried(a), y = carried(b);
  if (!x || !y || x->loop.op != y->loop.op) return false;
  auto from = intConstantOf(x->init), to = intConstantOf(y->init), size = ringOf(a, x->next);
  return from && to && *from != *to && size && size == ringOf(b, y->next) && *from >= 0 && *to >= 0 && *from < *size &&
         *to < *size;
}

bool differentSlots(ValueImpl *a, ValueImpl *b) {
  if (!a || !b || a == b) return false;
  auto x = intConstantOf(Value(a)), y = intConstantOf(Value(b));
  return x && y ? *x != *y
                : isNextInRing(Value(a), Value(b)) || isNextInRing(Value(b), Value(a)) || goAround(Value(a), Value(b));
}

bool overlaps(const std::set<Range> &set, Range r) {
  for (auto &s : set)
    if (s.first < r.second && r.first < s.second && (s.buffer != r.buffer || !differentSlots(s.slot, r.slot)))
      return true;
  return false;
}

/// Which of the placed barriers need not order global memory (see the head of the file).
class GlobalOrder {
public:
  explicit GlobalOrder(const llvm::DenseSet<Operation *> &placed) : placed_(placed) {}

  llvm::SmallVector<Operation *, 16> unneededIn(tt::FuncOp func) {
    // What callers do before and after is not looked at.
    bool called = false;
    func->module().op()->walk([&](Operation *op) { called |= op->is<tt::CallOp>(); });
    for (bool forwards : {true, false}) {
      forwards_ = forwards;
      through(func.body(), called);
    }
    llvm::SmallVector<Operation *, 16> unneeded;
    for (auto *op : placed_)
      if (!needed_.contains(op)) unneeded.push_back(op);
    return unneeded;
  }

private:
  /// `write`: whether a write may lie between the last barrier (forwards: before, backwards: after) and here.
  bool visit(Operation *op, bool write) {
    if (placed_.contains(op)) {
      if (write) needed_.insert(op);
      return false;
    }
    if (op->is<gpu::BarrierOp>()) return op->hasAttr("tessera.local") && write;
    if (op->is<ttg::BarrierOp>()) return !(op->cast<ttg::BarrierOp>().addrSpace() & ~1) && write;
    switch (op->opcode()) {
    case Opcode::tt_call: return true;
    case Opcode::tt_reduce:
    case Opcode::tt_scan: return write; // their regions hold no accesses
    case Opcode::scf_for:
    case Opcode::scf_while:
      // Any number of rounds; a while loop may be left in the middle of one.
      for (bool around = write;; write = around) {
        for (unsigned i = 0; i < op->numRegions(); ++i)
          around |= through(op->region(forwards_ ? i : op->numRegions() - 1 - i), around);
        if (around == write) return write;
      }
    default: break;
    }
    if (op->numRegions()) {
      bool any = write && !(op->is<scf::IfOp>() && !op->region(1).empty()); // other regions may not run at all
      for (auto &r : op->regions()) any |= through(r, write);
      return any || (op->info().effects & kWritesGlobal);
    }
    return write || (effectsOf(op) & kWritesGlobal);
  }
  bool through(Block &b, bool write) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : b) ops.push_back(&op);
    if (!forwards_) std::reverse(ops.begin(), ops.end());
    for (auto *op : ops) write = visit(op, write);
    return write;
  }
  /// From the region's entry to its ends, or from the ends to the entry.
  bool through(Region &r, bool write) {
    if (r.empty()) return write;
    if (r.hasOneBlock()) return through(*r.front(), write);
    llvm::DenseMap<Block *, bool> out; // after the block forwards, before it backwards
    bool result = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto *b = r.front(); b; b = b->next()) {
        bool in = false;
        if (forwards_) {
          in = b == r.front() && write;
          for (auto *p = r.front(); p; p = p->next())
            if (llvm::is_contained(p->successors(), b)) in |= out[p];
        } else {
          in = b->successors().empty() && write;
          for (auto *succ : b->successors()) in |= out[succ];
        }
        bool now = through(*b, in);
        if (now && !out[b]) out[b] = changed = true;
        if (forwards_ ? b->successors().empty() : b == r.front()) result |= now;
      }
    }
    return result;
  }

  const llvm::DenseSet<Operation *> &placed_;
  llvm::DenseSet<Operation *> needed_;
  bool forwards_ = true;
};

class BarrierPlacement {
public:
  BarrierPlacement(tt::FuncOp func, const TargetInfo &target) : func_(func), target_(target) {}

  bool run() {
    func_.op->walk([&](Operation *op) { fills_ |= op->is<ttng::AsyncTmaCopyGlobalToLocalOp>(); });
    State s;
    walkRegion(func_.body(), s);
    dropRedundant();
    llvm::DenseSet<Operation *> placed;
    for (auto *op : before_) {
      Builder b(op);
      if (fenced_.contains(op)) ttng::FenceAsyncSharedOp::create(b, op->loc(), {b.boolAttr("bCluster", false)});
      placed.insert(gpu::BarrierOp::create(b, op->loc()).op);
    }
    GlobalOrder order(placed);
    for (auto *op : order.unneededIn(func_)) op->setAttr("tessera.local", UnitAttr::get(func_->context()));
    return !before_.empty();
  }

private:
  /// What a loop's first round asked for may be done by a barrier that only its later rounds asked for: each barrier is
  /// left out if the others keep all accesses in order.
  void dropRedundant() {
    bool loops = !func_.body().hasOneBlock();
    func_.op->walk([&](Operation *op) { loops |= op->is<scf::ForOp>() || op->is<scf::WhileOp>(); });
    if (!loops) return;
    auto all = before_;
    for (auto *op : all) {
      before_.remove(op);
      frozen_ = true, disorder_ = false;
      State s;
      walkRegion(func_.body(), s);
      frozen_ = false;
      if (disorder_) before_.insert(op);
    }
  }

  void walkBlock(Block *b, State &s) {
    for (auto &op : *b) visit(&op, s);
  }

  /// The bytes that a memory descriptor may stand for: the whole allocation behind it, all of shared memory if unknown.
  Range rangeOf(Value v) {
    llvm::DenseSet<Value> seen;
    ValueImpl *slot = nullptr;
    while (v && seen.insert(v).second) {
      Operation *def = v.definingOp();
      if (Value capture = captureOf(v)) {
        v = capture;
        continue;
      }
      if (!def) break;
      if (auto alloc = def->dyn<ttg::LocalAllocOp>()) {
        auto type = alloc.result().type().cast<MemDescType>();
        int64_t at = offsetOf(def);
        return {at, at + bufferBytes(type), slot, alloc.result().impl()};
      }
      // The one nearest the buffer tells the slot, if it is of the buffer itself and not of another view.
      if (auto index = def->dyn<ttg::MemdescIndexOp>())
        slot = index.index().impl();
      else
        slot = nullptr;
      // Views have their source first.
      if (def->numOperands() == 0 || !def->operand(0).type().isa<MemDescType>()) break;
      v = def->operand(0);
    }
    return {0, INT64_MAX, nullptr};
  }
  static int64_t offsetOf(Operation *op) {
    auto a = op->attr<IntegerAttr>("allocation.offset");
    return a ? a.sext() : 0;
  }

  void need(Operation *op, State &s) {
    if (frozen_) {
      disorder_ = true;
      return;
    }
    before_.insert(op);
    s.clear();
  }
  void access(Operation *op, State &s, llvm::ArrayRef<Range> reads, llvm::ArrayRef<Range> writes) {
    if (before_.contains(op)) s.clear();
    for (auto r : reads)
      if (overlaps(s.writes, r)) need(op, s);
    for (auto w : writes)
      if (overlaps(s.writes, w) || overlaps(s.reads, w)) need(op, s);
    s.reads.insert(reads.begin(), reads.end());
    s.writes.insert(writes.begin(), writes.end());
    if (fills_) s.unfenced.insert(writes.begin(), writes.end());
  }

  /// What the walks ask of an operation's layouts each time that they come by, computed once: loops are walked several
  /// times, and everything once more for each barrier that may be redundant.
  template <typename T> T &once(llvm::DenseMap<Operation *, T> &known, Operation *op, llvm::function_ref<T()> compute) {
    auto [it, isNew] = known.try_emplace(op);
    if (isNew) it->second = compute();
    return it->second;
  }
  int64_t scratchBytes(Operation *op) {
    return once<int64_t>(scratchBytes_, op, [&] { return scratchOf(op, target_).bytes; });
  }

  /// Whether several warps hold, and so have loaded, the same elements, and more than one of them makes something of
  /// it (or it is loaded from who knows where).
  bool sameInSeveralWarps(Operation *load) {
    return once<bool>(sameInSeveralWarps_, load, [&] {
      return inSeveralWarps(load->result(0).type(), numWarpsAt(load)) &&
             (!memoryArgument(pointerRoot(load->operand(0))) || !isOnlyStored(load->result(0)));
    });
  }
  static bool inSeveralWarps(Type t, int64_t warps) {
    if (warps == 1 || !t.isTensor()) return warps > 1;
    auto tensor = t.cast<TensorType>();
    if (!tensor.encoding()) return false;
    auto layout = tensor.encoding()->toLinearLayout(tensor.shape());
    if (!layout.ok()) return false;
    for (auto [dim, mask] : layout->freeVariableMasks())
      if (dim == layouts::Dim::Warp && mask) return true;
    return false;
  }
  void storeTo(Operation *op, Value pointer, State &s) {
    if (before_.contains(op)) s.clear();
    Value root = pointerRoot(pointer);
    bool known(memoryArgument(root));
    if (llvm::any_of(s.loads,
                     [&](ValueImpl *load) { return root == Value(load) || (!known && !memoryArgument(Value(load))); }))
      need(op, s);
  }

  void visit(Operation *op, State &s) {
    if (auto load = op->dyn<tt::LoadOp>()) {
      if (sameInSeveralWarps(op)) s.loads.insert(pointerRoot(load.ptr()).impl());
    } else if (auto load = op->dyn<amdg::BufferLoadOp>()) {
      if (sameInSeveralWarps(op)) s.loads.insert(pointerRoot(load.ptr()).impl());
    } else if (auto store = op->dyn<amdg::BufferStoreOp>())
      storeTo(op, store.ptr(), s);
    else if (op->is<tt::StoreOp>() || op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>())
      storeTo(op, op->operand(0), s);
    switch (op->opcode()) {
    case Opcode::gpu_barrier: s.clear(); return;
    case Opcode::ttg_local_barrier: s.clearShared(); return;
    case Opcode::ttg_barrier:
      // Bit 0 is the local (shared) address space; a barrier that leaves it out orders nothing of it.
      if (op->cast<ttg::BarrierOp>().addrSpace() & 1) s.clearShared();
      return;
    case Opcode::scf_for: walkLoop(op, {&op->region(0)}, s); return;
    case Opcode::scf_while: walkLoop(op, {&op->region(0), &op->region(1)}, s); return;
    case Opcode::scf_if: {
      State then = s, otherwise = s;
      walkRegion(op->region(0), then);
      walkRegion(op->region(1), otherwise);
      then.join(otherwise);
      s = then;
      return;
    }
    case Opcode::ttg_warp_specialize: {
      // What is captured, which the first thread writes for all partitions.
      if (int64_t bytes = scratchBytes(op)) access(op, s, {}, Range{offsetOf(op), offsetOf(op) + bytes});
      s.clear();
      State atStart = s;
      walkRegion(op->region(0), s);
      s.clear();
      for (auto &r : partitionRegions(op->cast<ttg::WarpSpecializeOp>())) {
        State own; // nobody waits for what others have under way
        own.unfenced = atStart.unfenced;
        walkRegion(r, own);
        s.unfenced.insert(own.unfenced.begin(), own.unfenced.end());
      }
      return;
    }
    case Opcode::tt_call: {
      // The callee's frame is both read and written, and a callee starts and ends with its accesses unordered.
      if (!op->hasAttr("allocation.offset")) return;
      Range all = {0, INT64_MAX, nullptr};
      access(op, s, all, all);
      return;
    }
    case Opcode::ttg_local_alloc:
      if (op->numOperands()) access(op, s, {}, rangeOf(op->result()));
      return;
    case Opcode::ttg_local_dealloc: return;
    case Opcode::ttg_async_copy_global_to_local: {
      Range r = rangeOf(op->cast<ttg::AsyncCopyGlobalToLocalOp>().result());
      if (before_.contains(op)) s.clear();
      if (overlaps(s.writes, r) || overlaps(s.reads, r)) need(op, s);
      s.copies.insert(r);
      return;
    }
    case Opcode::ttg_async_commit_group: return;
    case Opcode::ttng_fence_async_shared: s.unfenced.clear(); return;
    case Opcode::ttng_init_barrier:
    case Opcode::ttng_inval_barrier: access(op, s, {}, rangeOf(op->operand(0))); return;
    case Opcode::ttng_barrier_expect:
    case Opcode::ttng_wait_barrier: access(op, s, rangeOf(op->operand(0)), {}); return;
    case Opcode::ttng_arrive_barrier: {
      if (before_.contains(op)) s.clear();
      Range own = rangeOf(op->operand(0));
      if (!s.reads.empty() || !s.writes.empty()) need(op, s);
      s.reads.insert(own);
      return;
    }
    case Opcode::ttng_async_tma_copy_global_to_local: {
      auto copy = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
      Range to = rangeOf(copy.result());
      access(op, s, rangeOf(copy.barrier()), {});
      if (before_.contains(op) && fenced_.contains(op)) s.unfenced.clear();
      bool fence = overlaps(s.unfenced, to);
      if (fence && !frozen_) fenced_.insert(op);
      if (fence || overlaps(s.writes, to) || overlaps(s.reads, to)) need(op, s);
      if (fence) s.unfenced.clear();
      return;
    }
    case Opcode::ttng_async_tma_copy_local_to_global:
    case Opcode::ttng_async_tma_reduce: {
      Range from = rangeOf(op->is<ttng::AsyncTmaReduceOp>() ? op->cast<ttng::AsyncTmaReduceOp>().src()
                                                            : op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>().src());
      access(op, s, from, {});
      s.stores.insert(from);
      return;
    }
    case Opcode::ttng_async_tma_store_wait:
      s.reads.insert(s.stores.begin(), s.stores.end());
      if (op->cast<ttng::AsyncTmaStoreWaitOp>().pendings() == 0) s.stores.clear();
      return;
    case Opcode::ttng_tensormap_create: access(op, s, {}, Range{offsetOf(op), offsetOf(op) + scratchBytes(op)}); return;
    case Opcode::ttng_tensormap_fenceproxy_acquire: s.clear(); return; // it has a barrier
    case Opcode::ttng_warp_group_dot: {
      auto dot = op->cast<ttng::WarpGroupDotOp>();
      llvm::SmallVector<Range, 2> ranges;
      for (Value v : {dot.a(), dot.b()})
        if (v.type().isa<MemDescType>()) ranges.push_back(rangeOf(v));
      access(op, s, ranges, {});
      if (dot.isAsync()) s.products.insert(ranges.begin(), ranges.end());
      return;
    }
    case Opcode::ttng_warp_group_dot_wait:
      s.reads.insert(s.products.begin(), s.products.end());
      if (op->cast<ttng::WarpGroupDotWaitOp>().pendings() == 0) s.products.clear();
      return;
    case Opcode::ttg_async_wait:
      s.writes.insert(s.copies.begin(), s.copies.end());
      // Which copies are still under way is not looked at: they count as written at the next wait again.
      if (op->cast<ttg::AsyncWaitOp>().num() == 0) s.copies.clear();
      return;
    default: break;
    }
    if (int64_t bytes = scratchBytes(op)) {
      Range r = {offsetOf(op), offsetOf(op) + bytes, nullptr};
      access(op, s, {}, r);
      // Its own barrier stands between its writes and its reads.
      s.clearShared();
      s.reads.insert(r);
      return;
    }
    uint8_t effects = op->info().effects;
    if (!(effects & (kReadsShared | kWritesShared))) {
      for (auto &r : op->regions())
        if (op->opcode() != Opcode::tt_reduce && op->opcode() != Opcode::tt_scan) walkRegion(r, s);
      return;
    }
    llvm::SmallVector<Range, 4> ranges;
    for (auto v : op->operands())
      if (v.type().isa<MemDescType>()) ranges.push_back(rangeOf(v));
    access(op, s, effects & kReadsShared ? llvm::ArrayRef(ranges) : llvm::ArrayRef<Range>(),
           effects & kWritesShared ? llvm::ArrayRef(ranges) : llvm::ArrayRef<Range>());
  }

  /// Blocks to a fixed point; a region of one block needs one round. It is left from the blocks without successors.
  void walkRegion(Region &r, State &s) {
    if (r.empty()) return;
    if (r.hasOneBlock()) return walkBlock(r.front(), s);
    llvm::DenseMap<Block *, State> entry;
    entry[r.front()] = s;
    State left;
    for (bool changed = true; changed;) {
      changed = false;
      left = {};
      for (auto *b = r.front(); b; b = b->next()) {
        State out = entry[b];
        walkBlock(b, out);
        if (b->successors().empty()) left.join(out);
        out.forgetSlots(); // a successor may be a loop's head
        for (auto *succ : b->successors()) changed |= entry[succ].join(out);
      }
    }
    s = left;
  }
  void walkLoop(Operation *op, llvm::ArrayRef<Region *> regions, State &s) {
    auto loop = op->dyn<scf::ForOp>();
    // The argument that holds the slot in the iteration, by what goes in for it.
    auto intoArguments = [&](State &state, bool first) {
      state.renameSlots([&](ValueImpl *slot) -> ValueImpl * {
        Block *body = loop ? loop.body().front() : nullptr;
        for (unsigned i = 1; body && i < body->numArgs(); ++i) {
          auto c = carried(body->arg(i));
          if ((first ? c->init : c->next) == Value(slot) && isNextInRing(body->arg(i), c->next))
            return body->arg(i).impl();
        }
        return first ? slot : nullptr;
      });
    };
    State entry = s;
    intoArguments(entry, true);
    while (true) {
      State body = entry;
      for (auto *r : regions) walkRegion(*r, body);
      State around = body;
      intoArguments(around, false);
      if (entry.join(around)) continue;
      s = entry;
      if (loop)
        s.renameSlots([&](ValueImpl *slot) {
          return Value(slot).isBlockArgument() && Value(slot).ownerBlock() == loop.body().front() ? nullptr : slot;
        });
      // A while loop is left after its condition's region.
      if (regions.size() > 1) walkRegion(*regions[0], s);
      return;
    }
  }

  tt::FuncOp func_;
  const TargetInfo &target_;
  llvm::SetVector<Operation *> before_;
  llvm::DenseSet<Operation *> fenced_; // of those, where a fence of the asynchronous proxy stands before the barrier
  bool fills_ = false;                 // the function has bulk copies to shared memory
  llvm::DenseMap<Operation *, int64_t> scratchBytes_;
  llvm::DenseMap<Operation *, bool> sameInSeveralWarps_;
  bool frozen_ = false, disorder_ = false; // while a barrier is tried to be left out
};

} // namespace

absl::StatusOr<bool> insertBarriers(Module &module, PassContext &context) {
  if (!context.target) {
    context.diagnostics.error({}, "insert-barriers needs a target");
    return absl::InvalidArgumentError("no target");
  }
  bool changed = false;
  for (auto &op : *module.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) changed |= BarrierPlacement(f, *context.target).run();
  return changed;
}

} // namespace tessera::transforms
