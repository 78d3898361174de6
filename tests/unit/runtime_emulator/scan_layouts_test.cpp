// Scans of tensors in blocked layouts and those of matrix instructions and their operands, as TTGIR may have them:
// along both axes, both ways, of two operands with an operation that does not commute; and of more than shared
// memory holds.
#include "emulation.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::Emulation;

struct LayoutCase : testing::GivenTarget {
  const char *layout;
};
#define MMA2 "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
#define MMA3 "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>"
#define MFMA "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>"
#define MFMAT "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>"
#define WMMA "#ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 2]}>"
constexpr LayoutCase kTargets[] = {
    {{"sm_80", "cuda:80", 32}, MMA2},
    {{"sm_80", "cuda:80", 32}, "#ttg.dot_op<{opIdx = 0, parent = " MMA2 ", kWidth = 2}>"},
    {{"sm_80", "cuda:80", 32}, "#ttg.dot_op<{opIdx = 1, parent = " MMA2 ", kWidth = 2}>"},
    {{"sm_90a", "cuda:90", 32}, MMA3},
    {{"gfx942", "hip:gfx942", 64}, MFMA},
    {{"gfx942", "hip:gfx942", 64}, MFMAT},
    {{"gfx1100", "hip:gfx1100", 32}, WMMA},
};

#define ROWS(lanes)                                                                                                    \
  "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, " lanes "], warpsPerCTA = [2, 2], order = [1, 0]}>"
#define SHORT_ROWS(lanes)                                                                                              \
  "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [" lanes ", 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
#define COLUMNS(lanes)                                                                                                 \
  "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [" lanes ", 2], warpsPerCTA = [2, 2], order = [0, 1]}>"
/// Lanes along the axis in all places of a wave: within quads, rows of 16 and across them, where AMD's lanes exchange
/// values in different ways.
constexpr LayoutCase kBlocked[] = {
    {{"gfx90a", "hip:gfx90a", 64}, ROWS("64")},
    {{"gfx942", "hip:gfx942", 64}, ROWS("64")},
    {{"gfx942", "hip:gfx942", 64}, SHORT_ROWS("8")},
    {{"gfx942", "hip:gfx942", 64}, COLUMNS("32")},
    {{"gfx950", "hip:gfx950", 64}, SHORT_ROWS("8")},
    {{"gfx1100", "hip:gfx1100", 32}, ROWS("32")},
    {{"gfx1100", "hip:gfx1100", 32}, SHORT_ROWS("4")},
    {{"gfx1201", "hip:gfx1201", 32}, COLUMNS("16")},
    {{"sm_80", "cuda:80", 32}, ROWS("32")},
};

