// Pass insert-barriers: barriers between accesses to shared memory that conflict. (Triton: the Membar analysis,
// lib/Analysis/Membar.cpp.)
// Runs: before lowering, on all targets, after allocate-shared-memory (whose offsets it compares).
//
//   ttg.local_store %x, %buf                 ttg.local_store %x, %buf
//   %y = ttg.local_load %buf          →      gpu.barrier
//                                            %y = ttg.local_load %buf
//
// Each function is walked forwards with the byte ranges that were read and written since the last barrier. Branches
// are joined, loops are walked until their entry state no longer grows. A barrier is inserted before an operation only
// if some path needs it. The rules, to which the code refers by number:
//
// 1. Conflicts. Between two accesses to the same bytes of shared memory, at least one of which writes, there is a
//    barrier on every path. One-warp blocks are no exception: the target decides what a barrier is there. Operations
//    that contain a barrier (reductions across warps, conversions through shared memory) write their scratch before it
//    and leave only their reads.
// 2. No superfluous barriers. A barrier that the first iteration of a loop needs may be made superfluous by one that
//    only later iterations need. Each barrier is dropped if the others keep all accesses in order.
// 3. Multi-buffers. Two buffers of one multi-buffer (`ttg.memdesc_index`) do not overlap if their indices are known to
//    differ: two constants; an index and the next one (analyses/multi_buffer_index.h); two loop-carried indices that
//    start some steps apart and step through the same multi-buffer. In the next iteration a loop-carried index is one
//    step behind the one that is carried then; any other index computed in the loop is forgotten there, and the range
//    becomes the whole multi-buffer.
// 4. Asynchronous copies (`ttg.async_copy_global_to_local`) may write at any time until they are waited for. They are
//    ordered after earlier accesses like any write, and count as writes of the waits after them: a barrier after the
//    wait makes the data visible to other threads. A read before the wait is a race that no barrier prevents.
// 5. Asynchronous dots (`ttng.warp_group_dot` with isAsync) read shared memory until a `ttng.warp_group_dot_wait` ends
//    them. Their reads count as reads of the waits after them; a barrier after those orders them before other threads'
//    writes. A wait that leaves n dots pending leaves the n before it in its block, if there are so many; else it may
//    end none.
// 6. Bulk copies of tensors (TMA). One thread issues them, so what all threads did to the buffer before needs a
//    barrier. A copy to shared memory is waited for by every reader itself (`ttng.wait_barrier`), so it is no write
//    of this analysis. The unit reads and writes through the asynchronous proxy: ordinary writes to the buffer that no
//    `ttng.fence_async_shared` followed get one, in front of the barrier. A copy from shared memory reads until a
//    `ttng.async_tma_store_wait` that leaves none pending, as in rule 5.
// 7. Arrivals (`ttng.arrive_barrier`) signal to other agents that the block has finished an access, so all accesses
//    come before them. A warp that arrives for itself alone covers only its own accesses, and needs no barrier.
// 8. Partitions (`ttg.warp_specialize`) begin and end with a barrier of all warps. In between, the program orders what
//    partitions do to each other's buffers; barriers inside a partition order the accesses of its own warps. Buffers
//    that only one partition uses share no bytes with others (shared_buffers.h).
// 9. Global memory:
//      tt.store %p, %x;  %s = tt.reduce %x;  gpu.barrier;  %y = tt.load %p      the barrier orders %p's accesses too
//      %x = tt.load %p;  gpu.barrier {tessera.local};  ttg.local_store %x       it need not wait for the load
//    Programs may rely on the inserted barriers for global memory: the first one after a write to it, and the last one
//    before a write, order it. All others get `tessera.local`, like those of a pipelined loop, which has no writes.
//    Barriers inside the lowering of an operation do not count. (global_order.cpp)
// 10. One element in several warps (a scalar; a tensor smaller than the block):
//      %x = tt.load %p;  gpu.barrier;  tt.store %p, %y        each warp loads the element, one of them stores it
//    Without the barrier a late warp would load what an early one stored. It comes before a store or atomic through a
//    pointer of the same root as such a load's; roots that are no arguments of the kernel may all be equal. A value
//    loaded through an argument and only stored again (analyses/only_stored.h) needs none: the thread that stores an
//    element loads it itself. (LLVM moves such a load into the branch around the store, or the load has the store's
//    predicate.)
// 11. Buffers of warp groups (tritongpu-warp-group-stores):
//      ttg.local_store %v, %b {tessera.warp_group_rows}           each warp group writes rows of its own, …
//      gpu.barrier {tessera.warp_group}
//      ttng.async_tma_copy_local_to_global … %b {…}               … which a thread of the same group copies
//    Two such accesses to one buffer conflict within a warp group alone, and a barrier of each warp group by itself is
//    enough. With all other accesses to the same bytes they conflict as by rule 1; barriers of warp groups order none
//    of these, and nothing in global memory.
// 12. Dots in tensor memory (`ttng.tc_gen5_mma`), and tensor memory itself. One thread issues the dot, so what all
//    threads did before to its operands and to its accumulator needs a barrier, and ordinary writes to shared memory a
//    fence (rule 6). The unit reads and writes asynchronously until it arrives at an mbarrier (`ttng.tc_gen5_commit`),
//    for which every thread that touches the buffers again waits itself: its own accesses are none of this analysis.
//    The arrival also signals to other agents that the block has finished its accesses, as in rule 7. Waits for
//    mbarriers are such accesses: a thread that comes to one after the arrival may miss the phase. Of two arrivals
//    after each other, both of the issuing thread, only the first needs a barrier.
//    Columns of tensor memory are ranges behind those of shared memory.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/only_stored.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/memory/global_order.h"
#include "transforms/memory/scratch.h"
#include "transforms/memory/shared_effects.h"
#include "transforms/memory/tensor_memory.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Where columns of tensor memory begin among the ranges of bytes (rule 12).
constexpr int64_t kTensorMemory = int64_t(1) << 40;

