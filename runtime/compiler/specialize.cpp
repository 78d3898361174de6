// Specialising a kernel for its arguments (see specialize.h).
#include "runtime/compiler/specialize.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::runtime {
using namespace ir;

namespace {

/// The attributes of an argument, with the divisibility raised.
DictionaryAttr divisible(Context &c, Attribute attributes) {
  llvm::SmallVector<NamedAttribute, 4> all;
  int64_t by = kLaunchDivisor;
  if (auto dict = attributes ? attributes.dyn_cast<DictionaryAttr>() : DictionaryAttr())
    for (auto &entry : dict.entries()) {
      if (entry.name != kDivisibilityAttr)
        all.push_back(entry);
      else if (auto promised = entry.value.dyn_cast<IntegerAttr>())
        by = std::max(by, promised.sext());
    }
  all.push_back({c.intern(kDivisibilityAttr), IntegerAttr::getI32(c, by)});
  return DictionaryAttr::get(c, all);
}

} // namespace

void specialize(Operation *kernel, llvm::ArrayRef<ArgumentClass> classes) {
  auto function = kernel->cast<tt::FuncOp>();
  Context &c = kernel->context();
  Block *body = function.body().front();
  auto old = function.argAttrs() ? function.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
  llvm::SmallVector<Attribute, 16> attributes;
  for (unsigned i = 0; i < body->numArgs(); ++i)
    attributes.push_back(old && i < old.size() ? old[i] : Attribute(DictionaryAttr::get(c, {})));
  bool isMarked = false;
  Builder b(body->front());
  for (auto [i, known] : llvm::enumerate(classes)) {
    if (i >= body->numArgs()) break;
    Value argument(body->arg(i));
    Type type = argument.type();
    bool isNumber = type.isInteger() && type.bitWidth() > 1;
    if (known == ArgumentClass::One && isNumber && !argument.useEmpty())
      argument.replaceAllUsesWith(b.intConstant(kernel->loc(), type, 1));
    if (known != ArgumentClass::DivisibleBy16 || !(isNumber || type.isPointer())) continue;
    attributes[i] = divisible(c, attributes[i]);
    isMarked = true;
  }
  if (isMarked) kernel->setAttr("arg_attrs", ArrayAttr::get(c, attributes));
}

} // namespace tessera::runtime
