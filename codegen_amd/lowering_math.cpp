// Mathematical functions and float conversions of AMD GPUs. What is peculiar: the hardware has base-2 exponential and
// logarithm, reciprocal, square root and reciprocal square root of f32 within one unit in the last place, which flush
// denormal results (exp) or operands (log, rsq); 8-bit floats are converted in pairs by bytes of a register, in the
// kinds of the generation: FNUZ on gfx942, the OCP kinds on gfx950 and gfx12. Their conversion gives NaN (or infinity)
// where the value is out of range, so it is clamped first. Sources: the ISA guides (V_EXP_F32, V_RCP_F32,
// V_CVT_PK_FP8_F32, …).
#include "codegen/object/device_functions.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_amd/passes/expand_divisions.h"
#include "ir/type.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <cmath>

namespace tessera::amd {
using namespace llvm;
using ir::FloatKind;
using ir::Opcode;
using ir::RoundingMode;

/// x / y, rounded to nearest where v_rcp_f32 is and the quotient is no denormal, else off by a unit in the last place
/// at most (tt.precise_divf is LLVM's own division). x = n · 2^f and y = d · 2^e with n and d in [½, 1), r ≈ 1 / d: n
/// · r neither overflows nor loses bits, what it misses of n / d is made up once, and the powers of two come last.
/// (With x in the place of n, three instructions less, denormals divided by small numbers lose their bits.) What
/// depends on y alone is shared by all that divide by it. Zeros, infinities and NaNs are v_div_fixup_f32's (ISA
/// guides): any step may have made a NaN of them.
static Value *divide(IRBuilder<> &b, Value *x, Value *y) {
  Type *f32 = b.getFloatTy(), *i32 = b.getInt32Ty();
  auto mantissa = [&](Value *v) { return b.CreateIntrinsic(Intrinsic::amdgcn_frexp_mant, {f32}, {v}); };
  auto exponent = [&](Value *v) { return b.CreateIntrinsic(Intrinsic::amdgcn_frexp_exp, {i32, f32}, {v}); };
  Value *n = mantissa(x), *d = mantissa(y);
  Value *r = b.CreateIntrinsic(Intrinsic::amdgcn_rcp, {f32}, {d});
  Value *q = b.CreateFMul(n, r);
  Value *missed = b.CreateIntrinsic(Intrinsic::fma, {f32}, {b.CreateFNeg(d), q, n});
  q = b.CreateIntrinsic(Intrinsic::fma, {f32}, {missed, r, q});
  q = b.CreateIntrinsic(Intrinsic::ldexp, {f32, i32}, {q, b.CreateSub(exponent(x), exponent(y))});
  return b.CreateIntrinsic(Intrinsic::amdgcn_div_fixup, {f32}, {q, y, x});
}

Value *AmdTarget::divideIntegers(IRBuilder<> &b, Instruction::BinaryOps op, Value *x, Value *y) const {
  return x->getType()->isIntegerTy(32) ? createDivision(b, op, x, y) : nullptr;
}

Value *AmdTarget::mathOp(IRBuilder<> &b, Opcode op, Type *type, ArrayRef<Value *> args) const {
  Type *f32 = b.getFloatTy();
  if (op == Opcode::arith_divf && (type->isHalfTy() || type->isBFloatTy())) {
    // The range of half is far inside that of f32; that of bfloat is not.
    Value *x = b.CreateFPExt(args[0], f32), *y = b.CreateFPExt(args[1], f32);
    Value *q =
        type->isHalfTy() ? b.CreateFMul(x, b.CreateIntrinsic(Intrinsic::amdgcn_rcp, {f32}, {y})) : divide(b, x, y);
    return b.CreateFPTrunc(q, type);
  }
  if (!type->isFloatTy()) return nullptr;
  switch (op) {
  case Opcode::arith_divf: return divide(b, args[0], args[1]);
  case Opcode::tt_approx_divf: return b.CreateIntrinsic(Intrinsic::amdgcn_fdiv_fast, {}, {args[0], args[1]});
  case Opcode::math_exp: {
    // e^x = 2^(x / ln 2)
    Value *scaled = b.CreateFMul(args[0], ConstantFP::get(type, 1.44269504088896340736));
    return b.CreateIntrinsic(Intrinsic::amdgcn_exp2, {f32}, {scaled});
  }
  case Opcode::math_exp2: return b.CreateIntrinsic(Intrinsic::amdgcn_exp2, {f32}, {args[0]});
  case Opcode::math_sqrt: return b.CreateIntrinsic(Intrinsic::amdgcn_sqrt, {f32}, {args[0]});
  case Opcode::math_rsqrt: return b.CreateIntrinsic(Intrinsic::amdgcn_rsq, {f32}, {args[0]});
  // LLVM expands these to the hardware's logarithm with a correction that keeps them accurate near one.
  case Opcode::math_log: return b.CreateIntrinsic(Intrinsic::log, {f32}, {args[0]});
  case Opcode::math_log2: return b.CreateIntrinsic(Intrinsic::log2, {f32}, {args[0]});
  case Opcode::math_log10: return b.CreateIntrinsic(Intrinsic::log10, {f32}, {args[0]});
  default: return nullptr;
  }
}

std::string AmdTarget::libraryFunction(StringRef name, Type *type) const {
  return codegen::ocmlEquivalent(("__nv_" + name + (type->isFloatTy() ? "f" : "")).str());
}

/// Whether the number is clamped between constants of at most this magnitude, or NaN.
static bool isClampedTo(double limit, Value *v) {
  auto isBound = [&](Value *bound) {
    auto *c = dyn_cast<ConstantFP>(bound);
    return c && std::abs(c->getValueAPF().convertToDouble()) <= limit;
  };
  auto isBoundedBy = [&](Value *x, Intrinsic::ID ignoringNan, Intrinsic::ID keepingNan) -> Value * {
    auto *call = dyn_cast<IntrinsicInst>(x);
    if (!call || !is_contained({ignoringNan, keepingNan}, call->getIntrinsicID())) return nullptr;
    Value *a = call->getArgOperand(0), *b = call->getArgOperand(1);
    return isBound(b) ? a : isBound(a) ? b : nullptr;
  };
  auto minimumOf = [&](Value *x) { return isBoundedBy(x, Intrinsic::minnum, Intrinsic::minimum); };
  auto maximumOf = [&](Value *x) { return isBoundedBy(x, Intrinsic::maxnum, Intrinsic::maximum); };
  if (Value *inner = minimumOf(v)) return maximumOf(inner);
  Value *inner = maximumOf(v);
  return inner && minimumOf(inner);
}

/// To 8-bit floats, two by an instruction, four in a register. Beyond the range is the largest one, NaN stays.
static void toFloat8(IRBuilder<> &b, FloatKind to, ArrayRef<Value *> in, SmallVectorImpl<Value *> &out) {
  Type *i32 = b.getInt32Ty(), *f32 = b.getFloatTy();
  Type *bytes = FixedVectorType::get(b.getInt8Ty(), 4);
  bool fp8 = to == FloatKind::F8E4M3FN || to == FloatKind::F8E4M3FNUZ;
  double limit = to == FloatKind::F8E4M3FN ? 448 : to == FloatKind::F8E4M3FNUZ ? 240 : 57344;
  auto clamped = [&](Value *v) {
    if (!v->getType()->isFloatTy()) v = b.CreateFPExt(v, f32);
    if (isClampedTo(limit, v)) return v;
    Value *c = b.CreateIntrinsic(Intrinsic::amdgcn_fmed3, {f32},
                                 {v, ConstantFP::get(f32, -limit), ConstantFP::get(f32, limit)});
    return b.CreateSelect(b.CreateFCmpUNO(v, v), v, c);
  };
  auto id = fp8 ? Intrinsic::amdgcn_cvt_pk_fp8_f32 : Intrinsic::amdgcn_cvt_pk_bf8_f32;
  for (size_t i = 0; i < in.size(); i += 4) {
    size_t n = std::min<size_t>(4, in.size() - i);
    Value *word = PoisonValue::get(i32);
    for (size_t half = 0; half < n; half += 2) {
      Value *x = clamped(in[i + half]), *y = half + 1 < n ? clamped(in[i + half + 1]) : x;
      word = b.CreateIntrinsic(id, {}, {x, y, word, b.getInt1(half == 2)});
    }
    Value *v = b.CreateBitCast(word, bytes);
    for (size_t k = 0; k < n; ++k) out.push_back(b.CreateExtractElement(v, k));
  }
}

/// Up to four bytes as a register, the first one lowest.
static Value *wordOf(IRBuilder<> &b, ArrayRef<Value *> bytes) {
  Value *v = PoisonValue::get(FixedVectorType::get(b.getInt8Ty(), 4));
  for (auto [k, byte] : enumerate(bytes)) v = b.CreateInsertElement(v, byte, k);
  return b.CreateBitCast(v, b.getInt32Ty());
}

/// Converts bytes by two: `convert` takes a register of up to four and whether it is to convert the upper two, and
/// gives a vector of two.
static void convertByTwo(IRBuilder<> &b, ArrayRef<Value *> bytes, SmallVectorImpl<Value *> &out,
                         function_ref<Value *(Value *word, bool isUpper)> convert) {
  for (size_t i = 0; i < bytes.size(); i += 4) {
    size_t n = std::min<size_t>(4, bytes.size() - i);
    Value *word = wordOf(b, bytes.slice(i, n));
    for (size_t half = 0; half < n; half += 2) {
      Value *two = convert(word, half == 2);
      for (size_t k = 0; k < 2 && half + k < n; ++k) out.push_back(b.CreateExtractElement(two, k));
    }
  }
}

/// From f32 that bf16 holds exactly, as all 8-bit floats and their NaNs: the upper halves, of which v_perm_b32 takes
/// two.
static void toBf16Exactly(IRBuilder<> &b, MutableArrayRef<Value *> values) {
  for (Value *&v : values) {
    Value *upper = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(v, b.getInt32Ty()), 16), b.getInt16Ty());
    v = b.CreateBitCast(upper, b.getBFloatTy());
  }
}

