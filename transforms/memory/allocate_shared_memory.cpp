// Shared-memory allocation (what allocate_shared_memory.h promises).
//
//   %0 = "tt.reduce"(...)                 %0 = "tt.reduce"(...) {allocation.offset = 0 : i32}
//   %1 = ttg.convert_layout ...     →     %1 = ttg.convert_layout ... {allocation.offset = 0 : i32}
//                                         and on the module: ttg.shared = 2048 : i32
//
// Every operation of a function gets a number in the order of the text; a buffer's life is an interval of these
// numbers. Scratch lives during its operation alone, or if it is small to the end of the next operation with scratch,
// which saves the barrier between them; where memory that blocks leave is of no other use (LDS), also if it is not
// small, as long as as many blocks fit. An explicit buffer (`ttg.local_alloc`) lives from its allocation to the last
// use of any view of it, extended to the end of a loop or of the region in which the use lies when the allocation
// lies outside, and to the end of a function whose blocks branch back when the use lies in another block. Buffers are
// placed first-fit, largest first: each at the lowest offset where it overlaps no buffer alive at the same time;
// where that is more than a block has, in other orders too, of which the best counts. A call is scratch of the
// callee's whole frame, so frames nest.
//
// The regions of a ttg.warp_specialize run at the same time, so that what lives in one shares nothing with what lives
// in another; what is handed to their warps lives as long as they do.
//
// If that is more than a block has, conversions between layouts are told to take less scratch, half at a time
// (`allocation.scratch`), and make as many turns through it.
#include "transforms/memory/allocate_shared_memory.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/conversion_plan.h"
#include "layouts/nvmma_shared.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Bytes of two operations' scratch that may lie side by side where one place would do: less than the unit in which
/// most kernels' shared memory bounds how many blocks a multiprocessor runs.
constexpr int64_t kSmallScratch = 4096;

struct Buffer {
  Operation *op;
  int64_t bytes, alignment;
  unsigned from, to; // the numbers between which it lives, both included
  int64_t offset = -1;
  Partition partition = partitionOf(op);

  bool meets(const Buffer &o) const {
    if (from <= o.to && o.from <= to) return true;
    return partition && o.partition && partition.op == o.partition.op && partition.region != o.partition.region;
  }
};

class FunctionAllocation {
public:
  FunctionAllocation(tt::FuncOp func, const TargetInfo &target, const llvm::DenseMap<Operation *, int64_t> &frames)
      : func_(func), target_(target), frames_(frames) {}

  int64_t run() {
    number(func_.op);
    collect();
    llvm::SmallVector<unsigned, 16> ends;
    for (auto &b : buffers_) ends.push_back(b.to);
    auto placeWithNeighboursApart = [&](int64_t limit) {
      for (auto [b, to] : llvm::zip(buffers_, ends)) b.to = to;
      keepNeighboursApart(limit);
      place();
      return size_;
    };
    int64_t size = placeWithNeighboursApart(kSmallScratch);
    // Where what is left of a multiprocessor's memory is of no other use, it saves barriers.
    if (!target_.sharedMemoryIsCacheToo &&
        (placeWithNeighboursApart(target_.sharedMemoryPerBlock) > target_.sharedMemoryPerBlock ||
         blocksWith(size_) < blocksWith(size)))
      placeWithNeighboursApart(kSmallScratch);
    if (size_ > target_.sharedMemoryPerBlock) { // room counts for more than a barrier
      for (auto [b, to] : llvm::zip(buffers_, ends)) b.to = to;
      place();
    }
    while (size_ > target_.sharedMemoryPerBlock && takeTurns()) place();
    for (auto &b : buffers_) b.op->setAttr("allocation.offset", IntegerAttr::getI32(func_->context(), b.offset));
    return size_;
  }
  llvm::ArrayRef<Buffer> buffers() const { return buffers_; }

