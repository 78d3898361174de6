// Math and device-library functions against references of more digits.
#include "float_patterns.h"

namespace tessera {
namespace {
using ir::FloatKind;
using test::elementwiseKernel;
using test::Evaluation;
using test::expectSame;
using test::Format;
using test::kFormats;
using test::runFloats;
using test::value;

/// A result in f64 is within `units` in the last place of the reference, which has more digits than that; one in a
/// narrower format is the reference, rounded.
void expectRounded(const Format &f, const char *what, long double want, double units, uint64_t got, uint64_t a) {
  double rounded = double(want), result = runtime::decodeFloat(f.kind, got);
  if (f.kind != FloatKind::F64 || !std::isfinite(rounded) || rounded == 0)
    return expectSame(f, what, runtime::encodeFloat(f.kind, rounded), got, a, 0);
  double unit = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
  EXPECT_LE(std::fabs((long double)result - want), units * unit) << what << " " << f.name << std::hex << " " << a;
}

TEST(Math, FunctionsOfOneArgument) {
  // In long double: other code than the interpreter's, which computes in double.
  static_assert(std::numeric_limits<long double>::digits > std::numeric_limits<double>::digits);
  struct Function {
    const char *name;
    long double (*f)(long double);
    double units = 1; // in the last place of f64
  };
  const Function functions[] = {
      {"exp", std::exp},
      {"exp2", std::exp2},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log1p", std::log1p},
      {"log2", std::log2},
      {"log10", std::log10},
      {"sqrt", std::sqrt},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"asinh", std::asinh},
      {"acosh", std::acosh},
      {"atanh", std::atanh},
      {"cbrt", std::cbrt},
      {"erf", std::erf},
      {"erfc", std::erfc},
      {"ceil", std::ceil},
      {"floor", std::floor},
      {"trunc", std::trunc},
      {"round", std::round},
      {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, /*units, rounded twice:*/ 1.5},
      {"roundeven", [](long double x) { return std::nearbyint(x); }},
      {"absf", [](long double x) { return std::fabs(x); }}};
  auto isTested = [&](llvm::StringRef name) {
    return llvm::any_of(functions, [&](const Function &f) { return name == f.name; });
  };
#define MATH_UNARY(name, ...) EXPECT_TRUE(isTested(#name)) << "math." #name " has no reference here";
#include "ir/math_functions.def"
  for (auto &format : kFormats) {
    std::vector<uint64_t> x;
    for (double v : {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 0.1, 3.7, -7.3, 80.0, 1e-3, double(INFINITY),
                     -double(INFINITY), double(NAN)})
      x.push_back(runtime::encodeFloat(format.kind, v));
    for (auto &f : functions) {
      auto r = runFloats(format, {x}, std::string("%r = math.") + f.name + " %a");
      for (size_t i = 0; i < x.size(); ++i) {
        expectRounded(format, f.name, f.f(runtime::decodeFloat(format.kind, x[i])), f.units, r[i], x[i]);
      }
    }
  }
}

TEST(Math, FunctionsOfTwoArguments) {
  std::vector<float> a = {2, -2, 0, 1.5f, -8, NAN}, b = {3, 3, 0, -2, 1.0f / 3, 1}, r(6), s(6), t(6);
  std::string text = "%r = math.powf %a, %b : tensor<6xf32>\n%s = math.atan2 %a, %b : tensor<6xf32>\n%t = "
                     "math.copysign %a, %b : tensor<6xf32>";
  Evaluation(elementwiseKernel(6, {"f32", "f32"}, {"f32", "f32", "f32"}, text))
      .buffer(a)
      .buffer(b)
      .buffer(r)
      .buffer(s)
      .buffer(t)
      .ok();
  EXPECT_EQ(r[0], 8);
  EXPECT_EQ(r[1], -8);
  EXPECT_EQ(r[2], 1);
  EXPECT_TRUE(std::isnan(r[4]));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(s[i], float(std::atan2(double(a[i]), double(b[i]))));
  EXPECT_EQ(t[3], -1.5f);
  std::vector<int32_t> e = {3, -1, 5, 2, 3, 1};
  Evaluation(elementwiseKernel(6, {"f32", "i32"}, {"f32"}, "%r = math.fpowi %a, %b : tensor<6xf32>, tensor<6xi32>"))
      .buffer(a)
      .buffer(e)
      .buffer(r)
      .ok();
  EXPECT_EQ(r[0], 8);
  EXPECT_EQ(r[1], -0.5f);
  EXPECT_EQ(r[4], -512);
}

std::string externCall(const std::string &symbol, const std::string &operands, const std::string &types,
                       const std::string &result) {
  return "%r = tt.extern_elementwise " + operands + " {libname = \"\", libpath = \"\", pure = true, symbol = \"" +
         symbol + "\"} : (" + types + ") -> " + result;
}

/// Exact at multiples of 1/2, with C23's signs of zeros and infinities; elsewhere against 80-bit arithmetic.
TEST(Math, FunctionsOfPiTimesX) {
  struct Point {
    double x, sin, cos, tan;
  };
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double root = 0.70710678118654752440;
  const Point points[] = {{0, 0, 1, 0},
                          {-0.0, -0.0, 1, -0.0},
                          {0.5, 1, 0, inf},
                          {-0.5, -1, 0, -inf},
                          {1, 0, -1, -0.0},
                          {-1, -0.0, -1, 0},
                          {1.5, -1, 0, -inf},
                          {-1.5, 1, 0, inf},
                          {2, 0, 1, 0},
                          {-2, -0.0, 1, -0.0},
                          {2.5, 1, 0, inf},
                          {0.25, root, root, 1},
                          {-0.25, -root, root, -1},
                          {0.75, root, -root, -1},
                          {-1.75, root, root, 1},
                          {1e15 + 0.5, 1, 0, inf},
                          {-1e15 - 0.5, -1, 0, -inf},
                          {0x1p53 - 1, 0, -1, -0.0},
                          {0x1p53, 0, 1, 0},
                          {-1e300, -0.0, 1, -0.0},
                          {inf, nan, nan, nan},
                          {-inf, nan, nan, nan},
                          {nan, nan, nan, nan}};
  std::vector<double> x;
  for (const Point &p : points) x.push_back(p.x);
  constexpr unsigned kBetween = 999; // points between integers, both signs
  for (unsigned i = 0; i < kBetween; ++i) x.push_back((int(i) - 500) / 97.0);
  auto type = "tensor<" + std::to_string(x.size()) + "xf64>";
  auto all = [&](const char *symbol) {
    std::vector<double> r(x.size());
    Evaluation(elementwiseKernel(int(x.size()), {"f64"}, {"f64"}, externCall(symbol, "%a", type, type)))
        .buffer(x)
        .buffer(r)
        .ok();
    return r;
  };
  auto sines = all("__nv_sinpi"), cosines = all("__ocml_cospi_f64"), tangents = all("__ocml_tanpi_f64");
  auto expectSame = [&](double is, double wanted, const char *name, double at) {
    bool isExact = wanted == 0 || std::fabs(wanted) == 1 || std::isinf(wanted);
    if (std::isnan(wanted))
      EXPECT_TRUE(std::isnan(is)) << name << " of " << at;
    else if (isExact) // zeros by their sign, too
      EXPECT_TRUE(is == wanted && std::signbit(is) == std::signbit(wanted)) << name << " of " << at << ": " << is;
    else
      EXPECT_NEAR(is, wanted, 4e-16 * std::fabs(wanted)) << name << " of " << at;
  };
  for (size_t i = 0; i < std::size(points); ++i) {
    expectSame(sines[i], points[i].sin, "sin", x[i]);
    expectSame(cosines[i], points[i].cos, "cos", x[i]);
    expectSame(tangents[i], points[i].tan, "tan", x[i]);
  }
  for (size_t i = std::size(points); i < x.size(); ++i) {
    long double angle = 3.14159265358979323846264338327950288L * (long double)(x[i]);
    if (x[i] == std::floor(x[i])) continue;
    EXPECT_NEAR(sines[i], double(std::sin(angle)), 1e-15) << x[i];
    EXPECT_NEAR(cosines[i], double(std::cos(angle)), 1e-15) << x[i];
    EXPECT_NEAR(tangents[i], double(std::tan(angle)), 1e-14 * (1 + std::fabs(double(std::tan(angle))))) << x[i];
  }
}

/// The result of a device function of one lane, in the type `R`.
template <class R, class T>
R ofDeviceFunction(const char *symbol, const char *argument, const char *result, std::vector<T> x) {
  std::vector<std::string> inputs(x.size(), argument);
  std::string names, types, a = std::string("tensor<1x") + argument + ">", r = std::string("tensor<1x") + result + ">";
  for (size_t i = 0; i < x.size(); ++i) {
    names += std::string(i ? ", %" : "%") + char('a' + i);
    types += (i ? ", " : "") + a;
  }
  std::vector<std::vector<T>> in;
  for (T each : x) in.push_back({each});
  std::vector<R> out(1);
  Evaluation e(elementwiseKernel(1, inputs, {result}, externCall(symbol, names, types, r)));
  for (auto &each : in) e.buffer(each);
  e.buffer(out).ok();
  return out[0];
}

TEST(Math, DeviceFunctionsWithRoundingModes) {
  struct Function {
    const char *stem;
    std::vector<double> x;
    double down, up; // the neighbours of the exact result
    bool nearestIsUp;
  };
  // 1/3 and 1/5 are periodic in binary; the smallest numbers are those of the type.
  const Function single[] = {{"fadd", {1, 0x1p-30}, 1, 0x1.000002p0, false},
                             {"fadd", {-1, -0x1p-30}, -0x1.000002p0, -1, true},
                             {"fsub", {1, 0x1p-30}, 0x1.fffffep-1, 1, true},
                             {"fmul", {0x1.000002p0, 0x1.000002p0}, 0x1.000004p0, 0x1.000006p0, false},
                             {"fdiv", {1, 3}, 0x1.555554p-2, 0x1.555556p-2, true},
                             {"fdiv", {-1, 3}, -0x1.555556p-2, -0x1.555554p-2, false},
                             {"frcp", {5}, 0x1.999998p-3, 0x1.99999ap-3, true},
                             {"fsqrt", {2}, 0x1.6a09e6p0, 0x1.6a09e8p0, false},
                             {"fmul", {0x1p-149, 0.25}, 0, 0x1p-149, false},
                             // The nearest double of the exact value is in the middle of two floats.
                             {"fmaf", {0x1.001p0, 0x1.001p0, 0x1p-100}, 0x1.002p0, 0x1.002002p0, true},
                             {"fmaf_ieee", {1, 1, 0x1p-30}, 1, 0x1.000002p0, false}};
  const Function wide[] = {{"dadd", {1, 0x1p-60}, 1, 0x1.0000000000001p0, false},
                           {"dsub", {1, 0x1p-60}, 0x1.fffffffffffffp-1, 1, true},
                           {"dmul", {3, 0x1.5555555555555p-2}, 0x1.fffffffffffffp-1, 1, true},
                           {"ddiv", {1, 3}, 0x1.5555555555555p-2, 0x1.5555555555556p-2, false},
                           {"ddiv", {-2, 3}, -0x1.5555555555556p-1, -0x1.5555555555555p-1, true},
                           {"drcp", {5}, 0x1.9999999999999p-3, 0x1.999999999999ap-3, true},
                           {"dsqrt", {2}, 0x1.6a09e667f3bccp0, 0x1.6a09e667f3bcdp0, true},
                           {"fma", {1, 1, 0x1p-60}, 1, 0x1.0000000000001p0, false}};
  auto expectModes = [](const Function &f, auto &&evaluate) {
    for (const char *mode : {"rn", "rz", "rd", "ru"}) {
      std::string symbol = std::string("__nv_") + f.stem + "_" + mode, m = mode;
      double nearest = f.nearestIsUp ? f.up : f.down, inner = f.down < 0 ? f.up : f.down;
      double wanted = m == "rn" ? nearest : m == "rz" ? inner : m == "rd" ? f.down : f.up;
      EXPECT_EQ(evaluate(symbol.c_str(), f.x), wanted) << symbol << " of " << f.x[0];
    }
  };
  for (const Function &f : single)
    expectModes(f, [](const char *symbol, const std::vector<double> &x) {
      return ofDeviceFunction<float, float>(symbol, "f32", "f32", {x.begin(), x.end()});
    });
  for (const Function &f : wide)
    expectModes(f, [](const char *symbol, const std::vector<double> &x) {
      return ofDeviceFunction<double>(symbol, "f64", "f64", x);
    });
  const Function narrowing = {"double2float", {-0.1}, -0x1.99999ap-4, -0x1.999998p-4, false};
  expectModes(narrowing, [](const char *symbol, const std::vector<double> &x) {
    return ofDeviceFunction<float>(symbol, "f64", "f32", x);
  });
  const float x = 0x1.001p0f;
  EXPECT_EQ((ofDeviceFunction<float, float>("__nv_fmaf", "f32", "f32", {x, x, 0x1p-100f})), 0x1.002002p0f);
  EXPECT_EQ((ofDeviceFunction<float, float>("__ocml_fma_f32", "f32", "f32", {x, x, 0x1p-100f})), 0x1.002002p0f);
  EXPECT_EQ((ofDeviceFunction<float, float>("__ocml_fma_rtz_f32", "f32", "f32", {x, x, 0x1p-100f})), 0x1.002p0f);
  EXPECT_EQ((ofDeviceFunction<double>("__ocml_div_rtp_f64", "f64", "f64", std::vector<double>{1, 3})),
            0x1.5555555555556p-2);
  EXPECT_EQ((ofDeviceFunction<float, float>("__ocml_nextafter_f32", "f32", "f32", {1, 2})), 0x1.000002p0f);
}

TEST(Math, DeviceFunctionsOfIntegersWithRoundingModes) {
  auto fromInt = [](const char *symbol, int32_t x) {
    return ofDeviceFunction<float, int32_t>(symbol, "i32", "f32", {x});
  };
  EXPECT_EQ(fromInt("__nv_int2float_rz", -16777217), -16777216);
  EXPECT_EQ(fromInt("__nv_int2float_rd", -16777217), -16777218);
  EXPECT_EQ(fromInt("__nv_int2float_ru", 16777217), 16777218);
  EXPECT_EQ(fromInt("__nv_uint2float_rd", -1), 0x1.fffffep31f);
  EXPECT_FALSE(std::signbit(fromInt("__nv_uint2float_rd", 0)));
  // Next to the middle of two floats, where the nearest double is.
  const int64_t big = (1LL << 60) + (1LL << 36) + 1;
  EXPECT_EQ((ofDeviceFunction<float, int64_t>("__nv_ll2float_rn", "i64", "f32", {big})), 0x1.000002p60f);
  EXPECT_EQ((ofDeviceFunction<double, int64_t>("__nv_ll2double_rd", "i64", "f64", {-(1LL << 53) - 1})), -0x1p53 - 2);
  EXPECT_EQ((ofDeviceFunction<double, int64_t>("__nv_ull2double_rz", "i64", "f64", {-1})), 0x1.fffffffffffffp63);
}

TEST(Math, DeviceFunctionsOfBits) {
  EXPECT_EQ((ofDeviceFunction<int32_t, float>("__nv_float_as_int", "f32", "i32", {-2})), int32_t(0xC0000000));
  EXPECT_EQ((ofDeviceFunction<float, int32_t>("__nv_uint_as_float", "i32", "f32", {0x3F800000})), 1);
  EXPECT_EQ((ofDeviceFunction<int64_t, double>("__nv_double_as_longlong", "f64", "i64", {1})), 0x3FF0000000000000);
  EXPECT_EQ((ofDeviceFunction<int32_t, double>("__nv_double2hiint", "f64", "i32", {1})), 0x3FF00000);
  EXPECT_EQ((ofDeviceFunction<int32_t, double>("__nv_double2loint", "f64", "i32", {0x1.0000000000007p0})), 7);
  EXPECT_EQ((ofDeviceFunction<double, int32_t>("__nv_hiloint2double", "i32", "f64", {0x3FF00000, 7})),
            0x1.0000000000007p0);
  EXPECT_EQ((ofDeviceFunction<float, int16_t>("__nv_half2float", "i16", "f32", {0x3E00})), 1.5f);
  EXPECT_EQ((ofDeviceFunction<int16_t, float>("__nv_float2half_rn", "f32", "i16", {1.5f})), 0x3E00);
  EXPECT_EQ((ofDeviceFunction<int32_t, int32_t>("__nv_byte_perm", "i32", "i32", {0x33221180, 0x77665544, 0x8750})),
            int32_t(0x80775580));
  EXPECT_EQ((ofDeviceFunction<int32_t, int32_t>("__nv_sad", "i32", "i32", {-3, 4, 10})), 17);
  EXPECT_EQ((ofDeviceFunction<int32_t, int32_t>("__nv_usad", "i32", "i32", {-3, 4, 10})), 3);
  EXPECT_EQ((ofDeviceFunction<int64_t, int64_t>("__nv_umul64hi", "i64", "i64", {-1, 2})), 1);
  EXPECT_EQ((ofDeviceFunction<int64_t, int64_t>("__nv_mul64hi", "i64", "i64", {-1, 2})), -1);
  EXPECT_EQ((ofDeviceFunction<float, float>("__nv_nextafterf", "f32", "f32", {1, 2})), 0x1.000002p0f);
  EXPECT_EQ((ofDeviceFunction<double, double>("__nv_norm4d", "f64", "f64", {1, 1, 1, 1})), 2);
}

TEST(Math, BesselFunctions) {
  const double nan = NAN, inf = INFINITY;
  struct Point {
    double x, i0, i1; // from tables of 17 digits
  };
  const Point points[] = {{0, 1, 0},
                          {1, 1.2660658777520084, 0.56515910399248503},
                          {-1, 1.2660658777520084, -0.56515910399248503},
                          {10, 2815.7166284662544, 2670.9883037012546},
                          {-0x1p-40, 1, -0x1p-41},
                          {700, 1.5295933476718737e302, 1.5285003902339011e302},
                          {800, inf, inf},
                          {-inf, inf, -inf},
                          {nan, nan, nan}};
  for (auto &p : points) {
    double i0 = ofDeviceFunction<double, double>("__nv_cyl_bessel_i0", "f64", "f64", {p.x});
    double i1 = ofDeviceFunction<double, double>("__ocml_i1_f64", "f64", "f64", {p.x});
    if (std::isfinite(p.i0)) {
      EXPECT_NEAR(i0, p.i0, p.i0 * 4e-16);
      EXPECT_NEAR(i1, p.i1, std::fabs(p.i1) * 4e-16);
    } else {
      EXPECT_TRUE(i0 == p.i0 || std::isnan(p.i0)) << p.x;
      EXPECT_TRUE(i1 == p.i1 || std::isnan(p.i1)) << p.x;
    }
  }
  EXPECT_EQ((ofDeviceFunction<float, float>("__nv_cyl_bessel_i0f", "f32", "f32", {100})), INFINITY);
}

// The upper 32 bits of the double alone are read and written.
TEST(Math, GrossReciprocal) {
  auto reciprocal = [](double x) { return ofDeviceFunction<double, double>("__nv_rcp64h", "f64", "f64", {x}); };
  EXPECT_EQ(reciprocal(4), 0.25);
  EXPECT_EQ(reciprocal(0x1.00000ffffffffp0), 1);
  EXPECT_EQ(reciprocal(3), 0x1.55555p-2);
  EXPECT_EQ(reciprocal(0x1p-1050), INFINITY);
  EXPECT_EQ(reciprocal(-0x1.8p1023), 0);
  EXPECT_TRUE(std::signbit(reciprocal(-0x1.8p1023)));
}

TEST(Math, DeviceFunctionsThatReturnThroughPointers) {
  for (std::string symbol : {"__nv_frexpf", "__nv_fast_sincosf", "__ocml_modf_f32", "__nv_remquof"}) {
    std::vector<float> a = {1}, r(1);
    Evaluation(elementwiseKernel(1, {"f32"}, {"f32"}, externCall(symbol, "%a", "tensor<1xf32>", "tensor<1xf32>")))
        .buffer(a)
        .buffer(r)
        .fails("'" + symbol + "' has an output parameter");
  }
}

TEST(Math, FunctionsOfOckl) { // with the types that Triton 3.9 gives them
  std::vector<int32_t> a = {0, 1, -1, 0x00f0}, r(4);
  for (auto [symbol, want] : {std::pair{"__ockl_clz_u32", std::vector<int32_t>{32, 31, 0, 24}},
                              {"__ockl_popcount_u32", std::vector<int32_t>{0, 1, 32, 4}}}) {
    Evaluation(elementwiseKernel(4, {"i32"}, {"i32"}, externCall(symbol, "%a", "tensor<4xi32>", "tensor<4xi32>")))
        .buffer(a)
        .buffer(r)
        .ok();
    EXPECT_EQ(r, want) << symbol;
  }
  std::vector<int64_t> wide = {0, -1, int64_t(1) << 40, 3};
  Evaluation(
      elementwiseKernel(4, {"i64"}, {"i32"}, externCall("__ockl_popcount_u64", "%a", "tensor<4xi64>", "tensor<4xi32>")))
      .buffer(wide)
      .buffer(r)
      .ok();
  EXPECT_EQ(r, (std::vector<int32_t>{0, 64, 1, 2}));
}

TEST(Math, DeviceLibraries) {
  struct Function {
    const char *symbol;
    double x, y;
  };
  const Function functions[] = {{"__nv_tanhf", 0.7, std::tanh(0.7f)},
                                {"__ocml_tanh_f32", 0.7, std::tanh(0.7f)},
                                {"__nv_erff", 0.7, std::erf(0.7f)},
                                {"__nv_fast_expf", 0.7, std::exp(0.7f)},
                                {"__ocml_native_exp_f32", 0.7, std::exp(0.7f)},
                                {"__nv_rsqrtf", 4, 0.5},
                                {"__nv_fsqrt_rn", 9, 3},
                                {"__nv_frcp_rn", 4, 0.25},
                                {"__nv_exp10f", 2, 100},
                                {"__nv_rintf", 2.5, 2},
                                {"__nv_roundf", 2.5, 3},
                                {"__nv_floorf", -2.5, -3},
                                {"__nv_normcdff", 0, 0.5},
                                {"__nv_erfinvf", 0.5, 0.47693627620446987},
                                {"__nv_cospif", 1, -1},
                                {"__nv_lgammaf", 3, std::log(2.0)},
                                {"__nv_saturatef", 3, 1},
                                {"__triton_hip_fast_expf", 0.7, std::exp(0.7f)},
                                {"__triton_hip_fast_tanhf", 0.7, std::tanh(0.7f)},
                                {"__triton_hip_rint", 2.5, 2},
                                {"__triton_hip_fabs", -2.5, 2.5}};
  for (auto &f : functions) {
    std::vector<float> a = {float(f.x)}, r(1);
    Evaluation(elementwiseKernel(1, {"f32"}, {"f32"}, externCall(f.symbol, "%a", "tensor<1xf32>", "tensor<1xf32>")))
        .buffer(a)
        .buffer(r)
        .ok();
    EXPECT_NEAR(r[0], f.y, std::fabs(f.y) * 2e-7) << f.symbol;
  }
  {
    std::vector<float> a = {2}, b = {10}, r(1);
    Evaluation(elementwiseKernel(1, {"f32", "f32"}, {"f32"},
                                 externCall("__nv_powf", "%a, %b", "tensor<1xf32>, tensor<1xf32>", "tensor<1xf32>")))
        .buffer(a)
        .buffer(b)
        .buffer(r)
        .ok();
    EXPECT_EQ(r[0], 1024);
  }
  {
    std::vector<float> a = {NAN, 1, -2.5f, 3e9f};
    std::vector<int32_t> r(4);
    Evaluation(
        elementwiseKernel(4, {"f32"}, {"i32"}, externCall("__nv_isnanf", "%a", "tensor<4xf32>", "tensor<4xi32>")))
        .buffer(a)
        .buffer(r)
        .ok();
    EXPECT_EQ(r, (std::vector<int32_t>{1, 0, 0, 0}));
    Evaluation(
        elementwiseKernel(4, {"f32"}, {"i32"}, externCall("__nv_float2int_rd", "%a", "tensor<4xf32>", "tensor<4xi32>")))
        .buffer(a)
        .buffer(r)
        .ok();
    EXPECT_EQ(r, (std::vector<int32_t>{0, 1, -3, INT32_MAX}));
    Evaluation(elementwiseKernel(4, {"i32"}, {"i32"}, externCall("__nv_popc", "%a", "tensor<4xi32>", "tensor<4xi32>")))
        .buffer(r)
        .buffer(r)
        .ok();
    EXPECT_EQ(r, (std::vector<int32_t>{0, 1, 31, 31}));
  }
  {
    std::vector<float> a = {1}, r(1);
    Evaluation(
        elementwiseKernel(1, {"f32"}, {"f32"}, externCall("__nv_nosuchf", "%a", "tensor<1xf32>", "tensor<1xf32>")))
        .buffer(a)
        .buffer(r)
        .fails("does not know the device function '__nv_nosuchf'");
    Evaluation(elementwiseKernel(1, {"f32"}, {"f32"}, externCall("__nv_powf", "%a", "tensor<1xf32>", "tensor<1xf32>")))
        .buffer(a)
        .buffer(r)
        .fails("is not known with these operands");
  }
}

} // namespace
} // namespace tessera
