// Pass allocate-shared-memory: every buffer in shared memory gets an offset.
// Runs: before lowering, on all targets.
//
//   %0 = "tt.reduce"(...)                 %0 = "tt.reduce"(...) {allocation.offset = 0 : i32}
//   %1 = ttg.convert_layout ...     →     %1 = ttg.convert_layout ... {allocation.offset = 0 : i32}
//                                         and on the module: ttg.shared = 2048 : i32
//
// Buffers are those of ttg.local_alloc, and the scratch of operations that need some (scratch.h): reductions across
// warps, layout conversions through memory, scans, atomics whose result several threads use. `allocation.offset` is in
// bytes; buffers whose lifetimes do not overlap share bytes. `ttg.shared` is what the module takes in all.
//
// Lifetimes. Every operation of a function has a number in the order of the text; a lifetime is an interval of these
// numbers. An explicit buffer lives from its allocation to the last use of any view of it (an asynchronous dot or bulk
// copy uses it until the wait for it); if that use is in a loop or another region that the allocation is not in, to the
// end of that region's operation; if it is in another block of a function whose blocks branch back, to the end of the
// function. A buffer without contents lives from its first use in LDS, which limits how many blocks fit: a loop's
// buffers can take the place of what was read before the loop. Scratch lives during its operation.
//
// Neighbours apart. Small scratch lives to the end of the next operation with scratch, which saves the barrier
// between them. On targets where the shared memory that blocks leave over has no other use (LDS), scratch that is
// not small does so too, as long as as many blocks fit into a multiprocessor.
//
// Placement is first fit, largest first: each buffer at the lowest offset at which it overlaps no buffer with an
// overlapping lifetime. If the result is more than a block has, other orders are tried, and the best one is taken. A
// call is a buffer of the callee's whole frame, so frames nest.
//
// The regions of a ttg.warp_specialize run at the same time, so buffers of different regions share no bytes; what
// their warps capture lives as long as they do.
//
// If all that is more than a block has, layout conversions are limited to less scratch, half at a time
// (`allocation.scratch`), and go through it in several repetitions. Buffers that do not fit even then are an error
// that names the largest ones with their sizes and source lines.
//
// Remarks: SharedMemoryBuffer for each buffer (bytes, offset, lifetime, purpose), LayoutConversion for each conversion
// (bank conflicts), SharedMemory for each function (bytes in all).
#include "transforms/memory/allocate_shared_memory.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/symbol_table.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/memory/scratch.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kMinAlignment = 16;        // the widest access of shared memory
constexpr int64_t kSwizzledAlignment = 1024; // of large buffers: the repeat of a swizzle by 128 bytes (PTX ISA)
constexpr size_t kBuffersInError = 6;        // buffers that the error about too much shared memory names

/// Of a buffer of so many bytes that requires none by itself.
int64_t alignmentFor(int64_t bytes) { return bytes >= kSwizzledAlignment ? kSwizzledAlignment : kMinAlignment; }

struct Buffer {
  Operation *op;
  int64_t bytes;
  int64_t alignment;
  unsigned from, to; // the lifetime: numbers of operations, both included
  int64_t offset = -1;
  Partition partition = partitionOf(op);

  /// Whether the two must not share bytes.
  bool conflictsWith(const Buffer &o) const {
    bool lifetimesOverlap = from <= o.to && o.from <= to;
    bool otherPartition =
        partition && o.partition && partition.op == o.partition.op && partition.region != o.partition.region;
    return lifetimesOverlap || otherPartition;
  }
};

class FunctionAllocation {
public:
  FunctionAllocation(tt::FuncOp func, const TargetInfo &target, const llvm::StringMap<int64_t> &frames)
      : func_(func), target_(target), frames_(frames) {}

