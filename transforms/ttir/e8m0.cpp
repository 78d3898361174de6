// Scales of microscaled formats as floats: a byte is the exponent of a float whose exponent has as many bits. Only 0,
// whose power is subnormal, and 255 are chosen.
#include "transforms/ttir/e8m0.h"
#include "ir/compare.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

Value powersOfE8m0(Builder &b, Location loc, Value bytes, Type element) {
  auto &c = b.context();
  bool isF32 = element == c.f32();
  unsigned mantissa = isF32 ? 23 : 7;
  Value s = arith::ExtuiOp::create(b, loc, bytes.type().withScalar(isF32 ? c.i32() : c.i16()), bytes)->result();
  auto number = [&](int64_t v) { return b.intConstant(loc, s.type(), v); };
  auto chosen = [&](int64_t byte, Value ifSo, Value ifNot) {
    Value is = compare(b, loc, CmpIPredicate::Eq, s, number(byte));
    return arith::SelectOp::create(b, loc, is, ifSo, ifNot).result();
  };
  Value halfOfLeast = number(int64_t(1) << (mantissa - 1)); // of the normal numbers
  Value bits = arith::ShliOp::create(b, loc, s, number(mantissa)).result();
  bits = chosen(0, halfOfLeast, bits);
  Value notANumber = number(int64_t(511) << (mantissa - 1));
  bits = chosen(255, notANumber, bits);
  return tt::BitcastOp::create(b, loc, bits.type().withScalar(element), bits).result();
}

} // namespace tessera::transforms
