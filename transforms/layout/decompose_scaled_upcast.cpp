// Pass decompose-scaled-upcast: conversions that multiply by scales become a conversion and arith.mulf in f32, which
// holds the elements and the scaled elements exactly.
//
//   %y = amdg.scaled_upcast_fp8 %x scale %s : tensor<…xf8E4M3FN>, tensor<…xbf16> -> tensor<…xf16>
//     →
//   %f = tt.fp_to_fp %x : tensor<…xf8E4M3FN> -> tensor<…xf32>
//   %p = 2^(e - 127), not a number for e = 255, where e is the exponent of %s : tensor<…xf32>
//   %y = arith.truncf (arith.mulf %f, %p) : tensor<…xf32> to tensor<…xf16>
//
// amdg.scaled_upcast_fp4 unpacks by ttg.fp4_to_fp. amdg.upcast_mxfp has a scale for 32 elements along K, which is
// repeated for each of them (reshape, broadcast, reshape, and for a right operand trans). Scales are bytes of e8m0 or
// bf16 with such a byte as their exponent; of these nothing else is read, as by v_cvt_scalef32 (AMD CDNA4 ISA).
//
// Limits: these instructions of gfx950 are not used.
//
// Runs: on TTGIR that is given; Tessera's own passes make no such operation.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/scaled_upcasts.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/layout/convert_values.h"
#include "transforms/passes.h"
#include "transforms/ttir/e8m0.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The bytes of e8m0 that the scales are.
Value bytesOf(Builder &b, Location loc, Value scale) {
  if (scale.type().scalar().isInteger()) return scale;
  auto &c = b.context();
  constexpr int64_t kMantissa = 7; // of bf16; the sign is cut off with the upper byte
  Value bits = tt::BitcastOp::create(b, loc, scale.type().withScalar(c.i16()), scale).result();
  Value exponent = arith::ShruiOp::create(b, loc, bits, b.intConstant(loc, bits.type(), kMantissa)).result();
  return arith::TrunciOp::create(b, loc, scale.type().withScalar(c.i8()), exponent)->result();
}

/// Replaces a conversion whose elements are `numbers`, in f32 and in the layout of its result, and whose scales are
/// bytes of e8m0 for each of them.
void scaleNumbers(Builder &b, Operation *op, Value numbers, Value bytes) {
  Location loc = op->loc();
  bytes = inLayout(b, loc, bytes, encodingOf(op->result()));
  Value scaled = arith::MulfOp::create(b, loc, numbers, powersOfE8m0(b, loc, bytes, b.context().f32())).result();
  op->result().replaceAllUsesWith(inElementType(b, loc, scaled, op->result().type().scalar()));
  op->erase();
}

/// Two e2m1 of each byte, in f32 and in a layout.
Value unpacked(Builder &b, Location loc, Value bytes, unsigned axis, Type result) {
  Type wide = result.withScalar(b.context().f32());
  return ttg::Fp4ToFpOp::create(b, loc, wide, bytes, {b.i32Attr("axis", axis)}).result();
}

/// A tensor in another shape, row by row; null where its layout gives that shape none.
Value reshaped(Builder &b, Location loc, Value v, llvm::ArrayRef<int64_t> shape) {
  auto t = tensorOf(v);
  auto *e = t.encoding() ? layouts::inferReshape(b.context().encodings(), t.encoding(), t.shape(), shape) : nullptr;
  return e ? tt::ReshapeOp::create(b, loc, TensorType::get(shape, t.element(), e), v).result() : Value();
}

/// Scales […, m, k / 32] of amdg.upcast_mxfp, each repeated along its elements; null where there is no layout.
Value repeated(Builder &b, amdg::UpcastMxfpOp op, unsigned axis) {
  Location loc = op->loc();
  auto &pool = b.context().encodings();
  auto shape = tensorOf(op.scale()).shape().vec();
  unsigned rank = unsigned(shape.size());
  shape.push_back(1);
  Value v = reshaped(b, loc, op.scale(), shape);
  if (!v) return v;
  shape.back() = kElementsOfMxfpScale;
  v = tt::BroadcastOp::create(b, loc, tensorOf(v).withShape(shape), v).result();
  shape.pop_back();
  shape.back() *= kElementsOfMxfpScale;
  v = reshaped(b, loc, v, shape);
  if (!v || axis == rank - 1) return v;
  auto order = llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  auto *e = layouts::inferTrans(pool, encodingOf(v), order, shape);
  if (!e) return {};
  std::swap(shape[rank - 1], shape[rank - 2]);
  return tt::TransOp::create(b, loc, TensorType::get(shape, v.type().scalar(), e), v, {b.denseI32Attr("order", order)})
      .result();
}

absl::Status decompose(amdg::UpcastMxfpOp op, PassContext &c) {
  auto axis = axisOfK(op);
  Builder b(op.op);
  Value scales = axis ? repeated(b, op, *axis) : Value();
  if (!scales) {
    c.diagnostics.error(op->loc(), "'amdg.upcast_mxfp' needs e2m1, e4m3 or e5m2 in the layout of a dot operand, and a "
                                   "scale of i8 for each 32 of them along K");
    return absl::InvalidArgumentError("scales that do not fit");
  }
  Type f32 = b.context().f32();
  auto number = [&] {
    if (op.fpType() == ScaleDotElemType::E2m1) return unpacked(b, op->loc(), op.src(), *axis, op.output().type());
    Value v = op.src();
    Type element = FloatType::get(b.context(), float8KindOf(op));
    if (v.type().scalar().isInteger())
      v = tt::BitcastOp::create(b, op->loc(), v.type().withScalar(element), v).result();
    return inLayout(b, op->loc(), inElementType(b, op->loc(), v, f32), encodingOf(op.output()));
  };
  scaleNumbers(b, op.op, number(), scales);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<bool> decomposeScaledUpcast(Module &m, PassContext &c) {
  bool changed = false;
  for (auto upcast : collect<amdg::ScaledUpcastFp8Op>(m.op())) {
    Builder b(upcast.op);
    Value numbers = inElementType(b, upcast->loc(), upcast.input(), b.context().f32());
    scaleNumbers(b, upcast.op, numbers, bytesOf(b, upcast->loc(), upcast.scale()));
    changed = true;
  }
  for (auto upcast : collect<amdg::ScaledUpcastFp4Op>(m.op())) {
    Builder b(upcast.op);
    Value numbers = unpacked(b, upcast->loc(), upcast.input(), unsigned(upcast.axis()), upcast.output().type());
    scaleNumbers(b, upcast.op, numbers, bytesOf(b, upcast->loc(), upcast.scale()));
    changed = true;
  }
  for (auto upcast : collect<amdg::UpcastMxfpOp>(m.op())) {
    if (auto s = decompose(upcast, c); !s.ok()) return s;
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
