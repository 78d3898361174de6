// Pass tritongpu-reorder-instructions: operands of dots are loaded from shared memory just before the dot, with the
// elementwise operations in between, to reduce register pressure.
// Runs: NVIDIA and AMD pipelines.
//
//   %a = ttg.local_load %m                      %x = ttg.convert_layout …
//   %x = ttg.convert_layout …             →     %a = ttg.local_load %m
//   %y = tt.dot %a, …, %x                       %y = tt.dot %a, …, %x
//
// A thread has whole rows and columns of the operands, often more than it has registers. Assemblers schedule loads late
// by themselves, but not across a barrier, such as the one in a conversion through memory: the dot of 64 x 64 x 64 of
// f32 above, by fma in 128 threads for sm_90a, spilled 7 KiB per thread and took 30 times as long on an H200.
//
// 1. An operand that is loaded before a loop and used by a dot of every iteration is loaded in the loop, if registers
//    are scarce there.
// 2. Other loads stay in their block, and do not move past operations that may write their buffer, free memory or
//    synchronise. A wait for copies does not stop them: it only makes more of them visible. Values that other dots use
//    again are loaded first.
// 3. A conversion moves after the ends of buffers (local_dealloc) that are between it and its first user, so that it
//    can use their shared memory; and to its first user, if its source lives until then anyway.
// 4. An operand of several dots by fma is loaded for each of them, if registers are scarce between them: such a dot
//    reads its operands in parts, and only what ends with the dot need not be held as a whole. Each repeat is undone by
//    itself if the buffers do not fit. Targets whose scheduler takes limits (TargetInfo::hasScheduleBarriers), which
//    keep the parts apart.
// 5. A buffer is filled after the first asynchronous copies of the loop that follows: attention loads a block of
//    queries and writes it to shared memory once it has arrived. The copies of keys and values, which assemblers do not
//    move across, need not wait for that.
//
// All moves of the first three are undone if a block's shared memory would no longer hold all buffers, since they live
// longer. Other loads and conversions stay where they are: LLVM and ptxas schedule every instruction between barriers
// again.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The first user in the operation's own block (a user inside a region counts as the operation that has the region);
/// null if there is none, or if a user is in another block.
Operation *firstUser(Operation *op) {
  Operation *first = nullptr;
  for (auto r : op->results())
    for (auto *user : r.users()) {
      while (user && user->block() != op->block()) user = user->parentOp();
      if (!user) return nullptr;
      if (!first || user->isBeforeInBlock(first)) first = user;
    }
  return first;
}

bool isAllocation(Value root) { return bool(root.definedBy<ttg::LocalAllocOp>()); }

/// Whether a load from `root` (memdescRoot) must not move past the operation.
bool stopsLoad(Operation *op, Value root) {
  if (op->is<ttg::AsyncWaitOp>()) return false;
  uint8_t effects = effectsOf(op);
  if (op->is<ttg::LocalDeallocOp>() || (effects & kSynchronizes)) return true;
  if (!(effects & kWritesShared)) return false;
  if (op->is<ttg::LocalAllocOp>()) return false; // writes a buffer of its own
  if (op->numRegions() || !isAllocation(root)) return true;
  return llvm::any_of(op->operands(), [&](Value v) {
    if (!v.type().isa<MemDescType>()) return false;
    Value written = memdescRoot(v);
    return written == root || !isAllocation(written);
  });
}

/// Whether the value is used at or after `at` in its block.
bool livesTo(Value v, Operation *at) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    while (user && user->block() != at->block()) user = user->parentOp();
    return user && (user == at || at->isBeforeInBlock(user));
  });
}

bool isAsynchronousCopy(Operation *op) {
  return op->is<ttg::AsyncCopyGlobalToLocalOp>() || op->is<ttng::AsyncTmaCopyGlobalToLocalOp>();
}

