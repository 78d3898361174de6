// Reordering for register pressure: what a multiplication reads from shared memory is loaded just before it, with the
// elementwise operations on the way.
//
//   %a = ttg.local_load %m                      %x = ttg.convert_layout …
//   %x = ttg.convert_layout …             →     %a = ttg.local_load %m
//   %y = tt.dot %a, …, %x                       %y = tt.dot %a, …, %x
//
// A thread has whole rows and columns of the operands, often more than it has registers, and an assembler that schedules
// loads late by itself does not take them across a barrier, such as a conversion through memory has: the 64 × 64 × 64
// product of f32 above, by fma in 128 threads for sm_90a, spilled 7 KiB a thread and took 30 times as long on an H200.
//
// A value that a loop multiplies by in every iteration, and that takes more registers than it can have for so long, is
// loaded in the loop. Otherwise loads stay in their block, above what may write their buffer, gives memory back or orders
// threads; a wait for copies does not stop them, since it only makes more of them visible. Nothing moves if a block's
// shared memory would no longer hold all buffers, which live longer. Other loads and conversions stay where they are:
// LLVM's schedulers and ptxas place every instruction between barriers again.
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "transforms/shared_allocation.h"
#include "llvm/ADT/DenseSet.h"

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

static bool isMultiplication(Operation *op) { return op->is<tt::DotOp>() || op->is<ttng::WarpGroupDotOp>(); }

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

/// Registers of 32 bits that a value takes in each thread.
static int64_t registersOf(Value v) {
  auto type = v.type().cast<TensorType>();
  auto &layout = type.encoding()->layoutOf(type.shape());
  return layout.ok() ? layout->inDimSize(layouts::Dim::Register) * std::max<int64_t>(8, type.element().bitWidth()) / 32 : 0;
}

/// A loop whose body alone uses the value of a load, as an operand of a multiplication that would hold more registers
/// through all iterations than reading it in each is worth. The buffer holds one value from its beginning to its end.
static Operation *userInLoop(Operation *op) {
  if (!op->is<ttg::LocalLoadOp>() || !op->result().hasOneUse()) return nullptr;
  Operation *user = op->result().users().front(), *loop = user->parentOp();
  auto buffer = op->operand(0).definedBy<ttg::LocalAllocOp>();
  if (!isMultiplication(user) || !loop->is<scf::ForOp>() || loop->block() != op->block() || !buffer || !buffer.src() || buffer.result().type().cast<MemDescType>().isMutable()) return nullptr;
  bool fma = user->result().type().cast<TensorType>().encoding()->kind() == layouts::EncodingKind::Blocked;
  return registersOf(op->result()) > (fma ? 32 : 128) ? user : nullptr;
}

/// Whether an operation's own result, or an operand, is used at or behind `at` in the block anyway.
static bool livesTo(Value v, Operation *at) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    while (user && user->block() != at->block()) user = user->parentOp();
    return user && (user == at || at->isBeforeInBlock(user));
  });
}

class OperandsLate {
public:
  bool run(Operation *func, const TargetInfo *target) {
    llvm::SmallVector<Operation *, 32> all;
    func->walk([&](Operation *op) {
      if (op->is<ttg::LocalLoadOp>() || op->is<ttg::ConvertLayoutOp>() || (op->numOperands() == 1 && op->info().has(kElementwise) && isPure(op) && op->result().type().isTensor())) all.push_back(op);
    });
    // Users first, so that a chain moves together and keeps its order.
    llvm::DenseSet<Operation *> late; // of a multiplication's operand only
    for (auto *op : llvm::reverse(all)) {
      if (Operation *user = userInLoop(op)) {
        moved_.push_back({op, op->next()});
        op->moveBefore(user);
        continue;
      }
      Operation *user = firstUser(op);
      if (op->is<ttg::ConvertLayoutOp>()) {
        if (user && livesTo(op->operand(0), user)) sink(op, user);
        continue;
      }
      if (!user || !llvm::all_of(op->result().users(), [&](Operation *u) { return u->block() == op->block() && (isMultiplication(u) || late.contains(u)); })) continue;
      late.insert(op);
      sink(op, user);
    }
    // The buffers live longer now.
    if (!moved_.empty() && target && sharedBytesDuring(func, {}, *target) > target->sharedMemoryPerBlock) undo();
    return !moved_.empty();
  }

private:
  void sink(Operation *op, Operation *before) {
    if (op->is<ttg::LocalLoadOp>()) {
      Value root = rootOf(op->operand(0));
      for (auto *at = op->next(); at != before; at = at->next())
        if (stops(at, root)) {
          before = at;
          break;
        }
    }
    if (op->next() == before) return;
    moved_.push_back({op, op->next()});
    op->moveBefore(before);
  }
  void undo() {
    for (auto [op, next] : llvm::reverse(moved_)) op->moveBefore(next);
    moved_.clear();
  }

  llvm::SmallVector<std::pair<Operation *, Operation *>, 16> moved_; // and what came behind it
};

absl::StatusOr<bool> reorderInstructions(Module &m, PassContext &c) {
  bool changed = false;
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>()) changed |= OperandsLate().run(&op, c.target);
  return changed;
}

} // namespace tessera::transforms
