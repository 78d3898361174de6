// Dots of f32 as several dots of narrower parts (see dot_decomposition.h).
#include "transforms/layout/dot_decomposition.h"
#include "ir/tensor_queries.h"
#include "transforms/layout/convert_values.h"

namespace tessera::transforms {
using namespace ir;

using Parts = llvm::SmallVector<Value, 3>;

unsigned bitsOfPart(DotDecomposition how, Type element) {
  bool isBf16 = how == DotDecomposition::Bf16x3 || how == DotDecomposition::Bf16x6;
  return isBf16 ? 16 : element.bitWidth();
}

/// The value rounded to the 11 significant bits of tf32, ties away from zero, as cvt.rna.tf32 does; and the rest.
static Parts tf32Parts(Builder &b, Location loc, Value v) {
  constexpr int32_t kHalfOfLastPlace = 0x1000;
  constexpr int32_t kSignificantBits = int32_t(0xffffe000);
  auto type = tensorOf(v);
  auto ints = type.withElement(b.context().i32());
  Value bits = arith::BitcastOp::create(b, loc, ints, v)->result();
  bits = arith::AddiOp::create(b, loc, ints, bits, b.intConstant(loc, ints, kHalfOfLastPlace))->result();
  bits = arith::AndiOp::create(b, loc, ints, bits, b.intConstant(loc, ints, kSignificantBits))->result();
  Value high = arith::BitcastOp::create(b, loc, type, bits)->result();
  return {high, arith::SubfOp::create(b, loc, type, v, high)->result()};
}

static Parts bf16Parts(Builder &b, Location loc, Value v, unsigned n) {
  auto type = tensorOf(v);
  auto &c = b.context();
  Parts parts;
  for (unsigned i = 0; i < n; ++i) {
    Value part = inElementType(b, loc, v, c.bf16());
    parts.push_back(part);
    bool isLast = i + 1 == n;
    if (!isLast) v = arith::SubfOp::create(b, loc, type, v, inElementType(b, loc, part, c.f32()))->result();
  }
  return parts;
}

static Parts partsOf(Builder &b, Location loc, Value v, DotDecomposition how) {
  switch (how) {
  case DotDecomposition::None: return {v};
  case DotDecomposition::Tf32x3: return tf32Parts(b, loc, v);
  case DotDecomposition::Bf16x3: return bf16Parts(b, loc, v, 2);
  case DotDecomposition::Bf16x6: return bf16Parts(b, loc, v, 3);
  }
  return {v};
}

Value decomposedDot(Builder &b, Location loc, DotDecomposition how, Value a, Value bOperand, Value c,
                    llvm::function_ref<Value(Value a, Value b, Value accumulator)> dot) {
  Parts x = partsOf(b, loc, a, how);
  Parts y = partsOf(b, loc, bOperand, how);
  Value zero = b.floatConstant(loc, tensorOf(c), 0.0);
  Value sum = zero;
  if (how == DotDecomposition::Bf16x6) {
    sum = dot(x[2], y[0], sum);
    sum = dot(x[0], y[2], sum);
    sum = dot(x[1], y[1], sum);
  }
  sum = dot(x[1], y[0], sum);
  sum = dot(x[0], y[1], sum);
  // Infinities have NaN for their low parts; the dot of the high parts alone says what they give.
  Attribute unordered = IntegerAttr::get(b.context().i64(), int(CmpFPredicate::Uno));
  Value isNan = arith::CmpfOp::create(b, loc, sum, sum, {b.named("predicate", unordered)})->result();
  sum = arith::SelectOp::create(b, loc, isNan, zero, sum).result();
  sum = dot(x[0], y[0], sum);
  return arith::AddfOp::create(b, loc, sum, c)->result();
}

} // namespace tessera::transforms