/// 5. Moves the allocation that a value fills, and views of it, behind the first copies of the loop that follows in its
/// block; whether there were any.
bool fillAfterCopies(ttg::LocalAllocOp alloc) {
  llvm::SmallVector<Operation *, 4> moved = {alloc.op};
  Operation *before = nullptr; // the operation after the last copy
  Operation *op = alloc->next();
  for (; !op->numRegions(); op = op->next()) {
    bool uses = llvm::any_of(
        op->operands(), [&](Value v) { return !v.isBlockArgument() && llvm::is_contained(moved, v.definingOp()); });
    if (uses && isMemdescView(op))
      moved.push_back(op);
    else if (uses || op->info().has(kTerminator) || (effectsOf(op) & kSynchronizes))
      return false;
    if (isAsynchronousCopy(op) || (before && op->is<ttg::AsyncCommitGroupOp>())) before = op->next();
  }
  if (!before || op->is<scf::IfOp>()) return false;
  for (auto *m : moved)
    if (m->isBeforeInBlock(before)) m->moveBefore(before);
  return true;
}

class LateOperands {
public:
  LateOperands(Operation *func, const TargetInfo *target) : func_(func), target_(target), pressure_(func) {
    if (target) usableRegisters_ = usableRegisters(*target, numWarps(func->module().op()));
  }

  bool run() {
    if (target_ && target_->hasScheduleBarriers) {
      llvm::SmallVector<ttg::LocalLoadOp, 16> shared;
      func_->walk([&](Operation *op) {
        if (auto load = op->dyn<ttg::LocalLoadOp>(); load && isOfFmaDots(load)) shared.push_back(load);
      });
      for (auto load : shared) loadForEach(load);
    }
    llvm::SmallVector<Operation *, 32> all;
    func_->walk([&](Operation *op) {
      if (op->is<ttg::LocalLoadOp>() || op->is<ttg::ConvertLayoutOp>()) all.push_back(op);
    });
    // Users first: what comes first in the text moves last.
    for (auto *op : llvm::reverse(all)) {
      if (auto convert = op->dyn<ttg::ConvertLayoutOp>())
        convertLate(convert);
      else if (auto load = op->cast<ttg::LocalLoadOp>(); !loadInLoop(load))
        loadLate(load);
    }
    if (!moved_.empty() && !buffersFit()) undo();
    return !moved_.empty() || repeats_;
  }

private:
  /// Whether the block can have the memory: buffers live longer now.
  bool buffersFit() const {
    return !target_ || sharedBytesDuring(func_, {}, *target_) <= target_->sharedMemoryPerBlock;
  }

  bool registersAreScarce(Operation *from, Operation *to) const {
    return pressure_.highest(from, to) > usableRegisters_;
  }

  /// The load and the elementwise operations from it to dots; empty if they serve anything else. `user`: the first dot.
  static llvm::SmallVector<Operation *, 4> chainToDots(Operation *load, Operation *&user) {
    llvm::SmallVector<Operation *, 4> chain = {load};
    while (true) {
      Operation *last = chain.back();
      user = firstUser(last);
      if (!user || user->block() != load->block()) return {};
      if (llvm::all_of(last->result().users(), isDot)) return chain;
      bool isElementwise = user->numOperands() == 1 && user->info().has(kElementwise) && isPure(user);
      if (!last->result().hasOneUse() || !isElementwise) return {};
      chain.push_back(user);
    }
  }

  /// 2.
  void loadLate(ttg::LocalLoadOp load) {
    Operation *user = nullptr;
    auto chain = chainToDots(load.op, user);
    if (chain.empty() || !registersAreScarce(load.op, user)) return;
    Operation *before = user;
    Value root = memdescRoot(load.src());
    for (auto *at = load->next(); at != before; at = at->next())
      if (stopsLoad(at, root)) {
        before = at;
        break;
      }
    bool isStopped = before != user;
    if (isStopped) chain.resize(1);
    // A value that lives on beyond the dot is loaded before those that end with it.
    bool livesOn = !chain.back()->result().hasOneUse();
    if (!isStopped && livesOn) {
      auto endsWithDot = [&](Operation *op) {
        return op->is<ttg::LocalLoadOp>() && op->result().hasOneUse() && op->result().users().front() == user;
      };
      for (auto *at = user->prev(); at && at != load.op && endsWithDot(at); at = at->prev()) before = at;
    }
    for (auto *op : chain) move(op, before);
  }

