// Mathematical functions and float conversions of NVIDIA GPUs. What is peculiar: approximate instructions for the
// functions that Triton's users get there (ex2.approx, sqrt.approx, rsqrt.approx, div.full, div.approx), the others
// from libdevice; 8-bit floats are converted in pairs from sm_89 on, 16-bit ones everywhere.
// Source: PTX ISA, "Floating Point Instructions", "cvt"; error bounds there (ex2.approx, div.full, div.approx: 2 ulp).
#include "codegen_nvidia/lowering_target.h"
#include "ir/type.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include <cmath>

namespace tessera::nvidia {
using namespace llvm;
using ir::FloatKind;
using ir::Opcode;
using ir::RoundingMode;

Value *NvidiaTarget::mathOp(IRBuilder<> &b, Opcode op, Type *type, ArrayRef<Value *> args) const {
  if (!type->isFloatTy()) return nullptr;
  switch (op) {
  case Opcode::math_exp: {
    // e^x = 2^(x / ln 2)
    Value *scaled = b.CreateFMul(args[0], ConstantFP::get(type, 1.44269504088896340736));
    return b.CreateIntrinsic(Intrinsic::nvvm_ex2_approx, {type}, {scaled});
  }
  case Opcode::math_exp2: return b.CreateIntrinsic(Intrinsic::nvvm_ex2_approx_ftz, {type}, {args[0]});
  case Opcode::math_sqrt: return b.CreateIntrinsic(Intrinsic::nvvm_sqrt_approx_ftz_f, {}, {args[0]});
  case Opcode::math_rsqrt: return b.CreateIntrinsic(Intrinsic::nvvm_rsqrt_approx_ftz_f, {}, {args[0]});
  case Opcode::arith_divf: return b.CreateIntrinsic(Intrinsic::nvvm_div_full, {}, {args[0], args[1]});
  case Opcode::tt_approx_divf: return b.CreateIntrinsic(Intrinsic::nvvm_div_approx_f, {}, {args[0], args[1]});
  default: return nullptr;
  }
}

std::string NvidiaTarget::libraryFunction(StringRef name, Type *type) const {
  return ("__nv_" + name + (type->isFloatTy() ? "f" : "")).str();
}

bool NvidiaTarget::convertFloat(IRBuilder<> &b, FloatKind from, FloatKind to, RoundingMode rounding,
                                ArrayRef<Value *> in, SmallVectorImpl<Value *> &out) const {
  auto isF8 = [](FloatKind k) { return k == FloatKind::F8E4M3FN || k == FloatKind::F8E5M2; };
  Type *half = b.getHalfTy(), *f32 = b.getFloatTy(), *i16 = b.getInt16Ty();
  // Calls `pair` on neighbours; the last of an odd number is its own neighbour.
  auto pairs = [&](ArrayRef<Value *> v, function_ref<Value *(Value *, Value *)> pair) {
    for (unsigned i = 0; i < v.size(); i += 2) {
      Value *two = pair(v[i], i + 1 < v.size() ? v[i + 1] : v[i]);
      out.push_back(b.CreateExtractElement(two, uint64_t(0)));
      if (i + 1 < v.size()) out.push_back(b.CreateExtractElement(two, 1));
    }
    return true;
  };
  auto widened = [&](Type *t) {
    SmallVector<Value *, 8> w;
    for (Value *v : in) w.push_back(v->getType() == t ? v : b.CreateFPExt(v, t));
    return w;
  };

  if (isF8(to)) {
    bool e4m3 = to == FloatKind::F8E4M3FN;
    if (!(e4m3 ? info_.convertsE4M3FN : info_.convertsE5M2) || rounding != RoundingMode::Rtne) return false;
    Type *bytes = FixedVectorType::get(b.getInt8Ty(), 2);
    if (from == FloatKind::F16)
      return pairs(in, [&](Value *x, Value *y) {
        Value *v = b.CreateInsertElement(PoisonValue::get(FixedVectorType::get(half, 2)), x, uint64_t(0));
        v = b.CreateInsertElement(v, y, 1);
        auto id = e4m3 ? Intrinsic::nvvm_f16x2_to_e4m3x2_rn : Intrinsic::nvvm_f16x2_to_e5m2x2_rn;
        return b.CreateBitCast(b.CreateIntrinsic(id, {}, {v}), bytes);
      });
    if (from != FloatKind::F32 && from != FloatKind::BF16) return false;
    return pairs(widened(f32), [&](Value *x, Value *y) { // the first operand goes to the upper byte
      auto id = e4m3 ? Intrinsic::nvvm_ff_to_e4m3x2_rn : Intrinsic::nvvm_ff_to_e5m2x2_rn;
      return b.CreateBitCast(b.CreateIntrinsic(id, {}, {y, x}), bytes);
    });
  }
  if (isF8(from)) {
    bool e4m3 = from == FloatKind::F8E4M3FN;
    if (!(e4m3 ? info_.convertsE4M3FN : info_.convertsE5M2)) return false;
    if (to != FloatKind::F16 && to != FloatKind::F32 && to != FloatKind::BF16 && to != FloatKind::F64) return false;
    pairs(in, [&](Value *x, Value *y) {
      Value *v = b.CreateInsertElement(PoisonValue::get(FixedVectorType::get(b.getInt8Ty(), 2)), x, uint64_t(0));
      v = b.CreateBitCast(b.CreateInsertElement(v, y, 1), i16);
      return b.CreateIntrinsic(e4m3 ? Intrinsic::nvvm_e4m3x2_to_f16x2_rn : Intrinsic::nvvm_e5m2x2_to_f16x2_rn, {}, {v});
    });
    for (Value *&v : out) {
      if (to == FloatKind::F64) v = b.CreateFPExt(v, b.getDoubleTy());
      if (to == FloatKind::F32 || to == FloatKind::BF16) v = b.CreateFPExt(v, f32);
      if (to == FloatKind::BF16) v = b.CreateFPTrunc(v, b.getBFloatTy());
    }
    return true;
  }
  if (from == FloatKind::F32 && (to == FloatKind::F16 || to == FloatKind::BF16)) {
    bool isHalf = to == FloatKind::F16, isNearest = rounding == RoundingMode::Rtne;
    // LLVM pairs conversions whose results share a register, and leaves the others alone: among those of accumulators
    // ptxas then finds one to move up over the wait for wgmma (warning C7514), which makes all wgmmas wait.
    if (isNearest && in.size() == 1) return false;
    auto id = isNearest ? (isHalf ? Intrinsic::nvvm_ff2f16x2_rn : Intrinsic::nvvm_ff2bf16x2_rn)
                        : (isHalf ? Intrinsic::nvvm_ff2f16x2_rz : Intrinsic::nvvm_ff2bf16x2_rz);
    return pairs(in, [&](Value *x, Value *y) { return b.CreateIntrinsic(id, {}, {y, x}); });
  }
  return false;
}

/// Two e2m1 at once. Their exponent and mantissa become the lowest bits of the wider float's exponent and the highest
/// of its mantissa: that is the number times 2^(1 - bias), where 0.5 is subnormal. A `mul` by 2^(bias - 1),
/// which is exact, makes it the number: shift, LOP3, shift, LOP3, HFMA2 for two. It is written as an fma, which sm_80
/// has for bf16, too; adding -0 keeps the sign of zero.
bool NvidiaTarget::convertE2m1(IRBuilder<> &b, bool high, FloatKind to, ArrayRef<Value *> bytes,
                               SmallVectorImpl<Value *> &out) const {
  bool half = to == FloatKind::F16; // an f32 is the upper half of its register, a bf16
  unsigned mantissaBits = half ? 10 : 7, bias = half ? 15 : 127;
  Type *pair = FixedVectorType::get(half ? b.getHalfTy() : b.getBFloatTy(), 2);
  Value *scale = ConstantFP::get(pair, std::ldexp(1.0, int(bias) - 1)), *zero = ConstantFP::getNegativeZero(pair);
  auto shifted = [&](Value *word, int by) { return by < 0 ? b.CreateLShr(word, -by) : b.CreateShl(word, by); };
  // In a word of four bytes, of bytes k and k + 2.
  auto two = [&](Value *word, unsigned k) {
    int place = int(8 * k + (high ? 4 : 0)), mantissa = int(mantissaBits) - 1;
    uint32_t magnitudes = 0x00070007u << mantissa, signs = 0x80008000u;
    Value *magnitude = b.CreateAnd(shifted(word, mantissa - place), b.getInt32(magnitudes));
    Value *bits = b.CreateOr(magnitude, b.CreateAnd(shifted(word, 12 - place), b.getInt32(signs)));
    return b.CreateIntrinsic(Intrinsic::fma, {pair}, {b.CreateBitCast(bits, pair), scale, zero});
  };
  for (size_t i = 0; i < bytes.size(); i += 4) {
    Value *word = Constant::getNullValue(FixedVectorType::get(b.getInt8Ty(), 4));
    size_t n = std::min<size_t>(4, bytes.size() - i);
    for (size_t k = 0; k < n; ++k) word = b.CreateInsertElement(word, bytes[i + k], k);
    word = b.CreateBitCast(word, b.getInt32Ty());
    Value *even = two(word, 0), *odd = two(word, 1);
    for (size_t k = 0; k < n; ++k) {
      Value *v = b.CreateExtractElement(k % 2 ? odd : even, k / 2);
      out.push_back(to == FloatKind::F32 ? b.CreateFPExt(v, b.getFloatTy()) : v);
    }
  }
  return true;
}

} // namespace tessera::nvidia
