// What the verifier's hooks have in common: a hook is what a single operation demands beyond its row of the op table, a
// function verify_DIALECT_NAME that is called when the generic checks have passed (see verifier.h). They are in
// verify_control_flow.cpp, verify_computation.cpp and verify_memory.cpp.
#pragma once
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::ir {

#define HOOK(name) bool verify_##name(Operation *op, DiagnosticEngine &diag)

/// Shape and layout of two values agree (element types may differ).
inline bool sameShape(Type a, Type b) {
  Context &c = *a.context();
  return a.isTensor() == b.isTensor() && (!a.isTensor() || a.withScalar(c.i1()) == b.withScalar(c.i1()));
}
inline llvm::ArrayRef<int64_t> shapeOf(Value v) { return v.type().cast<TensorType>().shape(); }

} // namespace tessera::ir
