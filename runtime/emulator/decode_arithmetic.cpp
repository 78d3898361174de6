// Decoding of LLVM's instructions (decode.h) that compute with numbers: binary operations, negation, comparisons,
// conversions.
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/Operator.h"
#include <cmath>

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- integers ----

struct AddOp {
  template <class T> static T run(T a, T b) { return T(a + b); }
};
struct SubOp {
  template <class T> static T run(T a, T b) { return T(a - b); }
};
struct MulOp {
  template <class T> static T run(T a, T b) {
    if constexpr (sizeof(T) < 4)
      return T(uint32_t(a) * uint32_t(b));
    else
      return T(a * b);
  }
};
// Division by zero, which the lowering avoids, gives all ones and the remainder the dividend.
struct UDivOp {
  template <class T> static T run(T a, T b) { return b ? T(a / b) : T(~T(0)); }
};
struct URemOp {
  template <class T> static T run(T a, T b) { return b ? T(a % b) : a; }
};
struct SDivOp {
  template <class T> static T run(T a, T b) {
    return b == T(~T(0)) ? T(T(0) - a) : b ? T(Signed<T>(a) / Signed<T>(b)) : T(~T(0));
  }
};
struct SRemOp {
  template <class T> static T run(T a, T b) { return b == T(~T(0)) ? T(0) : b ? T(Signed<T>(a) % Signed<T>(b)) : a; }
};
struct AndOp {
  template <class T> static T run(T a, T b) { return T(a & b); }
};
struct OrOp {
  template <class T> static T run(T a, T b) { return T(a | b); }
};
struct XorOp {
  template <class T> static T run(T a, T b) { return T(a ^ b); }
};
struct AShrOp {
  template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(Signed<T>(a) >> b) : T(0); }
};
struct EqOp {
  template <class T> static bool run(T a, T b) { return a == b; }
};
struct NeOp {
  template <class T> static bool run(T a, T b) { return a != b; }
};
struct UltOp {
  template <class T> static bool run(T a, T b) { return a < b; }
};
struct UleOp {
  template <class T> static bool run(T a, T b) { return a <= b; }
};
struct SltOp {
  template <class T> static bool run(T a, T b) { return Signed<T>(a) < Signed<T>(b); }
};
struct SleOp {
  template <class T> static bool run(T a, T b) { return Signed<T>(a) <= Signed<T>(b); }
};

// ---- floats ----

template <class T> Handler floatBinary(unsigned opcode) {
  switch (opcode) {
  case llvm::Instruction::FAdd: return binary<T, T, [](T a, T b) { return a + b; }>;
  case llvm::Instruction::FSub: return binary<T, T, [](T a, T b) { return a - b; }>;
  case llvm::Instruction::FMul: return binary<T, T, [](T a, T b) { return a * b; }>;
  case llvm::Instruction::FDiv: return binary<T, T, [](T a, T b) { return a / b; }>;
  case llvm::Instruction::FRem: return binary<T, T, [](T a, T b) { return std::fmod(a, b); }>;
  default: return nullptr;
  }
}
template <class T> Handler floatCompare(CmpInst::Predicate p) {
  switch (p) {
  case CmpInst::FCMP_FALSE: return binary<uint8_t, T, [](T, T) { return false; }>;
  case CmpInst::FCMP_OEQ: return binary<uint8_t, T, [](T a, T b) { return a == b; }>;
  case CmpInst::FCMP_OGT: return binary<uint8_t, T, [](T a, T b) { return a > b; }>;
  case CmpInst::FCMP_OGE: return binary<uint8_t, T, [](T a, T b) { return a >= b; }>;
  case CmpInst::FCMP_OLT: return binary<uint8_t, T, [](T a, T b) { return a < b; }>;
  case CmpInst::FCMP_OLE: return binary<uint8_t, T, [](T a, T b) { return a <= b; }>;
  case CmpInst::FCMP_ONE: return binary<uint8_t, T, [](T a, T b) { return a < b || a > b; }>;
  case CmpInst::FCMP_ORD: return binary<uint8_t, T, [](T a, T b) { return a == a && b == b; }>;
  case CmpInst::FCMP_UEQ: return binary<uint8_t, T, [](T a, T b) { return !(a < b || a > b); }>;
  case CmpInst::FCMP_UGT: return binary<uint8_t, T, [](T a, T b) { return !(a <= b); }>;
  case CmpInst::FCMP_UGE: return binary<uint8_t, T, [](T a, T b) { return !(a < b); }>;
  case CmpInst::FCMP_ULT: return binary<uint8_t, T, [](T a, T b) { return !(a >= b); }>;
  case CmpInst::FCMP_ULE: return binary<uint8_t, T, [](T a, T b) { return !(a > b); }>;
  case CmpInst::FCMP_UNE: return binary<uint8_t, T, [](T a, T b) { return a != b; }>;
  case CmpInst::FCMP_UNO: return binary<uint8_t, T, [](T a, T b) { return a != a || b != b; }>;
  default: return binary<uint8_t, T, [](T, T) { return true; }>;
  }
}
void floatToDoubleRow(Warp &w, const Instruction &i) {
  unary<double, float, [](float f) { return double(f); }>(w, i);
}
void doubleToFloatRow(Warp &w, const Instruction &i) {
  unary<float, double, [](double f) { return float(f); }>(w, i);
}
void doubleToHalfRow(Warp &w, const Instruction &i) {
  unary<uint16_t, double, [](double f) { return runtime::encodeFloat(ir::FloatKind::F16, f); }>(w, i);
}
void doubleToBfloatRow(Warp &w, const Instruction &i) {
  unary<uint16_t, double, [](double f) { return runtime::encodeFloat(ir::FloatKind::BF16, f); }>(w, i);
}