  int64_t run() {
    number(func_.op);
    collect();
    const int64_t small = target_.tuning.smallScratchBytes;
    const int64_t available = target_.sharedMemoryPerBlock;
    // Memory that blocks leave over saves barriers, if it cannot serve as cache and as many blocks still fit.
    int64_t size = placeWithNeighboursApart(small);
    if (!target_.sharedMemoryIsCacheToo) {
      placeWithNeighboursApart(available);
      if (size_ > available || target_.blocksBySharedMemory(size_) < target_.blocksBySharedMemory(size))
        placeWithNeighboursApart(small);
    }
    if (size_ > available) { // fitting is worth more than a barrier
      resetLifetimes();
      place();
    }
    if (size_ > available && leastBytes() > available) {
      llvm::erase_if(buffers_, canRepeat); // the error names what can be no smaller
      place();
    }
    while (size_ > available && halveLargestConversion()) place();
    for (auto &b : buffers_) b.op->setAttr(kAllocationOffsetAttr, IntegerAttr::getI32(func_->context(), b.offset));
    return size_;
  }
  llvm::ArrayRef<Buffer> buffers() const { return buffers_; }

  int64_t during(Operation *op, llvm::ArrayRef<Operation *> without) {
    number(func_.op);
    collect();
    collectBlocks();
    llvm::erase_if(buffers_, [&](auto &b) {
      bool isAlive = b.to >= begin_[op] && b.from <= end_[op];
      return !isAlive || llvm::is_contained(without, b.op);
    });
    place();
    return size_;
  }

