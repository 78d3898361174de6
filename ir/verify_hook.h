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
/// The mask of an access, if it has one, has the shape and layout of what is accessed: of the pointers, the offsets or
/// the values. `operand`: the mask's place in the operation's row. Every operation with a mask checks it by this.
bool checkMask(Operation *op, DiagnosticEngine &diag, Value mask, Type accessed, unsigned operand);
/// A call fits the function that it names; null: the module has none of that name.
bool checkCall(tt::CallOp, Operation *callee, DiagnosticEngine &);
/// Memory spaces (verify_memory_space.cpp): a buffer's layout is one of its memory, and an operation's buffers are in
/// the memory that it works on. @pre the operation's operands and results are of its row's kinds
inline constexpr llvm::StringLiteral kTensorMemorySpace = "#ttng.tensor_memory";
bool checkMemorySpace(Operation *, DiagnosticEngine &, MemDescType);
bool checkMemorySpaces(Operation *, DiagnosticEngine &);
/// Layouts of operands and results, in TTGIR (verify_layouts.cpp). @pre shapes and element types have been checked
bool checkTransposedLayout(tt::TransOp, DiagnosticEngine &);
bool checkReshapedLayout(tt::ReshapeOp, DiagnosticEngine &);
bool checkJoinedLayout(tt::JoinOp, DiagnosticEngine &);
bool checkSplitLayout(tt::SplitOp, DiagnosticEngine &);
bool checkDotLayouts(tt::DotOp, DiagnosticEngine &);
inline llvm::ArrayRef<int64_t> shapeOf(Value v) { return v.type().cast<TensorType>().shape(); }

} // namespace tessera::ir