class BarrierPlacement {
public:
  BarrierPlacement(tt::FuncOp func, bool mayBeCalled, const TargetInfo &target)
      : func_(func), mayBeCalled_(mayBeCalled), target_(target) {}

  bool run() {
    func_.op->walk([&](Operation *op) {
      auto *effects = sharedEffectsOf(op->opcode());
      usesAsyncProxy_ |= effects && (effects->throughAsyncProxy || effects->readsLater);
    });
    AccessState s;
    walkRegion(func_.body(), s);
    dropSuperfluous();
    llvm::DenseSet<Operation *> inserted;
    for (auto *op : barrierBefore_) {
      Builder b(op);
      if (fenceBefore_.contains(op)) ttng::FenceAsyncSharedOp::create(b, op->loc(), {b.boolAttr("bCluster", false)});
      auto barrier = gpu::BarrierOp::create(b, op->loc());
      if (ofGroups_.contains(op))
        barrier->setAttr(kWarpGroupBarrierAttr, UnitAttr::get(func_->context()));
      else
        inserted.insert(barrier.op);
    }
    for (auto *op : barriersOfSharedMemoryAlone(func_, mayBeCalled_, inserted)) // rule 9
      op->setAttr(kLocalBarrierAttr, UnitAttr::get(func_->context()));
    return !barrierBefore_.empty();
  }

private:
  /// Rule 2.
  void dropSuperfluous() {
    bool hasLoops = !func_.body().hasOneBlock();
    func_.op->walk([&](Operation *op) { hasLoops |= isLoop(op); });
    if (!hasLoops) return;
    onlyCheck_ = true;
    conflictFound_ = false;
    setCheckpoints();
    auto all = barrierBefore_;
    if (!conflictFound_)
      for (auto *op : all) drop(op);
    onlyCheck_ = false;
  }

  /// Whether an operation is executed at most once: it is in the function's own block, or in a branch there.
  static bool isExecutedOnce(const Operation *op) {
    for (; op->parentRegion()->hasOneBlock(); op = op->parentOp()) {
      if (op->parentOp()->is<tt::FuncOp>()) return true;
      if (!op->parentOp()->is<scf::IfOp>()) return false;
    }
    return false;
  }
  /// The operation that holds another one and is executed once; null if there is none.
  static Operation *holderOf(Operation *op) {
    while (!op->is<tt::FuncOp>() && !isExecutedOnce(op)) op = op->parentOp();
    return op->is<tt::FuncOp>() ? nullptr : op;
  }
  /// Finds the states from which walks may start, and at which they may end: those before operations that are executed
  /// once, and need a barrier or hold one that does.
  void setCheckpoints() {
    for (auto *op : barrierBefore_)
      for (Operation *at = holderOf(op); at && !at->is<tt::FuncOp>(); at = at->parentOp()) checkpoints_[at] = {};
    AccessState s;
    walkToCheckpoints(func_.body(), s);
  }
  void walkToCheckpoints(Region &region, AccessState &s) {
    if (!region.hasOneBlock()) return walkRegion(region, s);
    for (auto &op : *region.front()) {
      auto it = checkpoints_.find(&op);
      if (it != checkpoints_.end()) it->second = s;
      auto branch = op.dyn<scf::IfOp>();
      if (it == checkpoints_.end() || !branch) {
        visit(&op, s);
        continue;
      }
      AccessState otherwise = s;
      walkToCheckpoints(branch.thenRegion(), s);
      walkToCheckpoints(branch.elseRegion(), otherwise);
      s.join(otherwise);
    }
  }