/// From 8-bit floats, two by an instruction, to f32, and from there to `to`.
static void fromFloat8(IRBuilder<> &b, FloatKind from, FloatKind to, bool hasBf16Conversion, ArrayRef<Value *> in,
                       SmallVectorImpl<Value *> &out) {
  bool fp8 = from == FloatKind::F8E4M3FN || from == FloatKind::F8E4M3FNUZ;
  auto id = fp8 ? Intrinsic::amdgcn_cvt_pk_f32_fp8 : Intrinsic::amdgcn_cvt_pk_f32_bf8;
  convertByTwo(b, in, out, [&](Value *word, bool isUpper) -> Value * {
    return b.CreateIntrinsic(id, {}, {word, b.getInt1(isUpper)});
  });
  if (to == FloatKind::BF16 && !hasBf16Conversion) return toBf16Exactly(b, out);
  for (Value *&v : out) {
    if (to == FloatKind::F16) v = b.CreateFPTrunc(v, b.getHalfTy());
    if (to == FloatKind::BF16) v = b.CreateFPTrunc(v, b.getBFloatTy());
    if (to == FloatKind::F64) v = b.CreateFPExt(v, b.getDoubleTy());
  }
}

/// From E4M3 to f16 without an instruction for it, two in a register; from there to f32 and bf16. A byte in the upper
/// half of 16 bits has the sign where f16 has it. The rest, one bit lower, is an f16 of 2^-8 of the number, denormals
/// too. The sum of NaN's bits and their lowest one carries into the highest bit of the exponent, which makes a NaN of
/// them: v_perm, v_lshrrev, v_and, v_add, v_and_or, v_pk_mul_f16, v_and_or.
static void fromE4M3(IRBuilder<> &b, FloatKind to, ArrayRef<Value *> in, SmallVectorImpl<Value *> &out) {
  constexpr uint32_t kToUpperHalves[] = {0x010c000c, 0x030c020c}; // of bytes 0 and 1, 2 and 3; 0x0c: zero
  auto both = [&](uint32_t half) { return b.getInt32(half << 16 | half); };
  Type *halves = FixedVectorType::get(b.getHalfTy(), 2);
  convertByTwo(b, in, out, [&](Value *word, bool isUpper) {
    Value *x = b.CreateIntrinsic(Intrinsic::amdgcn_perm, {}, {word, word, b.getInt32(kToUpperHalves[isUpper])});
    Value *number = b.CreateLShr(b.CreateAnd(x, both(0x7f00)), 1);
    Value *nan = b.CreateAnd(b.CreateAdd(number, both(0x0080)), both(0x4000));
    Value *scaled = b.CreateBitCast(b.CreateOr(nan, number), halves);
    scaled = b.CreateFMul(scaled, ConstantFP::get(halves, 0x1p8));
    Value *bits = b.CreateOr(b.CreateAnd(x, both(0x8000)), b.CreateBitCast(scaled, b.getInt32Ty()));
    return b.CreateBitCast(bits, halves);
  });
  if (to == FloatKind::F16) return;
  for (Value *&v : out) v = b.CreateFPExt(v, b.getFloatTy());
  if (to == FloatKind::BF16) toBf16Exactly(b, out);
}

