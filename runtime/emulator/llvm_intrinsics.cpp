// LLVM's target-independent intrinsics (LLVM Language Reference Manual).
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

struct UMinOp {
  template <class T> static T run(T a, T b) { return a < b ? a : b; }
};
struct UMaxOp {
  template <class T> static T run(T a, T b) { return a > b ? a : b; }
};
struct SMinOp {
  template <class T> static T run(T a, T b) { return Signed<T>(a) < Signed<T>(b) ? a : b; }
};
struct SMaxOp {
  template <class T> static T run(T a, T b) { return Signed<T>(a) > Signed<T>(b) ? a : b; }
};
struct UAddSatOp {
  template <class T> static T run(T a, T b) { return T(a + b) < a ? T(~T(0)) : T(a + b); }
};
struct USubSatOp {
  template <class T> static T run(T a, T b) { return a < b ? T(0) : T(a - b); }
};
struct SAddSatOp {
  template <class T> static T run(T a, T b) {
    Signed<T> r;
    if (!__builtin_add_overflow(Signed<T>(a), Signed<T>(b), &r)) return T(r);
    return Signed<T>(a) < 0 ? T(T(1) << (sizeof(T) * 8 - 1)) : T(T(~T(0)) >> 1);
  }
};
struct SSubSatOp {
  template <class T> static T run(T a, T b) {
    Signed<T> r;
    if (!__builtin_sub_overflow(Signed<T>(a), Signed<T>(b), &r)) return T(r);
    return Signed<T>(a) < 0 ? T(T(1) << (sizeof(T) * 8 - 1)) : T(T(~T(0)) >> 1);
  }
};
struct AbsOp {
  template <class T> static T run(T a) { return Signed<T>(a) < 0 ? T(T(0) - a) : a; }
};
struct PopulationOp {
  template <class T> static T run(T a) { return T(std::popcount(uint64_t(a))); }
};
struct BswapOp {
  template <class T> static T run(T a) {
    T r = 0;
    for (unsigned k = 0; k < sizeof(T); ++k) r = T(r << (sizeof(T) > 1 ? 8 : 0)) | T((a >> (8 * k)) & 0xff);
    return r;
  }
};
uint64_t reversed(uint64_t v) {
  v = (v & 0x5555555555555555) << 1 | (v >> 1 & 0x5555555555555555);
  v = (v & 0x3333333333333333) << 2 | (v >> 2 & 0x3333333333333333);
  v = (v & 0x0f0f0f0f0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f0f0f0f0f);
  return __builtin_bswap64(v);
}
/// Functions of one integer whose result depends on its width: `immediate` is the width.
template <class F> void bitFunction(Warp &w, const Instruction &i, F f) {
  unsigned bits = unsigned(i.immediate & 0xff), bytes = unsigned(i.immediate >> 8);
  forLanes(w, [&](unsigned l) { storeRow(w, i.to, bytes, l, f(loadRow(w, i.a, bytes, l), bits)); });
}
void leadingZeros(Warp &w, const Instruction &i) {
  bitFunction(w, i, [](uint64_t v, unsigned bits) { return uint64_t(std::countl_zero(v)) - (64 - bits); });
}
void trailingZeros(Warp &w, const Instruction &i) {
  bitFunction(w, i, [](uint64_t v, unsigned bits) { return v ? uint64_t(std::countr_zero(v)) : bits; });
}
void bitReverse(Warp &w, const Instruction &i) {
  bitFunction(w, i, [](uint64_t v, unsigned bits) { return reversed(v) >> (64 - bits); });
}
/// -1, 0 or 1: `immediate`: operands' bits | bytes << 8 | result's bits << 16 | bytes << 24 | signed << 32.
void threeWayCompare(Warp &w, const Instruction &i) {
  unsigned bits = unsigned(i.immediate & 0xff), bytes = unsigned(i.immediate >> 8 & 0xff);
  unsigned toBits = unsigned(i.immediate >> 16 & 0xff), toBytes = unsigned(i.immediate >> 24 & 0xff);
  uint64_t sign = i.immediate >> 32 ? uint64_t(1) << (bits - 1) : 0, minusOne = ~uint64_t(0) >> (64 - toBits);
  forLanes(w, [&](unsigned l) {
    uint64_t a = loadRow(w, i.a, bytes, l) ^ sign,
             b = loadRow(w, i.b, bytes, l) ^ sign; // with the sign turned, unsigned order is the signed one
    storeRow(w, i.to, toBytes, l, a < b ? minusOne : uint64_t(a > b));
  });
}
/// Funnel shifts: `immediate`: bits | bytes << 8 | right << 16.
void funnelShift(Warp &w, const Instruction &i) {
  unsigned bits = unsigned(i.immediate & 0xff), bytes = unsigned(i.immediate >> 8 & 0xff);
  bool right = i.immediate >> 16;
  forLanes(w, [&](unsigned l) {
    uint64_t a = loadRow(w, i.a, bytes, l), b = loadRow(w, i.b, bytes, l), s = loadRow(w, i.c, bytes, l) % bits;
    u128 both = u128(a) << bits | b;
    u128 r = right ? both >> s : both >> (bits - s);
    if (!right && s == 0) r = a;
    storeRow(w, i.to, bytes, l, uint64_t(r) & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1));
  });
}
/// {result, overflowed}: `immediate`: bits | bytes << 8 | operation << 16 (0 add, 1 sub, 2 mul) | signed << 24; `c`
/// has the flag.
void withOverflow(Warp &w, const Instruction &i) {
  unsigned bits = unsigned(i.immediate & 0xff), bytes = unsigned(i.immediate >> 8 & 0xff),
           operation = unsigned(i.immediate >> 16 & 0xff);
  bool isSigned = i.immediate >> 24;
  forLanes(w, [&](unsigned l) {
    uint64_t x = loadRow(w, i.a, bytes, l), y = loadRow(w, i.b, bytes, l),
             mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    auto wide = [&](uint64_t v) { return isSigned ? i128(int64_t(v << (64 - bits)) >> (64 - bits)) : i128(v); };
    i128 r = operation == 0   ? wide(x) + wide(y)
             : operation == 1 ? wide(x) - wide(y)
             : isSigned       ? wide(x) * wide(y)
                              : i128(u128(x) * y);
    storeRow(w, i.to, bytes, l, uint64_t(r) & mask);
    w.row<uint8_t>(i.c)[l] = !isSigned && operation == 2 ? (u128(x) * y) > mask : wide(uint64_t(r) & mask) != r;
  });
}

