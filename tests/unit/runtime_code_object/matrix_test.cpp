// Matrix instructions against a reference that is written here from the manuals' tables of operands: each element of A,
// B and the accumulator is looked up by row, column and depth. Formats are decoded from the definitions in OCP's
// "Microscaling Formats (MX) Specification", not by the executor's code.
#include "assembled.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using testing::runBody;

struct Format {
  const char *name;
  unsigned code;                     // CBSZ and BLGP
  unsigned bits, exponent, mantissa; // widths
  int bias;
  bool hasInfinity;
};
const Format kFormats[] = {
    {"fp8", 0, 8, 4, 3, 7, false}, {"bf8", 1, 8, 5, 2, 15, true}, {"fp6", 2, 6, 2, 3, 1, false},
    {"bf6", 3, 6, 3, 2, 3, false}, {"fp4", 4, 4, 2, 1, 1, false},
};

double valueOf(const Format &f, unsigned bits) {
  unsigned mantissa = bits & ((1u << f.mantissa) - 1), exponent = bits >> f.mantissa & ((1u << f.exponent) - 1);
  double sign = bits >> (f.bits - 1) & 1 ? -1 : 1;
  if (f.bits == 8 && exponent == (1u << f.exponent) - 1 && (f.hasInfinity || mantissa == 7))
    return f.hasInfinity && !mantissa ? sign * INFINITY : NAN;
  double fraction = double(mantissa) / (1u << f.mantissa);
  return exponent ? sign * (1 + fraction) * std::pow(2.0, int(exponent) - f.bias)
                  : sign * fraction * std::pow(2.0, 1 - f.bias);
}

struct Operand {
  std::vector<std::array<uint32_t, 8>> lanes = std::vector<std::array<uint32_t, 8>>(64);
  std::array<uint32_t, 64> scales{};
  unsigned element(const Format &f, unsigned lane, unsigned index) const {
    unsigned at = index * f.bits;
    uint64_t two = lanes[lane][at / 32] | uint64_t(at / 32 + 1 < 8 ? lanes[lane][at / 32 + 1] : 0) << 32;
    return unsigned(two >> (at % 32)) & ((1u << f.bits) - 1);
  }
};

/// CDNA4 guide: of `size` rows each lane holds 32 elements. Of 4 and 6 bits they follow each other along K; of 8 bits
/// they are two runs of 16, half of K apart.
double elementAt(const Operand &o, const Format &f, unsigned size, unsigned row, unsigned k) {
  unsigned lane, index, depth = 64 / size * 32;
  if (f.bits == 8) {
    unsigned run = k / (depth / 2), in = k % (depth / 2);
    lane = row + size * (in / 16);
    index = run * 16 + in % 16;
  } else {
    lane = row + size * (k / 32);
    index = k % 32;
  }
  return valueOf(f, o.element(f, lane, index));
}

struct Case {
  unsigned size; // 16: 16x16x128, 32: 32x32x64
  unsigned a, b; // formats
  unsigned byteA, byteB;
};
void PrintTo(const Case &c, std::ostream *out) {
  *out << c.size << " " << kFormats[c.a].name << " x " << kFormats[c.b].name << " bytes " << c.byteA << c.byteB;
}
class Scaled : public ::testing::TestWithParam<Case> {};

