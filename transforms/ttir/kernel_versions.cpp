// Two versions of a kernel's body (see kernel_versions.h).
#include "transforms/ttir/kernel_versions.h"
#include "ir/attribute_names.h"

namespace tessera::transforms {
using namespace ir;

bool canHaveVersions(tt::FuncOp kernel) {
  if (!kernel.body().hasOneBlock()) return false;
  Operation *end = kernel.body().front()->terminator();
  return end->is<tt::ReturnOp>() && !end->numOperands();
}

scf::IfOp makeVersions(tt::FuncOp kernel, llvm::StringRef name, llvm::function_ref<Value(Builder &)> condition,
                       llvm::function_ref<void(Builder &, ValueMap &)> specialize) {
  Block *body = kernel.body().front();
  Operation *end = body->terminator();
  llvm::SmallVector<Operation *, 32> ops;
  for (Operation &op : *body)
    if (&op != end) ops.push_back(&op);

  Builder b(end);
  Location loc = kernel->loc();
  auto versions = scf::IfOp::create(b, loc, {}, condition(b));

  versions->setAttr(kVersionsAttr, StringAttr::get(kernel->context(), name));

  Builder then = Builder::atEnd(versions.thenRegion().addBlock());
  ValueMap map;
  specialize(then, map);
  for (Operation *op : ops) then.clone(op, map);
  scf::YieldOp::create(then, loc, {});

  Builder otherwise = Builder::atEnd(versions.elseRegion().addBlock());
  Operation *yield = scf::YieldOp::create(otherwise, loc, {}).op;
  for (Operation *op : ops) op->moveBefore(yield);
  return versions;
}

Block *versionOf(Operation *op) {
  Operation *around = op->parentOp();
  if (around->is<tt::FuncOp>()) return nullptr;
  for (; !around->parentOp()->is<tt::FuncOp>(); around = around->parentOp()) op = around;
  bool isAllOfBody =
      around->is<scf::IfOp>() && !around->numResults() && around->next() == around->block()->terminator();
  return isAllOfBody ? op->block() : nullptr;
}

std::string nameOfVersion(const Operation *op) {
  for (const Operation *around = op->parentOp(); around; op = around, around = op->parentOp())
    if (auto name = around->attr<StringAttr>(kVersionsAttr))
      return op->parentRegion() == &around->regions().front() ? name.value().str() : "general";
  return "";
}

} // namespace tessera::transforms
