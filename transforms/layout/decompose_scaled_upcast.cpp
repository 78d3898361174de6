// Pass decompose-scaled-upcast: conversions that multiply by scales become a conversion and arith.mulf in f32, which
// holds the elements and the scaled elements exactly.
//
//   %y = amdg.scaled_upcast_fp8 %x scale %s : tensor<…xf8E4M3FN>, tensor<…xbf16> -> tensor<…xf16>
//     →
//   %f = tt.fp_to_fp %x : tensor<…xf8E4M3FN> -> tensor<…xf32>
//   %p = 2^(e - 127), not a number for e = 255, where e is the exponent of %s : tensor<…xf32>
//   %y = arith.truncf (arith.mulf %f, %p) : tensor<…xf32> to tensor<…xf16>
//
// amdg.scaled_upcast_fp4 unpacks by ttg.fp4_to_fp. Scales are bytes of e8m0 or bf16 with such a byte as their exponent;
// of these nothing else is read, as by gfx950's v_cvt_scalef32 (AMD CDNA4 ISA).
//
// Limits: these instructions of gfx950 are not used.
//
// Runs: on TTGIR that is given; Tessera's own passes make no such operation.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/layout/convert_values.h"
#include "transforms/passes.h"
#include "transforms/ttir/e8m0.h"

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

/// Replaces a conversion whose elements are `numbers`, in f32 and in the layout of its result.
void scaleNumbers(Builder &b, Operation *op, Value numbers, Value scale) {
  Location loc = op->loc();
  Type type = op->result().type(), f32 = b.context().f32();
  scale = inLayout(b, loc, scale, encodingOf(op->result()));
  Value power = powersOfE8m0(b, loc, bytesOf(b, loc, scale), f32);
  Value scaled = arith::MulfOp::create(b, loc, numbers, power).result();
  op->result().replaceAllUsesWith(inElementType(b, loc, scaled, type.scalar()));
  op->erase();
}

} // namespace

absl::StatusOr<bool> decomposeScaledUpcast(Module &m, PassContext &) {
  bool changed = false;
  for (auto upcast : collect<amdg::ScaledUpcastFp8Op>(m.op())) {
    Builder b(upcast.op);
    scaleNumbers(b, upcast.op, inElementType(b, upcast->loc(), upcast.input(), b.context().f32()), upcast.scale());
    changed = true;
  }
  for (auto upcast : collect<amdg::ScaledUpcastFp4Op>(m.op())) {
    Builder b(upcast.op);
    Type wide = upcast.output().type().withScalar(b.context().f32());
    Value numbers =
        ttg::Fp4ToFpOp::create(b, upcast->loc(), wide, upcast.input(), {b.i32Attr("axis", upcast.axis())}).result();
    scaleNumbers(b, upcast.op, numbers, upcast.scale());
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
