// Typed views of operations with named accessors and create functions, generated from ir/ops.table: tt::LoadOp,
// arith::AddiOp, scf::ForOp … A view is a pointer; a null view tests false.
//
// Four views serve families of operations: UnaryOp (value()), BinaryOp (lhs(), rhs(), other(i)), GlobalAccessOp (ptr())
// and MemdescViewOp (src()).
#pragma once
#include "ir/builder.h"
#include "ir/operation.h"
#include <optional>

namespace tessera::ir {

struct OpView {
  Operation *op = nullptr;
  OpView() = default;
  explicit OpView(Operation *o) : op(o) {}
  explicit operator bool() const { return op; }
  operator Operation *() const { return op; }
  Operation *operator->() const { return op; }
  Location loc() const { return op->loc(); }

protected:
  /// Fills the state's result types by the row's inference rules. @pre they apply to the operands.
  static void inferInto(Builder &, OperationState &);
};

#include "ir_generated/ops.inc"

} // namespace tessera::ir