template <class Op> void integerBinary(Decoder &d, CallInst &c, bool isSigned = false) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> a(d.rows(c.getArgOperand(0))), b(d.rows(c.getArgOperand(1))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    unsigned bits = d.bitsOf(types[k]), bytes = d.bytesOf(types[k]);
    Row x = a[k], y = b[k];
    if (isSigned) {
      x = d.signExtended(x, bits, bytes);
      y = d.signExtended(y, bits, bytes);
    }
    d.emit(binaryByBytes<Op>(bytes), out[k], x, y);
    d.maskTo(out[k], bits, bytes);
  }
}
template <class Op> void saturating(Decoder &d, CallInst &c) {
  unsigned bits = d.bitsOf(d.elements(c.getType())[0]);
  if (bits != 8 * d.bytesOf(d.elements(c.getType())[0]))
    return d.unknown(c, "saturating arithmetic of " + std::to_string(bits) + " bits");
  integerBinary<Op>(d, c);
}
void withWidth(Decoder &d, CallInst &c, Handler h, unsigned operands, uint64_t extra = 0) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    if (d.bitsOf(types[k]) > 64)
      return d.unknown(c, "integers of " + std::to_string(d.bitsOf(types[k])) + " bits in '" +
                              c.getCalledFunction()->getName().str() + "'");
    Row in[3] = {kNoRow, kNoRow, kNoRow};
    for (unsigned o = 0; o < operands; ++o) in[o] = d.rows(c.getArgOperand(o))[k];
    d.emit(h, out[k], in[0], in[1], in[2], d.bitsOf(types[k]) | d.bytesOf(types[k]) << 8 | extra);
  }
}
void comparing(Decoder &d, CallInst &c, bool isSigned) {
  Type *from = d.elements(c.getArgOperand(0)->getType())[0], *to = d.elements(c.getType())[0];
  if (d.bitsOf(from) > 64 || d.bitsOf(to) > 64)
    return d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "'");
  SmallVector<Row, 4> a(d.rows(c.getArgOperand(0))), b(d.rows(c.getArgOperand(1))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k)
    d.emit(threeWayCompare, out[k], a[k], b[k], kNoRow,
           d.bitsOf(from) | d.bytesOf(from) << 8 | d.bitsOf(to) << 16 | uint64_t(d.bytesOf(to)) << 24 |
               uint64_t(isSigned) << 32);
}
void overflowing(Decoder &d, CallInst &c, unsigned operation, bool isSigned) {
  Type *t = c.getArgOperand(0)->getType();
  if (t->isVectorTy() || d.bitsOf(t) > 64)
    return d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "'");
  SmallVector<Row, 4> out(d.defineFresh(&c));
  d.emit(withOverflow, out[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)), out[1],
         d.bitsOf(t) | d.bytesOf(t) << 8 | operation << 16 | uint64_t(isSigned) << 24);
}
template <auto F32, auto F64> void floatUnary(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c, unary<float, float, F32>, unary<double, double, F64>, 1);
}
template <auto F32, auto F64> void floatBinary(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c, binary<float, float, F32>, binary<double, double, F64>, 2);
}
/// A function computed in double and rounded.
#define TESSERA_BY_DOUBLE(F)                                                                                           \
  floatUnary<[](float x) { return float(std::F(double(x))); }, [](double x) { return std::F(x); }>

