// Dead code elimination (see erase_dead_operations.h). One walk finds what is dead at once, and the operands of what is
// erased are looked at again: a pass calls this after each of its changes, in a module where few operations are dead.
#include "transforms/cleanup/erase_dead_operations.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

void eraseDeadOperations(Module &m) {
  // In the order of the text; taken from the end.
  llvm::SetVector<Operation *> work;
  auto add = [&](Operation *op) {
    if (!op->numRegions() && isTriviallyDead(op)) work.insert(op);
  };
  m.op()->walk(add);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    llvm::SmallVector<Value, 4> operands = op->operands().vec();
    op->erase();
    for (Value v : operands)
      if (Operation *def = v.definingOp()) add(def);
  }
}

} // namespace tessera::transforms
