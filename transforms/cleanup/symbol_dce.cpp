// Pass symbol-dce: drops private functions that are never called. Dropping one may leave another without calls, so this
// repeats.
//
//   tt.func private @f(…) { … }                          (no tt.call @f)
//   tt.func public @kernel(…) { … }               →      tt.func public @kernel(…) { … }
//
// Runs: TTIR, NVIDIA pipeline, AMD pipeline.
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

/// Drops those that nothing calls now.
static bool dropUncalled(Module &m) {
  llvm::DenseSet<llvm::StringRef> called;
  m.op()->walk([&](Operation *op) {
    if (auto call = op->dyn<tt::CallOp>()) called.insert(call.callee());
  });
  bool changed = false;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.symVisibility() != "private" || called.contains(f.symName())) continue;
    op.erase();
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> symbolDce(Module &m, PassContext &) {
  bool changed = false;
  while (dropUncalled(m)) changed = true;
  return changed;
}

} // namespace tessera::transforms