  /// 1. The buffer must hold one value from its beginning to its end.
  bool loadInLoop(ttg::LocalLoadOp load) {
    if (!load.result().hasOneUse()) return false;
    Operation *user = load.result().users().front();
    Operation *loop = user->parentOp();
    bool isLoopAfter = loop->is<scf::ForOp>() && loop->block() == load->block();
    bool isHeld = user->is<ttng::WarpGroupDotOp>(); // see hold-dot-operands: it would read shared memory by itself
    if (!isDot(user) || isHeld || !isLoopAfter) return false;
    auto buffer = load.src().definedBy<ttg::LocalAllocOp>();
    bool isConstant = buffer && buffer.src() && !buffer.result().type().cast<MemDescType>().isMutable();
    if (!isConstant || !registersAreScarce(loop, loop)) return false;
    move(load.op, user);
    return true;
  }

  /// 3.
  void convertLate(ttg::ConvertLayoutOp convert) {
    Operation *user = firstUser(convert.op);
    if (!user) return;
    Operation *lastEnd = nullptr;
    for (auto *at = convert->next(); at != user; at = at->next())
      if (at->is<ttg::LocalDeallocOp>()) lastEnd = at;
    if (lastEnd) move(convert.op, lastEnd->next());
    if (livesTo(convert.src(), user) && registersAreScarce(convert.op, user)) move(convert.op, user);
  }

  /// Whether several dots by fma, in the load's block, are all that use it.
  static bool isOfFmaDots(ttg::LocalLoadOp load) {
    auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(load.result().type().cast<TensorType>().encoding());
    bool isOfFma = operand && operand->parent()->kind() == layouts::EncodingKind::Blocked;
    return isOfFma && !load.result().hasOneUse() &&
           llvm::all_of(load.result().users(), [&](Operation *u) { return isDot(u) && u->block() == load->block(); });
  }

  /// 4. The buffer must still hold the value at each of the dots.
  void loadForEach(ttg::LocalLoadOp load) {
    llvm::SmallVector<Operation *, 4> dots;
    for (Operation *user : load.result().users())
      if (!llvm::is_contained(dots, user)) dots.push_back(user);
    llvm::sort(dots, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    if (!registersAreScarce(load.op, dots.back())) return;
    Value root = memdescRoot(load.src());
    for (auto *at = load->next(); at != dots.back(); at = at->next())
      if (stopsLoad(at, root)) return;
    llvm::SmallVector<Operation *, 4> repeated;
    for (Operation *dot : llvm::drop_begin(dots)) {
      Operation *again = Builder(dot).clone(load.op);
      for (unsigned i = 0; i < dot->numOperands(); ++i)
        if (dot->operand(i) == load.result()) dot->setOperand(i, again->result());
      repeated.push_back(again);
    }
    if (buffersFit()) {
      repeats_ = true;
      return;
    }
    for (Operation *again : repeated) {
      again->result().replaceAllUsesWith(load.result());
      again->erase();
    }
  }

  void move(Operation *op, Operation *before) {
    if (op->next() == before) return;
    moved_.push_back({op, op->next()});
    op->moveBefore(before);
  }
  void undo() {
    for (auto [op, next] : llvm::reverse(moved_)) op->moveBefore(next);
    moved_.clear();
  }

  Operation *func_;
  const TargetInfo *target_;
  RegisterPressure pressure_;                                        // before anything moved
  int64_t usableRegisters_ = 0;                                      // of a thread
  llvm::SmallVector<std::pair<Operation *, Operation *>, 16> moved_; // with the operation that followed
  bool repeats_ = false;
};

} // namespace

absl::StatusOr<bool> reorderInstructions(Module &m, PassContext &c) {
  bool changed = false;
  for (auto alloc : collect<ttg::LocalAllocOp>(m.op()))
    if (alloc.src()) changed |= fillAfterCopies(alloc);
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>()) changed |= LateOperands(&op, c.target).run();
  return changed;
}

} // namespace tessera::transforms
