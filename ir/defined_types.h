// The types that an operation brings into the IR.
#pragma once
#include "ir/ops.h"

namespace tessera::ir {

/// Calls `f` with the types of all values that the operation defines, results and arguments of its blocks, and those of
/// a function's signature.
inline void forEachDefinedType(Operation *op, llvm::function_ref<void(Type)> f) {
  for (auto r : op->results()) f(r.type());
  if (auto func = op->dyn<tt::FuncOp>()) {
    auto type = func.functionType().cast<FunctionType>();
    for (unsigned i = 0; i < type.numInputs(); ++i) f(type.input(i));
    for (unsigned i = 0; i < type.numResults(); ++i) f(type.result(i));
  }
  for (auto &region : op->regions())
    for (auto *block = region.front(); block; block = block->next())
      for (auto *argument : block->args()) f(argument->type);
}

} // namespace tessera::ir
