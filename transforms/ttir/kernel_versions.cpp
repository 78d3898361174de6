// Two versions of a kernel's body (see kernel_versions.h).
#include "transforms/ttir/kernel_versions.h"
#include "ir/attribute_names.h"

namespace tessera::transforms {
using namespace ir;

bool hasStatedDivisor(tt::FuncOp kernel, Value argument) {
  auto attrs = kernel.argAttrs() ? kernel.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
  unsigned i = argument.index();
  auto dict = attrs && i < attrs.size() ? attrs[i].dyn_cast<DictionaryAttr>() : DictionaryAttr();
  return dict && dict.get(kDivisibilityAttr);
}

Block *bodyForVersions(tt::FuncOp kernel) {
  Block *body = nullptr;
  for (Block *b = kernel.body().front(); b; b = b->next()) {
    Operation *end = b->terminator();
    if (!end) return nullptr;
    if (!end->is<tt::ReturnOp>() || &*b->begin() == end) continue;
    if (body || end->numOperands()) return nullptr;
    body = b;
  }
  return body;
}

scf::IfOp makeVersions(Block *body, llvm::StringRef name, llvm::function_ref<Value(Builder &)> condition,
                       llvm::function_ref<void(Builder &, ValueMap &)> specialize) {
  Operation *end = body->terminator(), *kernel = end->parentOp();
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
