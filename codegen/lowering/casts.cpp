// Conversions between floating-point kinds and between floats and integers. The target's instructions come first
// (Target::convertFloat), then what LLVM converts itself (half, bfloat, float, double, to nearest even), and last bit
// manipulation in 32-bit integers, which is exact for every pair of kinds and both rounding modes and is the same on
// every target:
//
//   encode (from f32; f16 and bf16 widen exactly, f64 is first rounded to odd, which keeps the later rounding right)
//     normal     the bits of |x|, plus the rounding bias of the dropped part, shifted down and re-biased
//     subnormal  to nearest: |x| + C, where a unit in the last place of C is the smallest subnormal of the result. The
//                float adder rounds; the low bits of the sum are the result.
//                toward zero: |x| scaled by a power of two to an integer, which the conversion truncates
//     the rest   min with the largest finite (8-bit kinds saturate, infinities too), NaN, sign
//   decode (to f32)
//     normal     exponent and fraction moved into place and re-biased; subnormal: the integer times its unit
//
// Values out of range of an 8-bit kind become the largest finite value of their sign, infinities included, as with
// NVIDIA's `cvt.rn.satfinite`; NaN stays NaN. Toward zero an infinity stays one in the kinds that have it. Kinds
// without negative zero give zero for it. For f16 and bf16, an overflow gives infinity to nearest even and the largest
// finite value toward zero; infinities stay.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

