// amdg.scaled_upcast_fp8 and amdg.scaled_upcast_fp4: all elements with scales of every kind (the smallest, which is
// subnormal in f32, ones that overflow the result, not a number), as bytes and as bf16, on targets of each generation.
// amdg.upcast_mxfp: which elements of a left and of a right operand share a scale.
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
using testing::GivenTarget;

constexpr GivenTarget kTargets[] = {
    {"gfx942", "hip:gfx942", 64}, {"gfx950", "hip:gfx950", 64}, {"gfx1201", "hip:gfx1201", 32}};
constexpr uint8_t kScales[] = {0, 1, 113, 127, 128, 141, 254, 255};
constexpr unsigned kElements = 2048;

struct Form {
  std::string operation; // of %v and %s, both loaded
  const char *scale;
  const char *output;
  unsigned inputs;
};

std::string text(const GivenTarget &t, const Form &f) {
  return llvm::formatv(
             R"(#src = #ttg.blocked<{{sizePerThread = [{6}], threadsPerWarp = [{1}], warpsPerCTA = [4], order = [0]}>
#res = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [{1}], warpsPerCTA = [4], order = [0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = {1} : i32} {{
  tt.func public @k(%x: !tt.ptr<i8>, %p: !tt.ptr<{3}>, %o: !tt.ptr<{4}>) {{
    %i = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32, #src>
    %xs = tt.splat %x : !tt.ptr<i8> -> tensor<{2}x!tt.ptr<i8>, #src>
    %xp = tt.addptr %xs, %i : tensor<{2}x!tt.ptr<i8>, #src>, tensor<{2}xi32, #src>
    %v = tt.load %xp : tensor<{2}x!tt.ptr<i8>, #src>
    %j = tt.make_range {{end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #res>
    %ps = tt.splat %p : !tt.ptr<{3}> -> tensor<2048x!tt.ptr<{3}>, #res>
    %pp = tt.addptr %ps, %j : tensor<2048x!tt.ptr<{3}>, #res>, tensor<2048xi32, #res>
    %s = tt.load %pp : tensor<2048x!tt.ptr<{3}>, #res>
    {5}
    %os = tt.splat %o : !tt.ptr<{4}> -> tensor<2048x!tt.ptr<{4}>, #res>
    %op = tt.addptr %os, %j : tensor<2048x!tt.ptr<{4}>, #res>, tensor<2048xi32, #res>
    tt.store %op, %w : tensor<2048x!tt.ptr<{4}>, #res>
    tt.return
  }
}
)",
             t.triton, t.lanes, f.inputs, f.scale, f.output, f.operation, f.inputs * 4 / kElements)
      .str();
}

/// Element n has scale n / 256 of the list.
std::vector<uint8_t> scales(bool isBf16) {
  std::vector<uint8_t> bytes(kElements * (isBf16 ? 2 : 1));
  for (unsigned n = 0; n < kElements; ++n) {
    uint16_t bits = uint16_t(kScales[n / 256] << (isBf16 ? 7 : 0));
    std::memcpy(&bytes[n * (isBf16 ? 2 : 1)], &bits, isBf16 ? 2 : 1);
  }
  return bytes;
}

void check(const Form &f, const std::vector<uint8_t> &inputs, llvm::function_ref<double(unsigned)> element) {
  bool isBf16 = std::string(f.scale) == "bf16";
  FloatKind kind = std::string(f.output) == "bf16" ? FloatKind::BF16 : FloatKind::F16;
  for (const GivenTarget &t : kTargets) {
    SCOPED_TRACE(std::string(t.name) + " " + f.operation);
    Emulation e;
    e.target = t.name;
    auto r = e.text(text(t, f), "k",
                    {testing::bytesOf(inputs), testing::bytesOf(scales(isBf16)), testing::zeros(kElements * 2)});
    ASSERT_TRUE(r.ok()) << r.status();
    for (unsigned n = 0; n < kElements; ++n) {
      uint8_t s = kScales[n / 256];
      double want = s == 255 ? NAN : std::ldexp(element(n), int(s) - 127);
      uint16_t got;
      std::memcpy(&got, &e.buffers[2][n * 2], 2);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(runtime::decodeFloat(kind, got))) << n;
      else
        EXPECT_EQ(got, runtime::encodeFloat(kind, want)) << n << " is " << element(n) << " by scale " << unsigned(s);
    }
  }
}

TEST(ScaledUpcast, Float8) {
  std::vector<uint8_t> inputs(kElements);
  for (unsigned n = 0; n < kElements; ++n) inputs[n] = uint8_t(n);
  for (auto [name, kind] : {std::pair{"f8E4M3FN", FloatKind::F8E4M3FN}, {"f8E5M2", FloatKind::F8E5M2}})
    for (auto [scale, output] : {std::pair{"bf16", "bf16"}, {"i8", "f16"}}) {
      std::string operation =
          llvm::formatv("%y = tt.bitcast %v : tensor<2048xi8, #src> -> tensor<2048x{0}, #src>\n"
                        "    %z = ttg.convert_layout %y : tensor<2048x{0}, #src> -> tensor<2048x{0}, #res>\n"
                        "    %w = amdg.scaled_upcast_fp8 %z scale %s : tensor<2048x{0}, #res>, "
                        "tensor<2048x{1}, #res> -> tensor<2048x{2}, #res>",
                        name, scale, output);
      check({operation, scale, output, kElements}, inputs,
            [&](unsigned n) { return runtime::decodeFloat(kind, inputs[n]); });
    }
}

