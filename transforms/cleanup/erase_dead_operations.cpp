// Dead code elimination (see erase_dead_operations.h). Users are visited before the operations that they use, so that
// chains of dead operations go in one walk.
#include "transforms/cleanup/erase_dead_operations.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

void eraseDeadOperations(Module &m) {
  // In the order of the text; taken from the end.
  llvm::SetVector<Operation *> work;
  m.op()->walk([&](Operation *op) {
    if (!op->numRegions()) work.insert(op);
  });
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!isTriviallyDead(op)) continue;
    llvm::SmallVector<Value, 4> operands = op->operands().vec();
    op->erase();
    // Most are still in the list. A user in an earlier block of the text has had its operands visited before it.
    for (Value v : operands)
      if (Operation *def = v.definingOp(); def && !def->numRegions()) work.insert(def);
  }
}

} // namespace tessera::transforms