namespace {

/// A binary floating-point kind.
struct Format {
  unsigned exponentBits, fractionBits;
  int bias;
  bool infinities;   // the largest exponent means infinity and NaN
  bool unsignedZero; // the pattern of -0 is the one NaN (FNUZ kinds)
  unsigned bits() const { return 1 + exponentBits + fractionBits; }
  uint32_t maxFinite() const {
    uint32_t all = (1u << (exponentBits + fractionBits)) - 1;
    if (infinities) return all - (1u << fractionBits); // the exponent below the largest, all ones
    return unsignedZero ? all : all - 1;
  }
  uint32_t nan() const {
    if (unsignedZero) return 1u << (bits() - 1);
    if (!infinities) return (1u << (exponentBits + fractionBits)) - 1;
    // 8-bit kinds have the pattern that NVIDIA's conversion gives, the others the quiet NaN.
    return bits() == 8 ? (1u << (exponentBits + fractionBits)) - 1
                       : ((1u << exponentBits) - 1) << fractionBits | 1u << (fractionBits - 1);
  }
};

Format formatOf(FloatKind k) {
  switch (k) {
  case FloatKind::F16: return {5, 10, 15, true, false};
  case FloatKind::BF16: return {8, 7, 127, true, false};
  case FloatKind::F8E4M3FN: return {4, 3, 7, false, false};
  case FloatKind::F8E4M3FNUZ: return {4, 3, 8, false, true};
  case FloatKind::F8E4M3B11FNUZ: return {4, 3, 11, false, true};
  case FloatKind::F8E5M2: return {5, 2, 15, true, false};
  case FloatKind::F8E5M2FNUZ: return {5, 2, 16, false, true};
  case FloatKind::F32: return {8, 23, 127, true, false};
  case FloatKind::F64: return {11, 52, 1023, true, false};
  }
  return {8, 23, 127, true, false};
}

bool isF8(FloatKind k) {
  switch (k) {
  case FloatKind::F8E4M3FN:
  case FloatKind::F8E4M3FNUZ:
  case FloatKind::F8E4M3B11FNUZ:
  case FloatKind::F8E5M2:
  case FloatKind::F8E5M2FNUZ: return true;
  case FloatKind::F16:
  case FloatKind::BF16:
  case FloatKind::F32:
  case FloatKind::F64: return false;
  }
  return false;
}

llvm::Type *typeOf(llvm::IRBuilder<> &b, FloatKind k) {
  switch (k) {
  case FloatKind::F16: return b.getHalfTy();
  case FloatKind::BF16: return b.getBFloatTy();
  case FloatKind::F32: return b.getFloatTy();
  case FloatKind::F64: return b.getDoubleTy();
  default: return b.getInt8Ty();
  }
}

llvm::Value *absBits(llvm::IRBuilder<> &b, llvm::Value *bits) { return b.CreateAnd(bits, 0x7fffffff); }

/// A double as a float rounded to odd: truncated, and the last bit set where something was lost. Rounding the result to
/// fewer than 22 bits then rounds the double once.
llvm::Value *roundToOdd(llvm::IRBuilder<> &b, llvm::Value *x) {
  llvm::Value *r = b.CreateFPTrunc(x, b.getFloatTy()), *back = b.CreateFPExt(r, b.getDoubleTy());
  llvm::Value *bits = b.CreateBitCast(r, b.getInt32Ty());
  llvm::Value *absX = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value *absBack = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  llvm::Value *away = b.CreateZExt(b.CreateFCmpOGT(absBack, absX), b.getInt32Ty());
  llvm::Value *inexact = b.CreateZExt(b.CreateFCmpONE(absBack, absX), b.getInt32Ty());
  return b.CreateBitCast(b.CreateOr(b.CreateSub(bits, away), inexact), b.getFloatTy());
}

/// f32 → an integer of the format's bits.
llvm::Value *encode(llvm::IRBuilder<> &b, llvm::Value *x, Format f, RoundingMode rounding) {
  llvm::Type *i32 = b.getInt32Ty(), *f32 = b.getFloatTy();
  llvm::Value *bits = b.CreateBitCast(x, i32);
  llvm::Value *magnitude = absBits(b, bits);
  unsigned drop = 23 - f.fractionBits;
  bool saturate = f.bits() == 8;

  // Normal results.
  llvm::Value *rounded = magnitude;
  if (rounding == RoundingMode::Rtne) {
    llvm::Value *odd = b.CreateAnd(b.CreateLShr(magnitude, drop), 1);
    rounded = b.CreateAdd(b.CreateAdd(magnitude, odd), b.getInt32((1u << (drop - 1)) - 1));
  }
  llvm::Value *code = b.CreateSub(b.CreateLShr(rounded, drop), b.getInt32(uint32_t(127 - f.bias) << f.fractionBits));

  // Subnormal ones: below 2^(1-bias).
  if (f.bias < 127) {
    int minExponent = 1 - f.bias;
    llvm::Value *absX = b.CreateBitCast(magnitude, f32), *small;
    if (rounding == RoundingMode::Rtne) {
      uint32_t c = uint32_t(127 + minExponent - int(f.fractionBits) + 23) << 23;
      llvm::Value *sum = b.CreateFAdd(absX, b.CreateBitCast(b.getInt32(c), f32));
      small = b.CreateSub(b.CreateBitCast(sum, i32), b.getInt32(c));
    } else {
      uint32_t scale = uint32_t(127 - minExponent + int(f.fractionBits)) << 23;
      // Only small values are scaled, so that nothing overflows.
      llvm::Value *bounded =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, magnitude, b.getInt32(uint32_t(127 + minExponent) << 23));
      llvm::Value *scaled = b.CreateFMul(b.CreateBitCast(bounded, f32), b.CreateBitCast(b.getInt32(scale), f32));
      small = b.CreateFPToUI(scaled, i32);
    }
    code = b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(uint32_t(127 + minExponent) << 23)), small, code);
  }

  // Out of range.
  uint32_t infinity = ((1u << f.exponentBits) - 1) << f.fractionBits;
  bool towardZero = rounding == RoundingMode::Rtz;
  code = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code,
                                 b.getInt32(saturate || towardZero ? f.maxFinite() : infinity));
  if (f.infinities && towardZero)
    code = b.CreateSelect(b.CreateICmpEQ(magnitude, b.getInt32(0x7f800000)), b.getInt32(infinity), code);

  llvm::Value *isNan = b.CreateICmpUGT(magnitude, b.getInt32(0x7f800000));
  llvm::Value *sign = b.CreateAnd(b.CreateLShr(bits, 32 - f.bits()), b.getInt32(1u << (f.bits() - 1)));
  if (f.unsignedZero) {
    sign = b.CreateSelect(b.CreateICmpEQ(code, b.getInt32(0)), b.getInt32(0), sign);
    code = b.CreateSelect(isNan, b.getInt32(f.nan()), b.CreateOr(code, sign));
  } else {
    code = b.CreateOr(b.CreateSelect(isNan, b.getInt32(f.nan()), code), sign);
  }
  return b.CreateTrunc(code, b.getIntNTy(f.bits()));
}

