// Buffers in shared memory and their lifetimes (see shared_buffers.h).
#include "transforms/memory/shared_buffers.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/memory/scratch.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kMinAlignment = 16;        // the widest access of shared memory
constexpr int64_t kSwizzledAlignment = 1024; // of large buffers: the repeat of a swizzle by 128 bytes (PTX ISA)

int64_t alignmentOf(ttg::LocalAllocOp alloc, int64_t bytes) {
  int64_t least = kMinAlignment;
  if (auto *e = layouts::dynCast<layouts::NvmmaSharedEncoding>(alloc.result().type().cast<MemDescType>().encoding()))
    least = std::max<int64_t>(least, e->alignment());
  return std::max<int64_t>(least, alloc.alignment().value_or(sharedAlignmentFor(bytes)));
}

} // namespace

int64_t sharedAlignmentFor(int64_t bytes) { return bytes >= kSwizzledAlignment ? kSwizzledAlignment : kMinAlignment; }

BufferLifetimes::BufferLifetimes(tt::FuncOp func, const TargetInfo &target) : func_(func), target_(target) {
  number(func.op);
}

void BufferLifetimes::number(Operation *op) {
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

/// Whether every block of the region branches to later blocks alone, in the order of the text.
bool BufferLifetimes::branchesForward(Region *region) {
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
unsigned BufferLifetimes::endOfAsync(Operation *async, llvm::function_ref<bool(Operation *)> waits) const {
  auto mayEndAfter = [&](Operation *at) {
    bool isPartition = at->is<ttg::WarpSpecializePartitionsOp>(); // a partition's threads wait for themselves
    return at != func_.op && !isPartition && at->parentRegion()->hasOneBlock();
  };
  for (Operation *at = async; mayEndAfter(at); at = at->parentOp())
    for (auto *op = at->next(); op; op = op->next())
      if (waits(op)) return end(op);
  return end(func_.op);
}
/// Of a bulk copy from shared memory: the first wait that leaves no copy in flight.
unsigned BufferLifetimes::endOfBulkStore(Operation *copy) const {
  return endOfAsync(copy, [](Operation *op) {
    auto wait = op->dyn<ttng::AsyncTmaStoreWaitOp>();
    return wait && wait.pendings() == 0;
  });
}
/// Of an asynchronous dot: the first wait that leaves no more dots in flight than its block has issued since.
unsigned BufferLifetimes::endOfDot(Operation *dot) const {
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
unsigned BufferLifetimes::endOfMma(Operation *alloc) const {
  for (auto *user : alloc->result(0).users())
    if (user->is<ttg::LocalDeallocOp>()) return 0;
  return end(func_.op);
}

/// The number of a user as it counts for a buffer of `alloc`'s region: a use in a nested region lasts to the end of
/// the operation that holds the region (a loop iterates again), one in another block, if blocks branch back, to the
/// end of the function.
unsigned BufferLifetimes::endOfUse(Operation *user, Operation *alloc) {
  Operation *outer = user;
  while (outer->parentRegion() != alloc->parentRegion() && outer->parentOp()) outer = outer->parentOp();
  bool inOrder = outer->block() == alloc->block() || branchesForward(alloc->parentRegion());
  return inOrder ? end(outer) : end(func_.op);
}

/// The last use of the value, of its views, and of what it becomes in loops, branches and partitions.
unsigned BufferLifetimes::lastUse(Value v, Operation *alloc, llvm::DenseMap<Value, bool> &seen) {
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
unsigned BufferLifetimes::beginOf(ttg::LocalAllocOp alloc) const {
  unsigned allocation = begin(alloc.op);
  if (alloc.src() || target_.sharedMemoryIsCacheToo) return allocation;
  unsigned first = end(func_.op);
  for (auto *user : alloc.result().users()) {
    Operation *outer = user;
    while (outer && outer->block() != alloc->block()) outer = outer->parentOp();
    if (!outer) return allocation; // in another block
    first = std::min(first, begin(outer));
  }
  return alloc.result().useEmpty() ? allocation : first;
}

std::vector<SharedBuffer> BufferLifetimes::buffers(const llvm::StringMap<int64_t> &frames, Operation *during) {
  std::vector<SharedBuffer> found;
  func_->walk([&](Operation *op) {
    if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
      auto type = alloc.result().type().cast<MemDescType>();
      llvm::DenseMap<Value, bool> seen;
      int64_t bytes = bufferBytes(type);
      unsigned last = std::max(lastUse(alloc.result(), op, seen), end(op));
      found.push_back({op, bytes, alignmentOf(alloc, bytes), beginOf(alloc), last});
      return;
    }
    bool isElsewhere = during && (end(op) < begin(during) || begin(op) > end(during));
    if (isElsewhere) return;
    Scratch s = scratchOf(op, target_);
    if (auto call = op->dyn<tt::CallOp>()) {
      if (auto it = frames.find(call.callee()); it != frames.end()) s.bytes = it->second;
    }
    if (s.bytes) found.push_back({op, s.bytes, s.alignment, begin(op), end(op)});
  });
  return found;
}

std::vector<SharedBuffer> BufferLifetimes::laterBuffers() const {
  std::vector<SharedBuffer> found;
  func_->walk([&](Operation *op) {
    MemDescType buffer;
    if (auto load = op->dyn<tt::DescriptorLoadOp>())
      buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), true);
    else if (auto store = op->dyn<tt::DescriptorStoreOp>())
      buffer = bufferOfBlock(store.desc(), tensorOf(store.src()), false);
    else if (auto reduce = op->dyn<tt::DescriptorReduceOp>())
      buffer = bufferOfBlock(reduce.desc(), tensorOf(reduce.src()), false);
    if (buffer) found.push_back({op, bufferBytes(buffer), kSwizzledAlignment, begin(op), end(op)});
  });
  return found;
}

} // namespace tessera::transforms