/// f32 to 16 bits, two by an instruction: to f16 toward zero, or to bf16.
static void toPairs(IRBuilder<> &b, FloatKind to, ArrayRef<Value *> in, SmallVectorImpl<Value *> &out) {
  for (size_t i = 0; i < in.size(); i += 2) {
    bool isPair = i + 1 < in.size();
    Value *x = in[i], *y = isPair ? in[i + 1] : x, *two;
    if (to == FloatKind::F16) {
      two = b.CreateIntrinsic(Intrinsic::amdgcn_cvt_pkrtz, {}, {x, y});
    } else {
      Value *v = b.CreateInsertElement(PoisonValue::get(FixedVectorType::get(b.getFloatTy(), 2)), x, uint64_t(0));
      two = b.CreateFPTrunc(b.CreateInsertElement(v, y, 1), FixedVectorType::get(b.getBFloatTy(), 2));
    }
    out.push_back(b.CreateExtractElement(two, uint64_t(0)));
    if (isPair) out.push_back(b.CreateExtractElement(two, 1));
  }
}

bool AmdTarget::convertFloat(IRBuilder<> &b, FloatKind from, FloatKind to, RoundingMode rounding, ArrayRef<Value *> in,
                             SmallVectorImpl<Value *> &out) const {
  auto hasConversion = [&](FloatKind k) {
    switch (k) {
    case FloatKind::F8E4M3FN: return info_.convertsE4M3FN;
    case FloatKind::F8E5M2: return info_.convertsE5M2;
    case FloatKind::F8E4M3FNUZ: return info_.convertsE4M3FNUZ;
    case FloatKind::F8E5M2FNUZ: return info_.convertsE5M2FNUZ;
    default: return false;
    }
  };
  auto is16Or32Bits = [](FloatKind k) { return k == FloatKind::F32 || k == FloatKind::F16 || k == FloatKind::BF16; };
  if (hasConversion(to) && is16Or32Bits(from) && rounding == RoundingMode::Rtne) {
    toFloat8(b, to, in, out);
    return true;
  }
  if (hasConversion(from) && (is16Or32Bits(to) || to == FloatKind::F64)) {
    fromFloat8(b, from, to, info_.hasBf16Conversion, in, out);
    return true;
  }
  // Of one number alone, arithmetic on its bits takes an instruction less.
  if (from == FloatKind::F8E4M3FN && is16Or32Bits(to) && in.size() > 1) {
    fromE4M3(b, to, in, out);
    return true;
  }
  bool isToHalf = to == FloatKind::F16 && rounding == RoundingMode::Rtz;
  bool isToBf16 = to == FloatKind::BF16 && rounding == RoundingMode::Rtne && info_.hasBf16Conversion;
  if (from != FloatKind::F32 || (!isToHalf && !isToBf16)) return false;
  toPairs(b, to, in, out);
  return true;
}

