// Small questions about tensors and operations on them that many files need.
#pragma once
#include "ir/op_table.h"
#include "ir/ops.h"

namespace tessera::ir {

/// The type of a tensor value. @pre it is one
inline TensorType tensorOf(Value v) { return v.type().cast<TensorType>(); }
/// The same, or null for values that are no tensors.
inline TensorType tensorOrNull(Value v) { return v.type().dyn_cast<TensorType>(); }
/// A tensor's layout; null in TTIR. @pre `v` is a tensor
inline const layouts::Encoding *encodingOf(Value v) { return tensorOf(v).encoding(); }

/// Bytes of all elements of a tensor, a buffer or a descriptor's block: what they take in shared memory.
template <class Shaped> int64_t totalBytes(Shaped type) { return type.numElements() * type.element().bitWidth() / 8; }

/// Bits of a value's elements (or of a scalar); 64 for pointers.
inline unsigned bitsOf(Value v) {
  Type t = v.type().scalar();
  return t.isPointer() ? 64 : t.bitWidth();
}

/// What a pointer, or each pointer of a tensor of them, points to. @pre it is one
inline Type pointeeOf(Type pointers) { return pointers.scalar().cast<PointerType>().pointee(); }
inline Type pointeeOf(Value pointers) { return pointeeOf(pointers.type()); }
/// Bytes from one pointee to the next in memory, the unit of tt.addptr: what is narrower than a byte takes one. @pre
/// the pointee is no tensor
inline int64_t pointeeBytes(Type pointers) { return std::max<int64_t>(1, pointeeOf(pointers).bitWidth() / 8); }
inline int64_t pointeeBytes(Value pointers) { return pointeeBytes(pointers.type()); }
/// Whether a value is a pointer to a tensor, as tt.make_tensor_ptr gives it.
inline bool isBlockPointer(Type t) { return t.isPointer() && t.cast<PointerType>().pointee().isTensor(); }

/// Whether each element of the operation's one result is computed from the same elements of its operands, and from
/// nothing else. Not so selects, whose condition may be one scalar for all elements.
inline bool isElementwise(const Operation *op) {
  return op->info().has(kElementwise) && op->numResults() == 1 && op->numRegions() == 0;
}

/// Whether the operation makes a tensor from no other tensor, and so in any layout: a range, a splat, a constant of one
/// value.
inline bool makesAnyLayout(const Operation *op) {
  if (op->is<tt::SplatOp>() || op->is<tt::MakeRangeOp>()) return true;
  auto elements = op->is<arith::ConstantOp>() ? op->attr<DenseElementsAttr>("value") : DenseElementsAttr();
  return elements && elements.isSplat();
}

/// Whether the operation multiplies matrices: tt.dot, its asynchronous form ttng.warp_group_dot, and tt.dot_scaled.
inline bool isDot(const Operation *op) {
  return op->is<tt::DotOp>() || op->is<tt::DotScaledOp>() || op->is<ttng::WarpGroupDotOp>();
}

/// The memory space of buffers in shared memory, `#ttg.shared_memory`.
inline constexpr llvm::StringLiteral kSharedMemorySpace = "#ttg.shared_memory";
inline Attribute sharedMemorySpace(Context &c) { return OpaqueAttr::get(c, kSharedMemorySpace); }

} // namespace tessera::ir
