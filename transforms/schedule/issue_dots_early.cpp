// Pass issue-dots-early: several dots of a block are in flight at a time, and run under the arithmetic between them.
// The backward pass of attention is the foremost case:
//
//   %s = dot %k, %qT                                 %s  = dot %k, %qT      {isAsync}
//   %p = softmax %s                                  %dp = dot %v, %doT     {isAsync}
//   %n = dot %p, %do, %dv                      →     wait {pendings = 1} for %s
//   %dp = dot %v, %doT                               %p = softmax %s                      under %dp
//   %ds = arithmetic on %p, %dp                      %n = dot %p, %do, %dv  {isAsync}
//   %m = dot %ds, %q, %dk                            wait {pendings = 1} for %dp
//                                                    %ds = arithmetic on %p, %dp          under %n
//                                                    %m = dot %ds, %q, %dk  {isAsync}
//                                                    wait {pendings = 0} for %n, %m
//
// Before that, the first dot of a block moves up over the copies to shared memory by threads that come before it (loops
// with two buffers copy first): threads compute addresses and issue copies while it runs. What the copies write, it
// does not read: they may have been in flight already when it began. The same holds of the dots after it. Done only
// if the iteration computes with the dot's result: the copies overlap with that.
//
//   wait for the copies of tile %i                    wait for the copies of tile %i
//   copy tile %i + 1                            →     %s = dot %a[%i], %b[%i]  {isAsync}
//   %s = dot %a[%i], %b[%i]                           copy tile %i + 1
//
// Step 1: a dot moves up to just after an earlier one, the first possible, with the views of its operands, if it needs
// nothing that is computed in between, nothing in between writes shared memory or synchronises, and the registers of
// its result are there (holdableRegisters) for as much longer.
//
// Step 2: a dot becomes asynchronous if another dot, or other work, comes before the first use of its result. It is
// waited for there, or before the first operation that may write its operands or lets others write them, or at the
// block's end. Dots whose operands are in a buffer of the block itself stay as they are: allocate-shared-memory keeps
// what a dot in flight reads until the wait, so that the buffer would take shared memory from the work under the dot.
// Dots complete in the order in which they are issued; a wait leaves those after its own in flight. A dot is waited for
// no later than the dots after it: it is complete then, and ptxas serialises dots where a wait leaves more in flight
// than the one before it (C7514).
//
// Step 3: small tensors that are read from shared memory behind the first dot (statistics of rows) are read before it:
//
//   %s = dot %k, %qT  {isAsync}                      %m = local_load %ms
//   %m = local_load %ms                       →      %s = dot %k, %qT  {isAsync}
//   wait for %s                                      wait for %s
//   %p = exp %s - %m                                 %p = exp %s - %m
//
// A dot in flight reads its operands from the same memory, and keeps it busy where it has few columns: behind it, a
// load takes longer than the dot. Blocks of one warp group alone: several groups would read at the same time, just
// behind their barrier, and their dots would begin later. (Measured: NVIDIA H200, 2026-11-30, million cycles of the
// backward kernel of Triton's tutorial without and with this step and descriptors_in_loops.cpp: heads of 64 6.19 and
// 5.67, causal 3.44 and 3.14; heads of 128, which two warp groups compute, 5.66 and 5.81, causal 3.04 and 3.05.)
//
// Runs: NVIDIA pipeline, after overlap-dots. Targets with wgmma. Dots that are asynchronous before it stay as they are.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Whether a dot may be in flight across the operation: it neither writes shared memory nor orders anything but dots.
bool mayRunUnder(Operation &op) {
  if (op.is<ttng::WarpGroupDotWaitOp>()) return true;
  bool hasInnerDots = false;
  op.walk([&](Operation *inner) { hasInnerDots |= inner != &op && inner->is<ttng::WarpGroupDotOp>(); });
  // A buffer that begins may have the bytes of one that the dot still reads; one that ends counts as written.
  bool isBuffer = op.is<ttg::LocalAllocOp>();
  return !hasInnerDots && !isLoopOrCall(&op) && !isBuffer && !(effectsOf(&op) & (kWritesShared | kSynchronizes));
}

/// A copy to shared memory by threads, or what makes a group of such copies.
bool isCopyByThreads(const Operation &op) {
  return op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>();
}

