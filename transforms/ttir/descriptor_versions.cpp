// Two versions of kernels with descriptor arguments (see descriptor_versions.h).
#include "transforms/ttir/descriptor_versions.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"

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
  if (!kernel.body().hasOneBlock()) return false;
  Block *body = kernel.body().front();
  Operation *end = body->terminator();
  if (!end->is<tt::ReturnOp>() || end->numOperands()) return false;

  llvm::SmallVector<Value, 8> descriptors;
  bool profits = false;
  for (unsigned i = 0; i < body->numArgs(); ++i) {
    auto type = body->arg(i).type().dyn_cast<TensorDescType>();
    bool becomesPointers = type && !type.encoding();
    if (!becomesPointers || body->arg(i).useEmpty()) continue;
    descriptors.push_back(body->arg(i));
    profits |= llvm::any_of(body->arg(i).users(), profitsFromVectors);
  }
  if (!profits) return false;

  llvm::SmallVector<Operation *, 32> ops;
  for (Operation &op : *body)
    if (&op != end) ops.push_back(&op);

  Builder b(end);
  Location loc = kernel->loc();
  auto mark = b.named(kFastDescriptorAttr, UnitAttr::get(b.context()));
  Value fast = builtin::UnrealizedConversionCastOp::create(b, loc, {b.context().i1()}, descriptors, {mark})->result(0);
  auto versions = scf::IfOp::create(b, loc, {}, fast);

  Builder then = Builder::atEnd(versions.thenRegion().addBlock());
  ValueMap map;
  for (Value d : descriptors)
    map.map(d, builtin::UnrealizedConversionCastOp::create(then, loc, {d.type()}, {d}, {mark})->result(0));
  for (Operation *op : ops) then.clone(op, map);
  scf::YieldOp::create(then, loc, {});

  Builder otherwise = Builder::atEnd(versions.elseRegion().addBlock());
  Operation *yield = scf::YieldOp::create(otherwise, loc, {}).op;
  for (Operation *op : ops) {
    op->moveBefore(yield);
    op->walk([&](Operation *inner) {
      if (inner->is<scf::ForOp>() && !isServedByTma(inner))
        inner->setAttr(kNumStagesAttr, IntegerAttr::getI32(b.context(), 1));
    });
  }
  return true;
}

} // namespace tessera::transforms
