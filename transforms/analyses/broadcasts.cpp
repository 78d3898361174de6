// See broadcasts.h.
#include "transforms/analyses/broadcasts.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;

bool isMadeOfBroadcasts(Value v, unsigned depth) {
  constexpr unsigned kDeepest = 8;
  Operation *op = v.definingOp();
  if (!op || depth == kDeepest) return false;
  if (op->is<tt::BroadcastOp>() || makesAnyLayout(op)) return true;
  bool isElementwise = op->info().has(kElementwise) || op->is<arith::SelectOp>() || op->is<ttg::ConvertLayoutOp>();
  return isElementwise && isPure(op) && llvm::all_of(op->operands(), [&](Value o) {
           return !o.type().isTensor() || isMadeOfBroadcasts(o, depth + 1);
         });
}

} // namespace tessera::transforms
