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
// repeated for each of them (reshape, broadcast, reshape, and for a B operand trans). Scales are bytes of e8m0 or
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
#include "transforms/layout/convert_values.h"
#include "transforms/layout/scaled_elements.h"
#include "transforms/passes.h"

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

/// Replaces a conversion of elements, in f32, with scales that are bytes of e8m0.
void replace(Builder &b, Operation *op, Value numbers, Value bytes) {
  numbers = inLayout(b, op->loc(), numbers, encodingOf(op->result()));
  op->result().replaceAllUsesWith(scaledNumbers(b, op->loc(), numbers, bytes, op->result().type().scalar()));
  op->erase();
}

absl::Status decompose(amdg::UpcastMxfpOp op, PassContext &c) {
  auto axis = axisOfK(op);
  Builder b(op.op);
  Location loc = op->loc();
  TensorType type = tensorOf(op.output());
  Value scales = axis ? repeatedScales(b, loc, op.scale(), kElementsOfMxfpScale, *axis == type.rank() - 1) : Value();
  if (!scales) {
    c.diagnostics.error(op->loc(), "'amdg.upcast_mxfp' needs e2m1, e4m3 or e5m2 in the layout of a dot operand, and a "
                                   "scale of i8 for each 32 of them along K");
    return absl::InvalidArgumentError("scales that do not fit");
  }
  bool isPacked = op.fpType() == ScaleDotElemType::E2m1;
  Value numbers =
      isPacked ? unpackedE2m1(b, loc, op.src(), *axis, type) : widenedFloats(b, loc, op.src(), float8KindOf(op));
  replace(b, op.op, numbers, scales);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<bool> decomposeScaledUpcast(Module &m, PassContext &c) {
  bool changed = false;
  for (auto upcast : collect<amdg::ScaledUpcastFp8Op>(m.op())) {
    Builder b(upcast.op);
    Value numbers = inElementType(b, upcast->loc(), upcast.input(), b.context().f32());
    replace(b, upcast.op, numbers, bytesOf(b, upcast->loc(), upcast.scale()));
    changed = true;
  }
  for (auto upcast : collect<amdg::ScaledUpcastFp4Op>(m.op())) {
    Builder b(upcast.op);
    Value numbers = unpackedE2m1(b, upcast->loc(), upcast.input(), unsigned(upcast.axis()), tensorOf(upcast.output()));
    replace(b, upcast.op, numbers, bytesOf(b, upcast->loc(), upcast.scale()));
    changed = true;
  }
  for (auto upcast : collect<amdg::UpcastMxfpOp>(m.op())) {
    if (auto s = decompose(upcast, c); !s.ok()) return s;
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
