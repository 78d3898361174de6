// The table of device-library functions (see device_math.h), keyed by the stem that the vendors' names share:
// `__nv_tanhf`, `__nv_tanh`, `__ocml_tanh_f32` and `__ocml_tanh_f64` are all "tanh". Functions of floats are rows of
// ir/math_functions.def; here are those whose stems are no library's names, predicates, and functions of integers.
#include "runtime/interpreter/device_math.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/host_math.h"
#include "runtime/interpreter/lanes.h"
#include "runtime/rounding_mode.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <bit>
#include <cmath>
#include <numbers>

namespace tessera::runtime {

namespace {

// Bessel functions of the first and second kind are POSIX's.
double besselN(double n, double x) { return ::jn(int(n), x); }
double besselYN(double n, double x) { return ::yn(int(n), x); }

// A function of the doubles a, b, c and d, of which it has as many as `arity`.
#define REAL(arity, expr)                                                                                              \
  DeviceFunction {                                                                                                     \
    arity,                                                                                                             \
        [](const double *v) -> double {                                                                                \
          [[maybe_unused]] const double a = v[0], b = v[1], c = v[2], d = v[3];                                        \
          return expr;                                                                                                 \
        },                                                                                                             \
        nullptr, nullptr                                                                                               \
  }
#define ONE(expr) REAL(1, expr)
#define TWO(expr) REAL(2, expr)
#define THREE(expr) REAL(3, expr)
#define FOUR(expr) REAL(4, expr)
#define IS(expr)                                                                                                       \
  DeviceFunction {                                                                                                     \
    1, nullptr, [](double a) -> bool { return expr; }, nullptr                                                         \
  }
#define INT1(expr)                                                                                                     \
  DeviceFunction {                                                                                                     \
    1, nullptr, nullptr, [](const uint64_t *v, unsigned w) -> uint64_t {                                               \
      uint64_t a = v[0];                                                                                               \
      (void)w;                                                                                                         \
      return expr;                                                                                                     \
    }                                                                                                                  \
  }
#define INT2(expr)                                                                                                     \
  DeviceFunction {                                                                                                     \
    2, nullptr, nullptr, [](const uint64_t *v, unsigned w) -> uint64_t {                                               \
      uint64_t a = v[0], b = v[1];                                                                                     \
      (void)w;                                                                                                         \
      return expr;                                                                                                     \
    }                                                                                                                  \
  }

#define INT3(expr)                                                                                                     \
  DeviceFunction {                                                                                                     \
    3, nullptr, nullptr, [](const uint64_t *v, unsigned w) -> uint64_t {                                               \
      uint64_t a = v[0], b = v[1], c = v[2];                                                                           \
      (void)w;                                                                                                         \
      return expr;                                                                                                     \
    }                                                                                                                  \
  }

/// Each byte of the result is one of eight, by three bits of the selector.
uint64_t selectBytes(uint64_t low, uint64_t high, uint64_t selector) {
  uint64_t bytes = low | high << 32, result = 0;
  for (unsigned i = 0; i < 4; ++i) result |= (bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

/// What remains of `__ocml_add_rte_f32` and the like, predicates, functions of four numbers, and those that one library
/// has alone (a new one is a LIBRARY_FUNCTION with one name).
struct NamedFunction {
  const char *stem;
  DeviceFunction function;
};
const NamedFunction kOtherFunctions[] = {
    {"powr", TWO(a < 0 ? std::numeric_limits<double>::quiet_NaN() : std::pow(a, b))},
    {"scalb", TWO(a * std::exp2(b))},
    {"rcp", ONE(1 / a)},
    {"frcp", ONE(1 / a)},
    {"rcp64h", ONE(reciprocalOfUpperBits(a))},
    {"jn", TWO(besselN(a, b))},
    {"yn", TWO(besselYN(a, b))},
    {"div", TWO(a / b)},
    {"fdivide", TWO(a / b)},
    {"add", TWO(a + b)},
    {"sub", TWO(a - b)},
    {"mul", TWO(a * b)},
    {"mad", THREE(a * b + c)},
    {"norm4d", FOUR(std::hypot(std::hypot(a, b), std::hypot(c, d)))},
    {"len4", FOUR(std::hypot(std::hypot(a, b), std::hypot(c, d)))},
    {"rnorm4d", FOUR(1 / std::hypot(std::hypot(a, b), std::hypot(c, d)))},
    {"rlen4", FOUR(1 / std::hypot(std::hypot(a, b), std::hypot(c, d)))},
    {"llrint", ONE(roundHalfEven(a))},
    {"llround", ONE(std::round(a))},
    {"lrint", ONE(roundHalfEven(a))},
    {"lround", ONE(std::round(a))},
    {"saturate", ONE(a > 0 ? std::fmin(a, 1.0) : 0.0)},
    {"isnan", IS(std::isnan(a))},
    {"isinf", IS(std::isinf(a))},
    {"finite", IS(std::isfinite(a))},
    {"isfinite", IS(std::isfinite(a))},
    {"signbit", IS(std::signbit(a))},
};

/// Functions of floating-point numbers by their stem.
const llvm::StringMap<DeviceFunction> &realFunctions() {
  static const llvm::StringMap<DeviceFunction> table = [] {
    llvm::StringMap<DeviceFunction> t;
    auto add = [&](llvm::StringRef libdevice, llvm::StringRef ocml, DeviceFunction f) {
      for (llvm::StringRef stem : {libdevice, ocml})
        if (!stem.empty()) t.try_emplace(stem, f);
    };
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence) add(#libdevice, #ocml, REAL(1, host));
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence) add(#libdevice, #ocml, REAL(2, host));
#define LIBRARY_FUNCTION(operands, host, libdevice, ocml) add(#libdevice, #ocml, REAL(operands, host));
#include "ir/math_functions.def"
    for (auto &f : kOtherFunctions) add(f.stem, "", f.function);
    return t;
  }();
  return table;
}

const llvm::StringMap<DeviceFunction> &integerFunctions() {
  static const llvm::StringMap<DeviceFunction> table = {
      {"clz", INT1(std::countl_zero(a) - (64 - int(w)))},
      {"popc", INT1(std::popcount(a))},
      {"ffs", INT1(a ? std::countr_zero(a) + 1 : 0)},
      {"brev", INT1([&] {
         uint64_t r = 0;
         for (unsigned i = 0; i < w; ++i) r |= (a >> i & 1) << (w - 1 - i);
         return r;
       }())},
      {"abs", INT1(signExtend(a, w) < 0 ? 0 - a : a)},
      {"mulhi", INT2(uint64_t(Int128(signExtend(a, w)) * signExtend(b, w) >> w))},
      {"umulhi", INT2(uint64_t(UInt128(a) * b >> w))},
      {"min", INT2(signExtend(a, w) < signExtend(b, w) ? a : b)},
      {"max", INT2(signExtend(a, w) > signExtend(b, w) ? a : b)},
      {"umin", INT2(std::min(a, b))},
      {"umax", INT2(std::max(a, b))},
      {"hadd", INT2(uint64_t((Int128(signExtend(a, w)) + signExtend(b, w)) >> 1))},
      {"uhadd", INT2(uint64_t((UInt128(a) + b) >> 1))},
      {"rhadd", INT2(uint64_t((Int128(signExtend(a, w)) + signExtend(b, w) + 1) >> 1))},
      {"urhadd", INT2(uint64_t((UInt128(a) + b + 1) >> 1))},
      {"mul64hi", INT2(uint64_t(Int128(signExtend(a, w)) * signExtend(b, w) >> w))},
      {"umul64hi", INT2(uint64_t(UInt128(a) * b >> w))},
      {"sad", INT3((signExtend(a, w) < signExtend(b, w) ? b - a : a - b) + c)},
      {"usad", INT3((a < b ? b - a : a - b) + c)},
      {"byte_perm", INT3(selectBytes(a, b, c))},
      {"mul24", INT2(uint64_t(signExtend(a, 24) * signExtend(b, 24)))},
      {"umul24", INT2((a & 0xFFFFFF) * (b & 0xFFFFFF))},
  };
  return table;
}

/// __nv_float_as_int, __nv_hiloint2double, __nv_half2float: bits of floats.
std::optional<DeviceFunction> findPatterns(llvm::StringRef name) {
  std::optional<DeviceFunction> f;
  if (name.contains("_as_")) f = INT1(a);
  if (name == "double2hiint") f = INT1(a >> 32);
  if (name == "double2loint") f = INT1(a);
  if (name == "hiloint2double") f = INT2(a << 32 | b);
  if (name == "float2half_rn") f = INT1(encodeFloat(ir::FloatKind::F16, decodeFloat(ir::FloatKind::F32, a)));
  if (name == "half2float") f = INT1(encodeFloat(ir::FloatKind::F32, decodeFloat(ir::FloatKind::F16, a)));
  if (f) f->takesPatterns = true;
  return f;
}

using Rounded = double (*)(const double *, uint64_t, int);

template <class T, auto F> Rounded arithmetic() {
  return [](const double *v, uint64_t, int mode) { return inMode<T, F>(mode, v[0], v[1], v[2]); };
}
template <class T> Rounded floatFromInteger(bool isUnsigned) {
  if (isUnsigned) return [](const double *, uint64_t x, int mode) { return integerInMode<T>(mode, x); };
  return [](const double *, uint64_t x, int mode) { return integerInMode<T>(mode, int64_t(x)); };
}

/// The operation of that name in type T, with the number of its operands; {0, nullptr} if there is none.
template <class T> std::pair<unsigned, Rounded> findArithmetic(llvm::StringRef name) {
  using Found = std::pair<unsigned, Rounded>;
  return llvm::StringSwitch<Found>(name)
      .Case("add", {2, arithmetic<T, [](T x, T y, T) { return x + y; }>()})
      .Case("sub", {2, arithmetic<T, [](T x, T y, T) { return x - y; }>()})
      .Case("mul", {2, arithmetic<T, [](T x, T y, T) { return x * y; }>()})
      .Case("div", {2, arithmetic<T, [](T x, T y, T) { return x / y; }>()})
      .Case("rcp", {1, arithmetic<T, [](T x, T, T) { return 1 / x; }>()})
      .Case("sqrt", {1, arithmetic<T, [](T x, T, T) { return std::sqrt(x); }>()})
      .Case("fma", {3, arithmetic<T, [](T x, T y, T z) { return std::fma(x, y, z); }>()})
      .Case("nextafter", {2, arithmetic<T, [](T x, T y, T) { return std::nextafter(x, y); }>()})
      .Default({0, nullptr});
}

/// __nv_fadd_rz, __nv_fmaf_rn, __nv_double2float_ru, __nv_ll2float_rd: functions that are rounded in the mode that the
/// name ends in; and __nv_fma and __nv_nextafter, which are no functions of doubles in f32.
std::optional<DeviceFunction> findRounded(llvm::StringRef name) {
  auto [stem, suffix] = name.rsplit('_');
  int mode = llvm::StringSwitch<int>(suffix)
                 .Case("rn", FE_TONEAREST)
                 .Case("rz", FE_TOWARDZERO)
                 .Case("rd", FE_DOWNWARD)
                 .Case("ru", FE_UPWARD)
                 .Default(-1);
  if (mode == -1) {
    if (!name.starts_with("fma") && !name.starts_with("nextafter")) return std::nullopt;
    stem = name;
    mode = FE_TONEAREST;
  }
  DeviceFunction f;
  f.mode = mode;
  auto [from, to] = stem.split('2');
  if (to == "float" || to == "double") {
    f.arity = 1;
    f.isUnsigned = from.starts_with("u");
    bool toFloat = to == "float";
    if (from == "int" || from == "uint" || from == "ll" || from == "ull")
      f.rounded = toFloat ? floatFromInteger<float>(f.isUnsigned) : floatFromInteger<double>(f.isUnsigned);
    else if (from == "double" && toFloat)
      f.rounded = [](const double *v, uint64_t, int mode) {
        volatile double x = v[0];
        fesetround(mode);
        volatile float r = float(x);
        fesetround(FE_TONEAREST);
        return double(r);
      };
  } else if (stem == "fma" || stem == "nextafter") {
    std::tie(f.arity, f.rounded) = findArithmetic<double>(stem);
  } else if (stem == "fmaf" || stem == "fmaf_ieee" || stem == "nextafterf") {
    std::tie(f.arity, f.rounded) = findArithmetic<float>(stem.take_until([](char c) { return c == '_'; }).drop_back());
  } else if (stem.consume_front("f")) {
    std::tie(f.arity, f.rounded) = findArithmetic<float>(stem);
  } else if (stem.consume_front("d")) {
    std::tie(f.arity, f.rounded) = findArithmetic<double>(stem);
  }
  if (!f.rounded) return std::nullopt;
  return f;
}

/// The same of ocml, behind its prefix: add_rtz_f32, fma_f32, nextafter_f64.
std::optional<DeviceFunction> findRoundedOfOcml(llvm::StringRef name) {
  auto [rest, type] = name.rsplit('_');
  auto [stem, suffix] = rest.rsplit('_');
  DeviceFunction f;
  f.mode = llvm::StringSwitch<int>(suffix)
               .Case("rte", FE_TONEAREST)
               .Case("rtz", FE_TOWARDZERO)
               .Case("rtn", FE_DOWNWARD)
               .Case("rtp", FE_UPWARD)
               .Default(-1);
  if (f.mode == -1) {
    if (rest != "fma" && rest != "nextafter") return std::nullopt;
    f.mode = FE_TONEAREST;
  }
  if (type == "f32") std::tie(f.arity, f.rounded) = findArithmetic<float>(stem);
  if (type == "f64") std::tie(f.arity, f.rounded) = findArithmetic<double>(stem);
  if (!f.rounded) return std::nullopt;
  return f;
}

/// __nv_float2int_rz, __nv_double2ull_rd.
std::optional<DeviceFunction> findConversion(llvm::StringRef name) {
  auto [from, rest] = name.split('2');
  auto [to, mode] = rest.split('_');
  auto isFloat = [](llvm::StringRef s) { return s == "float" || s == "double"; };
  auto isInteger = [](llvm::StringRef s) { return s == "int" || s == "uint" || s == "ll" || s == "ull"; };
  std::optional<DeviceFunction> f;
  if (isFloat(from) && isInteger(to)) {
    if (mode == "rn") f = ONE(roundHalfEven(a));
    if (mode == "rz") f = ONE(std::trunc(a));
    if (mode == "rd") f = ONE(std::floor(a));
    if (mode == "ru") f = ONE(std::ceil(a));
    if (f) f->isUnsigned = to.starts_with("u");
  }
  return f;
}

std::optional<DeviceFunction> lookup(const llvm::StringMap<DeviceFunction> &table, llvm::StringRef stem) {
  auto it = table.find(stem);
  if (it == table.end()) return std::nullopt;
  return it->second;
}

} // namespace

std::optional<DeviceFunction> findDeviceFunction(llvm::StringRef symbol) {
  llvm::StringRef stem = symbol;
  if (stem.consume_front("__nv_")) {
    if (auto f = findPatterns(stem)) return f;
    if (auto f = findRounded(stem)) return f;
    if (auto f = findConversion(stem)) return f;
    if (auto f = lookup(integerFunctions(), stem)) return f;
    if (stem.starts_with("ll") || stem.starts_with("ull")) {
      // __nv_llmax, __nv_ullmax, __nv_llabs: the 64-bit variants.
      bool isUnsigned = stem.consume_front("u");
      if (stem.consume_front("ll"))
        if (auto f = lookup(integerFunctions(), isUnsigned ? "u" + stem.str() : stem.str())) return f;
    }
    if (stem.ends_with("ll"))
      if (auto f = lookup(integerFunctions(), stem.drop_back(2))) return f;
    stem.consume_front("fast_");
    if (stem == "frsqrt_rn") return lookup(realFunctions(), "rsqrt");
    stem.consume_front("__");
    // Some names end in f by themselves (erf, modf); the others do so in single precision. Predicates of double end
    // in d.
    if (auto f = lookup(realFunctions(), stem)) return f;
    llvm::StringRef single = stem;
    if (single.consume_back("f") || single.consume_back("d")) return lookup(realFunctions(), single);
    return std::nullopt;
  }
  if (stem.consume_front("__ocml_")) {
    if (auto f = findRoundedOfOcml(stem)) return f;
    for (llvm::StringRef suffix : {"_f64", "_f32", "_f16", "_2f16", "_rte_f64", "_rte_f32", "_rte_f16"})
      stem.consume_back(suffix);
    stem.consume_back("_rte");
    stem.consume_front("native_");
    return lookup(realFunctions(), stem);
  }
  return std::nullopt;
}

bool hasOutputParameter(llvm::StringRef symbol) {
  if (symbol.consume_front("__nv_"))
    symbol.consume_front("fast_");
  else if (!symbol.consume_front("__ocml_"))
    return false;
  for (llvm::StringRef stem : {"sincos", "frexp", "modf", "remquo", "fract", "lgamma_r"})
    if (symbol.starts_with(stem)) return true;
  return false;
}

} // namespace tessera::runtime