  int64_t during(Operation *op, llvm::ArrayRef<Operation *> without) {
    number(func_.op);
    collect();
    llvm::erase_if(
        buffers_, [&](auto &b) { return b.to < begin_[op] || b.from > end_[op] || llvm::is_contained(without, b.op); });
    place();
    return size_;
  }

private:
  void number(Operation *op) {
    begin_[op] = next_++;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto &inner : *b) number(&inner);
    end_[op] = next_++;
  }

  /// Whether control goes from every block of the region to later ones alone, in the order of the text.
  bool branchesForward(Region *region) {
    auto [it, fresh] = forward_.try_emplace(region, true);
    if (!fresh) return it->second;
    llvm::DenseMap<Block *, bool> seen;
    for (auto *b = region->front(); b; b = b->next()) {
      seen[b] = true;
      for (auto &op : *b)
        for (auto *s : op.successors())
          if (seen.count(s)) it->second = false;
    }
    return it->second;
  }

  /// The first wait for bulk copies behind the copy that leaves none under way, in its block or behind the branches
  /// and loops that it is in.
  unsigned whenStored(Operation *copy) {
    for (Operation *at = copy;
         at != func_.op && !at->is<ttg::WarpSpecializePartitionsOp>() && at->parentRegion()->hasOneBlock();
         at = at->parentOp()) // a partition's threads wait for themselves
      for (auto *op = at->next(); op; op = op->next())
        if (auto wait = op->dyn<ttng::AsyncTmaStoreWaitOp>(); wait && wait.pendings() == 0) return end_[op];
    return end_[func_.op];
  }

  /// The last moment at which the value, or a view or carried copy of it, is used.
  unsigned lastUse(Value v, Operation *alloc, llvm::DenseMap<Value, bool> &seen) {
    if (!seen.try_emplace(v, true).second) return 0;
    unsigned last = 0;
    for (auto *use = v.firstUse(); use; use = use->nextUse) {
      Operation *user = use->owner;
      // A use in a nested region lives to the end of the operation that holds the region (a loop comes round again);
      // one in another block, where blocks branch back, to the end of the function.
      Operation *outer = user;
      while (outer->parentRegion() != alloc->parentRegion() && outer->parentOp()) outer = outer->parentOp();
      last =
          std::max(last, outer->block() == alloc->block() || branchesForward(alloc->parentRegion()) ? end_[outer]
                                                                                                    : end_[func_.op]);
      for (auto r : user->results())
        if (r.type().isa<MemDescType>()) last = std::max(last, lastUse(r, alloc, seen));
      if (user->is<ttng::AsyncTmaCopyLocalToGlobalOp>() || user->is<ttng::AsyncTmaReduceOp>())
        last = std::max(last, whenStored(user));
      // Carried through a loop or branch: wherever the carried value goes.
      auto follow = [&](Value to) { last = std::max(last, lastUse(to, alloc, seen)); };
      if (user->info().has(kTerminator) && user->parentOp())
        for (auto r : user->parentOp()->results())
          if (r.type().isa<MemDescType>()) follow(r);
      for (auto &region : user->regions())
        for (auto *b = region.front(); b; b = b->next())
          for (auto *a : b->args())
            if (a->type.isa<MemDescType>()) follow(Value(a));
      if (auto specialize = user->dyn<ttg::WarpSpecializeOp>())
        for (auto &region : partitionRegions(specialize))
          for (auto *a : region.front()->args())
            if (captureOf(Value(a)) == v) follow(Value(a));
      for (auto *s : user->successors())
        for (auto *a : s->args())
          if (a->type.isa<MemDescType>()) follow(Value(a));
    }
    return last;
  }

  static int64_t alignmentOf(ttg::LocalAllocOp alloc, int64_t bytes) {
    int64_t least = 16;
    if (auto *e = layouts::dynCast<layouts::NvmmaSharedEncoding>(alloc.result().type().cast<MemDescType>().encoding()))
      least = std::max<int64_t>(least, e->alignment());
    return std::max<int64_t>(least, alloc.alignment().value_or(bytes >= 1024 ? 1024 : 16));
  }

  void collect() {
    func_->walk([&](Operation *op) {
      if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
        auto type = alloc.result().type().cast<MemDescType>();
        llvm::DenseMap<Value, bool> seen;
        int64_t bytes = bufferBytes(type);
        unsigned last = std::max(lastUse(alloc.result(), op, seen), end_[op]);
        buffers_.push_back({op, bytes, alignmentOf(alloc, bytes), begin_[op], last});
        return;
      }
      Scratch s = scratchOf(op, target_);
      if (auto call = op->dyn<tt::CallOp>()) {
        Operation *callee = func_->module().lookupSymbol(call.callee());
        if (auto it = frames_.find(callee); it != frames_.end()) s.bytes = it->second;
      }
      if (s.bytes) buffers_.push_back({op, s.bytes, s.alignment, begin_[op], end_[op]});
    });
  }

  /// How many blocks of so many bytes the shared memory of a multiprocessor has room for.
  int64_t blocksWith(int64_t bytes) const {
    return target_.sharedMemoryPerMultiprocessor / std::max<int64_t>(1, bytes);
  }

  /// Small scratch lives until the scratch after it is done with, so that neither has to wait for the other's
  /// readers: the barrier within the second orders the first's reads before what comes third. `limit`: bytes of the
  /// two. Buffers that a tensor passes through count as scratch where the limit is more than what is small.
  void keepNeighboursApart(int64_t limit) {
    Buffer *last = nullptr;
    for (auto &b : buffers_) {
      auto alloc = b.op->dyn<ttg::LocalAllocOp>();
      if (b.op->is<tt::CallOp>() || (alloc && (!alloc.src() || limit <= kSmallScratch))) continue;
      if (last && last->op->block() == b.op->block() && last->bytes + b.bytes <= limit)
        last->to = std::max(last->to, b.to);
      last = &b;
    }
  }

  /// Halves the scratch of the largest conversion between layouts that can be made in more turns, of those that reach
  /// beyond what a block has if there are any.
  bool takeTurns() {
    llvm::SmallVector<Buffer *, 16> order;
    for (auto &b : buffers_)
      if (b.op->is<ttg::ConvertLayoutOp>() || b.op->is<tt::CatOp>()) order.push_back(&b);
    auto beyond = [&](const Buffer *b) { return b->offset + b->bytes > target_.sharedMemoryPerBlock; };
    llvm::stable_sort(
        order, [&](auto *a, auto *b) { return std::pair(beyond(a), a->bytes) > std::pair(beyond(b), b->bytes); });
    for (auto *b : order) {
      auto before = b->op->attr<IntegerAttr>("allocation.scratch");
      b->op->setAttr("allocation.scratch", IntegerAttr::getI32(func_->context(), b->bytes / 2));
      if (int64_t bytes = scratchOf(b->op, target_).bytes; bytes < b->bytes) {
        b->bytes = bytes;
        return true;
      }
      if (before)
        b->op->setAttr("allocation.scratch", before);
      else
        b->op->removeAttr("allocation.scratch");
    }
    return false;
  }

  /// In the order of sizes, and where that takes more than a block has in others too.
  void place() {
    using Before = bool (*)(const Buffer *, const Buffer *);
    constexpr Before orders[] = {[](const Buffer *a, const Buffer *b) { return a->bytes > b->bytes; },
                                 [](const Buffer *a, const Buffer *b) { return a->to - a->from > b->to - b->from; },
                                 [](const Buffer *a, const Buffer *b) { return a->from < b->from; },
                                 [](const Buffer *a, const Buffer *b) { return a->to > b->to; }};
    std::vector<int64_t> best;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (Before before : orders) {
      placeInOrder(before);
      if (size_ < least) {
        least = size_;
        best.clear();
        for (auto &b : buffers_) best.push_back(b.offset);
      }
      if (least <= target_.sharedMemoryPerBlock) break;
    }
    size_ = least;
    for (auto [b, offset] : llvm::zip(buffers_, best)) b.offset = offset;
  }

  void placeInOrder(bool (*before)(const Buffer *, const Buffer *)) {
    size_ = 0;
    llvm::SmallVector<Buffer *, 16> order, placed;
    for (auto &b : buffers_) order.push_back(&b);
    std::stable_sort(order.begin(), order.end(), before);
    for (auto *b : order) {
      llvm::SmallVector<std::pair<int64_t, int64_t>, 16> busy;
      for (auto *p : placed)
        if (p->meets(*b)) busy.push_back({p->offset, p->offset + p->bytes});
      llvm::sort(busy);
      int64_t at = 0;
      for (auto [lo, hi] : busy) {
        if (at + b->bytes <= lo) break;
        at = std::max<int64_t>(at, llvm::alignTo(hi, b->alignment));
      }
      b->offset = at;
      size_ = std::max(size_, at + b->bytes);
      placed.push_back(b);
    }
  }

  tt::FuncOp func_;
  const TargetInfo &target_;
  const llvm::DenseMap<Operation *, int64_t> &frames_;
  llvm::DenseMap<Operation *, unsigned> begin_, end_;
  llvm::DenseMap<Region *, bool> forward_;
  unsigned next_ = 0;
  std::vector<Buffer> buffers_;
  int64_t size_ = 0;
};

