// What values are computed from in the body of a loop (see body_slice.h).
#include "transforms/analyses/body_slice.h"
#include "ir/loops.h"

namespace tessera::transforms {
using namespace ir;

bool isDefinedOutside(Value v, const Operation *op) { return !op->isAncestorOf(v.parentBlock()->parentOp()); }

Operation *addToSlice(BodySlice &slice, const Block &body, llvm::ArrayRef<Value> values, Across across,
                      llvm::function_ref<bool(Operation *)> mayContain) {
  llvm::SmallVector<Value, 16> work(values.begin(), values.end());
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (v.isBlockArgument()) {
      auto c = v.ownerBlock() == &body ? carriedByArgument(v) : std::nullopt;
      bool isNew = c && slice.carried.insert(c->index);
      if (isNew && across == Across::Iterations) work.push_back(c->yielded);
      continue;
    }
    Operation *def = v.definingOp();
    if (def->block() != &body || slice.operations.contains(def)) continue;
    if (!mayContain(def)) return def;
    slice.operations.insert(def);
    // A branch also needs what its operations use; its own values are in other blocks.
    def->walk([&](Operation *op) { work.append(op->operands().begin(), op->operands().end()); });
  }
  return nullptr;
}

} // namespace tessera::transforms
