// Reordering for register pressure: what a multiplication reads from shared memory is loaded just before it, with the
// elementwise operations on the way.
//
//   %a = ttg.local_load %m                      %x = ttg.convert_layout …
//   %x = ttg.convert_layout …             →     %a = ttg.local_load %m
//   %y = tt.dot %a, …, %x                       %y = tt.dot %a, …, %x
//
// A thread has whole rows and columns of the operands, often more than it has registers, and an assembler that
// schedules loads late by itself does not take them across a barrier, such as a conversion through memory has: the 64
// × 64 × 64 product of f32 above, by fma in 128 threads for sm_90a, spilled 7 KiB a thread and took 30 times as long
// on an H200.
//
// A value that a loop multiplies by in every iteration, and that takes more registers than it can have for so long,
// is loaded in the loop. Otherwise loads stay in their block, above what may write their buffer, gives memory back or
// orders threads; a wait for copies does not stop them, since it only makes more of them visible. What other
// multiplications read again comes first. Nothing moves if a block's shared memory would no longer hold all buffers,
// which live longer.
//
// A conversion is made behind the buffers' ends (local_dealloc) that stand between it and its first user, so that its
// own shared memory may be theirs. Other loads and conversions stay where they are: LLVM's schedulers and ptxas place
// every instruction between barriers again.
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

/// The first user in the operation's own block (a user inside a region counts where the region's operation stands), or
/// null if there is none or a user is elsewhere.
static Operation *firstUser(Operation *op) {
  Operation *first = nullptr;
  for (auto r : op->results())
    for (auto *user : r.users()) {
      while (user && user->block() != op->block()) user = user->parentOp();
      if (!user) return nullptr;
      if (!first || user->isBeforeInBlock(first)) first = user;
    }
  return first;
}

/// What a view is a part of: a buffer, or a value whose buffer is not known (an argument, what an operation chose).
static Value rootOf(Value memory) {
  while (auto *op = memory.definingOp()) {
    if (!op->numOperands() || !op->operand(0).type().isa<MemDescType>() || !isPure(op)) break;
    memory = op->operand(0);
  }
  return memory;
}

static bool isBuffer(Value root) { return root.definingOp() && root.definingOp()->is<ttg::LocalAllocOp>(); }

/// Whether a load of `root` may not be made behind that operation instead of before it.
static bool stops(Operation *op, Value root) {
  if (op->is<ttg::AsyncWaitOp>()) return false;
  uint8_t effects = effectsOf(op);
  if (op->is<ttg::LocalDeallocOp>() || (effects & kSynchronizes)) return true;
  if (!(effects & kWritesShared)) return false;
  if (op->is<ttg::LocalAllocOp>()) return false; // writes memory that nobody else has
  if (op->numRegions() || !isBuffer(root)) return true;
  return llvm::any_of(op->operands(), [&](Value v) {
    if (!v.type().isa<MemDescType>()) return false;
    Value other = rootOf(v);
    return other == root || !isBuffer(other);
  });
}

/// Whether an operand, or the operation's own result, is used at or behind `at` in its block anyway.
static bool livesTo(Value v, Operation *at) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    while (user && user->block() != at->block()) user = user->parentOp();
    return user && (user == at || at->isBeforeInBlock(user));
  });
}

class OperandsLate {
public:
  OperandsLate(Operation *func, const TargetInfo *target) : func_(func), target_(target), pressure_(func) {
    if (target) limit_ = registersPerThread(*target, numWarps(func->module().op()) * target->warpSize);
  }

  bool run() {
    llvm::SmallVector<Operation *, 32> all;
    func_->walk([&](Operation *op) {
      if (op->is<ttg::LocalLoadOp>() || op->is<ttg::ConvertLayoutOp>()) all.push_back(op);
    });
    // Users first: what comes first in the text is made last.
    for (auto *op : llvm::reverse(all)) {
      if (op->is<ttg::ConvertLayoutOp>())
        convertLate(op);
      else if (!loadInLoop(op))
        loadLate(op);
    }
    // The buffers live longer now.
    if (!moved_.empty() && target_ && sharedBytesDuring(func_, {}, *target_) > target_->sharedMemoryPerBlock) undo();
    return !moved_.empty();
  }

private:
  /// Whether registers are scarce somewhere between the two: with a quarter left for indices and what is not counted.
  bool scarce(Operation *from, Operation *to) const { return pressure_.highest(from, to) * 4 > limit_ * 3; }

  /// The load and the elementwise operations from it to multiplications, if it serves nothing else.
  void loadLate(Operation *load) {
    llvm::SmallVector<Operation *, 4> chain = {load};
    Operation *user = nullptr;
    for (;;) {
      user = firstUser(chain.back());
      if (!user || user->block() != load->block()) return;
      if (llvm::all_of(chain.back()->result().users(), isDot)) break;
      if (!chain.back()->result().hasOneUse() || user->numOperands() != 1 || !user->info().has(kElementwise) ||
          !isPure(user))
        return;
      chain.push_back(user);
    }
    if (!scarce(load, user)) return;
    Operation *before = user;
    Value root = rootOf(load->operand(0));
    for (auto *at = load->next(); at != before; at = at->next())
      if (stops(at, root)) {
        before = at;
        break;
      }
    if (before != user) chain.resize(1);
    // What lives on beyond the multiplication goes in front of what ends with it.
    if (before == user && !chain.back()->result().hasOneUse())
      for (auto *at = user->prev(); at && at != load && at->is<ttg::LocalLoadOp>() && at->result().hasOneUse() &&
                                    at->result().users().front() == user;
           at = at->prev())
        before = at;
    for (auto *op : chain) move(op, before);
  }

  /// A load outside a loop whose body alone uses the value, as an operand of a multiplication: every iteration can
  /// read it. The buffer holds one value from its beginning to its end.
  bool loadInLoop(Operation *load) {
    if (!load->result().hasOneUse()) return false;
    Operation *user = load->result().users().front(), *loop = user->parentOp();
    auto buffer = load->operand(0).definedBy<ttg::LocalAllocOp>();
    if (!isDot(user) || !loop->is<scf::ForOp>() || loop->block() != load->block() || !buffer || !buffer.src() ||
        buffer.result().type().cast<MemDescType>().isMutable())
      return false;
    if (!scarce(loop, loop)) return false;
    move(load, user);
    return true;
  }

  /// A conversion whose source is in registers until then anyway, or one before the end of buffers.
  void convertLate(Operation *op) {
    Operation *user = firstUser(op), *end = nullptr;
    if (!user) return;
    for (auto *at = op->next(); at != user; at = at->next())
      if (at->is<ttg::LocalDeallocOp>()) end = at;
    if (end) move(op, end->next());
    if (livesTo(op->operand(0), user) && scarce(op, user)) move(op, user);
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
  int64_t limit_ = 0;                                                // registers of a thread
  llvm::SmallVector<std::pair<Operation *, Operation *>, 16> moved_; // and what came behind it
};

absl::StatusOr<bool> reorderInstructions(Module &m, PassContext &c) {
  bool changed = false;
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>()) changed |= OperandsLate(&op, c.target).run();
  return changed;
}

} // namespace tessera::transforms