  /// Drops a barrier if the others keep all accesses in order.
  void drop(Operation *barrier) {
    barrierBefore_.remove(barrier);
    conflictFound_ = false;
    if (!isInOrderFrom(holderOf(barrier)) && !conflictFound_) {
      AccessState s;
      walkRegion(func_.body(), s);
      if (!conflictFound_) setCheckpoints();
    }
    if (conflictFound_) barrierBefore_.insert(barrier);
  }
  /// Whether a walk from a checkpoint finds no conflict before all is again as it was at another one in the same block.
  /// If not, and there is no conflict, nothing is known.
  bool isInOrderFrom(Operation *holder) {
    if (!holder) return false;
    std::vector<std::pair<Operation *, AccessState>> changed;
    AccessState s = checkpoints_.at(holder);
    for (Operation *op = holder; op && !conflictFound_; op = op->next()) {
      auto it = op == holder ? checkpoints_.end() : checkpoints_.find(op);
      if (it != checkpoints_.end()) {
        if (s == it->second) {
          for (auto &[at, before] : changed) checkpoints_[at] = std::move(before);
          return true;
        }
        if (op->is<scf::IfOp>()) return false; // it may hold other checkpoints
        changed.push_back({op, s});
      }
      visit(op, s);
    }
    return false;
  }

  // ---- ranges ----

  /// The bytes that a memory descriptor may stand for: its whole allocation, or one buffer of it; all of
  /// shared memory if the allocation is not known.
  static SharedRange rangeOf(Value memdesc, Operation *user) {
    ValueImpl *index = nullptr;
    while (true) {
      if (Value capture = captureOf(memdesc)) {
        memdesc = capture;
        continue;
      }
      Value viewed = viewedMemdesc(memdesc);
      if (!viewed) break;
      // An index into the allocation itself selects a buffer; one into another view may select a part of it.
      auto select = memdesc.definedBy<ttg::MemdescIndexOp>();
      index = select ? select.index().impl() : nullptr;
      memdesc = viewed;
    }
    if (isInTensorMemory(memdesc.type())) return rangeOfColumns(memdesc, index);
    auto alloc = memdesc.definedBy<ttg::LocalAllocOp>();
    if (!alloc) return kAllSharedMemory;
    int64_t offset = offsetOf(alloc.op);
    int64_t bytes = bufferBytes(alloc.result().type().cast<MemDescType>());
    AccessBy by = user->hasAttr(kWarpGroupRowsAttr) ? AccessBy::Groups : AccessBy::Block;
    return {offset, offset + bytes, index, 0, alloc.result().impl(), by};
  }
  /// Rule 12. `root`: what the memory descriptor is a view of.
  static SharedRange rangeOfColumns(Value root, ValueImpl *index) {
    auto alloc = root.definedBy<ttng::TmemAllocOp>();
    auto column = alloc ? alloc->attr<IntegerAttr>(kTensorMemoryColumnAttr) : IntegerAttr();
    if (!column) return {kTensorMemory, kEndOfSharedMemory};
    auto columns = tensorMemoryColumns(alloc.result().type().cast<MemDescType>());
    if (!columns.ok()) return {kTensorMemory, kEndOfSharedMemory};
    int64_t first = kTensorMemory + column.sext();
    return {first, first + *columns, index, 0, alloc.result().impl()};
  }
  static int64_t offsetOf(Operation *op) {
    auto offset = op->attr<IntegerAttr>(kAllocationOffsetAttr);
    return offset ? offset.sext() : 0;
  }
  SharedRange scratchRange(Operation *op) { return {offsetOf(op), offsetOf(op) + scratchBytes(op)}; }

