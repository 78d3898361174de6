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
// The buffers of a function and their lifetimes come from shared_buffers.h, offsets from place_buffers.h. A call is a
// buffer of the callee's whole frame, so frames nest.
//
// Neighbours apart. Small scratch lives to the end of the next operation with scratch, which saves the barrier
// between them. On targets where the shared memory that blocks leave over has no other use (LDS), scratch that is
// not small does so too, as long as as many blocks fit into a multiprocessor.
//
// The regions of a ttg.warp_specialize run at the same time, so buffers of different regions share no bytes; what
// their warps capture lives as long as they do.
//
// If all that is more than a block has, layout conversions are limited to less scratch, half at a time
// (`allocation.scratch`), and go through it in several repetitions. Buffers that do not fit even then are an error
// that names the largest ones with their sizes and source lines.
//
// Remarks and the error: shared_memory_remarks.h.
#include "transforms/memory/allocate_shared_memory.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/symbol_table.h"
#include "transforms/memory/place_buffers.h"
#include "transforms/memory/scratch.h"
#include "transforms/memory/shared_buffers.h"
#include "transforms/memory/shared_memory_remarks.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <vector>

namespace tessera::transforms {
using namespace ir;

namespace {

/// The buffers of one function, with what they may do to save barriers or to fit.
class FunctionAllocation {
public:
  FunctionAllocation(tt::FuncOp func, const TargetInfo &target, const llvm::StringMap<int64_t> &frames,
                     Operation *during = nullptr)
      : func_(func), target_(target), lifetimes_(func, target), buffers_(lifetimes_.buffers(frames, during)) {
    for (auto &b : buffers_) lifetimeEnds_.push_back(b.to);
  }

  int64_t run() {
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
  llvm::ArrayRef<SharedBuffer> buffers() const { return buffers_; }
  const BufferLifetimes &lifetimes() const { return lifetimes_; }

  int64_t during(Operation *op, llvm::ArrayRef<Operation *> without) {
    llvm::append_range(buffers_, lifetimes_.laterBuffers());
    llvm::erase_if(buffers_,
                   [&](auto &b) { return !lifetimes_.isAliveDuring(b, op) || llvm::is_contained(without, b.op); });
    place();
    return size_;
  }

private:
  void place() { size_ = placeBuffers(buffers_, target_.sharedMemoryPerBlock); }
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

  /// Small scratch lives to the end of the next scratch, so that neither waits for the other's readers: the barrier
  /// inside the second one orders the first one's reads before the third one's writes. `limit`: bytes of the two
  /// together. Buffers that a tensor passes through (ttg.local_alloc of a tensor) count as scratch too.
  void keepNeighboursApart(int64_t limit) {
    auto countsAsScratch = [&](const SharedBuffer &b) {
      if (b.op->is<tt::CallOp>()) return false;
      auto alloc = b.op->dyn<ttg::LocalAllocOp>();
      return !alloc || alloc.src();
    };
    SharedBuffer *last = nullptr;
    for (auto &b : buffers_) {
      if (!countsAsScratch(b)) continue;
      if (last && last->op->block() == b.op->block() && last->bytes + b.bytes <= limit)
        last->to = std::max(last->to, b.to);
      last = &b;
    }
  }

  /// Whether the buffer is scratch that may be smaller, for more repetitions.
  static bool canRepeat(const SharedBuffer &b) { return b.op->is<ttg::ConvertLayoutOp>() || b.op->is<tt::CatOp>(); }

  /// The most bytes of buffers that live at once, without those that may be smaller. Where these are too many, no
  /// placement fits: trying smaller scratch, which plans each conversion again, would take seconds for nothing.
  int64_t leastBytes() const {
    std::vector<int64_t> change(lifetimes_.numbers() + 1, 0); // of the live bytes, at each number
    for (const SharedBuffer &b : buffers_) {
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
    llvm::SmallVector<SharedBuffer *, 16> order;
    for (auto &b : buffers_)
      if (canRepeat(b)) order.push_back(&b);
    auto isBeyond = [&](const SharedBuffer *b) { return b->offset + b->bytes > target_.sharedMemoryPerBlock; };
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

  tt::FuncOp func_;
  const TargetInfo &target_;
  BufferLifetimes lifetimes_;
  std::vector<SharedBuffer> buffers_;
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

} // namespace

int64_t sharedBytesDuring(Operation *op, llvm::ArrayRef<Operation *> without, const TargetInfo &target) {
  llvm::StringMap<int64_t> frames; // calls are not counted: their frames are not known yet
  auto func = op->is<tt::FuncOp>() ? op->cast<tt::FuncOp>() : op->parentOfType<tt::FuncOp>();
  return FunctionAllocation(func, target, frames, op).during(op, without);
}

int64_t alignedBufferBytes(int64_t bytes) { return llvm::alignTo(bytes, sharedAlignmentFor(bytes)); }

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
    auto func = f->cast<tt::FuncOp>();
    FunctionAllocation alloc(func, *context.target, frames);
    int64_t size = frames[func.symName()] = alloc.run();
    total = std::max(total, size);
    if (context.wantsRemarks()) remarkSharedMemory(func, alloc.buffers(), alloc.lifetimes(), size, context);
    if (size <= context.target->sharedMemoryPerBlock) continue;
    reportTooMuchSharedMemory(func, alloc.buffers(), size, context);
    return absl::ResourceExhaustedError("out of shared memory");
  }
  setModuleInt(module.op(), kSharedAttr, total);
  return true;
}

} // namespace tessera::transforms