void fusedMultiplyAdd(Decoder &d, CallInst &c) {
  Type *t = c.getType()->getScalarType();
  if (t->isHalfTy() || t->isBFloatTy()) {
    // x * y is exact in f32 for bfloat and in double for both. The sum is rounded to double, and once more: to odd, so
    // that the second rounding is right.
    auto h = [](float x, float y, float z) {
      double p = double(x) * double(y), s = p + double(z), v = s - p;
      return runtime::roundToOdd(s, (p - (s - v)) + (double(z) - v));
    };
    SmallVector<Row, 4> out(d.defineFresh(&c));
    for (unsigned k = 0; k < out.size(); ++k) {
      Row x = d.toFloat(d.rows(c.getArgOperand(0))[k], t), y = d.toFloat(d.rows(c.getArgOperand(1))[k], t),
          z = d.toFloat(d.rows(c.getArgOperand(2))[k], t);
      if (t->isHalfTy())
        d.emit(ternary<uint16_t, float,
                       [](float x, float y, float z) {
                         return runtime::encodeFloat(ir::FloatKind::F16, decltype(h){}(x, y, z));
                       }>,
               out[k], x, y, z);
      else
        d.emit(ternary<uint16_t, float,
                       [](float x, float y, float z) {
                         return runtime::encodeFloat(ir::FloatKind::BF16, decltype(h){}(x, y, z));
                       }>,
               out[k], x, y, z);
    }
    return;
  }
  d.elementwiseFloat(c, ternary<float, float, [](float x, float y, float z) { return std::fma(x, y, z); }>,
                     ternary<double, double, [](double x, double y, double z) { return std::fma(x, y, z); }>, 3);
}
void ignore(Decoder &, CallInst &) {}
void firstOperand(Decoder &d, CallInst &c) { d.define(&c, SmallVector<Row, 4>(d.rows(c.getArgOperand(0)))); }
void trapped(Warp &w, const Instruction &i) {
  fail(w, &i, int(std::countr_zero(w.mask)), "the kernel traps (an assertion that does not hold)");
}
template <class T> T nearestEven(T x) { return std::nearbyint(x); }