  /// What the walks need to know of an operation's layouts, computed once: loops are walked several times, and
  /// everything once more for each barrier that may be superfluous.
  template <typename T> T &once(llvm::DenseMap<Operation *, T> &known, Operation *op, llvm::function_ref<T()> compute) {
    auto [it, isNew] = known.try_emplace(op);
    if (isNew) it->second = compute();
    return it->second;
  }
  int64_t scratchBytes(Operation *op) {
    return once<int64_t>(scratchBytes_, op, [&] { return scratchOf(op, target_).bytes; });
  }

  // ---- rule 1 ----

  /// `withinGroups`: one of each warp group is enough (rule 11).
  void needBarrier(Operation *op, AccessState &s, bool withinGroups = false) {
    if (onlyCheck_) {
      conflictFound_ = true;
      return;
    }
    bool isNew = barrierBefore_.insert(op);
    if (isNew && withinGroups) ofGroups_.insert(op);
    if (!withinGroups) ofGroups_.erase(op);
    enter(op, s);
  }
  /// Accounts for a barrier that an earlier walk put before the operation.
  void enter(Operation *op, AccessState &s) {
    if (!barrierBefore_.contains(op)) return;
    ofGroups_.contains(op) ? s.orderWithinGroups() : s.clear();
  }
  void orderAfter(const SharedRangeSet &earlier, Operation *op, AccessState &s, const SharedRange &r) {
    if (overlaps(earlier, r)) needBarrier(op, s, overlapsWithinGroups(earlier, r));
  }
  void access(Operation *op, AccessState &s, llvm::ArrayRef<SharedRange> reads, llvm::ArrayRef<SharedRange> writes) {
    enter(op, s);
    for (auto r : reads) orderAfter(s.writes, op, s, r);
    for (auto w : writes) {
      orderAfter(s.writes, op, s, w);
      orderAfter(s.reads, op, s, w);
      orderAfter(s.arrivals, op, s, w);
    }
    s.reads.insert(reads.begin(), reads.end());
    s.writes.insert(writes.begin(), writes.end());
    if (!usesAsyncProxy_) return;
    for (auto w : writes)
      if (w.first < kTensorMemory) s.unfenced.insert(w);
  }

  // ---- rules 4 to 6 ----

  void apply(const SharedEffects &effects, Operation *op, AccessState &s) {
    auto rangesOf = [&](SharedEffects::Buffers (*buffers)(Operation *)) {
      llvm::SmallVector<SharedRange, 2> ranges;
      if (buffers)
        for (Value v : buffers(op)) ranges.push_back(rangeOf(v, op));
      return ranges;
    };
    enter(op, s);
    signal(op, s, rangesOf(effects.arrivesAt));
    auto reads = rangesOf(effects.reads);
    auto writes = rangesOf(effects.writes);
    auto copiesTo = rangesOf(effects.copiesTo);
    auto readsLater = rangesOf(effects.readsLater);
    if (effects.reads || effects.writes) access(op, s, reads, writes);
    if (effects.throughAsyncProxy)
      for (SharedRange r : effects.copiesTo ? copiesTo : reads) fenceWritesTo(op, s, r);
    for (SharedRange r : readsLater) {
      fenceWritesTo(op, s, r);
      orderAfter(s.writes, op, s, r);
    }
    for (SharedRange to : copiesTo) {
      orderAfter(s.writes, op, s, to);
      orderAfter(s.reads, op, s, to);
    }
    if (effects.startsPending && effects.startsPendingIf(op)) {
      auto &started = effects.copiesTo ? copiesTo : reads;
      (s.*effects.startsPending).insert(started.begin(), started.end());
    }
    if (effects.waitsFor) {
      auto &pending = s.*effects.waitsFor;
      (s.*effects.waitedAs).insert(pending.begin(), pending.end());
      // Of other waits, which accesses they leave pending is not analysed: they count again at the next wait.
      if (effects.waitsForAll(op))
        pending.clear();
      else if (auto wait = op->dyn<ttng::WarpGroupDotWaitOp>())
        keepPendingDots(wait, pending);
    }
  }
  /// Rule 12: one thread has dots arrive at these mbarriers.
  void signal(Operation *op, AccessState &s, llvm::ArrayRef<SharedRange> arrivesAt) {
    if (!arrivesAt.empty() && (!s.reads.empty() || !s.writes.empty())) needBarrier(op, s);
    s.arrivals.insert(arrivesAt.begin(), arrivesAt.end());
  }
  /// Rule 5: what is pending after a wait that leaves some dots pending.
  static void keepPendingDots(ttng::WarpGroupDotWaitOp wait, SharedRangeSet &pending) {
    SharedRangeSet kept;
    int64_t dots = wait.pendings();
    for (Operation *op = wait->prev(); op && dots > 0; op = op->prev()) {
      bool mayHaveDots = op->numRegions() && !op->is<tt::ReduceOp>() && !op->is<tt::ScanOp>();
      if (mayHaveDots || isLoopOrCall(op)) return;
      auto dot = op->dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (!dot.isAsync()) break; // it waited for all before it
      for (Value v : operandsInSharedMemory(op)) kept.insert(rangeOf(v, op));
      --dots;
    }
    if (dots == 0) pending = std::move(kept);
  }