/// From four e2m1 by tables of 8 bytes, which v_perm_b32 takes bytes from: of the upper byte and, for bf16, of the
/// lower one. The magnitude is the place in the table; the sign goes to the upper byte's highest bit:
/// v_and, v_perm, v_perm, v_and, v_lshl_or, and v_perm to each f32 or to two of 16 bits.
bool AmdTarget::convertE2m1(IRBuilder<> &b, bool high, FloatKind to, ArrayRef<Value *> bytes,
                            SmallVectorImpl<Value *> &out) const {
  // Bytes 4 to 7 of the tables, bytes 0 to 3: of 0, 0.5, 1, 1.5, 2, 3, 4, 6.
  constexpr uint32_t kUpperF16[] = {0x46444240, 0x3e3c3800}, kUpperBf16[] = {0x40404040, 0x3f3f3f00},
                     kLowerBf16[] = {0xc0804000, 0xc0800000};
  constexpr uint32_t kZero = 0x0c; // a selector
  bool half = to == FloatKind::F16;
  auto permute = [&](Value *upper, Value *lower, Value *selectors) -> Value * {
    return b.CreateIntrinsic(Intrinsic::amdgcn_perm, {}, {upper, lower, selectors});
  };
  auto fromTable = [&](const uint32_t (&table)[2], Value *places) {
    return permute(b.getInt32(table[0]), b.getInt32(table[1]), places);
  };
  Type *pair = FixedVectorType::get(half ? b.getHalfTy() : b.getBFloatTy(), 2);
  for (size_t i = 0; i < bytes.size(); i += 4) {
    size_t n = std::min<size_t>(4, bytes.size() - i);
    SmallVector<Value *, 4> four(bytes.slice(i, n));
    four.resize(4, b.getInt8(0));
    Value *word = wordOf(b, four);
    Value *places = b.CreateAnd(high ? b.CreateLShr(word, 4) : word, 0x07070707);
    Value *signs = high ? b.CreateAnd(word, 0x80808080) : b.CreateShl(b.CreateAnd(word, 0x08080808), 4);
    Value *upper = b.CreateOr(fromTable(half ? kUpperF16 : kUpperBf16, places), signs);
    Value *lower = half ? upper : fromTable(kLowerBf16, places);
    // Selectors: bytes 0 to 3 are of `lower`, 4 to 7 of `upper`.
    for (uint32_t k = 0; k < n; k += to == FloatKind::F32 ? 1 : 2) {
      if (to == FloatKind::F32) {
        Value *bits = permute(upper, lower, b.getInt32((4 + k) << 24 | k << 16 | kZero << 8 | kZero));
        out.push_back(b.CreateBitCast(bits, b.getFloatTy()));
        continue;
      }
      uint32_t low = half ? kZero : k, next = half ? kZero : k + 1;
      Value *two = permute(upper, lower, b.getInt32((5 + k) << 24 | next << 16 | (4 + k) << 8 | low));
      two = b.CreateBitCast(two, pair);
      for (uint32_t e = 0; e < 2 && k + e < n; ++e) out.push_back(b.CreateExtractElement(two, e));
    }
  }
  return true;
}

} // namespace tessera::amd