template <class T> void floatToInteger(Warp &w, const Instruction &i) { // immediate: signed << 8 | bits; 8-byte result
  bool isSigned = i.immediate >> 8;
  unsigned bits = unsigned(i.immediate & 0xff);
  const T *a = w.row<T>(i.a);
  uint64_t *d = w.row<uint64_t>(i.to);
  forLanes(w, [=](unsigned l) { d[l] = toInteger(double(a[l]), isSigned, bits); });
}

} // namespace

// ---- instructions ----

void Decoder::decodeNegation(llvm::Instruction &i) {
  SmallVector<Row, 4> in(rows(i.getOperand(0)));
  SmallVector<Row, 4> out(defineFresh(&i));
  for (auto [k, t] : enumerate(elements(i.getType()))) {
    unsigned bytes = bytesOf(t);
    emit(binaryByBytes<XorOp>(bytes), out[k], in[k], constant(uint64_t(1) << (8 * bytes - 1), bytes));
  }
}

void Decoder::decodeBinary(BinaryOperator &b) {
  using I = llvm::Instruction;
  SmallVector<Row, 4> x(rows(b.getOperand(0))), y(rows(b.getOperand(1))), out(defineFresh(&b));
  bool tracked = addresses_.contains(&b);
  for (auto [k, t] : enumerate(elements(b.getType()))) {
    if (t->isFloatingPointTy()) {
      if (t->isDoubleTy() || t->isFloatTy()) {
        emit(t->isDoubleTy() ? floatBinary<double>(b.getOpcode()) : floatBinary<float>(b.getOpcode()), out[k], x[k],
             y[k]);
        continue;
      }
      if (!t->isHalfTy() && !t->isBFloatTy()) return unknown(b, "the type of '" + printed(b) + "'");
      // Rounding the f32 result once more is right for half and bfloat: f32 has more than twice their precision.
      Row to = fresh(4), p = toFloat(x[k], t), q = toFloat(y[k], t);
      emit(floatBinary<float>(b.getOpcode()), to, p, q);
      fromFloat(out[k], to, t);
      continue;
    }
    unsigned bits = bitsOf(t), bytes = bytesOf(t);
    if (bits > 128) return unknown(b, "integers of " + std::to_string(bits) + " bits");
    Row p = x[k], q = y[k];
    bool isSigned = b.getOpcode() == I::SDiv || b.getOpcode() == I::SRem || b.getOpcode() == I::AShr;
    if (isSigned) {
      p = signExtended(p, bits, bytes);
      if (b.getOpcode() != I::AShr) q = signExtended(q, bits, bytes);
    }
    Handler h = nullptr;
    Tracking tracking = Tracking::None;
    switch (b.getOpcode()) {
    case I::Add: h = binaryByBytes<AddOp>(bytes), tracking = Tracking::Add; break;
    case I::Sub: h = binaryByBytes<SubOp>(bytes), tracking = Tracking::Sub; break;
    case I::Mul: h = binaryByBytes<MulOp>(bytes), tracking = Tracking::Mul; break;
    case I::Shl: h = binaryByBytes<ShlOp>(bytes), tracking = Tracking::Shl; break;
    case I::Or: h = binaryByBytes<OrOp>(bytes), tracking = Tracking::Add; break;
    case I::UDiv: h = binaryByBytes<UDivOp>(bytes); break;
    case I::URem: h = binaryByBytes<URemOp>(bytes); break;
    case I::SDiv: h = binaryByBytes<SDivOp>(bytes); break;
    case I::SRem: h = binaryByBytes<SRemOp>(bytes); break;
    case I::And: h = binaryByBytes<AndOp>(bytes); break;
    case I::Xor: h = binaryByBytes<XorOp>(bytes); break;
    case I::LShr: h = binaryByBytes<LShrOp>(bytes); break;
    case I::AShr: h = binaryByBytes<AShrOp>(bytes); break;
    default: return unknown(b, "the instruction '" + printed(b) + "'");
    }
    auto &i = emit(h, out[k], p, q);
    bool adds = b.getOpcode() != I::Or || cast<PossiblyDisjointInst>(b).isDisjoint(); // a disjoint or is an addition
    if (tracked && tracking != Tracking::None && adds) {
      track(i, bytes == 4 ? tracking : Tracking::Wide);
    }
    maskTo(out[k], bits, bytes);
  }
}

