// Lowering of tt.e2m1_to_fp and ttg.fp4_to_fp: bytes that hold two 4-bit floats (e2m1: a sign, two bits of exponent,
// one of mantissa) become values of another kind, of one half of each byte or of both, the low half first. Of both, a
// byte's two values lie next to each other along the axis, so that a thread makes them from its own bytes if its
// registers of the result are those of the source with one more bit for the half.
//
// Of e2m1 all numbers but ±0.5 are normal, and adding the difference of the biases to the exponent's field gives the
// wider float's bits; 0 and 0.5 are chosen. Targets may have a better way.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

/// The value of four bits (in the low bits of an i8) as a float of `exponentBits` and `mantissaBits` beside the sign.
static llvm::Value *widened(llvm::IRBuilder<> &b, llvm::Value *nibble, llvm::Type *type, unsigned exponentBits,
                            unsigned mantissaBits) {
  unsigned bits = 1 + exponentBits + mantissaBits;
  llvm::Type *integer = b.getIntNTy(bits);
  auto number = [&](uint64_t v) { return llvm::ConstantInt::get(integer, v); };
  uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
  llvm::Value *v = b.CreateZExt(nibble, integer), *magnitude = b.CreateAnd(v, number(7)),
              *sign = b.CreateShl(b.CreateAnd(v, number(8)), number(bits - 4));
  llvm::Value *normal =
      b.CreateAdd(b.CreateShl(magnitude, number(mantissaBits - 1)), number((bias - 1) << mantissaBits));
  llvm::Value *small =
      b.CreateSelect(b.CreateICmpEQ(magnitude, number(0)), number(0), number((bias - 1) << mantissaBits));
  llvm::Value *out = b.CreateOr(b.CreateSelect(b.CreateICmpULT(magnitude, number(2)), small, normal), sign);
  return b.CreateBitCast(out, type);
}

/// The bits of a float kind's exponent and mantissa. False for kinds that nothing unpacks to.
static bool bitsOf(Type element, unsigned &exponent, unsigned &mantissa) {
  switch (element.isFloat() ? element.cast<FloatType>().floatKind() : FloatKind::F64) {
  case FloatKind::F16: exponent = 5, mantissa = 10; return true;
  case FloatKind::BF16: exponent = 8, mantissa = 7; return true;
  case FloatKind::F32: exponent = 8, mantissa = 23; return true;
  default: return false;
  }
}

/// The low or the high halves of bytes.
static void convertHalves(FunctionLowering &fl, bool high, Type element, llvm::ArrayRef<llvm::Value *> bytes,
                          Elements &out) {
  auto &b = fl.b;
  if (fl.target.convertE2m1(b, high, element.cast<FloatType>().floatKind(), bytes, out)) return;
  unsigned exponentBits = 0, mantissaBits = 0;
  bitsOf(element, exponentBits, mantissaBits);
  for (llvm::Value *byte : bytes)
    out.push_back(widened(b, high ? b.CreateLShr(byte, 4) : b.CreateAnd(byte, 15), fl.elementType(element),
                          exponentBits, mantissaBits));
}

bool lowerE2m1ToFp(Operation *op, FunctionLowering &fl) {
  auto convert = op->cast<tt::E2m1ToFpOp>();
  // Copies are converted once.
  llvm::DenseMap<llvm::Value *, unsigned> first;
  Elements distinct, converted, out;
  for (llvm::Value *v : fl.get(convert.src()))
    if (first.try_emplace(v, distinct.size()).second) distinct.push_back(v);
  convertHalves(fl, convert.high(), convert.result().type().scalar(), distinct, converted);
  for (llvm::Value *v : fl.get(convert.src())) out.push_back(converted[first[v]]);
  fl.set(convert.result(), std::move(out));
  return true;
}

bool lowerFp4ToFp(Operation *op, FunctionLowering &fl) {
  auto convert = op->cast<ttg::Fp4ToFpOp>();
  auto &from = fl.layout(convert.src().type()), &to = fl.layout(convert.result().type());
  unsigned axis = unsigned(convert.axis());
  if (axis >= to.numOutDims() || !convert.src().type().scalar().isInteger(8))
    return fl.error(op, "must unpack bytes along one of the tensor's dimensions");
  Type element = convert.result().type().scalar();
  unsigned exponentBits = 0, mantissaBits = 0;
  if (!bitsOf(element, exponentBits, mantissaBits))
    return fl.error(op, "unpacks to " + element.str() + ", which its lowering does not know");
  // A place in the result, as the place of its byte.
  auto byteOf = [&](llvm::ArrayRef<int32_t> place) {
    layouts::Basis p(place.begin(), place.end());
    p[axis] >>= 1;
    return p;
  };
  auto differ = [&] {
    return fl.error(op, "has a result whose layout does not give each thread the values of its own bytes");
  };
  for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < std::max(from.inDimBits(d), to.inDimBits(d)); ++bit) {
      layouts::Basis none(to.numOutDims(), 0);
      layouts::Basis source =
          bit < from.inDimBits(d) ? layouts::Basis(from.basis(d, bit).begin(), from.basis(d, bit).end()) : none;
      auto place = bit < to.inDimBits(d) ? layouts::Basis(to.basis(d, bit).begin(), to.basis(d, bit).end()) : none;
      if (place[axis] & 1 || byteOf(place) != source) return differ();
    }
  std::map<layouts::Basis, unsigned> distinct; // a byte's place among `bytes`
  Elements bytes, halves[2], out;
  for (unsigned r = 0; r < unsigned(from.inDimSize(Dim::Register)); ++r)
    if (distinct.try_emplace(from.apply({{Dim::Register, int32_t(r)}}), bytes.size()).second)
      bytes.push_back(fl.get(convert.src())[r]);
  for (bool high : {false, true}) convertHalves(fl, high, element, bytes, halves[high]);
  for (unsigned r = 0; r < unsigned(to.inDimSize(Dim::Register)); ++r) {
    auto place = to.apply({{Dim::Register, int32_t(r)}});
    auto found = distinct.find(byteOf(place));
    if (found == distinct.end()) return differ();
    out.push_back(halves[place[axis] & 1][found->second]);
  }
  fl.set(convert.result(), std::move(out));
  return true;
}

} // namespace tessera::codegen