class DotsOfBlock {
public:
  struct Limits {
    int64_t registers = 0;      // of a thread, for tensors
    int64_t readBeforeDots = 0; // registers of a tensor that is read before the first dot
  };
  DotsOfBlock(Block &block, const RegisterPressure &pressure, Limits limits)
      : block_(block), pressure_(pressure), limits_(limits) {
    for (auto &op : block_)
      if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) dots_.push_back(dot);
  }

  /// Steps 1 and 2.
  bool issueEarly() {
    if (dots_.empty()) return false;
    bool changed = issueBeforeCopies(dots_[0]);
    if (dots_.size() == 1 && !changed) return false;
    for (size_t k = 1; k < dots_.size(); ++k)
      for (size_t j = 0; j < k; ++j) {
        j = lastOfRow(j, k); // dots that moved up stay in the order in which they were
        if (!moveUp(dots_[k], dots_[j])) continue;
        std::rotate(dots_.begin() + j + 1, dots_.begin() + k, dots_.begin() + k + 1);
        changed = true;
        break;
      }
    for (auto dot : llvm::reverse(dots_)) changed |= makeAsync(dot);
    return changed;
  }

  /// Step 3.
  bool readBeforeFirstDot() {
    if (dots_.empty() || !dots_[0].isAsync() || !dots_[0]->prev()) return false;
    auto dot = dots_[0];
    bool changed = false;
    Operation *next = nullptr;
    for (Operation *op = dot->next(); op && mayRunUnder(*op); op = next) {
      next = op->next();
      auto load = op->dyn<ttg::LocalLoadOp>();
      int64_t registers = load ? registersOf(load.result()) : 0;
      bool isSmall = load && registers <= limits_.readBeforeDots;
      if (!isSmall || pressure_.highest(dot.op, op) + held_ + registers > limits_.registers) continue;
      if (!moveAfter(op, dot->prev())) continue;
      held_ += registers;
      changed = true;
    }
    return changed;
  }