void Decoder::decodeCompare(CmpInst &c) {
  SmallVector<Row, 4> x(rows(c.getOperand(0))), y(rows(c.getOperand(1))), out(defineFresh(&c));
  for (auto [k, t] : enumerate(elements(c.getOperand(0)->getType()))) {
    if (isa<FCmpInst>(c)) {
      Row p = toFloat(x[k], t), q = toFloat(y[k], t);
      emit(t->isDoubleTy() ? floatCompare<double>(c.getPredicate()) : floatCompare<float>(c.getPredicate()), out[k], p,
           q);
      continue;
    }
    unsigned bits = bitsOf(t), bytes = bytesOf(t);
    Row p = x[k], q = y[k];
    if (c.isSigned()) {
      p = signExtended(p, bits, bytes);
      q = signExtended(q, bits, bytes);
    }
    Handler h = nullptr;
    bool swap = false;
    switch (c.getPredicate()) {
    case CmpInst::ICMP_EQ: h = compareByBytes<EqOp>(bytes); break;
    case CmpInst::ICMP_NE: h = compareByBytes<NeOp>(bytes); break;
    case CmpInst::ICMP_UGT: swap = true; [[fallthrough]];
    case CmpInst::ICMP_ULT: h = compareByBytes<UltOp>(bytes); break;
    case CmpInst::ICMP_UGE: swap = true; [[fallthrough]];
    case CmpInst::ICMP_ULE: h = compareByBytes<UleOp>(bytes); break;
    case CmpInst::ICMP_SGT: swap = true; [[fallthrough]];
    case CmpInst::ICMP_SLT: h = compareByBytes<SltOp>(bytes); break;
    case CmpInst::ICMP_SGE: swap = true; [[fallthrough]];
    case CmpInst::ICMP_SLE: h = compareByBytes<SleOp>(bytes); break;
    default: return unknown(c, "the comparison '" + printed(c) + "'");
    }
    emit(h, out[k], swap ? q : p, swap ? p : q);
  }
}

