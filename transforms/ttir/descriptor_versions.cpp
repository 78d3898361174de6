// Two versions of kernels with descriptor arguments (see descriptor_versions.h).
#include "transforms/ttir/descriptor_versions.h"
#include "ir/attribute_names.h"
#include "transforms/ttir/kernel_versions.h"

namespace tessera::transforms {
using namespace ir;

/// Whether vectors are of use for an operation that has the descriptor. Atomics take an element at a time, and so does
/// a load whose value they take: it gets their layout.
static bool profitsFromVectors(Operation *op) {
  if (op->is<tt::DescriptorReduceOp>()) return false;
  auto load = op->dyn<tt::DescriptorLoadOp>();
  return !load ||
         !llvm::all_of(load.result().users(), [](Operation *user) { return user->is<tt::DescriptorReduceOp>(); });
}

/// Whether TMA serves all accesses of the loop by descriptors, and there are any.
static bool isServedByTma(Operation *loop) {
  bool usesTensorMaps = false;
  bool usesPointers = false;
  loop->walk([&](Operation *op) {
    for (Value v : op->operands())
      if (auto type = v.type().dyn_cast<TensorDescType>()) (type.encoding() ? usesTensorMaps : usesPointers) = true;
  });
  return usesTensorMaps && !usesPointers;
}

bool makeDescriptorVersions(tt::FuncOp kernel) {
  Block *body = bodyForVersions(kernel);
  if (!body) return false;
  llvm::SmallVector<Value, 8> descriptors;
  bool profits = false;
  for (Value argument : kernel.body().front()->args()) {
    auto type = argument.type().dyn_cast<TensorDescType>();
    bool becomesPointers = type && !type.encoding();
    if (!becomesPointers || argument.useEmpty()) continue;
    descriptors.push_back(argument);
    profits |= llvm::any_of(argument.users(), profitsFromVectors);
  }
  if (!profits) return false;

  Location loc = kernel->loc();
  Context &c = kernel->module().context();
  auto cast = [&](Builder &b, Type result, llvm::ArrayRef<Value> from) {
    auto mark = b.named(kFastDescriptorAttr, UnitAttr::get(c));
    return builtin::UnrealizedConversionCastOp::create(b, loc, {result}, from, {mark})->result(0);
  };
  auto versions = makeVersions(
      body, "fast", [&](Builder &b) { return cast(b, c.i1(), descriptors); },
      [&](Builder &then, ValueMap &map) {
        for (Value d : descriptors) map.map(d, cast(then, d.type(), {d}));
      });
  for (Operation &op : *versions.elseRegion().front())
    op.walk([&](Operation *inner) {
      if (inner->is<scf::ForOp>() && !isServedByTma(inner)) inner->setAttr(kNumStagesAttr, IntegerAttr::getI32(c, 1));
    });
  return true;
}

} // namespace tessera::transforms