/// 8 bits → f32.
llvm::Value *decode(llvm::IRBuilder<> &b, llvm::Value *x, Format f) {
  llvm::Type *i32 = b.getInt32Ty(), *f32 = b.getFloatTy();
  llvm::Value *wide = b.CreateZExt(x, i32), *magnitude = b.CreateAnd(wide, 0x7f);
  llvm::Value *normal =
      b.CreateAdd(b.CreateShl(magnitude, 23 - f.fractionBits), b.getInt32(uint32_t(127 - f.bias) << 23));
  uint32_t unit = uint32_t(127 + 1 - f.bias - int(f.fractionBits)) << 23;
  llvm::Value *small = b.CreateFMul(b.CreateUIToFP(magnitude, f32), b.CreateBitCast(b.getInt32(unit), f32));
  llvm::Value *code =
      b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(1u << f.fractionBits)), b.CreateBitCast(small, i32), normal);
  llvm::Value *sign = b.CreateShl(b.CreateAnd(wide, 0x80), 24);
  if (f.unsignedZero) {
    code = b.CreateSelect(b.CreateICmpEQ(wide, b.getInt32(0x80)), b.getInt32(0x7fc00000), b.CreateOr(code, sign));
  } else if (f.infinities) {
    uint32_t infinity = ((1u << f.exponentBits) - 1) << f.fractionBits;
    llvm::Value *special = b.CreateICmpUGE(magnitude, b.getInt32(infinity));
    llvm::Value *kept = b.CreateOr(b.CreateShl(b.CreateSub(magnitude, b.getInt32(infinity)), 23 - f.fractionBits),
                                   b.getInt32(0x7f800000));
    code = b.CreateOr(b.CreateSelect(special, kept, code), sign);
  } else {
    llvm::Value *isNan = b.CreateICmpEQ(magnitude, b.getInt32(0x7f));
    code = b.CreateOr(b.CreateSelect(isNan, b.getInt32(0x7fc00000), code), sign);
  }
  return b.CreateBitCast(code, f32);
}

/// E4M3 kinds to half: their fractions fit half's, whose multiplier does the re-biasing, subnormals included.
llvm::Value *decodeE4M3ToHalf(llvm::IRBuilder<> &b, llvm::Value *x, Format f) {
  llvm::Type *i16 = b.getInt16Ty(), *half = b.getHalfTy();
  llvm::Value *wide = b.CreateZExt(x, i16), *magnitude = b.CreateAnd(wide, 0x7f);
  llvm::Value *scaled = b.CreateFMul(b.CreateBitCast(b.CreateShl(magnitude, 7), half),
                                     llvm::ConstantFP::get(half, double(1 << (15 - f.bias))));
  llvm::Value *code = b.CreateBitCast(scaled, i16), *sign = b.CreateShl(b.CreateAnd(wide, 0x80), 8);
  if (f.unsignedZero)
    code = b.CreateSelect(b.CreateICmpEQ(wide, b.getInt16(0x80)), b.getInt16(0x7e00), b.CreateOr(code, sign));
  else
    code = b.CreateOr(b.CreateSelect(b.CreateICmpEQ(magnitude, b.getInt16(0x7f)), b.getInt16(0x7e00), code), sign);
  return b.CreateBitCast(code, half);
}

} // namespace

llvm::Value *convertFloatBits(llvm::IRBuilder<> &b, FloatKind from, FloatKind to, RoundingMode rounding,
                              llvm::Value *v) {
  if (from == to) return v;
  llvm::Type *f32 = b.getFloatTy();
  llvm::Type *type = typeOf(b, to);
  if (isF8(from)) {
    Format f = formatOf(from);
    if (from == FloatKind::F8E5M2) { // the upper byte of a half
      v = b.CreateBitCast(b.CreateShl(b.CreateZExt(v, b.getInt16Ty()), 8), b.getHalfTy());
      from = FloatKind::F16;
    } else if (f.exponentBits == 4 && (to == FloatKind::F16 || to == FloatKind::F32)) {
      v = decodeE4M3ToHalf(b, v, f);
      from = FloatKind::F16;
    } else {
      v = decode(b, v, f);
      from = FloatKind::F32;
    }
    if (from == to) return v;
  }
  bool widens = !isF8(to) && v->getType()->getScalarSizeInBits() < type->getScalarSizeInBits();
  if (widens) return b.CreateFPExt(v, type);
  // Narrowing, or between half and bfloat. LLVM rounds to nearest even.
  if (!isF8(to) && rounding == RoundingMode::Rtne) {
    if (v->getType()->getScalarSizeInBits() == type->getScalarSizeInBits()) v = b.CreateFPExt(v, f32);
    return b.CreateFPTrunc(v, type);
  }
  if (to == FloatKind::F32) { // f64, toward zero
    llvm::Value *r = b.CreateFPTrunc(v, f32), *back = b.CreateFPExt(r, b.getDoubleTy());
    llvm::Value *away = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                        b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v));
    // Only a finite value is rounded away from itself: its infinity steps down to the largest finite one.
    llvm::Value *bits = b.CreateBitCast(r, b.getInt32Ty());
    return b.CreateBitCast(b.CreateSub(bits, b.CreateZExt(away, b.getInt32Ty())), f32);
  }
  if (v->getType()->isDoubleTy())
    v = roundToOdd(b, v);
  else if (!v->getType()->isFloatTy())
    v = b.CreateFPExt(v, f32);
  if (to == FloatKind::BF16) { // toward zero: the upper half; a NaN stays one
    llvm::Value *bits = b.CreateBitCast(v, b.getInt32Ty());
    llvm::Value *quiet = b.CreateSelect(b.CreateFCmpUNO(v, v), b.CreateOr(bits, b.getInt32(0x400000)), bits);
    return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(quiet, 16), b.getInt16Ty()), type);
  }
  llvm::Value *code = encode(b, v, formatOf(to), rounding);
  return isF8(to) ? code : b.CreateBitCast(code, type);
}