private:
  // ---- before copies ----

  bool issueBeforeCopies(ttng::WarpGroupDotOp dot) {
    if (dot.isAsync() || isCarriedOnly(dot.d()) || pressure_.before(dot.op) + registersOf(dot.d()) > limits_.registers)
      return false;
    Operation *after = dot->prev();
    llvm::SmallVector<Operation *, 8> copies;
    for (; after; after = after->prev()) {
      if (isCopyByThreads(*after))
        copies.push_back(after);
      else if (after->numRegions() || !isPure(after))
        break;
    }
    if (!after || copies.empty() || !moveAfter(dot.op, after)) return false;
    passed_.insert_range(copies);
    return true;
  }
  /// Whether the next iteration alone uses the value.
  bool isCarriedOnly(Value v) const {
    return llvm::all_of(v.users(), [&](Operation *user) {
      return user == block_.terminator() || (renamesRegisters(*user) && isCarriedOnly(user->result(0)));
    });
  }
  /// Moves the operation with what computes its operands, if that is little.
  bool moveAfter(Operation *moved, Operation *at) {
    llvm::SetVector<Operation *> operands;
    for (Value v : moved->operands())
      if (!collect(v, at, operands)) return false;
    for (auto *op : operands) {
      op->moveAfter(at);
      at = op;
    }
    moved->moveAfter(at);
    return true;
  }
  /// Whether a dot may be in flight across the operation.
  bool mayPass(Operation &op) const { return passed_.contains(&op) || mayRunUnder(op); }

  // ---- step 1 ----

  /// The last of the dots from `first`, before `end`, between which nothing is computed.
  size_t lastOfRow(size_t first, size_t end) const {
    for (; first + 1 < end; ++first)
      if (hasWorkBetween(dots_[first], dots_[first + 1])) break;
    return first;
  }
  static bool isWork(const Operation &op) { return op.numResults() && op.result(0).type().isTensor(); }
  static bool hasWorkBetween(ttng::WarpGroupDotOp first, ttng::WarpGroupDotOp second) {
    for (Operation *op = first->next(); op != second.op; op = op->next())
      if (isWork(*op)) return true;
    return false;
  }
  bool moveUp(ttng::WarpGroupDotOp dot, ttng::WarpGroupDotOp before) {
    if (dot.isAsync()) return false;
    for (Operation *op = before->next(); op != dot.op; op = op->next()) {
      // Waits for an asynchronous dot count the dots after it.
      auto other = op->dyn<ttng::WarpGroupDotOp>();
      if (!mayPass(*op) || op->is<ttng::WarpGroupDotWaitOp>() || (other && other.isAsync())) return false;
    }
    if (!hasWorkBetween(before, dot) || pressure_.after(before.op) + held_ + registersOf(dot.d()) > limits_.registers)
      return false;
    if (!moveAfter(dot.op, before.op)) return false;
    held_ += registersOf(dot.d());
    return true;
  }
  /// What computes the value after `before`, in order; false if it is more than views, scalars and names.
  bool collect(Value v, Operation *before, llvm::SetVector<Operation *> &out) {
    Operation *op = v.definingOp();
    bool isThere = !op || op->block() != &block_ || !before->isBeforeInBlock(op);
    if (isThere) return op != before || !before->is<ttng::WarpGroupDotOp>(); // whose result is still to come
    bool isScalar = llvm::none_of(op->results(), [](Value r) { return r.type().isTensor(); });
    bool isLittle = isPure(op) && (isScalar || renamesRegisters(*op)); // a view counts as a scalar
    if (op->numRegions() || !isLittle) return false;
    for (Value operand : op->operands())
      if (!collect(operand, before, out)) return false;
    out.insert(op);
    return true;
  }

  // ---- step 2 ----

  bool makeAsync(ttng::WarpGroupDotOp dot) {
    if (dot.isAsync() || addsOutsideOfInstruction(dot) || extendsLifetimes(dot)) return false;
    int32_t later = 0; // dots issued before the wait
    bool hasWork = false;
    Operation *at = dot->next();
    for (; at != block_.terminator() && mayPass(*at) && !uses(*at, dot.d()) && !waits_.contains(at); at = at->next()) {
      later += at->is<ttng::WarpGroupDotOp>();
      hasWork |= isWork(*at); // a dot, too
    }
    if (!hasWork) return false;
    dot->setAttr(kIsAsyncAttr, IntegerAttr::getBool(dot->context(), true));
    Builder b(at);
    Type types[] = {dot.d().type()};
    Value operands[] = {dot.d()};
    auto wait = ttng::WarpGroupDotWaitOp::create(b, dot->loc(), types, operands, {b.i32Attr("pendings", later)});
    waits_.insert(wait.op);
    dot.d().replaceUsesIf(wait->result(0), [&](OpOperand &use) { return use.owner != wait.op; });
    return true;
  }
  /// Whether buffers of operands would live for longer if the dot were in flight: those of this block that nothing
  /// frees end with their last use, and other buffers take their bytes (shared_buffers.h). Allocation would keep them
  /// until the wait; shared memory for that is not spent.
  bool extendsLifetimes(ttng::WarpGroupDotOp dot) const {
    return llvm::any_of(dot->operands(), [&](Value v) {
      if (!v.type().isa<MemDescType>()) return false;
      auto alloc = allocationOf(v);
      if (!alloc || alloc->block() != &block_) return false;
      return llvm::none_of(alloc.result().users(), [](Operation *user) { return user->is<ttg::LocalDeallocOp>(); });
    });
  }
  static bool uses(Operation &op, Value v) {
    bool found = false;
    op.walk([&](Operation *inner) { found |= llvm::is_contained(inner->operands(), v); });
    return found;
  }

  Block &block_;
  const RegisterPressure &pressure_; // of the function as it was
  Limits limits_;
  llvm::DenseSet<Operation *> passed_; // copies that the first dot moved over
  llvm::DenseSet<Operation *> waits_;  // of step 2
  int64_t held_ = 0;                   // by results of dots and of loads that moved
  llvm::SmallVector<ttng::WarpGroupDotOp, 8> dots_;
};

} // namespace

absl::StatusOr<bool> issueDotsEarly(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  int64_t warps = numWarps(m.op());
  DotsOfBlock::Limits limits{holdableRegisters(*c.target, warps)};
  if (warps == kWarpGroup) limits.readBeforeDots = c.target->tuning.readBeforeDotsRegisters;
  bool changed = false;
  for (auto &op : *m.body()) {
    if (!op.is<tt::FuncOp>()) continue;
    llvm::SetVector<Block *> blocks;
    op.walk([&](Operation *inner) {
      if (inner->is<ttng::WarpGroupDotOp>()) blocks.insert(inner->block());
    });
    if (blocks.empty()) continue;
    RegisterPressure before(&op);
    for (auto *block : blocks) changed |= DotsOfBlock(*block, before, limits).issueEarly();
    if (!limits.readBeforeDots) continue;
    RegisterPressure after(&op);
    for (auto *block : blocks) changed |= DotsOfBlock(*block, after, limits).readBeforeFirstDot();
  }
  return changed;
}

} // namespace tessera::transforms
