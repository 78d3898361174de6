// Values that are only stored (see only_stored.h).
#include "transforms/analyses/only_stored.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

static bool isOnlyStored(Value v, llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(v.users(), [&](Operation *user) {
    if (!seen.insert(user).second) return true;
    if (user->is<tt::StoreOp>() || user->is<amdg::BufferStoreOp>()) return true;
    bool same = user->numResults() == 1 && user->numRegions() == 0 &&
                (user->info().has(kElementwise) || user->is<arith::SelectOp>()) && isPure(user);
    return same && user->result().type().isTensor() == v.type().isTensor() && isOnlyStored(user->result(), seen);
  });
}

bool isOnlyStored(Value v) {
  llvm::DenseSet<Operation *> seen;
  return isOnlyStored(v, seen);
}

} // namespace tessera::transforms