  /// Rule 6: the operation accesses the range through the asynchronous proxy.
  void fenceWritesTo(Operation *op, AccessState &s, SharedRange range) {
    if (barrierBefore_.contains(op) && fenceBefore_.contains(op)) s.unfenced.clear();
    if (!overlaps(s.unfenced, range)) return;
    if (!onlyCheck_) fenceBefore_.insert(op);
    needBarrier(op, s, overlapsWithinGroups(s.unfenced, range));
    s.unfenced.clear();
  }

  // ---- rule 10 ----

  static bool isHeldBySeveralWarps(Type t, int64_t warps) {
    if (warps == 1 || !t.isTensor()) return warps > 1;
    auto tensor = t.cast<TensorType>();
    if (!tensor.encoding()) return false;
    auto layout = tensor.encoding()->toLinearLayout(tensor.shape());
    if (!layout.ok()) return false;
    for (auto [dim, mask] : layout->freeVariableMasks())
      if (dim == layouts::Dim::Warp && mask) return true;
    return false;
  }
  /// Whether several warps load the same elements, and the value is used for more than storing it again, or is loaded
  /// through no argument.
  bool isLoadedBySeveralWarps(Operation *load, Value pointer) {
    return once<bool>(loadedBySeveralWarps_, load, [&] {
      if (!isHeldBySeveralWarps(load->result(0).type(), numWarpsAt(load))) return false;
      bool fromArgument(memoryArgument(pointerRoot(pointer)));
      return !fromArgument || !isOnlyStored(load->result(0));
    });
  }
  void loadThrough(Operation *op, Value pointer, AccessState &s) {
    if (isLoadedBySeveralWarps(op, pointer)) s.warpLoads.insert(pointerRoot(pointer).impl());
  }
  void storeThrough(Operation *op, Value pointer, AccessState &s) {
    enter(op, s);
    Value root = pointerRoot(pointer);
    bool fromArgument(memoryArgument(root));
    bool mayHaveBeenLoaded = llvm::any_of(s.warpLoads, [&](ValueImpl *load) {
      return root == Value(load) || (!fromArgument && !memoryArgument(Value(load)));
    });
    if (mayHaveBeenLoaded) needBarrier(op, s);
  }
  void visitGlobalAccess(Operation *op, AccessState &s) {
    switch (op->opcode()) {
    case Opcode::tt_load: return loadThrough(op, op->cast<tt::LoadOp>().ptr(), s);
    case Opcode::amdg_buffer_load: return loadThrough(op, op->cast<amdg::BufferLoadOp>().ptr(), s);
    case Opcode::tt_store: return storeThrough(op, op->cast<tt::StoreOp>().ptr(), s);
    case Opcode::amdg_buffer_store: return storeThrough(op, op->cast<amdg::BufferStoreOp>().ptr(), s);
    case Opcode::tt_atomic_rmw: return storeThrough(op, op->cast<tt::AtomicRmwOp>().ptr(), s);
    case Opcode::tt_atomic_cas: return storeThrough(op, op->cast<tt::AtomicCasOp>().ptr(), s);
    case Opcode::tt_atomic_store: return storeThrough(op, op->cast<tt::AtomicStoreOp>().ptr(), s);
    case Opcode::amdg_buffer_atomic_rmw: return storeThrough(op, op->cast<amdg::BufferAtomicRmwOp>().ptr(), s);
    case Opcode::amdg_buffer_atomic_cas: return storeThrough(op, op->cast<amdg::BufferAtomicCasOp>().ptr(), s);
    default: return;
    }
  }

