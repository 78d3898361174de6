// Loop-invariant code motion: operations without effects whose operands are defined outside a loop are moved before it.
//
//   scf.for %i = … {                         %s = tt.splat %n : i32 -> tensor<64xi32>
//     %s = tt.splat %n : …             →     scf.for %i = … {
//     …                                        …
//
// Innermost loops first, so that code can climb several levels. Integer division by zero does not trap on either
// vendor's hardware, so it may move too. A load moves only out of a loop that is known to run and writes no memory.
#include "ir/op_table.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

static bool definedOutside(Value v, Operation *loop) {
  for (Operation *p = v.parentBlock()->parentOp(); p; p = p->parentOp())
    if (p == loop) return false;
  return true;
}

static bool runsAtLeastOnce(Operation *loop) {
  auto f = loop->dyn<scf::ForOp>();
  if (!f) return false;
  auto lo = intConstantOf(f.lowerBound()), hi = intConstantOf(f.upperBound());
  return lo && hi && *lo < *hi;
}

static bool hoist(Operation *loop) {
  bool changed = false, writes = effectsOf(loop) & (kWritesGlobal | kSynchronizes);
  for (auto &r : loop->regions())
    for (auto *b = r.front(); b; b = b->next()) {
      if (b != r.front()) continue; // further blocks may not run
      for (auto &op : *b) {
        if (op.info().has(kTerminator) || (op.numRegions() && !op.is<tt::ReduceOp>())) continue;
        uint8_t e = effectsOf(&op);
        bool load = op.is<tt::LoadOp>() && !(e & ~kReadsGlobal) && !writes && runsAtLeastOnce(loop);
        if (e != 0 && !load) continue;
        if (loop->is<scf::WhileOp>() && &r == &loop->region(1) && load) continue;
        bool invariant = true;
        for (auto v : op.operands()) invariant &= definedOutside(v, loop);
        if (op.numRegions())
          op.walk([&](Operation *inner) {
            for (auto v : inner->operands()) invariant &= definedOutside(v, loop) || !definedOutside(v, &op);
          });
        if (!invariant) continue;
        op.moveBefore(loop);
        changed = true;
      }
    }
  return changed;
}

absl::StatusOr<bool> loopInvariantCodeMotion(Module &m, PassContext &) {
  bool changed = false;
  m.op()->walkPostOrder([&](Operation *op) {
    if (op->is<scf::ForOp>() || op->is<scf::WhileOp>()) changed |= hoist(op);
  });
  return changed;
}

} // namespace tessera::transforms