TEST(ScaledUpcast, Float4) {
  std::vector<uint8_t> inputs(kElements / 2);
  for (unsigned n = 0; n < inputs.size(); ++n) inputs[n] = uint8_t(n * 7);
  for (auto [scale, output] : {std::pair{"bf16", "f16"}, {"i8", "bf16"}}) {
    std::string operation = llvm::formatv("%w = amdg.scaled_upcast_fp4 %v scale %s {{axis = 0 : i32} : "
                                          "tensor<1024xi8, #src>, tensor<2048x{0}, #res> -> tensor<2048x{1}, #res>",
                                          scale, output);
    check({operation, scale, output, kElements / 2}, inputs,
          [&](unsigned n) { return runtime::decodeE2m1(n % 2 ? inputs[n / 2] >> 4 : inputs[n / 2] & 15); });
  }
}

/// Bytes of two e2m1 in the layout of a left or right operand of MFMA, with a scale for 32 of them along K.
std::string mxfpText(unsigned operand) {
  const char *shape = operand ? "32x64" : "64x32";
  return llvm::formatv(
             R"(#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [32, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#packed = #ttg.dot_op<{{opIdx = {0}, parent = #mma, kWidth = 4}>
#wide = #ttg.dot_op<{{opIdx = {0}, parent = #mma, kWidth = 8}>
#bl = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#sl = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {{
  tt.func public @k(%x: !tt.ptr<i8>, %p: !tt.ptr<i8>, %o: !tt.ptr<f16>) {{
    %i = tt.make_range {{end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #bl>
    %i2 = tt.reshape %i allow_reorder : tensor<2048xi32, #bl> -> tensor<{1}xi32, #b>
    %xs = tt.splat %x : !tt.ptr<i8> -> tensor<{1}x!tt.ptr<i8>, #b>
    %xp = tt.addptr %xs, %i2 : tensor<{1}x!tt.ptr<i8>, #b>, tensor<{1}xi32, #b>
    %v = tt.load %xp : tensor<{1}x!tt.ptr<i8>, #b>
    %j = tt.make_range {{end = 128 : i32, start = 0 : i32} : tensor<128xi32, #sl>
    %j2 = tt.reshape %j allow_reorder : tensor<128xi32, #sl> -> tensor<64x2xi32, #s>
    %ps = tt.splat %p : !tt.ptr<i8> -> tensor<64x2x!tt.ptr<i8>, #s>
    %pp = tt.addptr %ps, %j2 : tensor<64x2x!tt.ptr<i8>, #s>, tensor<64x2xi32, #s>
    %s = tt.load %pp : tensor<64x2x!tt.ptr<i8>, #s>
    %w = ttg.convert_layout %v : tensor<{1}xi8, #b> -> tensor<{1}xi8, #packed>
    %u = amdg.upcast_mxfp %w, %s fp_type = e2m1 {{fastMath = false} : tensor<{1}xi8, #packed>, tensor<64x2xi8, #s> -> tensor<64x64xf16, #wide>
    %r = ttg.convert_layout %u : tensor<64x64xf16, #wide> -> tensor<64x64xf16, #b>
    %k = tt.make_range {{end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #bl>
    %k2 = tt.reshape %k allow_reorder : tensor<4096xi32, #bl> -> tensor<64x64xi32, #b>
    %os = tt.splat %o : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
    %op = tt.addptr %os, %k2 : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
    tt.store %op, %r : tensor<64x64x!tt.ptr<f16>, #b>
    tt.return
  }
}
)",
             operand, shape)
      .str();
}

TEST(ScaledUpcast, Mxfp) {
  std::vector<uint8_t> bytes(2048), scale(128);
  for (unsigned n = 0; n < bytes.size(); ++n) bytes[n] = uint8_t(n * 7 + n / 256);
  for (unsigned n = 0; n < scale.size(); ++n) scale[n] = uint8_t(120 + n % 14);
  for (unsigned operand : {0u, 1u}) {
    Emulation e;
    e.target = "gfx942";
    auto r = e.text(mxfpText(operand), "k", {testing::bytesOf(bytes), testing::bytesOf(scale), testing::zeros(8192)});
    ASSERT_TRUE(r.ok()) << r.status();
    for (unsigned outer = 0; outer < 64; ++outer)
      for (unsigned k = 0; k < 64; ++k) {
        uint8_t byte = operand ? bytes[k / 2 * 64 + outer] : bytes[outer * 32 + k / 2];
        double element = runtime::decodeE2m1(k % 2 ? byte >> 4 : byte & 15);
        double want = std::ldexp(element, int(scale[outer * 2 + k / 32]) - 127);
        uint16_t got;
        std::memcpy(&got, &e.buffers[2][(operand ? k * 64 + outer : outer * 64 + k) * 2], 2);
        EXPECT_EQ(got, runtime::encodeFloat(FloatKind::F16, want)) << operand << " " << outer << " " << k;
      }
  }
}

} // namespace
} // namespace tessera