/// Callees before callers, so that a call knows the frame it needs. Recursion is refused earlier, by the inliner.
void postOrder(Operation *func, llvm::DenseMap<Operation *, bool> &seen, std::vector<Operation *> &out) {
  if (!func || !seen.try_emplace(func, true).second) return;
  func->walk([&](Operation *op) {
    if (auto call = op->dyn<tt::CallOp>()) postOrder(func->module().lookupSymbol(call.callee()), seen, out);
  });
  out.push_back(func);
}

std::string describeBuffer(const Buffer &b) {
  return llvm::formatv("'{0}' needs {1} bytes of shared memory ({2})", b.op->name(), b.bytes, describe(b.op->loc()));
}

/// Each conversion between layouts that goes through memory, and the sum of a function.
void tellOfMemory(Operation *func, llvm::ArrayRef<Buffer> buffers, int64_t size, const PassContext &c) {
  for (auto &b : buffers) {
    auto convert = b.op->dyn<ttg::ConvertLayoutOp>();
    if (!convert) continue;
    auto from = convert.src().type().cast<TensorType>(), to = convert.result().type().cast<TensorType>();
    auto plan = layouts::planConversion(
        *from.encoding()->toLinearLayout(from.shape()), *to.encoding()->toLinearLayout(to.shape()),
        std::max<int64_t>(8, from.element().bitWidth()), c.target->memoryModel(), planOptionsOf(b.op));
    if (!plan.ok()) continue;
    c.remark({Remark::Analysis, "", "LayoutConversion", b.op->loc(),
              llvm::formatv("a conversion of {0} goes through {1} bytes of shared memory{2}; bank conflicts: writes "
                            "{3}-way, reads {4}-way",
                            from.str(), b.bytes,
                            plan->repetitions > 1 ? llvm::formatv(" in {0} turns", plan->repetitions).str() : "",
                            plan->writeConflicts, plan->readConflicts)
                  .str(),
              llvm::json::Object{{"bytes", b.bytes},
                                 {"writeConflicts", plan->writeConflicts},
                                 {"readConflicts", plan->readConflicts},
                                 {"turns", plan->repetitions}}});
  }
  c.remark(
      {Remark::Analysis, "", "SharedMemory", func->loc(),
       llvm::formatv("'{0}' takes {1} of the {2} bytes of shared memory that a block of {3} can have",
                     func->attr<StringAttr>("sym_name").value(), size, c.target->sharedMemoryPerBlock, c.target->name)
           .str(),
       llvm::json::Object{{"bytes", size}, {"available", c.target->sharedMemoryPerBlock}}});
}

} // namespace

