// Dead code elimination (see erase_dead_operations.h).
#include "transforms/cleanup/erase_dead_operations.h"
#include "ir/op_table.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

/// One walk. An operation is visited before its later users, so that the caller repeats it.
static bool eraseDead(Module &m) {
  bool erased = false;
  m.op()->walkPostOrder([&](Operation *op) {
    bool isNested = op->block() && op->parentOp(); // not the module itself
    if (op->numRegions() || !isNested || !isTriviallyDead(op)) return;
    op->erase();
    erased = true;
  });
  return erased;
}

void eraseDeadOperations(Module &m) {
  while (eraseDead(m)) {
  }
}

} // namespace tessera::transforms
