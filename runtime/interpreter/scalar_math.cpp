// Scalar semantics (see scalar_math.h). Floats are computed in the host's f32 or f64 and rounded to their type; f32
// operations are done in f32, so that they round as on the device.
#include "runtime/interpreter/scalar_math.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>

namespace tessera::runtime {
using namespace ir;

int64_t signedValue(Type t, uint64_t b) {
  unsigned w = t.isIndex() ? 64 : t.bitWidth();
  return w >= 64 ? int64_t(b) : int64_t(b << (64 - w)) >> (64 - w);
}

static double small(FloatKind k, uint64_t b) {
  auto &sem = FloatType::semantics(k);
  llvm::APFloat f(sem, llvm::APInt(llvm::APFloat::semanticsSizeInBits(sem), b, false, true));
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

double floatValue(Type t, uint64_t b) {
  switch (t.cast<FloatType>().floatKind()) {
  case FloatKind::F32: return std::bit_cast<float>(uint32_t(b));
  case FloatKind::F64: return std::bit_cast<double>(b);
  case FloatKind::BF16: return std::bit_cast<float>(uint32_t(b) << 16);
  default: return small(t.cast<FloatType>().floatKind(), b);
  }
}

static uint64_t rounded(FloatKind k, double v, llvm::APFloat::roundingMode mode) {
  if (k == FloatKind::F32 && mode == llvm::APFloat::rmNearestTiesToEven) return std::bit_cast<uint32_t>(float(v));
  if (k == FloatKind::F64) return std::bit_cast<uint64_t>(v);
  auto &sem = FloatType::semantics(k);
  unsigned width = llvm::APFloat::semanticsSizeInBits(sem);
  if (width == 8) {
    // Finite values beyond the range and infinities become the largest finite value, as the devices' conversions do.
    llvm::APFloat largest = llvm::APFloat::getLargest(sem);
    bool lost;
    llvm::APFloat wide = largest;
    wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    if (std::abs(v) > wide.convertToDouble() && !std::isnan(v)) {
      uint64_t bits = largest.bitcastToAPInt().getZExtValue();
      return std::signbit(v) ? bits | 0x80 : bits;
    }
  }
  llvm::APFloat f(v);
  bool lost;
  f.convert(sem, mode, &lost);
  return f.bitcastToAPInt().getZExtValue();
}
uint64_t floatBits(Type t, double v) { return rounded(t.cast<FloatType>().floatKind(), v, llvm::APFloat::rmNearestTiesToEven); }
double roundTf32(double v) {
  uint32_t b = std::bit_cast<uint32_t>(float(v));
  if (std::isfinite(v)) b = (b + 0x1000) & ~0x1FFFu; // to nearest, ties away: cvt.rna.tf32.f32
  return std::bit_cast<float>(b);
}

uint64_t atomicResult(RmwOp op, Type t, uint64_t a, uint64_t b) {
  unsigned w = t.bitWidth();
  switch (op) {
  case RmwOp::And: return a & b;
  case RmwOp::Or: return a | b;
  case RmwOp::Xor: return a ^ b;
  case RmwOp::Add: return lowBits(a + b, w);
  case RmwOp::Fadd: return t.isF32() ? std::bit_cast<uint32_t>(std::bit_cast<float>(uint32_t(a)) + std::bit_cast<float>(uint32_t(b))) : floatBits(t, floatValue(t, a) + floatValue(t, b));
  case RmwOp::Max: return t.isFloat() ? (floatValue(t, a) > floatValue(t, b) ? a : b) : (signedValue(t, a) > signedValue(t, b) ? a : b);
  case RmwOp::Min: return t.isFloat() ? (floatValue(t, a) < floatValue(t, b) ? a : b) : (signedValue(t, a) < signedValue(t, b) ? a : b);
  case RmwOp::Umax: return std::max(a, b);
  case RmwOp::Umin: return std::min(a, b);
  case RmwOp::Exch: return b;
  }
  return a;
}

// ---- operations -----------------------------------------------------------------------------------------------------

static unsigned width(llvm::ArrayRef<Type> t) { return t[0].isIndex() ? 64 : t[0].bitWidth(); }
static Type resultType(Operation *op) { return op->result().type().scalar(); }

#define INT(expr) [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { unsigned w = width(t); uint64_t a = x[0], b = x[1]; int64_t sa = signedValue(t[0], a), sb = t.size() > 1 ? signedValue(t[1], b) : 0; (void)op, (void)b, (void)sa, (void)sb; return lowBits(uint64_t(expr), w); }

/// Floating-point functions: in f32 for f32, in f64 for f64, through f32 (rounded once more) for the narrow kinds.
template <class F> static uint64_t applyFloat(Type t, const uint64_t *x, unsigned n, F f) {
  if (t.isFloat(FloatKind::F64)) {
    double v[3] = {};
    for (unsigned i = 0; i < n; ++i) v[i] = floatValue(t, x[i]);
    return std::bit_cast<uint64_t>(double(f(v[0], v[1], v[2])));
  }
  float v[3] = {};
  for (unsigned i = 0; i < n; ++i) v[i] = float(floatValue(t, x[i]));
  return floatBits(t, float(f(v[0], v[1], v[2])));
}
#define FLOAT(n, expr) [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { (void)op; return applyFloat(t[0], x, n, [](auto a, auto b, auto c) { (void)a, (void)b, (void)c; return expr; }); }
// Functions whose host version in f64, rounded, is the best answer in f32 too.
#define MATH(expr) [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { (void)op; double a = floatValue(t[0], x[0]), b = t.size() > 1 ? floatValue(t[1], x[1]) : 0; (void)b; return floatBits(t[0], expr); }

template <class T> static T maximumOf(T a, T b) { return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
template <class T> static T minimumOf(T a, T b) { return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
template <class T> static T maxnumOf(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : maximumOf(a, b); }
template <class T> static T minnumOf(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : minimumOf(a, b); }

static uint64_t toInteger(Type to, double v, bool isSigned) {
  unsigned w = to.bitWidth();
  if (std::isnan(v)) return 0;
  double lo = isSigned ? -std::ldexp(1.0, w - 1) : 0, hi = std::ldexp(1.0, isSigned ? w - 1 : w);
  v = std::trunc(v);
  if (v <= lo) return isSigned ? lowBits(uint64_t(1) << (w - 1), w) : 0;
  if (v >= hi) return lowBits(isSigned ? (uint64_t(1) << (w - 1)) - 1 : ~uint64_t(0), w);
  return lowBits(v < 0 ? uint64_t(int64_t(v)) : uint64_t(v), w);
}

static uint64_t convertFloat(Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) {
  auto to = resultType(op).cast<FloatType>().floatKind();
  auto mode = llvm::APFloat::rmNearestTiesToEven;
  if (auto r = op->attr<IntegerAttr>("rounding"); r && r.sext() == int64_t(RoundingMode::Rtz)) mode = llvm::APFloat::rmTowardZero;
  return rounded(to, floatValue(t[0], x[0]), mode);
}

static uint64_t compareInt(Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) {
  int64_t a = signedValue(t[0], x[0]), b = signedValue(t[1], x[1]);
  switch (op->cast<arith::CmpiOp>().predicate()) {
  case CmpIPredicate::Eq: return a == b;
  case CmpIPredicate::Ne: return a != b;
  case CmpIPredicate::Slt: return a < b;
  case CmpIPredicate::Sle: return a <= b;
  case CmpIPredicate::Sgt: return a > b;
  case CmpIPredicate::Sge: return a >= b;
  case CmpIPredicate::Ult: return x[0] < x[1];
  case CmpIPredicate::Ule: return x[0] <= x[1];
  case CmpIPredicate::Ugt: return x[0] > x[1];
  case CmpIPredicate::Uge: return x[0] >= x[1];
  }
  return 0;
}
static uint64_t compareFloat(Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) {
  double a = floatValue(t[0], x[0]), b = floatValue(t[1], x[1]);
  unsigned bit = std::isnan(a) || std::isnan(b) ? 8 : a == b ? 1 : a > b ? 2 : 4; // predicates are sets of outcomes
  return (unsigned(op->cast<arith::CmpfOp>().predicate()) & bit) != 0;
}

static __int128 wide(Type t, uint64_t b, bool isSigned) { return isSigned ? __int128(signedValue(t, b)) : __int128(b); }

/// Device-library functions by the stem of their name: __nv_tanhf, __ocml_tanh_f32 → tanh.
static ScalarOp libraryOp(llvm::StringRef symbol) {
  llvm::StringRef stem = symbol;
  if (stem.consume_front("__nv_")) {
    // A final f says single precision, except in names that end so.
    if (stem != "erf" && stem != "modf") stem.consume_back("f");
    stem.consume_front("fast_");
  } else if (stem.consume_front("__ocml_")) {
    stem = stem.rsplit("_f").first;
    stem.consume_front("native_");
  } else return nullptr;
  static const llvm::StringMap<ScalarOp> table = {
      {"tanh", MATH(std::tanh(a))}, {"pow", MATH(std::pow(a, b))}, {"sin", MATH(std::sin(a))}, {"cos", MATH(std::cos(a))}, {"tan", MATH(std::tan(a))}, {"asin", MATH(std::asin(a))}, {"acos", MATH(std::acos(a))},
      {"atan", MATH(std::atan(a))}, {"atan2", MATH(std::atan2(a, b))}, {"sinh", MATH(std::sinh(a))}, {"cosh", MATH(std::cosh(a))}, {"asinh", MATH(std::asinh(a))}, {"acosh", MATH(std::acosh(a))}, {"atanh", MATH(std::atanh(a))},
      {"exp", MATH(std::exp(a))}, {"exp2", MATH(std::exp2(a))}, {"exp10", MATH(std::pow(10.0, a))}, {"expm1", MATH(std::expm1(a))}, {"log", MATH(std::log(a))}, {"log2", MATH(std::log2(a))}, {"log10", MATH(std::log10(a))},
      {"log1p", MATH(std::log1p(a))}, {"sqrt", MATH(std::sqrt(a))}, {"rsqrt", MATH(1 / std::sqrt(a))}, {"cbrt", MATH(std::cbrt(a))}, {"erf", MATH(std::erf(a))}, {"erfc", MATH(std::erfc(a))}, {"ceil", MATH(std::ceil(a))},
      {"floor", MATH(std::floor(a))}, {"trunc", MATH(std::trunc(a))}, {"rint", MATH(std::nearbyint(a))}, {"nearbyint", MATH(std::nearbyint(a))}, {"round", MATH(std::round(a))}, {"fabs", MATH(std::abs(a))},
      {"fmod", MATH(std::fmod(a, b))}, {"fmin", MATH(std::fmin(a, b))}, {"fmax", MATH(std::fmax(a, b))}, {"hypot", MATH(std::hypot(a, b))}, {"copysign", MATH(std::copysign(a, b))}, {"tgamma", MATH(std::tgamma(a))}, {"lgamma", MATH(std::lgamma(a))},
      {"fma", FLOAT(3, std::fma(a, b, c))},
  };
  auto it = table.find(stem);
  return it == table.end() ? nullptr : it->second;
}

ScalarOp scalarOp(Operation *op, unsigned r) {
  switch (op->opcode()) {
  case Opcode::arith_addi: return INT(a + b);
  case Opcode::arith_subi: return INT(a - b);
  case Opcode::arith_muli: return INT(a * b);
  case Opcode::arith_andi: return INT(a & b);
  case Opcode::arith_ori: return INT(a | b);
  case Opcode::arith_xori: return INT(a ^ b);
  case Opcode::arith_divui: return INT(b ? a / b : ~uint64_t(0));
  case Opcode::arith_remui: return INT(b ? a % b : a);
  case Opcode::arith_ceildivui: return INT(b ? a / b + (a % b != 0) : ~uint64_t(0));
  // INT_MIN / -1 wraps.
  case Opcode::arith_divsi: return INT(sb == 0 ? -1 : sb == -1 ? int64_t(0 - uint64_t(sa)) : sa / sb);
  case Opcode::arith_remsi: return INT(sb == 0 ? sa : sb == -1 ? 0 : sa % sb);
  case Opcode::arith_floordivsi: return INT(sb == 0 ? -1 : sb == -1 ? int64_t(0 - uint64_t(sa)) : sa / sb - (sa % sb != 0 && (sa % sb < 0) != (sb < 0)));
  case Opcode::arith_ceildivsi: return INT(sb == 0 ? -1 : sb == -1 ? int64_t(0 - uint64_t(sa)) : sa / sb + (sa % sb != 0 && (sa % sb < 0) == (sb < 0)));
  case Opcode::arith_shli: return INT(b < w ? a << b : 0);
  case Opcode::arith_shrui: return INT(b < w ? a >> b : 0);
  case Opcode::arith_shrsi: return INT(sa >> (b < w ? b : 63));
  case Opcode::arith_maxsi: return INT(sa > sb ? sa : sb);
  case Opcode::arith_minsi: return INT(sa < sb ? sa : sb);
  case Opcode::arith_maxui: return INT(a > b ? a : b);
  case Opcode::arith_minui: return INT(a < b ? a : b);
  case Opcode::math_absi: return INT(sa < 0 ? 0 - uint64_t(sa) : uint64_t(sa));
  case Opcode::math_ctpop: return INT(std::popcount(a));
  case Opcode::math_ctlz: return INT(std::countl_zero(a) - (64 - int(w)));
  case Opcode::math_cttz: return INT(a ? std::countr_zero(a) : int(w));
  case Opcode::tt_mulhiui: return [](Operation *, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return lowBits(uint64_t((unsigned __int128)(x[0]) * x[1] >> width(t)), width(t)); };
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
    if (r == 0) return INT(a * b);
    return [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t {
      bool s = op->is<arith::MulsiExtendedOp>();
      return lowBits(uint64_t(wide(t[0], x[0], s) * wide(t[1], x[1], s) >> width(t)), width(t));
    };
  case Opcode::arith_addui_extended:
    if (r == 0) return INT(a + b);
    return [](Operation *, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return lowBits(x[0] + x[1], width(t)) < x[0]; };
  case Opcode::arith_cmpi: return compareInt;
  case Opcode::arith_cmpf: return compareFloat;
  case Opcode::arith_select: return [](Operation *, llvm::ArrayRef<Type>, const uint64_t *x) -> uint64_t { return x[0] & 1 ? x[1] : x[2]; };
  case Opcode::arith_extui:
  case Opcode::arith_bitcast:
  case Opcode::tt_bitcast:
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int: return [](Operation *, llvm::ArrayRef<Type>, const uint64_t *x) -> uint64_t { return x[0]; };
  case Opcode::arith_trunci:
  case Opcode::arith_index_castui: return [](Operation *op, llvm::ArrayRef<Type>, const uint64_t *x) -> uint64_t { return lowBits(x[0], resultType(op).isIndex() ? 64 : resultType(op).bitWidth()); };
  case Opcode::arith_extsi:
  case Opcode::arith_index_cast: return [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return lowBits(signedValue(t[0], x[0]), resultType(op).isIndex() ? 64 : resultType(op).bitWidth()); };
  case Opcode::arith_addf: return FLOAT(2, a + b);
  case Opcode::arith_subf: return FLOAT(2, a - b);
  case Opcode::arith_mulf: return FLOAT(2, a * b);
  case Opcode::arith_divf:
  case Opcode::tt_precise_divf: return FLOAT(2, a / b);
  case Opcode::arith_remf: return FLOAT(2, std::fmod(a, b));
  case Opcode::arith_negf: return [](Operation *, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return x[0] ^ uint64_t(1) << (width(t) - 1); };
  case Opcode::arith_maximumf: return FLOAT(2, maximumOf(a, b));
  case Opcode::arith_minimumf: return FLOAT(2, minimumOf(a, b));
  case Opcode::arith_maxnumf: return FLOAT(2, maxnumOf(a, b));
  case Opcode::arith_minnumf: return FLOAT(2, minnumOf(a, b));
  case Opcode::tt_clampf:
    if (op->cast<tt::ClampfOp>().propagateNan() == PropagateNan::All) return FLOAT(3, minimumOf(maximumOf(a, b), c));
    return FLOAT(3, minnumOf(maxnumOf(a, b), c));
  case Opcode::math_fma: return FLOAT(3, std::fma(a, b, c));
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::tt_fp_to_fp: return convertFloat;
  case Opcode::arith_sitofp: return [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return resultType(op).isF32() ? std::bit_cast<uint32_t>(float(signedValue(t[0], x[0]))) : floatBits(resultType(op), double(signedValue(t[0], x[0]))); };
  case Opcode::arith_uitofp: return [](Operation *op, llvm::ArrayRef<Type>, const uint64_t *x) -> uint64_t { return resultType(op).isF32() ? std::bit_cast<uint32_t>(float(x[0])) : floatBits(resultType(op), double(x[0])); };
  case Opcode::arith_fptosi: return [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return toInteger(resultType(op), floatValue(t[0], x[0]), true); };
  case Opcode::arith_fptoui: return [](Operation *op, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return toInteger(resultType(op), floatValue(t[0], x[0]), false); };
  case Opcode::math_absf: return [](Operation *, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return x[0] & ~(uint64_t(1) << (width(t) - 1)); };
  case Opcode::math_ceil: return MATH(std::ceil(a));
  case Opcode::math_floor: return MATH(std::floor(a));
  case Opcode::math_trunc: return MATH(std::trunc(a));
  case Opcode::math_round: return MATH(std::round(a));
  case Opcode::math_roundeven: return MATH(std::nearbyint(a));
  case Opcode::math_exp: return MATH(std::exp(a));
  case Opcode::math_exp2: return MATH(std::exp2(a));
  case Opcode::math_expm1: return MATH(std::expm1(a));
  case Opcode::math_log: return MATH(std::log(a));
  case Opcode::math_log1p: return MATH(std::log1p(a));
  case Opcode::math_log2: return MATH(std::log2(a));
  case Opcode::math_log10: return MATH(std::log10(a));
  case Opcode::math_sqrt:
  case Opcode::tt_precise_sqrt: return MATH(std::sqrt(a));
  case Opcode::math_rsqrt: return MATH(1 / std::sqrt(a));
  case Opcode::math_sin: return MATH(std::sin(a));
  case Opcode::math_cos: return MATH(std::cos(a));
  case Opcode::math_tan: return MATH(std::tan(a));
  case Opcode::math_asin: return MATH(std::asin(a));
  case Opcode::math_acos: return MATH(std::acos(a));
  case Opcode::math_atan: return MATH(std::atan(a));
  case Opcode::math_sinh: return MATH(std::sinh(a));
  case Opcode::math_cosh: return MATH(std::cosh(a));
  case Opcode::math_tanh: return MATH(std::tanh(a));
  case Opcode::math_asinh: return MATH(std::asinh(a));
  case Opcode::math_acosh: return MATH(std::acosh(a));
  case Opcode::math_atanh: return MATH(std::atanh(a));
  case Opcode::math_cbrt: return MATH(std::cbrt(a));
  case Opcode::math_erf: return MATH(std::erf(a));
  case Opcode::math_erfc: return MATH(std::erfc(a));
  case Opcode::math_atan2: return MATH(std::atan2(a, b));
  case Opcode::math_copysign: return MATH(std::copysign(a, b));
  case Opcode::math_powf: return MATH(std::pow(a, b));
  case Opcode::math_fpowi: return [](Operation *, llvm::ArrayRef<Type> t, const uint64_t *x) -> uint64_t { return floatBits(t[0], std::pow(floatValue(t[0], x[0]), double(signedValue(t[1], x[1])))); };
  case Opcode::tt_extern_elementwise: return libraryOp(op->cast<tt::ExternElementwiseOp>().symbol());
  default: return nullptr;
  }
}

} // namespace tessera::runtime
