// Conversions between float formats and integers against loops written here, with all special values.
#include "float_patterns.h"

namespace tessera {
namespace {
using ir::FloatKind;
using test::elementwiseKernel;
using test::Evaluation;
using test::floatPatterns;
using test::Format;
using test::pattern;

TEST(Conversions, BetweenAllFloatFormats) {
  const Format all[] = {{FloatKind::F16, "f16"},
                        {FloatKind::BF16, "bf16"},
                        {FloatKind::F32, "f32"},
                        {FloatKind::F64, "f64"},
                        {FloatKind::F8E4M3FN, "f8E4M3FN"},
                        {FloatKind::F8E5M2, "f8E5M2"},
                        {FloatKind::F8E4M3FNUZ, "f8E4M3FNUZ"},
                        {FloatKind::F8E5M2FNUZ, "f8E5M2FNUZ"}};
  auto width = [](FloatKind k) { return llvm::APFloat::semanticsSizeInBits(ir::FloatType::semantics(k)); };
  for (auto &from : all)
    for (auto &to : all) {
      if (from.kind == to.kind) continue;
      bool narrows = width(to.kind) < width(from.kind) || width(to.kind) == 8;
      for (std::string rounding : {"rtne", "rtz"}) {
        if (!narrows && rounding == "rtz") continue;
        size_t n = 2048;
        auto in = floatPatterns(from.kind, 7, n, false);
        std::string line = "%r = tt.fp_to_fp %a" + (narrows ? ", rounding = " + rounding : "") + " : tensor<2048x" +
                           from.name + "> -> tensor<2048x" + to.name + ">";
        std::vector<uint8_t> source(n * 8), result(n * 8);
        unsigned fromBytes = width(from.kind) / 8, toBytes = width(to.kind) / 8;
        for (size_t i = 0; i < n; ++i) std::memcpy(&source[i * fromBytes], &in[i], fromBytes);
        Evaluation e(elementwiseKernel(n, {from.name}, {to.name}, line));
        auto s = e.buffer(source).buffer(result).run();
        if (!s.ok() && e.messages.find("interpreter") == std::string::npos &&
            e.messages.find("kernel 'k'") == std::string::npos)
          continue; // a pair that the verifier rejects
        ASSERT_TRUE(s.ok()) << s << e.messages;
        for (size_t i = 0; i < n; ++i) {
          uint64_t got = 0;
          std::memcpy(&got, &result[i * toBytes], toBytes);
          double x = runtime::decodeFloat(from.kind, in[i]);
          uint64_t want = runtime::encodeFloat(
              to.kind, x, rounding == "rtz" ? runtime::Rounding::TowardZero : runtime::Rounding::NearestEven);
          if (std::isnan(x))
            ASSERT_TRUE(std::isnan(runtime::decodeFloat(to.kind, got)));
          else
            ASSERT_EQ(want, got) << from.name << " to " << to.name << " " << rounding << " of " << x;
        }
      }
    }
}

TEST(Conversions, FloatToIntegerSaturates) {
  std::vector<float> x = {1.9f, -1.9f, 3e9f, -3e9f, NAN, INFINITY, -INFINITY, 5e9f, 300.5f, -1.5f};
  std::vector<int32_t> r(10);
  std::vector<uint32_t> s(10);
  std::vector<int64_t> t(10);
  std::vector<int8_t> u(10);
  std::vector<uint8_t> v(10);
  std::string text = R"(
    %r = arith.fptosi %a : tensor<10xf32> to tensor<10xi32>
    %s = arith.fptoui %a : tensor<10xf32> to tensor<10xi32>
    %t = arith.fptosi %a : tensor<10xf32> to tensor<10xi64>
    %u = arith.fptosi %a : tensor<10xf32> to tensor<10xi8>
    %v = arith.fptoui %a : tensor<10xf32> to tensor<10xi8>)";
  Evaluation(elementwiseKernel(10, {"f32"}, {"i32", "i32", "i64", "i8", "i8"}, text))
      .buffer(x)
      .buffer(r)
      .buffer(s)
      .buffer(t)
      .buffer(u)
      .buffer(v)
      .ok();
  EXPECT_EQ(r, (std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, INT32_MAX, 300, -1}));
  EXPECT_EQ(s, (std::vector<uint32_t>{1, 0, 3000000000u, 0, 0, UINT32_MAX, 0, UINT32_MAX, 300, 0}));
  EXPECT_EQ(t, (std::vector<int64_t>{1, -1, 3000000000, -3000000000, 0, INT64_MAX, INT64_MIN, 5000000000, 300, -1}));
  EXPECT_EQ(u[8], 44); // by way of 16 bits
  EXPECT_EQ(v[9], 0);
}

TEST(Conversions, IntegersToFloatsAreRounded) {
  std::vector<int64_t> x = {0,
                            1,
                            -1,
                            INT64_MIN,
                            INT64_MAX,
                            (int64_t(1) << 53) + 1,
                            (int64_t(1) << 24) + 1,
                            0x101FFFFFFFFFFFFF,
                            65519,
                            65520,
                            0x1010000000000001,
                            0x1010000000000000};
  size_t n = x.size();
  std::vector<float> f(n), uf(n);
  std::vector<double> d(n);
  std::vector<uint16_t> h(n), b(n);
  std::string T = "tensor<12x";
  std::string text = "%r = arith.sitofp %a : tensor<12xi64> to tensor<12xf32>\n%s = arith.uitofp %a : tensor<12xi64> "
                     "to tensor<12xf32>\n%t = arith.sitofp %a : tensor<12xi64> to tensor<12xf64>\n"
                     "%u = arith.sitofp %a : tensor<12xi64> to tensor<12xf16>\n%v = arith.sitofp %a : tensor<12xi64> "
                     "to tensor<12xbf16>";
  Evaluation(elementwiseKernel(n, {"i64"}, {"f32", "f32", "f64", "f16", "bf16"}, text))
      .buffer(x)
      .buffer(f)
      .buffer(uf)
      .buffer(d)
      .buffer(h)
      .buffer(b)
      .ok();
  auto exact = [](const llvm::fltSemantics &s, int64_t v) {
    llvm::APFloat r(s);
    r.convertFromAPInt(llvm::APInt(64, uint64_t(v)), true, llvm::APFloat::rmNearestTiesToEven);
    return pattern(r);
  };
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(f[i], float(x[i]));
    EXPECT_EQ(uf[i], float(uint64_t(x[i])));
    EXPECT_EQ(d[i], double(x[i]));
    EXPECT_EQ(h[i], exact(llvm::APFloat::IEEEhalf(), x[i])) << x[i];
    llvm::APFloat toBf16{float(x[i])}; // by way of f32, as compiled code does
    bool lost = false;
    toBf16.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &lost);
    EXPECT_EQ(b[i], pattern(toBf16)) << x[i];
  }
}

TEST(Conversions, BitcastsKeepBits) {
  std::vector<float> x = {1, -0.0f, NAN, 3};
  std::vector<uint32_t> r(4);
  std::vector<float> s(4);
  Evaluation(elementwiseKernel(4, {"f32"}, {"i32", "f32"},
                               "%r = tt.bitcast %a : tensor<4xf32> -> tensor<4xi32>\n%s = arith.bitcast %r : "
                               "tensor<4xi32> to tensor<4xf32>"))
      .buffer(x)
      .buffer(r)
      .buffer(s)
      .ok();
  EXPECT_EQ(r[0], 0x3F800000u);
  EXPECT_EQ(r[1], 0x80000000u);
  EXPECT_EQ(std::memcmp(s.data(), x.data(), 16), 0);
}

} // namespace
} // namespace tessera
