// Values that are only stored (see only_stored.h).
#include "transforms/analyses/only_stored.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

static bool isOnlyStored(Value v, llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(v.users(), [&](Operation *user) {
    if (!seen.insert(user).second) return true;
    if (user->is<tt::StoreOp>() || user->is<amdg::BufferStoreOp>()) return true;
    bool keepsElements = (isElementwise(user) || user->is<arith::SelectOp>()) && isPure(user);
    if (!keepsElements || user->result().type().isTensor() != v.type().isTensor()) return false;
    return isOnlyStored(user->result(), seen);
  });
}

bool isOnlyStored(Value v) {
  llvm::DenseSet<Operation *> seen;
  return isOnlyStored(v, seen);
}

} // namespace tessera::transforms