bool Decoder::castElement(CastInst &c, Row to, Type *t, Row from, Type *f) {
  using I = llvm::Instruction;
  unsigned fromBytes = bytesOf(f);
  unsigned toBytes = bytesOf(t);
  unsigned fromBits = bitsOf(f);
  unsigned toBits = bitsOf(t);
  bool tracked = addresses_.contains(&c);
  switch (c.getOpcode()) {
  case I::ZExt:
  case I::Trunc:
  case I::PtrToInt:
  case I::IntToPtr:
  case I::PtrToAddr: {
    auto &x = emit(zeroExtendHandler(toBytes, fromBytes), to, from);
    if (tracked)
      track(x, toBytes == fromBytes ? Tracking::Wide : toBytes > fromBytes ? Tracking::ZExt : Tracking::Trunc);
    maskTo(to, toBits, toBytes);
    return true;
  }
  case I::SExt: {
    auto &x = emit(signExtendHandler(toBytes, fromBytes), to, signExtended(from, fromBits, fromBytes));
    if (tracked) track(x, Tracking::SExt);
    maskTo(to, toBits, toBytes);
    return true;
  }
  case I::AddrSpaceCast: return castAddressSpace(to, t, from, f, tracked);
  case I::FPExt:
  case I::FPTrunc: return castFloat(to, t, from, f);
  case I::SIToFP:
  case I::UIToFP: castToFloat(to, t, from, f, c.getOpcode() == I::SIToFP); return true;
  case I::FPToSI:
  case I::FPToUI: {
    if (toBits > 64) return false;
    Row number = toFloat(from, f);
    Row wide = fresh(8);
    // A number out of range saturates in the register that the instruction writes, then its upper bits are cut:
    // cvt.rzi.s16.f32 is PTX's narrowest, v_cvt_i32_f32 AMD's, which serves unsigned bytes, too.
    unsigned least = isAmd() ? 32 : 16;
    bool isSigned = c.getOpcode() == I::FPToSI || (isAmd() && toBits <= 8);
    emit(f->isDoubleTy() ? floatToInteger<double> : floatToInteger<float>, wide, number, kNoRow, kNoRow,
         uint64_t(isSigned) << 8 | std::max(toBits, least));
    emit(zeroExtendHandler(toBytes, 8), to, wide);
    maskTo(to, toBits, toBytes);
    return true;
  }
  default: return false;
  }
}

bool Decoder::castFloat(Row to, Type *t, Row from, Type *f) {
  bool narrow = t->isHalfTy() || t->isBFloatTy();
  if (t->isDoubleTy()) {
    emit(floatToDoubleRow, to, toFloat(from, f));
    return true;
  }
  if (f->isDoubleTy()) {
    if (!t->isFloatTy() && !narrow) return false;
    emit(t->isFloatTy() ? doubleToFloatRow : t->isHalfTy() ? doubleToHalfRow : doubleToBfloatRow, to, from);
    return true;
  }
  if (t->isFloatTy()) {
    emit(f->isHalfTy() ? halfToFloatRow : bfloatToFloatRow, to, from);
    return true;
  }
  if (!f->isFloatTy() || !narrow) return false;
  fromFloat(to, from, t);
  return true;
}

void Decoder::castToFloat(Row to, Type *t, Row from, Type *f, bool isSigned) {
  unsigned bytes = bytesOf(f);
  Row integer = isSigned ? signExtended(from, bitsOf(f), bytes) : from;
  Row wide = fresh(8);
  emit(isSigned ? signExtendHandler(8, bytes) : zeroExtendHandler(8, bytes), wide, integer);
  Handler toDouble = isSigned ? Handler(unary<double, uint64_t, [](uint64_t x) { return double(int64_t(x)); }>)
                              : unary<double, uint64_t, [](uint64_t x) { return double(x); }>;
  Handler toSingle = isSigned ? Handler(unary<float, uint64_t, [](uint64_t x) { return float(int64_t(x)); }>)
                              : unary<float, uint64_t, [](uint64_t x) { return float(x); }>;
  if (t->isDoubleTy()) {
    emit(toDouble, to, wide);
  } else if (t->isFloatTy()) {
    emit(toSingle, to, wide);
  } else {
    // By way of double, which is exact up to 53 bits, so that the result is rounded once.
    Row d = fresh(8);
    emit(toDouble, d, wide);
    emit(t->isHalfTy() ? doubleToHalfRow : doubleToBfloatRow, to, d);
  }
}

} // namespace tessera::emulator