void convertFloats(FunctionLowering &fl, FloatKind from, FloatKind to, RoundingMode rounding,
                   llvm::ArrayRef<llvm::Value *> in, Elements &out) {
  if (from == to) {
    out.append(in.begin(), in.end());
    return;
  }
  // Widening is exact: one mode serves.
  if (formatOf(from).bits() < formatOf(to).bits()) rounding = RoundingMode::Rtne;
  // Copies are converted once.
  llvm::DenseMap<llvm::Value *, unsigned> first;
  llvm::SmallVector<llvm::Value *, 8> distinct, converted;
  for (llvm::Value *v : in)
    if (first.try_emplace(v, distinct.size()).second) distinct.push_back(v);
  if (!fl.target.convertFloat(fl.b, from, to, rounding, distinct, converted)) {
    converted.clear();
    for (llvm::Value *v : distinct) converted.push_back(convertFloatBits(fl.b, from, to, rounding, v));
  }
  for (llvm::Value *v : in) out.push_back(converted[first[v]]);
}

bool lowerCast(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  UnaryOp cast(op);
  Type from = cast.value().type().scalar(), to = cast.result().type().scalar();
  const Elements &in = fl.get(cast.value());
  Elements out;
  auto kind = [](Type t) { return t.cast<FloatType>().floatKind(); };
  switch (op->opcode()) {
  case Opcode::tt_fp_to_fp:
    convertFloats(fl, kind(from), kind(to), op->cast<tt::FpToFpOp>().rounding().value_or(RoundingMode::Rtne), in, out);
    break;
  case Opcode::arith_extf:
  case Opcode::arith_truncf: convertFloats(fl, kind(from), kind(to), RoundingMode::Rtne, in, out); break;
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp: {
    // The narrow kinds take the way through f32.
    FloatKind k = kind(to);
    bool direct = k == FloatKind::F32 || k == FloatKind::F64;
    llvm::Type *t = direct ? fl.elementType(to) : b.getFloatTy();
    Elements floats;
    for (llvm::Value *v : in)
      floats.push_back(op->opcode() == Opcode::arith_sitofp ? b.CreateSIToFP(v, t) : b.CreateUIToFP(v, t));
    if (direct)
      out = std::move(floats);
    else
      convertFloats(fl, FloatKind::F32, k, RoundingMode::Rtne, floats, out);
    break;
  }
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui: {
    FloatKind k = kind(from);
    Elements floats;
    if (k == FloatKind::F32 || k == FloatKind::F64)
      floats = in;
    else
      convertFloats(fl, k, FloatKind::F32, RoundingMode::Rtne, in, floats);
    llvm::Type *t = fl.elementType(to);
    // No target converts to single bits.
    llvm::Type *wide = t->isIntegerTy(1) ? b.getInt32Ty() : t;
    for (llvm::Value *v : floats) {
      llvm::Value *i = op->opcode() == Opcode::arith_fptosi ? b.CreateFPToSI(v, wide) : b.CreateFPToUI(v, wide);
      out.push_back(b.CreateTrunc(i, t));
    }
    break;
  }
  default: return fl.error(op, "is not a conversion");
  }
  fl.set(op->result(), std::move(out));
  return true;
}

} // namespace tessera::codegen