  /// The operations at which the buffer's lifetime begins and ends.
  Operation *firstOperation(const Buffer &b) const { return numbered_[b.from]; }
  Operation *lastOperation(const Buffer &b) const { return numbered_[b.to]; }

private:
  void number(Operation *op) {
    auto next = [&] {
      numbered_.push_back(op);
      return unsigned(numbered_.size() - 1);
    };
    begin_[op] = next();
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto &inner : *b) number(&inner);
    end_[op] = next();
  }

  int64_t placeWithNeighboursApart(int64_t limit) {
    resetLifetimes();
    keepNeighboursApart(limit);
    place();
    return size_;
  }
  /// Undoes keepNeighboursApart.
  void resetLifetimes() {
    for (auto [b, to] : llvm::zip(buffers_, lifetimeEnds_)) b.to = to;
  }

  /// Whether every block of the region branches to later blocks alone, in the order of the text.
  bool branchesForward(Region *region) {
    auto [it, isNew] = branchesForward_.try_emplace(region, true);
    if (!isNew) return it->second;
    llvm::DenseMap<Block *, bool> seen;
    for (auto *b = region->front(); b; b = b->next()) {
      seen[b] = true;
      for (auto &op : *b)
        for (auto *s : op.successors())
          if (seen.count(s)) it->second = false;
    }
    return it->second;
  }

  /// The end of an asynchronous operation that reads shared memory: the first operation after it that waits for it, in
  /// its block or after the branches and loops that it is in.
  unsigned endOfAsync(Operation *async, llvm::function_ref<bool(Operation *)> waits) {
    auto mayEndAfter = [&](Operation *at) {
      bool isPartition = at->is<ttg::WarpSpecializePartitionsOp>(); // a partition's threads wait for themselves
      return at != func_.op && !isPartition && at->parentRegion()->hasOneBlock();
    };
    for (Operation *at = async; mayEndAfter(at); at = at->parentOp())
      for (auto *op = at->next(); op; op = op->next())
        if (waits(op)) return end_[op];
    return end_[func_.op];
  }
  /// Of a bulk copy from shared memory: the first wait that leaves no copy in flight.
  unsigned endOfBulkStore(Operation *copy) {
    return endOfAsync(copy, [](Operation *op) {
      auto wait = op->dyn<ttng::AsyncTmaStoreWaitOp>();
      return wait && wait.pendings() == 0;
    });
  }
  /// Of an asynchronous dot: the first wait that leaves no more dots in flight than its block has issued since.
  unsigned endOfDot(Operation *dot) {
    int64_t issued = 0;
    return endOfAsync(dot, [&](Operation *op) {
      auto later = op->dyn<ttng::WarpGroupDotOp>();
      issued += later && later.isAsync() && op->block() == dot->block();
      auto wait = op->dyn<ttng::WarpGroupDotWaitOp>();
      return wait && wait.pendings() <= issued;
    });
  }

  /// Of a dot in tensor memory, or its arrival at an mbarrier: where the program says that the buffer ends, by
  /// ttg.local_dealloc. Otherwise nothing says which wait is the one for it.
  unsigned endOfMma(Operation *alloc) {
    for (auto *user : alloc->result(0).users())
      if (user->is<ttg::LocalDeallocOp>()) return 0;
    return end_[func_.op];
  }

  /// The number of a user as it counts for a buffer of `alloc`'s region: a use in a nested region lasts to the end of
  /// the operation that holds the region (a loop iterates again), one in another block, if blocks branch back, to the
  /// end of the function.
  unsigned endOfUse(Operation *user, Operation *alloc) {
    Operation *outer = user;
    while (outer->parentRegion() != alloc->parentRegion() && outer->parentOp()) outer = outer->parentOp();
    bool inOrder = outer->block() == alloc->block() || branchesForward(alloc->parentRegion());
    return inOrder ? end_[outer] : end_[func_.op];
  }

  /// The last use of the value, of its views, and of what it becomes in loops, branches and partitions.
  unsigned lastUse(Value v, Operation *alloc, llvm::DenseMap<Value, bool> &seen) {
    if (!seen.try_emplace(v, true).second) return 0;
    unsigned last = 0;
    for (auto *use = v.firstUse(); use; use = use->nextUse) {
      Operation *user = use->owner;
      last = std::max(last, endOfUse(user, alloc));
      for (auto r : user->results())
        if (r.type().isa<MemDescType>()) last = std::max(last, lastUse(r, alloc, seen));
      if (user->is<ttng::AsyncTmaCopyLocalToGlobalOp>() || user->is<ttng::AsyncTmaReduceOp>())
        last = std::max(last, endOfBulkStore(user));
      if (auto dot = user->dyn<ttng::WarpGroupDotOp>(); dot && dot.isAsync()) last = std::max(last, endOfDot(user));
      if (user->is<ttng::TcGen5MmaOp>() || user->is<ttng::TcGen5CommitOp>()) last = std::max(last, endOfMma(alloc));
      // Passed through a loop, branch, partition or block: wherever the value may go.
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

  /// Where the buffer's lifetime begins.
  unsigned beginOf(ttg::LocalAllocOp alloc) {
    unsigned allocation = begin_[alloc.op];
    if (alloc.src() || target_.sharedMemoryIsCacheToo) return allocation;
    unsigned first = end_[func_.op];
    for (auto *user : alloc.result().users()) {
      Operation *outer = user;
      while (outer && outer->block() != alloc->block()) outer = outer->parentOp();
      if (!outer) return allocation; // in another block
      first = std::min(first, begin_[outer]);
    }
    return alloc.result().useEmpty() ? allocation : first;
  }

  static int64_t alignmentOf(ttg::LocalAllocOp alloc, int64_t bytes) {
    int64_t least = kMinAlignment;
    if (auto *e = layouts::dynCast<layouts::NvmmaSharedEncoding>(alloc.result().type().cast<MemDescType>().encoding()))
      least = std::max<int64_t>(least, e->alignment());
    return std::max<int64_t>(least, alloc.alignment().value_or(alignmentFor(bytes)));
  }

  void collect() {
    func_->walk([&](Operation *op) {
      if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
        auto type = alloc.result().type().cast<MemDescType>();
        llvm::DenseMap<Value, bool> seen;
        int64_t bytes = bufferBytes(type);
        unsigned last = std::max(lastUse(alloc.result(), op, seen), end_[op]);
        buffers_.push_back({op, bytes, alignmentOf(alloc, bytes), beginOf(alloc), last});
        return;
      }
      Scratch s = scratchOf(op, target_);
      if (auto call = op->dyn<tt::CallOp>()) {
        if (auto it = frames_.find(call.callee()); it != frames_.end()) s.bytes = it->second;
      }
      if (s.bytes) buffers_.push_back({op, s.bytes, s.alignment, begin_[op], end_[op]});
    });
    for (auto &b : buffers_) lifetimeEnds_.push_back(b.to);
  }

  /// The buffers of blocks that TMA moves, which triton-nvidia-tma-lowering creates later.
  void collectBlocks() {
    func_->walk([&](Operation *op) {
      MemDescType buffer;
      if (auto load = op->dyn<tt::DescriptorLoadOp>())
        buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), true);
      else if (auto store = op->dyn<tt::DescriptorStoreOp>())
        buffer = bufferOfBlock(store.desc(), tensorOf(store.src()), false);
      else if (auto reduce = op->dyn<tt::DescriptorReduceOp>())
        buffer = bufferOfBlock(reduce.desc(), tensorOf(reduce.src()), false);
      if (buffer) buffers_.push_back({op, bufferBytes(buffer), kSwizzledAlignment, begin_[op], end_[op]});
    });
  }

  /// Small scratch lives to the end of the next scratch, so that neither waits for the other's readers: the barrier
  /// inside the second one orders the first one's reads before the third one's writes. `limit`: bytes of the two
  /// together. Buffers that a tensor passes through (ttg.local_alloc of a tensor) count as scratch too.
  void keepNeighboursApart(int64_t limit) {
    auto countsAsScratch = [&](const Buffer &b) {
      if (b.op->is<tt::CallOp>()) return false;
      auto alloc = b.op->dyn<ttg::LocalAllocOp>();
      return !alloc || alloc.src();
    };
    Buffer *last = nullptr;
    for (auto &b : buffers_) {
      if (!countsAsScratch(b)) continue;
      if (last && last->op->block() == b.op->block() && last->bytes + b.bytes <= limit)
        last->to = std::max(last->to, b.to);
      last = &b;
    }
  }

  /// Whether the buffer is scratch that may be smaller, for more repetitions.
  static bool canRepeat(const Buffer &b) { return b.op->is<ttg::ConvertLayoutOp>() || b.op->is<tt::CatOp>(); }

  /// The most bytes of buffers that live at once, without those that may be smaller. Where these are too many, no
  /// placement fits: trying smaller scratch, which plans each conversion again, would take seconds for nothing.
  int64_t leastBytes() const {
    std::vector<int64_t> change(numbered_.size() + 1, 0); // of the live bytes, at each number
    for (const Buffer &b : buffers_) {
      if (canRepeat(b)) continue;
      change[b.from] += b.bytes;
      change[b.to + 1] -= b.bytes;
    }
    int64_t live = 0, most = 0;
    for (int64_t bytes : change) most = std::max(most, live += bytes);
    return most;
  }

  /// Halves the scratch of the largest layout conversion that can do with more repetitions; of those that reach beyond
  /// the memory of a block, if there are any. False if there is none.
  bool halveLargestConversion() {
    llvm::SmallVector<Buffer *, 16> order;
    for (auto &b : buffers_)
      if (canRepeat(b)) order.push_back(&b);
    auto isBeyond = [&](const Buffer *b) { return b->offset + b->bytes > target_.sharedMemoryPerBlock; };
    llvm::stable_sort(
        order, [&](auto *a, auto *b) { return std::pair(isBeyond(a), a->bytes) > std::pair(isBeyond(b), b->bytes); });
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

  /// Largest first, and in other orders if that takes more than a block has.
  void place() {
    using Before = bool (*)(const Buffer *, const Buffer *);
    constexpr Before kLargestFirst = [](const Buffer *a, const Buffer *b) { return a->bytes > b->bytes; };
    constexpr Before kLongestFirst = [](const Buffer *a, const Buffer *b) { return a->to - a->from > b->to - b->from; };
    constexpr Before kEarliestFirst = [](const Buffer *a, const Buffer *b) { return a->from < b->from; };
    constexpr Before kLastToEndFirst = [](const Buffer *a, const Buffer *b) { return a->to > b->to; };
    constexpr Before orders[] = {kLargestFirst, kLongestFirst, kEarliestFirst, kLastToEndFirst};
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
        if (p->conflictsWith(*b)) busy.push_back({p->offset, p->offset + p->bytes});
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
  const llvm::StringMap<int64_t> &frames_; // bytes that functions need, by their names
  llvm::DenseMap<Operation *, unsigned> begin_, end_;
  llvm::DenseMap<Region *, bool> branchesForward_;
  std::vector<Operation *> numbered_; // by number
  std::vector<Buffer> buffers_;
  llvm::SmallVector<unsigned, 16> lifetimeEnds_; // of buffers_, before keepNeighboursApart
  int64_t size_ = 0;
};

/// Callees before callers, so that a call knows the frame it needs. Recursion is refused earlier, by the inliner.
void postOrder(Operation *func, const SymbolTable &symbols, llvm::DenseSet<Operation *> &seen,
               std::vector<Operation *> &out) {
  if (!func || !seen.insert(func).second) return;
  func->walk([&](Operation *op) {
    if (auto call = op->dyn<tt::CallOp>()) postOrder(symbols.callee(call), symbols, seen, out);
  });
  out.push_back(func);
}

std::string describeBuffer(const Buffer &b) {
  return llvm::formatv("'{0}' needs {1} bytes of shared memory ({2})", b.op->name(), b.bytes, describe(b.op->loc()));
}

// ---- remarks ----

bool holdsMbarriers(Value buffer) {
  return llvm::any_of(buffer.users(), [](Operation *u) {
    return u->is<ttng::InitBarrierOp>() || (u->is<ttg::MemdescIndexOp>() && holdsMbarriers(u->result()));
  });
}

/// What a buffer is for.
std::string purposeOf(const Buffer &b) {
  if (auto alloc = b.op->dyn<ttg::LocalAllocOp>())
    return (holdsMbarriers(alloc.result()) ? "mbarriers of type " : "buffer of type ") + alloc.result().type().str();
  return scratchPurpose(b.op);
}

Remark bufferRemark(tt::FuncOp func, const Buffer &b, Operation *first, Operation *last) {
  auto at = [](llvm::StringRef word, Operation *op) {
    return llvm::formatv("{0} '{1}' ({2})", word, op->name(), describe(op->loc())).str();
  };
  std::string lifetime = first == b.op ? "live " : at("live from", first) + " ";
  lifetime += last == b.op ? "during the operation" : at("until", last);
  std::string purpose = purposeOf(b);
  llvm::json::Object facts{{"function", func.symName().str()},
                           {"operation", b.op->name()},
                           {"bytes", b.bytes},
                           {"alignment", b.alignment},
                           {"offset", b.offset},
                           {"purpose", purpose},
                           {"first", describe(first->loc())},
                           {"firstOperation", first->name()},
                           {"firstNumber", int64_t(b.from)},
                           {"last", describe(last->loc())},
                           {"lastOperation", last->name()},
                           {"lastNumber", int64_t(b.to)}};
  std::string where;
  if (b.partition) {
    // Which ttg.warp_specialize, since a function may have several.
    facts["warpSpecialize"] = describe(b.partition.op->loc());
    facts["partition"] = b.partition.index;
    where = b.partition.hasOwnWarps() ? llvm::formatv(" in partition {0}", b.partition.index).str()
                                      : std::string(" in the default partition");
  }
  return {Remark::Analysis,
          "",
          "SharedMemoryBuffer",
          b.op->loc(),
          llvm::formatv("'{0}'{1} takes {2} bytes of shared memory at offset {3}, aligned to {4}, {5}: {6}",
                        b.op->name(), where, b.bytes, b.offset, b.alignment, lifetime, purpose)
              .str(),
          std::move(facts)};
}

std::optional<Remark> conversionRemark(const Buffer &b, const TargetInfo &target) {
  auto convert = b.op->dyn<ttg::ConvertLayoutOp>();
  if (!convert) return std::nullopt;
  auto from = tensorOf(convert.src());
  auto to = tensorOf(convert.result());
  auto &source = from.encoding()->layoutOf(from.shape());
  auto &destination = to.encoding()->layoutOf(to.shape());
  if (!source.ok() || !destination.ok()) return std::nullopt;
  auto plan = layouts::planConversion(*source, *destination, std::max<int64_t>(8, from.element().bitWidth()),
                                      target.memoryModel(), planOptionsOf(b.op, target));
  if (!plan.ok()) return std::nullopt;
  std::string repetitions =
      plan->repetitions > 1 ? llvm::formatv(" in {0} repetitions", plan->repetitions).str() : std::string();
  return Remark{Remark::Analysis,
                "",
                "LayoutConversion",
                b.op->loc(),
                llvm::formatv("a conversion of {0} goes through {1} bytes of shared memory{2}; bank conflicts: writes "
                              "{3}-way, reads {4}-way",
                              from.str(), b.bytes, repetitions, plan->writeConflicts, plan->readConflicts)
                    .str(),
                llvm::json::Object{{"bytes", b.bytes},
                                   {"writeConflicts", plan->writeConflicts},
                                   {"readConflicts", plan->readConflicts},
                                   {"repetitions", plan->repetitions}}};
}

void emitRemarks(Operation *func, const FunctionAllocation &allocation, int64_t size, const PassContext &c) {
  for (auto &b : allocation.buffers()) {
    c.remark(bufferRemark(func->cast<tt::FuncOp>(), b, allocation.firstOperation(b), allocation.lastOperation(b)));
    if (auto conversion = conversionRemark(b, *c.target)) c.remark(std::move(*conversion));
  }
  c.remark(
      {Remark::Analysis, "", "SharedMemory", func->loc(),
       llvm::formatv("'{0}' takes {1} of the {2} bytes of shared memory that a block of {3} can have",
                     func->attr<StringAttr>("sym_name").value(), size, c.target->sharedMemoryPerBlock, c.target->name)
           .str(),
       llvm::json::Object{{"bytes", size}, {"available", c.target->sharedMemoryPerBlock}}});
}

void reportTooMuch(Operation *func, llvm::ArrayRef<Buffer> buffers, int64_t size, PassContext &c) {
  Diagnostic d;
  d.loc = func->loc();
  d.message =
      llvm::formatv("kernel '{0}' needs {1} bytes of shared memory, but a block on {2} has {3}",
                    func->attr<StringAttr>("sym_name").value(), size, c.target->name, c.target->sharedMemoryPerBlock);
  std::vector<Buffer> largest(buffers.begin(), buffers.end());
  std::stable_sort(largest.begin(), largest.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
  if (largest.size() > kBuffersInError) largest.resize(kBuffersInError, largest.front());
  for (auto &b : largest) d.note(describeBuffer(b)).loc = b.op->loc();
  c.diagnostics.report(std::move(d));
}

} // namespace

int64_t sharedBytesDuring(Operation *op, llvm::ArrayRef<Operation *> without, const TargetInfo &target) {
  llvm::StringMap<int64_t> frames; // calls are not counted: their frames are not known yet
  auto func = op->is<tt::FuncOp>() ? op->cast<tt::FuncOp>() : op->parentOfType<tt::FuncOp>();
  return FunctionAllocation(func, target, frames).during(op, without);
}

int64_t alignedBufferBytes(int64_t bytes) { return llvm::alignTo(bytes, alignmentFor(bytes)); }

absl::StatusOr<bool> allocateSharedMemory(Module &module, PassContext &context) {
  if (!context.target) return requiresTarget(context, module, "allocate-shared-memory");
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> seen;
  std::vector<Operation *> order;
  for (auto &op : *module.body())
    if (op.is<tt::FuncOp>()) postOrder(&op, symbols, seen, order);
  llvm::StringMap<int64_t> frames;
  int64_t total = 0;
  for (auto *f : order) {
    FunctionAllocation alloc(f->cast<tt::FuncOp>(), *context.target, frames);
    int64_t size = frames[f->cast<tt::FuncOp>().symName()] = alloc.run();
    total = std::max(total, size);
    if (context.wantsRemarks()) emitRemarks(f, alloc, size, context);
    if (size <= context.target->sharedMemoryPerBlock) continue;
    reportTooMuch(f, alloc.buffers(), size, context);
    return absl::ResourceExhaustedError("out of shared memory");
  }
  setModuleInt(module.op(), kSharedAttr, total);
  return true;
}

} // namespace tessera::transforms
