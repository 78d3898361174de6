// Values that are only stored (see only_stored.h).
#include "transforms/analyses/only_stored.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

/// Elementwise without side effects: element i of the result depends on element i of the operands alone.
static bool isElementwise(Operation *op) {
  bool elementwise = op->info().has(kElementwise) || op->is<arith::SelectOp>();
  return elementwise && op->numResults() == 1 && op->numRegions() == 0 && isPure(op);
}

static bool isOnlyStored(Value v, llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(v.users(), [&](Operation *user) {
    if (!seen.insert(user).second) return true;
    if (user->is<tt::StoreOp>() || user->is<amdg::BufferStoreOp>()) return true;
    if (!isElementwise(user) || user->result().type().isTensor() != v.type().isTensor()) return false;
    return isOnlyStored(user->result(), seen);
  });
}

bool isOnlyStored(Value v) {
  llvm::DenseSet<Operation *> seen;
  return isOnlyStored(v, seen);
}

} // namespace tessera::transforms