/// o, p = the recurrence (a, b), (c, d) → (a c, b c + d) over x and y, both given and taken as integers of m by n.
std::string text(const LayoutCase &t, unsigned m, unsigned n, unsigned axis, bool reverse) {
  return llvm::formatv(
             R"(module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = {1} : i32} {{
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %o: !tt.ptr<i32>, %p: !tt.ptr<i32>) {{
    %r = tt.make_range {{end = {3} : i32, start = 0 : i32} : tensor<{3}xi32, #ttg.slice<{{dim = 1, parent = {2}}>>
    %re = tt.expand_dims %r {{axis = 1 : i32} : tensor<{3}xi32, #ttg.slice<{{dim = 1, parent = {2}}>> -> tensor<{3}x1xi32, {2}>
    %s = arith.constant dense<{4}> : tensor<{3}x1xi32, {2}>
    %rs = arith.muli %re, %s : tensor<{3}x1xi32, {2}>
    %rb = tt.broadcast %rs : tensor<{3}x1xi32, {2}> -> tensor<{3}x{4}xi32, {2}>
    %c = tt.make_range {{end = {4} : i32, start = 0 : i32} : tensor<{4}xi32, #ttg.slice<{{dim = 0, parent = {2}}>>
    %ce = tt.expand_dims %c {{axis = 0 : i32} : tensor<{4}xi32, #ttg.slice<{{dim = 0, parent = {2}}>> -> tensor<1x{4}xi32, {2}>
    %cb = tt.broadcast %ce : tensor<1x{4}xi32, {2}> -> tensor<{3}x{4}xi32, {2}>
    %i = arith.addi %rb, %cb : tensor<{3}x{4}xi32, {2}>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %xp = tt.addptr %xs, %i : tensor<{3}x{4}x!tt.ptr<i32>, {2}>, tensor<{3}x{4}xi32, {2}>
    %xv = tt.load %xp : tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %yp = tt.addptr %ys, %i : tensor<{3}x{4}x!tt.ptr<i32>, {2}>, tensor<{3}x{4}xi32, {2}>
    %yv = tt.load %yp : tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %z:2 = "tt.scan"(%xv, %yv) <{{axis = {5} : i32, reverse = {6}}> ({{
    ^bb0(%a: i32, %b: i32, %d: i32, %e: i32):
      %f = arith.muli %a, %d : i32
      %g = arith.muli %b, %d : i32
      %h = arith.addi %g, %e : i32
      tt.scan.return %f, %h : i32, i32
    }) : (tensor<{3}x{4}xi32, {2}>, tensor<{3}x{4}xi32, {2}>) -> (tensor<{3}x{4}xi32, {2}>, tensor<{3}x{4}xi32, {2}>)
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %op = tt.addptr %os, %i : tensor<{3}x{4}x!tt.ptr<i32>, {2}>, tensor<{3}x{4}xi32, {2}>
    tt.store %op, %z#0 : tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    %pp = tt.addptr %ps, %i : tensor<{3}x{4}x!tt.ptr<i32>, {2}>, tensor<{3}x{4}xi32, {2}>
    tt.store %pp, %z#1 : tensor<{3}x{4}x!tt.ptr<i32>, {2}>
    tt.return
  }
}
)",
             t.triton, t.lanes, t.layout, m, n, axis, reverse ? "true" : "false")
      .str();
}

void check(const LayoutCase &t, unsigned m, unsigned n, unsigned axis, bool reverse) {
  std::vector<uint32_t> x(m * n), y(m * n), o(m * n), p(m * n);
  for (unsigned k = 0; k < m * n; ++k) x[k] = k * 2654435761u | 1, y[k] = k * 40503u + 7;
  unsigned length = axis ? n : m, step = axis ? 1 : n;
  for (unsigned line = 0; line < m * n / length; ++line) {
    unsigned first = axis ? line * n : line;
    for (unsigned k = 0; k < length; ++k) {
      unsigned at = first + (reverse ? length - 1 - k : k) * step, before = reverse ? at + step : at - step;
      o[at] = k ? o[before] * x[at] : x[at];
      p[at] = k ? p[before] * x[at] + y[at] : y[at];
    }
  }
  auto bytes = [](const std::vector<uint32_t> &v) {
    std::vector<uint8_t> b(4 * v.size());
    memcpy(b.data(), v.data(), b.size());
    return b;
  };
  Emulation e;
  e.target = t.name;
  auto r = e.text(
      text(t, m, n, axis, reverse), "k",
      {testing::bytesOf(bytes(x)), testing::bytesOf(bytes(y)), testing::zeros(4 * m * n), testing::zeros(4 * m * n)});
  std::string name =
      llvm::formatv("{0} {1} {2}x{3} axis {4}{5}", t.name, t.layout, m, n, axis, reverse ? " reverse" : "").str();
  ASSERT_TRUE(r.ok()) << name << ": " << r.status();
  EXPECT_EQ(e.buffers[2], bytes(o)) << name;
  EXPECT_EQ(e.buffers[3], bytes(p)) << name;
}

TEST(ScanLayouts, OfMatrices) {
  for (auto &t : kTargets)
    for (auto [m, n] : {std::pair{64u, 64u}, {16u, 128u}, {128u, 16u}})
      for (unsigned axis : {0u, 1u})
        for (bool reverse : {false, true}) check(t, m, n, axis, reverse);
}

TEST(ScanLayouts, Blocked) {
  for (auto &t : kBlocked)
    for (auto [m, n] : {std::pair{64u, 64u}, {16u, 128u}, {128u, 16u}})
      for (unsigned axis : {0u, 1u})
        for (bool reverse : {false, true}) check(t, m, n, axis, reverse);
}

TEST(ScanLayouts, LargerThanSharedMemory) {
  // Two operands of 128 KiB each, where a block has 64 KiB (gfx942).
  check({{"gfx942", "hip:gfx942", 64}, MFMA}, 128, 256, 0, false);
  check({{"gfx942", "hip:gfx942", 64}, MFMA}, 128, 256, 1, true);
}

} // namespace
} // namespace tessera
