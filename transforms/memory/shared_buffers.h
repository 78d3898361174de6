// The buffers of a function in shared memory and their lifetimes: the first step of allocate-shared-memory, whose head
// says what buffers there are.
//
// Every operation of a function has a number in the order of the text; a lifetime is an interval of these numbers. An
// explicit buffer lives from its allocation to the last use of any view of it (an asynchronous dot or bulk copy uses it
// until the wait for it); if that use is in a loop or another region that the allocation is not in, to the end of that
// region's operation; if it is in another block of a function whose blocks branch back, to the end of the function. A
// buffer without contents lives from its first use in LDS, which limits how many blocks fit: a loop's buffers can take
// the place of what was read before the loop. Scratch lives during its operation.
#pragma once
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <vector>

namespace tessera::transforms {

/// A buffer of ttg.local_alloc, the scratch of an operation, or the frame of a call.
struct SharedBuffer {
  ir::Operation *op;
  int64_t bytes;
  int64_t alignment;
  unsigned from, to; // the lifetime: numbers of operations, both included
  int64_t offset = -1;
  ir::Partition partition = ir::partitionOf(op);

  /// Whether the two must not share bytes: their lifetimes overlap, or they belong to partitions that run at the same
  /// time.
  bool conflictsWith(const SharedBuffer &o) const {
    bool lifetimesOverlap = from <= o.to && o.from <= to;
    bool otherPartition =
        partition && o.partition && partition.op == o.partition.op && partition.region != o.partition.region;
    return lifetimesOverlap || otherPartition;
  }
};

/// Of a buffer of so many bytes that requires none by itself.
int64_t sharedAlignmentFor(int64_t bytes);

/// Numbers a function's operations, and finds its buffers.
class BufferLifetimes {
public:
  BufferLifetimes(ir::tt::FuncOp func, const ir::TargetInfo &target);

  /// In the order of the text. `frames`: the bytes that functions need, by their names, for calls. `during`: without
  /// scratch of operations that end before that operation or begin after it, which need not be planned then.
  std::vector<SharedBuffer> buffers(const llvm::StringMap<int64_t> &frames, ir::Operation *during = nullptr);
  /// The buffers of blocks that TMA moves, which triton-nvidia-tma-lowering creates later.
  std::vector<SharedBuffer> laterBuffers() const;

  /// Whether the buffer lives at some time while the operation runs.
  bool isAliveDuring(const SharedBuffer &b, ir::Operation *op) const {
    return b.to >= begin_.lookup(op) && b.from <= end_.lookup(op);
  }
  /// The operation with a number of a lifetime.
  ir::Operation *operation(unsigned number) const { return numbered_[number]; }
  size_t numbers() const { return numbered_.size(); }

private:
  void number(ir::Operation *);
  bool branchesForward(ir::Region *);
  unsigned endOfAsync(ir::Operation *async, llvm::function_ref<bool(ir::Operation *)> waits) const;
  unsigned endOfBulkStore(ir::Operation *copy) const;
  unsigned endOfDot(ir::Operation *dot) const;
  unsigned endOfMma(ir::Operation *alloc) const;
  unsigned endOfUse(ir::Operation *user, ir::Operation *alloc);
  unsigned lastUse(ir::Value, ir::Operation *alloc, llvm::DenseMap<ir::Value, bool> &seen);
  unsigned beginOf(ir::ttg::LocalAllocOp) const;
  unsigned begin(ir::Operation *op) const { return begin_.lookup(op); }
  unsigned end(ir::Operation *op) const { return end_.lookup(op); }

  ir::tt::FuncOp func_;
  const ir::TargetInfo &target_;
  llvm::DenseMap<ir::Operation *, unsigned> begin_, end_;
  llvm::DenseMap<ir::Region *, bool> branchesForward_;
  std::vector<ir::Operation *> numbered_; // by number
};

} // namespace tessera::transforms