int64_t sharedBytesDuring(Operation *op, llvm::ArrayRef<Operation *> without, const TargetInfo &target) {
  llvm::DenseMap<Operation *, int64_t> frames; // calls, whose frames nobody knows yet, are not counted
  auto func = op->is<tt::FuncOp>() ? op->cast<tt::FuncOp>() : op->parentOfType<tt::FuncOp>();
  return FunctionAllocation(func, target, frames).during(op, without);
}

absl::StatusOr<bool> allocateSharedMemory(Module &module, PassContext &context) {
  if (!context.target) {
    context.diagnostics.error({}, "allocate-shared-memory needs a target");
    return absl::InvalidArgumentError("no target");
  }
  llvm::DenseMap<Operation *, bool> seen;
  std::vector<Operation *> order;
  for (auto &op : *module.body())
    if (op.is<tt::FuncOp>()) postOrder(&op, seen, order);
  llvm::DenseMap<Operation *, int64_t> frames;
  int64_t total = 0;
  for (auto *f : order) {
    FunctionAllocation alloc(f->cast<tt::FuncOp>(), *context.target, frames);
    int64_t size = frames[f] = alloc.run();
    total = std::max(total, size);
    if (context.wantsRemarks()) tellOfMemory(f, alloc.buffers(), size, context);
    if (size <= context.target->sharedMemoryPerBlock) continue;
    Diagnostic d;
    d.loc = f->loc();
    d.message = llvm::formatv("kernel '{0}' needs {1} bytes of shared memory, but a block on {2} has {3}",
                              f->attr<StringAttr>("sym_name").value(), size, context.target->name,
                              context.target->sharedMemoryPerBlock);
    std::vector<Buffer> largest(alloc.buffers().begin(), alloc.buffers().end());
    std::stable_sort(largest.begin(), largest.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
    for (unsigned i = 0; i < std::min<size_t>(largest.size(), 6); ++i)
      d.note(describeBuffer(largest[i])).loc = largest[i].op->loc();
    context.diagnostics.report(std::move(d));
    return absl::ResourceExhaustedError("out of shared memory");
  }
  setModuleInt(module.op(), kSharedAttr, total);
  return true;
}

} // namespace tessera::transforms
