// Where a pointer comes from, by following its definitions.
#include "transforms/analyses/pointer_root.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

Value pointerRoot(Value v) {
  for (int steps = 0; steps < 1000; ++steps) {
    if (Operation *def = v.definingOp()) {
      bool sameMemory = def->is<tt::AddptrOp>() || def->is<tt::SplatOp>() || def->is<tt::BroadcastOp>() || def->is<tt::ExpandDimsOp>() || def->is<tt::ReshapeOp>() || def->is<tt::TransOp>() ||
                        def->is<tt::BitcastOp>() || def->is<ttg::ConvertLayoutOp>();
      if (sameMemory) v = def->operand(0);
      else if (auto loop = def->dyn<scf::ForOp>()) v = loop.initArgs()[v.index()];
      else return v;
      continue;
    }
    Operation *parent = v.ownerBlock()->parentOp();
    auto loop = parent ? parent->dyn<scf::ForOp>() : scf::ForOp();
    if (!loop || v.index() == 0) return v;
    v = loop.initArgs()[v.index() - 1];
  }
  return v;
}

bool reachDifferentMemory(Value a, Value b) {
  auto argument = [](Value v) { return v.isBlockArgument() && v.ownerBlock()->parentOp() && v.ownerBlock()->parentOp()->is<tt::FuncOp>() && v.ownerBlock() == v.ownerBlock()->parentOp()->region(0).front(); };
  a = pointerRoot(a), b = pointerRoot(b);
  return a != b && argument(a) && argument(b);
}

} // namespace tessera::transforms
