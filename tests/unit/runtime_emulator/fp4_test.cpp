// ttg.fp4_to_fp and tt.e2m1_to_fp: all bytes, to every kind of float that they unpack to, on targets of both vendors.
#include "emulation.h"
#include "runtime/float_formats.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::Emulation;
using testing::GivenTarget;

struct Kind {
  const char *name;
  ir::FloatKind kind;
  unsigned bytes;
};

/// Writes the float of a half byte as element `n`.
void encode(const Kind &k, unsigned four, std::vector<uint8_t> &out, unsigned n) {
  const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  uint64_t bits = runtime::encodeFloat(k.kind, four & 8 ? -magnitudes[four & 7] : magnitudes[four & 7]);
  memcpy(out.data() + n * k.bytes, &bits, k.bytes);
}

TEST(Fp4ToFp, AllBytes) {
  for (GivenTarget t : {GivenTarget{"sm_80", "cuda:80", 32},
                        {"sm_90a", "cuda:90", 32},
                        {"gfx942", "hip:gfx942", 64},
                        {"gfx1100", "hip:gfx1100", 32}})
    for (Kind k :
         {Kind{"f16", ir::FloatKind::F16, 2}, {"bf16", ir::FloatKind::BF16, 2}, {"f32", ir::FloatKind::F32, 4}}) {
      std::string text =
          llvm::formatv(
              R"(#src = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [{1}], warpsPerCTA = [2], order = [0]}>
#res = #ttg.blocked<{{sizePerThread = [8], threadsPerWarp = [{1}], warpsPerCTA = [2], order = [0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = {1} : i32} {{
  tt.func public @k(%x: !tt.ptr<i8>, %y: !tt.ptr<{2}>) {{
    %i = tt.make_range {{end = 512 : i32, start = 0 : i32} : tensor<512xi32, #src>
    %p = tt.splat %x : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>, #src>
    %q = tt.addptr %p, %i : tensor<512x!tt.ptr<i8>, #src>, tensor<512xi32, #src>
    %v = tt.load %q : tensor<512x!tt.ptr<i8>, #src>
    %f = ttg.fp4_to_fp %v {{axis = 0 : i32} : tensor<512xi8, #src> -> tensor<1024x{2}, #res>
    %j = tt.make_range {{end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #res>
    %r = tt.splat %y : !tt.ptr<{2}> -> tensor<1024x!tt.ptr<{2}>, #res>
    %s = tt.addptr %r, %j : tensor<1024x!tt.ptr<{2}>, #res>, tensor<1024xi32, #res>
    tt.store %s, %f : tensor<1024x!tt.ptr<{2}>, #res>
    tt.return
  }
}
)",
              t.triton, t.lanes, k.name)
              .str();
      std::vector<uint8_t> bytes(512), want(1024 * k.bytes);
      for (unsigned n = 0; n < 512; ++n) bytes[n] = uint8_t(n * 7 + n / 256);
      for (unsigned n = 0; n < 1024; ++n) {
        encode(k, n % 2 ? bytes[n / 2] >> 4 : bytes[n / 2] & 15, want, n);
      }
      Emulation e;
      e.target = t.name, e.numWarps = 2;
      auto r = e.text(text, "k", {testing::bytesOf(bytes), testing::zeros(1024 * k.bytes)});
      ASSERT_TRUE(r.ok()) << t.name << " " << k.name << ": " << r.status();
      EXPECT_EQ(e.buffers[1], want) << t.name << " " << k.name;
    }
}

TEST(E2m1ToFp, AllBytes) {
  for (GivenTarget t :
       {GivenTarget{"sm_90a", "cuda:90", 32}, {"gfx942", "hip:gfx942", 64}, {"gfx1100", "hip:gfx1100", 32}})
    for (Kind k :
         {Kind{"f16", ir::FloatKind::F16, 2}, {"bf16", ir::FloatKind::BF16, 2}, {"f32", ir::FloatKind::F32, 4}})
      for (bool high : {false, true}) {
        std::string text =
            llvm::formatv(
                R"(#l = #ttg.blocked<{{sizePerThread = [2], threadsPerWarp = [{1}], warpsPerCTA = [1], order = [0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = {1} : i32} {{
  tt.func public @k(%x: !tt.ptr<i8>, %y: !tt.ptr<{2}>) {{
    %i = tt.make_range {{end = 256 : i32, start = 0 : i32} : tensor<256xi32, #l>
    %p = tt.splat %x : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>, #l>
    %q = tt.addptr %p, %i : tensor<256x!tt.ptr<i8>, #l>, tensor<256xi32, #l>
    %v = tt.load %q : tensor<256x!tt.ptr<i8>, #l>
    %f = tt.e2m1_to_fp %v {{high = {3}} : tensor<256xi8, #l> -> tensor<256x{2}, #l>
    %r = tt.splat %y : !tt.ptr<{2}> -> tensor<256x!tt.ptr<{2}>, #l>
    %s = tt.addptr %r, %i : tensor<256x!tt.ptr<{2}>, #l>, tensor<256xi32, #l>
    tt.store %s, %f : tensor<256x!tt.ptr<{2}>, #l>
    tt.return
  }
}
)",
                t.triton, t.lanes, k.name, high ? "true" : "false")
                .str();
        std::vector<uint8_t> bytes(256), want(256 * k.bytes);
        for (unsigned n = 0; n < 256; ++n) {
          bytes[n] = uint8_t(n * 7);
          encode(k, high ? bytes[n] >> 4 : bytes[n] & 15, want, n);
        }
        Emulation e;
        e.target = t.name, e.numWarps = 1;
        auto r = e.text(text, "k", {testing::bytesOf(bytes), testing::zeros(256 * k.bytes)});
        ASSERT_TRUE(r.ok()) << t.name << " " << k.name << ": " << r.status();
        EXPECT_EQ(e.buffers[1], want) << t.name << " " << k.name << " " << high;
      }
}

TEST(MatrixF64, TilesOfSixteenRows) {
  // What Triton makes of dots of f64; before sm_90 an instruction has 8 rows.
  for (GivenTarget t : {GivenTarget{"sm_80", "cuda:80", 32}, {"sm_90a", "cuda:90", 32}}) {
    std::string text =
        llvm::formatv(
            R"(#mma = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 1}>
#plain = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = 32 : i32} {{
  tt.func public @k(%x: !tt.ptr<f64>, %y: !tt.ptr<f64>, %z: !tt.ptr<f64>) {{
    %r = tt.make_range {{end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #plain}>>
    %c = tt.make_range {{end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #plain}>>
    %re = tt.expand_dims %r {{axis = 1 : i32} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #plain}>> -> tensor<32x1xi32, #plain>
    %ce = tt.expand_dims %c {{axis = 0 : i32} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #plain}>> -> tensor<1x32xi32, #plain>
    %w = arith.constant dense<32> : tensor<32x1xi32, #plain>
    %rs = arith.muli %re, %w : tensor<32x1xi32, #plain>
    %rb = tt.broadcast %rs : tensor<32x1xi32, #plain> -> tensor<32x32xi32, #plain>
    %cb = tt.broadcast %ce : tensor<1x32xi32, #plain> -> tensor<32x32xi32, #plain>
    %i = arith.addi %rb, %cb : tensor<32x32xi32, #plain>
    %xs = tt.splat %x : !tt.ptr<f64> -> tensor<32x32x!tt.ptr<f64>, #plain>
    %xp = tt.addptr %xs, %i : tensor<32x32x!tt.ptr<f64>, #plain>, tensor<32x32xi32, #plain>
    %xv = tt.load %xp : tensor<32x32x!tt.ptr<f64>, #plain>
    %ys = tt.splat %y : !tt.ptr<f64> -> tensor<32x32x!tt.ptr<f64>, #plain>
    %yp = tt.addptr %ys, %i : tensor<32x32x!tt.ptr<f64>, #plain>, tensor<32x32xi32, #plain>
    %yv = tt.load %yp : tensor<32x32x!tt.ptr<f64>, #plain>
    %xa = ttg.convert_layout %xv : tensor<32x32xf64, #plain> -> tensor<32x32xf64, #a>
    %yb = ttg.convert_layout %yv : tensor<32x32xf64, #plain> -> tensor<32x32xf64, #b>
    %zero = arith.constant dense<0.0> : tensor<32x32xf64, #mma>
    %d = tt.dot %xa, %yb, %zero : tensor<32x32xf64, #a> * tensor<32x32xf64, #b> -> tensor<32x32xf64, #mma>
    %o = ttg.convert_layout %d : tensor<32x32xf64, #mma> -> tensor<32x32xf64, #plain>
    %zs = tt.splat %z : !tt.ptr<f64> -> tensor<32x32x!tt.ptr<f64>, #plain>
    %zp = tt.addptr %zs, %i : tensor<32x32x!tt.ptr<f64>, #plain>, tensor<32x32xi32, #plain>
    tt.store %zp, %o : tensor<32x32x!tt.ptr<f64>, #plain>
    tt.return
  }
}
)",
            t.triton)
            .str();
    double x[32][32], y[32][32], z[32][32] = {};
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 32; ++j) x[i][j] = (i * 5 + j * 3) % 17 - 8, y[i][j] = (i * 7 + j * 11) % 13 - 6;
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 32; ++j)
        for (int k = 0; k < 32; ++k) z[i][j] += x[i][k] * y[k][j];
    auto bytes = [](const double (&m)[32][32]) {
      std::vector<uint8_t> b(sizeof m);
      memcpy(b.data(), m, sizeof m);
      return b;
    };
    Emulation e;
    e.target = t.name;
    auto r = e.text(text, "k", {testing::bytesOf(bytes(x)), testing::bytesOf(bytes(y)), testing::zeros(sizeof z)});
    ASSERT_TRUE(r.ok()) << t.name << ": " << r.status();
    EXPECT_EQ(e.buffers[2], bytes(z)) << t.name;
  }
}

} // namespace
} // namespace tessera