void toIntegerSaturating(Decoder &d, CallInst &c, bool isSigned) {
  auto from = d.elements(c.getArgOperand(0)->getType()), to = d.elements(c.getType());
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    unsigned bits = d.bitsOf(to[k]);
    Row x = d.toFloat(d.rows(c.getArgOperand(0))[k], from[k]), wide = d.fresh(8);
    if (bits > 64) return d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "'");
    auto convert = [](auto x) {
      return [](Warp &w, const Instruction &i) {
        const auto *a = w.row<decltype(x)>(i.a);
        uint64_t *t = w.row<uint64_t>(i.to);
        forLanes(
            w, [=, &i](unsigned l) { t[l] = toInteger(double(a[l]), i.immediate >> 8, unsigned(i.immediate & 0xff)); });
      };
    };
    d.emit(from[k]->isDoubleTy() ? Handler(convert(double())) : Handler(convert(float())), wide, x, kNoRow, kNoRow,
           uint64_t(isSigned) << 8 | bits);
    d.emit(
        [](Warp &w, const Instruction &i) {
          forLanes(w, [&](unsigned l) { storeRow(w, i.to, unsigned(i.immediate), l, w.row<uint64_t>(i.a)[l]); });
        },
        out[k], wide, kNoRow, kNoRow, d.bytesOf(to[k]));
  }
}
/// x * 2^n; n of any integer type, in f32 and f64, half by way of f32.
void loadExponent(Decoder &d, CallInst &c) {
  Type *t = c.getType()->getScalarType(), *e = c.getArgOperand(1)->getType()->getScalarType();
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    Row n = d.rows(c.getArgOperand(1))[k];
    n = d.resized(d.signExtended(n, d.bitsOf(e), d.bytesOf(e)), d.bytesOf(e), 4);
    if (d.bytesOf(e) < 4) n = d.signExtended(n, d.bitsOf(e), 4);
    if (t->isDoubleTy()) {
      d.emit(binaryMixed<double, double, int32_t, [](double x, int32_t n) { return std::ldexp(x, n); }>, out[k],
             d.rows(c.getArgOperand(0))[k], n);
      continue;
    }
    Row x = d.toFloat(d.rows(c.getArgOperand(0))[k], t), to = t->isFloatTy() ? out[k] : d.fresh(4);
    d.emit(binaryMixed<float, float, int32_t, [](float x, int32_t n) { return std::ldexp(x, n); }>, to, x, n);
    if (!t->isFloatTy()) d.fromFloat(out[k], to, t);
  }
}
/// Classes of floats: bits 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7 +subnormal,
/// 8 +normal, 9 +inf.
template <class T> uint32_t classOf(T x) {
  bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
  case FP_NAN: {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<uint32_t>(x) >> 22 & 1 ? 2 : 1;
    else
      return std::bit_cast<uint64_t>(x) >> 51 & 1 ? 2 : 1;
  }
  case FP_INFINITE: return negative ? 4 : 512;
  case FP_NORMAL: return negative ? 8 : 256;
  case FP_SUBNORMAL: return negative ? 16 : 128;
  default: return negative ? 32 : 64;
  }
}
void isClass(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType()->getScalarType();
  uint64_t mask = d.constantOperand(c, 1);
  if (!t->isFloatTy() && !t->isDoubleTy())
    return d.unknown(c, "the type of '" + c.getCalledFunction()->getName().str() + "'");
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    auto h = [](auto x) {
      return [](Warp &w, const Instruction &i) {
        const auto *a = w.row<decltype(x)>(i.a);
        uint8_t *t = w.row<uint8_t>(i.to);
        forLanes(w, [=, &i](unsigned l) { t[l] = (classOf(a[l]) & i.immediate) != 0; });
      };
    };
    d.emit(t->isDoubleTy() ? Handler(h(double())) : Handler(h(float())), out[k], d.rows(c.getArgOperand(0))[k], kNoRow,
           kNoRow, mask);
  }
}
void fractionAndExponent(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType();
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> out(d.defineFresh(&c));
  if (out.size() != 2 || (!t->isFloatTy() && !t->isDoubleTy()) || d.bytesOf(types[1]) != 4)
    return d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "'");
  Row x = d.row(c.getArgOperand(0));
  auto fraction = [](auto x) {
    int e;
    return std::frexp(x, &e);
  };
  auto exponent = [](auto x) {
    int e = 0;
    if (std::isfinite(x)) std::frexp(x, &e);
    return e;
  };
  d.emit(t->isDoubleTy() ? Handler(unary<double, double, fraction>) : Handler(unary<float, float, fraction>), out[0],
         x);
  d.emit(t->isDoubleTy() ? Handler(unary<int32_t, double, exponent>) : Handler(unary<int32_t, float, exponent>), out[1],
         x);
}
/// memcpy and memset of a constant length: one access of bytes each way.
void copyMemory(Decoder &d, CallInst &c) {
  auto &m = cast<MemIntrinsic>(c);
  auto *length = dyn_cast<ConstantInt>(m.getLength());
  if (!length || length->getZExtValue() > 4096)
    return d.unknown(c, "'" + c.getCalledFunction()->getName().str() + "' of a length that is not a small constant");
  Type *byte = Type::getInt8Ty(c.getContext());
  for (uint64_t k = 0; k < length->getZExtValue(); ++k) {
    Row value = d.fresh(1);
    if (auto *t = dyn_cast<MemTransferInst>(&m)) {
      Access from = d.memoryAccess(byte, t->getSource(), 1);
      from.offset = int64_t(k);
      from.elements[0].row = value;
      d.emitAccess(from);
    } else {
      value = d.row(cast<MemSetInst>(m).getValue());
    }
    Access to = d.memoryAccess(byte, m.getDest(), 1);
    to.kind = Access::Kind::Store;
    to.offset = int64_t(k);
    to.elements[0].row = value;
    d.emitAccess(to);
  }
}
template <class F> void reduceVector(Decoder &d, CallInst &c, F handler) {
  Type *t = c.getType();
  SmallVector<Row, 8> in(d.rows(c.getArgOperand(0)));
  unsigned bytes = d.bytesOf(t);
  if (d.bitsOf(t) != 8 * bytes && !t->isIntegerTy(1))
    return d.unknown(c, "the type of '" + c.getCalledFunction()->getName().str() + "'");
  Row sum = in[0];
  for (unsigned k = 1; k < in.size(); ++k) {
    Row next = d.fresh(bytes);
    d.emit(handler(bytes), next, sum, in[k]);
    if (t->isIntegerTy(1)) d.maskTo(next, 1, 1);
    sum = next;
  }
  d.define(&c, {sum});
}
/// Element by element, each result rounded to the element's type. fadd and fmul start from the first operand (LangRef
/// allows this order also where the call is `reassoc`).
template <auto F32, auto F64> void reduceFloats(Decoder &d, CallInst &c) {
  Type *t = c.getType();
  Handler h = t->isDoubleTy() ? Handler(binary<double, double, F64>) : Handler(binary<float, float, F32>);
  bool isNarrow = t->isHalfTy() || t->isBFloatTy();
  if (!isNarrow && !t->isFloatTy() && !t->isDoubleTy())
    return d.unknown(c, "the type of '" + c.getCalledFunction()->getName().str() + "'");
  SmallVector<Row, 8> in;
  for (Value *operand : c.args()) append_range(in, d.rows(operand));
  Row result = in[0];
  for (Row next : drop_begin(in)) {
    Row to = d.fresh(d.bytesOf(t)), wide = isNarrow ? d.fresh(4) : to;
    d.emit(h, wide, d.toFloat(result, t), d.toFloat(next, t));
    if (isNarrow) d.fromFloat(to, wide, t);
    result = to;
  }
  d.define(&c, {result});
}
struct PlusOp {
  template <class T> static T run(T a, T b) { return T(a + b); }
};
struct TimesOp {
  template <class T> static T run(T a, T b) { return T(sizeof(T) < 8 ? T(uint64_t(a) * uint64_t(b)) : T(a * b)); }
};
struct OrBitsOp {
  template <class T> static T run(T a, T b) { return T(a | b); }
};
struct AndBitsOp {
  template <class T> static T run(T a, T b) { return T(a & b); }
};
struct XorBitsOp {
  template <class T> static T run(T a, T b) { return T(a ^ b); }
};

} // namespace