  // ---- operations ----

  void visit(Operation *op, AccessState &s) {
    visitGlobalAccess(op, s);
    switch (op->opcode()) {
    case Opcode::gpu_barrier:
      if (op->hasAttr(kWarpGroupBarrierAttr)) return s.orderWithinGroups();
      return s.clear();
    case Opcode::ttng_tensormap_fenceproxy_acquire: return s.clear(); // the latter contains a barrier
    case Opcode::ttg_local_barrier: return s.clearShared();
    case Opcode::ttg_barrier:
      if (op->cast<ttg::BarrierOp>().addrSpace() & kLocalAddressSpace) s.clearShared();
      return;
    case Opcode::ttng_fence_async_shared: return s.unfenced.clear();
    case Opcode::scf_for: return walkLoop(op, {&op->region(0)}, s);
    case Opcode::scf_while: return walkLoop(op, {&op->region(0), &op->region(1)}, s);
    case Opcode::scf_if: return visitIf(op->cast<scf::IfOp>(), s);
    case Opcode::ttg_warp_specialize: return visitPartitions(op->cast<ttg::WarpSpecializeOp>(), s);
    case Opcode::tt_call:
      // The callee's frame is both read and written; its accesses at both ends are not ordered.
      if (op->hasAttr(kAllocationOffsetAttr)) access(op, s, kAllSharedMemory, kAllSharedMemory);
      return;
    case Opcode::ttng_tensormap_create: return access(op, s, {}, scratchRange(op));
    case Opcode::ttng_arrive_barrier: return visitArrival(op->cast<ttng::ArriveBarrierOp>(), s);
    default: break;
    }
    if (auto *effects = sharedEffectsOf(op->opcode())) return apply(*effects, op, s);
    if (scratchBytes(op)) return visitScratch(op, s);
    visitOther(op, s);
  }

  void visitIf(scf::IfOp branch, AccessState &s) {
    AccessState otherwise = s;
    walkRegion(branch.thenRegion(), s);
    walkRegion(branch.elseRegion(), otherwise);
    s.join(otherwise);
  }

  /// Rule 8.
  void visitPartitions(ttg::WarpSpecializeOp op, AccessState &s) {
    // The first thread writes the captured values for all partitions.
    if (scratchBytes(op.op)) access(op.op, s, {}, scratchRange(op.op));
    s.clear();
    AccessState atStart = s;
    walkRegion(op.defaultRegion(), s);
    s.clear();
    for (auto &r : partitionRegions(op)) {
      AccessState partition; // waits concern a warp's own asynchronous accesses
      partition.unfenced = atStart.unfenced;
      walkRegion(r, partition);
      s.unfenced.insert(partition.unfenced.begin(), partition.unfenced.end());
    }
  }

  /// Rule 7.
  void visitArrival(ttng::ArriveBarrierOp op, AccessState &s) {
    enter(op.op, s);
    bool isForAll = !op->hasAttr(kEachWarpArrivesAttr);
    if (isForAll && (!s.reads.empty() || !s.writes.empty())) needBarrier(op.op, s);
    s.reads.insert(rangeOf(op.alloc(), op.op));
  }

  /// Buffers among the operands.
  llvm::SmallVector<SharedRange, 4> buffersOf(Operation *op) {
    llvm::SmallVector<SharedRange, 4> ranges;
    for (auto v : op->operands())
      if (v.type().isa<MemDescType>()) ranges.push_back(rangeOf(v, op));
    return ranges;
  }

  /// Rule 1: the operation's own barrier stands between its writes and its reads. Buffers are accessed before it.
  void visitScratch(Operation *op, AccessState &s) {
    SharedRange scratch = scratchRange(op);
    llvm::SmallVector<SharedRange, 4> buffers = buffersOf(op), written = buffers;
    written.push_back(scratch);
    access(op, s, buffers, written);
    s.clearShared();
    s.reads.insert(scratch);
  }

