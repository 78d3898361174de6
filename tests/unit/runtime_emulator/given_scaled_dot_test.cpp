// Dots of microscaled operands in TTGIR that is given, in Triton's layouts for sm_120: e4m3 times e2m1 that are packed
// along K, both with scales. Elements and scales are such that every sum is an integer, so that results are exact.
#include "emulation.h"
#include "runtime/float_formats.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ir::FloatKind;
using testing::Emulation;

constexpr unsigned kM = 32, kN = 16, kK = 64, kGroup = 32;

/// %NAMEp: pointers to a matrix at %NAME, row by row.
std::string pointers(const char *name, const char *element, unsigned rows, unsigned columns) {
  return llvm::formatv(
             R"(    %{0}r = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32, #ttg.slice<{{dim = 1, parent = #blocked}>>
    %{0}c = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32, #ttg.slice<{{dim = 0, parent = #blocked}>>
    %{0}re = tt.expand_dims %{0}r {{axis = 1 : i32} : tensor<{1}xi32, #ttg.slice<{{dim = 1, parent = #blocked}>> -> tensor<{1}x1xi32, #blocked>
    %{0}ce = tt.expand_dims %{0}c {{axis = 0 : i32} : tensor<{2}xi32, #ttg.slice<{{dim = 0, parent = #blocked}>> -> tensor<1x{2}xi32, #blocked>
    %{0}w = arith.constant dense<{2}> : tensor<{1}x1xi32, #blocked>
    %{0}rw = arith.muli %{0}re, %{0}w : tensor<{1}x1xi32, #blocked>
    %{0}rb = tt.broadcast %{0}rw : tensor<{1}x1xi32, #blocked> -> tensor<{1}x{2}xi32, #blocked>
    %{0}cb = tt.broadcast %{0}ce : tensor<1x{2}xi32, #blocked> -> tensor<{1}x{2}xi32, #blocked>
    %{0}i = arith.addi %{0}rb, %{0}cb : tensor<{1}x{2}xi32, #blocked>
    %{0}s = tt.splat %{0} : !tt.ptr<{3}> -> tensor<{1}x{2}x!tt.ptr<{3}>, #blocked>
    %{0}p = tt.addptr %{0}s, %{0}i : tensor<{1}x{2}x!tt.ptr<{3}>, #blocked>, tensor<{1}x{2}xi32, #blocked>
)",
             name, rows, columns, element)
      .str();
}

/// %NAMEv: the bytes of such a matrix.
std::string load(const char *name, unsigned rows, unsigned columns) {
  return pointers(name, "i8", rows, columns) +
         llvm::formatv("    %{0}v = tt.load %{0}p : tensor<{1}x{2}x!tt.ptr<i8>, #blocked>\n", name, rows, columns)
             .str();
}

std::string text() {
  return R"(#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#rows = #ttg.linear<{register = [[0, 1]], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [16, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<i8>, %y: !tt.ptr<i8>, %s: !tt.ptr<i8>, %t: !tt.ptr<i8>, %o: !tt.ptr<f32>) {
)" + load("x", kM, kK) +
         load("y", kK / 2, kN) + load("s", kM, kK / kGroup) + load("t", kN, kK / kGroup) +
         pointers("o", "f32", kM, kN) +
         R"(    %xf = tt.bitcast %xv : tensor<32x64xi8, #blocked> -> tensor<32x64xf8E4M3FN, #blocked>
    %xa = ttg.convert_layout %xf : tensor<32x64xf8E4M3FN, #blocked> -> tensor<32x64xf8E4M3FN, #a>
    %yb = ttg.convert_layout %yv : tensor<32x16xi8, #blocked> -> tensor<32x16xi8, #b>
    %scales = ttg.convert_layout %sv : tensor<32x2xi8, #blocked> -> tensor<32x2xi8, #rows>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #mma>
    %d = tt.dot_scaled %xa scale %scales, %yb scale %tv, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<32x64xf8E4M3FN, #a>, tensor<32x2xi8, #rows> * tensor<32x16xi8, #b>, tensor<16x2xi8, #blocked> -> tensor<32x16xf32, #mma>
    %r = ttg.convert_layout %d : tensor<32x16xf32, #mma> -> tensor<32x16xf32, #blocked>
    tt.store %op, %r : tensor<32x16x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
)";
}

TEST(GivenScaledDot, Sm120) {
  std::vector<uint8_t> x(kM * kK), y(kK / 2 * kN), s(kM * kK / kGroup), t(kN * kK / kGroup);
  constexpr uint8_t kIntegers[] = {0x00, 0x38, 0x40, 0x44, 0xb8, 0xc0}; // 0, 1, 2, 3, -1 and -2 of e4m3
  constexpr uint8_t kHalves[] = {0, 2, 4, 6, 10, 12};                   // 0, 1, 2, 4, -1 and -2 of e2m1
  for (unsigned n = 0; n < x.size(); ++n) x[n] = kIntegers[(n * 5 + n / 64) % 6];
  for (unsigned n = 0; n < y.size(); ++n) y[n] = uint8_t(kHalves[n * 7 % 6] | kHalves[(n / 3 + n / 16) % 6] << 4);
  for (unsigned n = 0; n < s.size(); ++n) s[n] = uint8_t(127 + n % 3);
  for (unsigned n = 0; n < t.size(); ++n) t[n] = uint8_t(127 + n % 4);
  Emulation e;
  e.target = "sm_120a";
  auto r = e.text(text(), "k",
                  {testing::bytesOf(x), testing::bytesOf(y), testing::bytesOf(s), testing::bytesOf(t),
                   testing::zeros(kM * kN * 4)});
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned m = 0; m < kM; ++m)
    for (unsigned n = 0; n < kN; ++n) {
      double want = 0;
      for (unsigned k = 0; k < kK; ++k) {
        uint8_t byte = y[k / 2 * kN + n];
        double left = runtime::decodeFloat(FloatKind::F8E4M3FN, x[m * kK + k]);
        double right = runtime::decodeE2m1(k % 2 ? byte >> 4 : byte & 15);
        want += std::ldexp(left * right, s[m * 2 + k / kGroup] + t[n * 2 + k / kGroup] - 254);
      }
      float got;
      std::memcpy(&got, &e.buffers[4][(m * kN + n) * 4], 4);
      EXPECT_EQ(got, want) << m << " " << n;
    }
}

} // namespace
} // namespace tessera