/// A and B at 0, 8 dwords a lane; scales, a dword a lane, at 4096 and 4352; the result from 4608 on, 16 dwords a lane.
std::string bodyOf(const Case &c) {
  std::string body = "s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_lshlrev_b32 v1, 5, v0\nv_lshlrev_b32 v2, 2, v0\n"
                     "v_lshlrev_b32 v3, 6, v0\ns_add_u32 s2, s0, 4096\ns_addc_u32 s3, s1, 0\n";
  for (unsigned k = 0; k < 2; ++k) {
    auto quad = [&](unsigned r) { return "v[" + std::to_string(r) + ":" + std::to_string(r + 3) + "]"; };
    std::string base = std::to_string(2048 * k), next = std::to_string(2048 * k + 16);
    body += "global_load_dwordx4 " + quad(8 + 8 * k) + ", v1, s[0:1] offset:" + base + "\nglobal_load_dwordx4 " +
            quad(12 + 8 * k) + ", v1, s[0:1] offset:" + next + "\n";
    body += "global_load_dword v" + std::to_string(4 + k) + ", v2, s[2:3] offset:" + std::to_string(256 * k) + "\n";
  }
  unsigned registers = c.size * c.size / 64;
  for (unsigned k = 0; k < registers; ++k) body += "v_mov_b32 v" + std::to_string(32 + k) + ", 1.0\n";
  auto range = [](unsigned first, unsigned bits) {
    return "v[" + std::to_string(first) + ":" + std::to_string(first + bits - 1) + "]";
  };
  std::string d = "v[32:" + std::to_string(31 + registers) + "]";
  auto list = [](unsigned x, unsigned y) { return "[" + std::to_string(x) + "," + std::to_string(y) + ",0]"; };
  body += std::string("v_mfma_scale_f32_") + (c.size == 16 ? "16x16x128" : "32x32x64") + "_f8f6f4 " + d + ", " +
          range(8, kFormats[c.a].bits) + ", " + range(16, kFormats[c.b].bits) + ", " + d +
          ", v4, v5 op_sel:" + list(c.byteA & 1, c.byteB & 1) + " op_sel_hi:" + list(c.byteA >> 1, c.byteB >> 1) +
          " cbsz:" + std::to_string(c.a) + " blgp:" + std::to_string(c.b) + "\n";
  for (unsigned k = 0; k < registers; ++k)
    body +=
        "global_store_dword v3, v" + std::to_string(32 + k) + ", s[2:3] offset:" + std::to_string(512 + 4 * k) + "\n";
  return body + "s_endpgm";
}

TEST_P(Scaled, IsWhatTheTablesSay) {
  const Case &c = GetParam();
  const Format &fa = kFormats[c.a], &fb = kFormats[c.b];
  std::mt19937 random(c.a * 100 + c.b * 10 + c.size);
  Operand operands[2];
  for (unsigned k = 0; k < 2; ++k) {
    for (auto &lane : operands[k].lanes)
      for (auto &x : lane) {
        x = uint32_t(random());
        // Exponents of formats of 8 bits small enough for no infinity and no NaN, and for sums to be exact.
        if ((k ? fb : fa).bits == 8) x &= (k ? fb : fa).exponent == 4 ? 0xbfbfbfbf : 0x9f9f9f9f;
      }
    for (auto &x : operands[k].scales) // 2^-3 to 2^4, a different one in each byte
      for (unsigned byte = 0; byte < 4; ++byte) x |= uint32_t(124 + random() % 8) << (8 * byte);
  }
  std::vector<uint8_t> buffer(4608 + 64 * 64);
  for (unsigned k = 0; k < 2; ++k) {
    std::memcpy(buffer.data() + size_t(2048) * k, operands[k].lanes.data(), 2048);
    std::memcpy(buffer.data() + 4096 + size_t(256) * k, operands[k].scales.data(), 256);
  }
  code_object::Grid g;
  auto r = runBody("gfx950", bodyOf(c), buffer, g);
  ASSERT_TRUE(r.ok()) << r.status();
  unsigned depth = 64 / c.size * 32;
  auto scaleOf = [&](unsigned which, unsigned row, unsigned k) {
    uint32_t all = operands[which].scales[row + c.size * (k / 32)];
    return std::ldexp(1.0, int(all >> (8 * (which ? c.byteB : c.byteA)) & 255) - 127);
  };
  for (unsigned row = 0; row < c.size; ++row)
    for (unsigned column = 0; column < c.size; ++column) {
      double sum = 1;
      for (unsigned k = 0; k < depth; ++k)
        sum += elementAt(operands[0], fa, c.size, row, k) * scaleOf(0, row, k) *
               (elementAt(operands[1], fb, c.size, column, k) * scaleOf(1, column, k));
      // Rows of a column: four registers, then the next lanes (CDNA3 guide, figures of 16x16 and 32x32 results).
      unsigned block = row / 4, groups = 64 / c.size, lane = column + c.size * (block % groups);
      unsigned index = block / groups * 4 + row % 4;
      float got;
      std::memcpy(&got, buffer.data() + 4608 + 64 * lane + 4 * index, 4);
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(float(sum))) << row << ", " << column;
    }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (unsigned size : {16u, 32u})
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b) out.push_back({size, a, b, (a + b) % 4, (a + 2 * b + 1) % 4});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Formats, Scaled, ::testing::ValuesIn(cases()));

} // namespace
} // namespace tessera
