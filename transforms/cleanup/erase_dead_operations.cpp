// Dead code elimination (see erase_dead_operations.h). One walk finds what is dead at once, and the operands of what is
// erased are looked at again: a pass calls this after each of its changes, in a module where few operations are dead.
#include "transforms/cleanup/erase_dead_operations.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

static bool isDead(Operation *op) { return !op->numRegions() && isTriviallyDead(op); }

/// Erases operations, and of what computes their operands what is dead then. They are taken from the end.
static void erase(llvm::SetVector<Operation *> work) {
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    llvm::SmallVector<Value, 4> operands = op->operands().vec();
    op->erase();
    for (Value v : operands)
      if (Operation *def = v.definingOp(); def && isDead(def)) work.insert(def);
  }
}

void eraseDeadOperations(Module &m) {
  llvm::SetVector<Operation *> work; // in the order of the text
  m.op()->walk([&](Operation *op) {
    if (isDead(op)) work.insert(op);
  });
  erase(std::move(work));
}

void eraseDeadOperations(llvm::ArrayRef<Operation *> candidates) {
  llvm::SetVector<Operation *> work;
  for (Operation *op : candidates)
    if (op->block() && isDead(op)) work.insert(op);
  erase(std::move(work));
}

} // namespace tessera::transforms
