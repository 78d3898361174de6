// Elements of microscaled formats in layouts (see scaled_elements.h). f32 holds the elements exactly, also when they
// are multiplied by scales of e8m0.
#include "transforms/layout/scaled_elements.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "layouts/blocked.h"
#include "layouts/infer.h"
#include "transforms/layout/convert_values.h"
#include "transforms/ttir/e8m0.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::transforms {
using namespace ir;

Value unpackedE2m1(Builder &b, Location loc, Value bytes, unsigned axis, TensorType like) {
  return ttg::Fp4ToFpOp::create(b, loc, like.withElement(b.context().f32()), bytes, {b.i32Attr("axis", axis)}).result();
}

Value widenedFloats(Builder &b, Location loc, Value v, FloatKind ofBytes) {
  Type element = FloatType::get(b.context(), ofBytes);
  if (v.type().scalar().isInteger()) v = tt::BitcastOp::create(b, loc, v.type().withScalar(element), v).result();
  return inElementType(b, loc, v, b.context().f32());
}

/// A tensor in another shape, row by row; null where its layout gives that shape none.
static Value reshaped(Builder &b, Location loc, Value v, llvm::ArrayRef<int64_t> shape) {
  auto t = tensorOf(v);
  auto *e = layouts::inferReshape(b.context().encodings(), t.encoding(), t.shape(), shape);
  return e ? tt::ReshapeOp::create(b, loc, TensorType::get(shape, t.element(), e), v).result() : Value();
}

/// In a blocked layout, of which every shape has one.
static Value inBlockedLayout(Builder &b, Location loc, Value v) {
  auto t = tensorOf(v);
  if (!t.encoding() || layouts::dynCast<layouts::BlockedEncoding>(t.encoding())) return v;
  Operation *at = v.definingOp() ? v.definingOp() : v.ownerBlock()->parentOp();
  int64_t lanes = threadsPerWarp(at->module().op());
  return inLayout(b, loc, v, b.context().encodings().defaultBlocked(t.shape(), int(numWarpsAt(at)), int(lanes)));
}

Value repeatedScales(Builder &b, Location loc, Value scales, int64_t group, bool isKLast) {
  if (!tensorOf(scales).encoding()) return {};
  scales = inBlockedLayout(b, loc, scales);
  auto shape = tensorOf(scales).shape().vec();
  unsigned rank = unsigned(shape.size());
  shape.push_back(1);
  Value v = reshaped(b, loc, scales, shape);
  if (!v) return v;
  shape.back() = group;
  v = tt::BroadcastOp::create(b, loc, tensorOf(v).withShape(shape), v).result();
  shape.pop_back();
  shape.back() *= group;
  v = reshaped(b, loc, v, shape);
  if (!v || isKLast) return v;
  auto order = llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  auto *e = layouts::inferTrans(b.context().encodings(), encodingOf(v), order, shape);
  if (!e) return {};
  std::swap(shape[rank - 1], shape[rank - 2]);
  return tt::TransOp::create(b, loc, TensorType::get(shape, v.type().scalar(), e), v, {b.denseI32Attr("order", order)})
      .result();
}

Value scaledNumbers(Builder &b, Location loc, Value numbers, Value scales, Type element) {
  scales = inLayout(b, loc, scales, encodingOf(numbers));
  Type f32 = b.context().f32();
  Value floats =
      scales.type().scalar().isInteger() ? powersOfE8m0(b, loc, scales, f32) : inElementType(b, loc, scales, f32);
  return inElementType(b, loc, arith::MulfOp::create(b, loc, numbers, floats).result(), element);
}

} // namespace tessera::transforms