// Table: LLVM's own intrinsics.
ArrayRef<IntrinsicRow> llvmIntrinsics() {
  static constexpr const char *kInteger = "LangRef, Standard C/C++ Library and Bit Manipulation Intrinsics",
                              *kFloat = "LangRef, Math Intrinsics",
                              *kOther = "LangRef, General and Memory Use Intrinsics",
                              *kReduce = "LangRef, Vector Reduction Intrinsics",
                              *kCode = "LangRef, Code Generator Intrinsics",
                              *kSaturate = "LangRef, Saturation and Overflow Arithmetic";
  static const IntrinsicRow rows[] = {
      {"llvm.umin", kInteger, [](Decoder &d, CallInst &c) { integerBinary<UMinOp>(d, c); }},
      {"llvm.umax", kInteger, [](Decoder &d, CallInst &c) { integerBinary<UMaxOp>(d, c); }},
      {"llvm.smin", kInteger, [](Decoder &d, CallInst &c) { integerBinary<SMinOp>(d, c, true); }},
      {"llvm.smax", kInteger, [](Decoder &d, CallInst &c) { integerBinary<SMaxOp>(d, c, true); }},
      {"llvm.ucmp", kInteger, [](Decoder &d, CallInst &c) { comparing(d, c, false); }},
      {"llvm.scmp", kInteger, [](Decoder &d, CallInst &c) { comparing(d, c, true); }},
      {"llvm.abs", kInteger,
       [](Decoder &d, CallInst &c) {
         auto types = d.elements(c.getType());
         SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))), out(d.defineFresh(&c));
         for (unsigned k = 0; k < out.size(); ++k) {
           unsigned bits = d.bitsOf(types[k]), bytes = d.bytesOf(types[k]);
           d.emit(unaryByBytes<AbsOp>(bytes), out[k], d.signExtended(in[k], bits, bytes));
           d.maskTo(out[k], bits, bytes);
         }
       }},
      {"llvm.ctpop", kInteger,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c, unaryByBytes<PopulationOp>(d.bytesOf(d.elements(c.getType())[0])), 1);
       }},
      {"llvm.ctlz", kInteger, [](Decoder &d, CallInst &c) { withWidth(d, c, leadingZeros, 1); }},
      {"llvm.cttz", kInteger, [](Decoder &d, CallInst &c) { withWidth(d, c, trailingZeros, 1); }},
      {"llvm.bitreverse", kInteger, [](Decoder &d, CallInst &c) { withWidth(d, c, bitReverse, 1); }},
      {"llvm.bswap", kInteger,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c, unaryByBytes<BswapOp>(d.bytesOf(d.elements(c.getType())[0])), 1);
       }},
      {"llvm.fshl", kInteger, [](Decoder &d, CallInst &c) { withWidth(d, c, funnelShift, 3); }},
      {"llvm.fshr", kInteger, [](Decoder &d, CallInst &c) { withWidth(d, c, funnelShift, 3, 1 << 16); }},
      {"llvm.uadd.sat", kSaturate, saturating<UAddSatOp>},
      {"llvm.usub.sat", kSaturate, saturating<USubSatOp>},
      {"llvm.sadd.sat", kSaturate, saturating<SAddSatOp>},
      {"llvm.ssub.sat", kSaturate, saturating<SSubSatOp>},
      {"llvm.uadd.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 0, false); }},
      {"llvm.sadd.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 0, true); }},
      {"llvm.usub.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 1, false); }},
      {"llvm.ssub.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 1, true); }},
      {"llvm.umul.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 2, false); }},
      {"llvm.smul.with.overflow", kSaturate, [](Decoder &d, CallInst &c) { overflowing(d, c, 2, true); }},
      {"llvm.fptosi.sat", kSaturate, [](Decoder &d, CallInst &c) { toIntegerSaturating(d, c, true); }},
      {"llvm.fptoui.sat", kSaturate, [](Decoder &d, CallInst &c) { toIntegerSaturating(d, c, false); }},
      {"llvm.fma", kFloat, fusedMultiplyAdd},
      {"llvm.fmuladd", kFloat, fusedMultiplyAdd},
      {"llvm.fabs", kFloat, floatUnary<[](float x) { return std::fabs(x); }, [](double x) { return std::fabs(x); }>},
      {"llvm.sqrt", kFloat, floatUnary<[](float x) { return std::sqrt(x); }, [](double x) { return std::sqrt(x); }>},
      {"llvm.floor", kFloat, floatUnary<[](float x) { return std::floor(x); }, [](double x) { return std::floor(x); }>},
      {"llvm.ceil", kFloat, floatUnary<[](float x) { return std::ceil(x); }, [](double x) { return std::ceil(x); }>},
      {"llvm.trunc", kFloat, floatUnary<[](float x) { return std::trunc(x); }, [](double x) { return std::trunc(x); }>},
      {"llvm.round", kFloat, floatUnary<[](float x) { return std::round(x); }, [](double x) { return std::round(x); }>},
      {"llvm.rint", kFloat,
       floatUnary<[](float x) { return nearestEven(x); }, [](double x) { return nearestEven(x); }>},
      {"llvm.nearbyint", kFloat,
       floatUnary<[](float x) { return nearestEven(x); }, [](double x) { return nearestEven(x); }>},
      {"llvm.roundeven", kFloat,
       floatUnary<[](float x) { return nearestEven(x); }, [](double x) { return nearestEven(x); }>},
      {"llvm.canonicalize", kFloat, floatUnary<[](float x) { return x; }, [](double x) { return x; }>},
      {"llvm.exp", kFloat, TESSERA_BY_DOUBLE(exp)},
      {"llvm.exp2", kFloat, TESSERA_BY_DOUBLE(exp2)},
      {"llvm.log", kFloat, TESSERA_BY_DOUBLE(log)},
      {"llvm.log2", kFloat, TESSERA_BY_DOUBLE(log2)},
      {"llvm.log10", kFloat, TESSERA_BY_DOUBLE(log10)},
      {"llvm.sin", kFloat, TESSERA_BY_DOUBLE(sin)},
      {"llvm.cos", kFloat, TESSERA_BY_DOUBLE(cos)},
      {"llvm.tanh", kFloat, TESSERA_BY_DOUBLE(tanh)},
      {"llvm.pow", kFloat,
       floatBinary<[](float x, float y) { return float(std::pow(double(x), double(y))); },
                   [](double x, double y) { return std::pow(x, y); }>},
      {"llvm.copysign", kFloat,
       floatBinary<[](float x, float y) { return std::copysign(x, y); },
                   [](double x, double y) { return std::copysign(x, y); }>},
      {"llvm.minnum", kFloat,
       floatBinary<[](float x, float y) { return minNum(x, y); }, [](double x, double y) { return minNum(x, y); }>},
      {"llvm.maxnum", kFloat,
       floatBinary<[](float x, float y) { return maxNum(x, y); }, [](double x, double y) { return maxNum(x, y); }>},
      {"llvm.minimumnum", kFloat,
       floatBinary<[](float x, float y) { return minNum(x, y); }, [](double x, double y) { return minNum(x, y); }>},
      {"llvm.maximumnum", kFloat,
       floatBinary<[](float x, float y) { return maxNum(x, y); }, [](double x, double y) { return maxNum(x, y); }>},
      {"llvm.minimum", kFloat,
       floatBinary<[](float x, float y) { return minimumNan(x, y); },
                   [](double x, double y) { return minimumNan(x, y); }>},
      {"llvm.maximum", kFloat,
       floatBinary<[](float x, float y) { return maximumNan(x, y); },
                   [](double x, double y) { return maximumNan(x, y); }>},
      {"llvm.ldexp", kFloat, loadExponent},
      {"llvm.frexp", kFloat, fractionAndExponent},
      {"llvm.is.fpclass", kFloat, isClass},
      {"llvm.vector.reduce.add", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<PlusOp>); }},
      {"llvm.vector.reduce.or", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<OrBitsOp>); }},
      {"llvm.vector.reduce.and", kReduce,
       [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<AndBitsOp>); }},
      {"llvm.vector.reduce.xor", kReduce,
       [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<XorBitsOp>); }},
      {"llvm.vector.reduce.mul", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<TimesOp>); }},
      {"llvm.vector.reduce.umin", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<UMinOp>); }},
      {"llvm.vector.reduce.umax", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<UMaxOp>); }},
      {"llvm.vector.reduce.smin", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<SMinOp>); }},
      {"llvm.vector.reduce.smax", kReduce, [](Decoder &d, CallInst &c) { reduceVector(d, c, binaryByBytes<SMaxOp>); }},
      {"llvm.vector.reduce.fadd", kReduce,
       reduceFloats<[](float x, float y) { return x + y; }, [](double x, double y) { return x + y; }>},
      {"llvm.vector.reduce.fmul", kReduce,
       reduceFloats<[](float x, float y) { return x * y; }, [](double x, double y) { return x * y; }>},
      {"llvm.vector.reduce.fmin", kReduce,
       reduceFloats<[](float x, float y) { return minNum(x, y); }, [](double x, double y) { return minNum(x, y); }>},
      {"llvm.vector.reduce.fmax", kReduce,
       reduceFloats<[](float x, float y) { return maxNum(x, y); }, [](double x, double y) { return maxNum(x, y); }>},
      {"llvm.vector.reduce.fminimum", kReduce,
       reduceFloats<[](float x, float y) { return minimumNan(x, y); },
                    [](double x, double y) { return minimumNan(x, y); }>},
      {"llvm.vector.reduce.fmaximum", kReduce,
       reduceFloats<[](float x, float y) { return maximumNan(x, y); },
                    [](double x, double y) { return maximumNan(x, y); }>},
      {"llvm.memcpy", kOther, copyMemory},
      {"llvm.memset", kOther, copyMemory},
      {"llvm.expect", kOther, firstOperand},
      {"llvm.launder.invariant.group", kOther, firstOperand},
      {"llvm.assume", kOther, ignore},
      {"llvm.lifetime.start", kOther, ignore},
      {"llvm.lifetime.end", kOther, ignore},
      {"llvm.dbg.value", kOther, ignore},
      {"llvm.dbg.declare", kOther, ignore},
      {"llvm.experimental.noalias.scope.decl", kOther, ignore},
      {"llvm.sideeffect", kOther, ignore},
      {"llvm.donothing", kOther, ignore},
      {"llvm.fake.use", kOther, ignore},
      {"llvm.trap", kOther, [](Decoder &d, CallInst &) { d.emit(trapped); }},
      {"llvm.ubsantrap", kOther, [](Decoder &d, CallInst &) { d.emit(trapped); }},
      {"llvm.debugtrap", kOther, [](Decoder &d, CallInst &) { d.emit(trapped); }},
      {"llvm.readsteadycounter", kCode, readsTime<clock64>},
  };
  return rows;
}

} // namespace tessera::emulator
