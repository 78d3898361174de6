// The table of device-library functions (see device_math.h), keyed by the stem that the vendors' names share:
// `__nv_tanhf`, `__nv_tanh`, `__ocml_tanh_f32` and `__ocml_tanh_f64` are all "tanh". Functions of floats are rows of
// ir/math_functions.def; here are those whose stems are no library's names, predicates, and functions of integers.
#include "runtime/interpreter/device_math.h"
#include "runtime/interpreter/host_math.h"
#include "runtime/interpreter/lanes.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>
#include <numbers>

namespace tessera::runtime {

namespace {

// Bessel functions of the first and second kind are POSIX's.
double besselN(double n, double x) { return ::jn(int(n), x); }
double besselYN(double n, double x) { return ::yn(int(n), x); }

// A function of the doubles a, b and c, of which it has as many as `arity`.
#define REAL(arity, expr)                                                                                              \
  DeviceFunction {                                                                                                     \
    arity,                                                                                                             \
        [](const double *v) -> double {                                                                                \
          [[maybe_unused]] const double a = v[0], b = v[1], c = v[2];                                                  \
          return expr;                                                                                                 \
        },                                                                                                             \
        nullptr, nullptr                                                                                               \
  }
#define ONE(expr) REAL(1, expr)
#define TWO(expr) REAL(2, expr)
#define THREE(expr) REAL(3, expr)
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

/// What remains of `__nv_fadd_rn` and the like, predicates, and functions that one library has alone (a new one is a
/// LIBRARY_FUNCTION with one name).
struct NamedFunction {
  const char *stem;
  DeviceFunction function;
};
const NamedFunction kOtherFunctions[] = {
    {"powr", TWO(a < 0 ? std::numeric_limits<double>::quiet_NaN() : std::pow(a, b))},
    {"scalb", TWO(a * std::exp2(b))},
    {"rcp", ONE(1 / a)},
    {"frcp", ONE(1 / a)},
    {"jn", TWO(besselN(a, b))},
    {"yn", TWO(besselYN(a, b))},
    {"div", TWO(a / b)},
    {"fdivide", TWO(a / b)},
    {"add", TWO(a + b)},
    {"sub", TWO(a - b)},
    {"mul", TWO(a * b)},
    {"mad", THREE(a * b + c)},
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
      {"mul24", INT2(uint64_t(signExtend(a, 24) * signExtend(b, 24)))},
      {"umul24", INT2((a & 0xFFFFFF) * (b & 0xFFFFFF))},
  };
  return table;
}

/// __nv_float2int_rz, __nv_ull2double_rn: conversions with a direction. Towards float only rounding to nearest is
/// known.
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
  } else if ((isInteger(from) || isFloat(from)) && isFloat(to) && (mode == "rn" || mode.empty())) {
    f = ONE(a);
    f->isUnsigned = from.starts_with("u");
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
    // __nv_fsqrt_rn, __nv_dadd_rz, __nv_fmaf_rn: only rounding to nearest is what one rounding of the double gives.
    if (stem.consume_back("_rn")) {
      llvm::StringRef bare = stem;
      if (bare == "fmaf" || bare == "fma") return lookup(realFunctions(), "fma");
      if (bare.consume_front("f") || bare.consume_front("d"))
        if (auto f = lookup(realFunctions(), bare)) return f;
    }
    stem.consume_front("__");
    // Some names end in f by themselves (erf, modf); the others do so in single precision. Predicates of double end
    // in d.
    if (auto f = lookup(realFunctions(), stem)) return f;
    llvm::StringRef single = stem;
    if (single.consume_back("f") || single.consume_back("d")) return lookup(realFunctions(), single);
    return std::nullopt;
  }
  if (stem.consume_front("__ocml_")) {
    for (llvm::StringRef suffix : {"_f64", "_f32", "_f16", "_2f16", "_rte_f64", "_rte_f32", "_rte_f16"})
      stem.consume_back(suffix);
    stem.consume_back("_rte");
    stem.consume_front("native_");
    return lookup(realFunctions(), stem);
  }
  return std::nullopt;
}

} // namespace tessera::runtime