  /// What the row of ir/ops.table says: all buffers among the operands are read or written.
  void visitOther(Operation *op, AccessState &s) {
    uint8_t effects = op->info().effects;
    if (!(effects & (kReadsShared | kWritesShared))) {
      if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>()) return; // their regions hold no accesses
      for (auto &r : op->regions()) walkRegion(r, s);
      return;
    }
    llvm::SmallVector<SharedRange, 4> ranges = buffersOf(op);
    llvm::ArrayRef<SharedRange> none;
    access(op, s, effects & kReadsShared ? llvm::ArrayRef(ranges) : none,
           effects & kWritesShared ? llvm::ArrayRef(ranges) : none);
  }

  // ---- control flow ----

  void walkBlock(Block *b, AccessState &s) {
    for (auto &op : *b) {
      if (conflictFound_) return; // nothing else is asked for
      visit(&op, s);
    }
  }

  /// Blocks to a fixed point; a region of one block is walked once. It is left from the blocks without successors.
  void walkRegion(Region &r, AccessState &s) {
    if (r.empty()) return;
    if (r.hasOneBlock()) return walkBlock(r.front(), s);
    llvm::DenseMap<Block *, AccessState> entry;
    entry[r.front()] = s;
    AccessState left;
    for (bool changed = true; changed;) {
      changed = false;
      left = {};
      for (auto *b = r.front(); b; b = b->next()) {
        AccessState out = entry[b];
        walkBlock(b, out);
        if (b->successors().empty()) left.join(out);
        out.forgetIndices(); // a successor may be a loop's head
        for (auto *succ : b->successors()) changed |= entry[succ].join(out);
      }
    }
    s = left;
  }

  /// Rule 3 at a loop's head: buffer indices that a loop carries are renamed to the body's arguments. Other indices
  /// from before the loop keep their names; those of an earlier iteration are forgotten.
  static void renameToArguments(scf::ForOp loop, AccessState &s, bool fromBeforeLoop) {
    s.renameBuffers([&](SharedRange &r) { fromBeforeLoop ? enterLoop(r, loop) : enterNextIteration(r, loop); });
  }

  void walkLoop(Operation *op, llvm::ArrayRef<Region *> regions, AccessState &s) {
    // An index that counts round a multi-buffer has as many names as this has buffers. Of one that counts further, or
    // round many, the names are forgotten.
    constexpr int kMostNames = 64;
    auto loop = op->dyn<scf::ForOp>();
    AccessState entry = s;
    renameToArguments(loop, entry, /*fromBeforeLoop=*/true);
    for (int round = 0;; ++round) {
      AccessState body = entry;
      for (auto *r : regions) walkRegion(*r, body);
      renameToArguments(loop, body, /*fromBeforeLoop=*/false);
      if (round >= kMostNames) body.forgetIndices();
      if (!entry.join(body)) break;
    }
    s = entry;
    if (loop) // the body's arguments mean nothing after the loop
      s.renameBuffers([&](SharedRange &r) { leaveLoop(r, loop); });
    // An scf.while is left after its condition's region.
    if (regions.size() > 1) walkRegion(*regions[0], s);
  }

  tt::FuncOp func_;
  bool mayBeCalled_;
  const TargetInfo &target_;
  llvm::SetVector<Operation *> barrierBefore_;
  llvm::DenseSet<Operation *> ofGroups_;    // of those: where a barrier of each warp group is enough (rule 11)
  llvm::DenseSet<Operation *> fenceBefore_; // of those: where a fence of the asynchronous proxy precedes the barrier
  bool usesAsyncProxy_ = false;             // some operation needs fences (rule 6)
  llvm::DenseMap<Operation *, int64_t> scratchBytes_;
  llvm::DenseMap<Operation *, bool> loadedBySeveralWarps_;
  // Rule 2: a walk that inserts nothing, but finds out whether the barriers suffice; and states before operations.
  llvm::DenseMap<Operation *, AccessState> checkpoints_;
  bool onlyCheck_ = false;
  bool conflictFound_ = false;
};

} // namespace

absl::StatusOr<bool> insertBarriers(Module &module, PassContext &context) {
  if (!context.target) return requiresTarget(context, module, "insert-barriers");
  bool hasCalls = false;
  module.op()->walk([&](Operation *op) { hasCalls |= op->is<tt::CallOp>(); });
  bool changed = false;
  for (auto &op : *module.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty())
      changed |= BarrierPlacement(f, hasCalls, *context.target).run();
  return changed;
}

} // namespace tessera::transforms
