// What single instructions compute: edge values of each family, modifiers, exchanges between lanes. Expected values are
// worked out from the ISA guides by hand.
#include "assembled.h"
#include "llvm/ADT/StringRef.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tessera {
namespace {

using testing::Lanes;
using testing::runLanes;
using testing::runOne;

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }
constexpr uint32_t kNan = 0x7fc00000, kInf = 0x7f800000, kDenormal = 0x00400000;

// With MODE.FP16_OVFL.
#define SATURATING "s_setreg_imm32_b32 hwreg(1, 23, 1), 1\nv_mov_b32 v8, 0\n"

// Pairs of registers begin at even ones: v[10:11] and v[12:13] are v1 to v4.
#define PAIRS "v_mov_b32 v10, v1\nv_mov_b32 v11, v2\nv_mov_b32 v12, v3\nv_mov_b32 v13, v4\n"

struct Case {
  const char *target, *body;
  std::array<uint32_t, 4> inputs;
  uint32_t expected;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.target << ": " << c.body; }

class Instruction : public ::testing::TestWithParam<Case> {};

TEST_P(Instruction, Computes) {
  const Case &c = GetParam();
  EXPECT_EQ(runOne(c.target, c.body, c.inputs), c.expected) << c.target << ": " << c.body;
}

const Case kFloats[] = {
    // Of a NaN and a number the number; 0 is larger than -0.
    {"gfx942", "v_max_f32 v8, v1, v2", {kNan, bits(1)}, bits(1)},
    {"gfx942", "v_min_f32 v8, v1, v2", {bits(-3), kNan}, bits(-3)},
    {"gfx942", "v_max_f32 v8, v1, v2", {0x80000000, 0}, 0},
    {"gfx942", "v_min_f32 v8, v1, v2", {0, 0x80000000}, 0x80000000},
    {"gfx1201", "v_maximum_f32 v8, v1, v2", {bits(1), kNan}, kNan},
    // Denormals are kept.
    {"gfx942", "v_add_f32 v8, v1, v1", {kDenormal}, 0x00800000},
    {"gfx942", "v_fma_f32 v8, v1, v2, v3", {bits(0x1.000002p0f), bits(0x1.000002p0f), bits(-1)}, bits(0x1.000001p-22f)},
    {"gfx942", "v_fmac_f32 v3, v1, v2\nv_mov_b32 v8, v3", {bits(2), bits(3), bits(1)}, bits(7)},
    {"gfx942", "v_add_f32 v8, -v1, |v2|", {bits(1), bits(-5)}, bits(4)},
    {"gfx942", "v_add_f32 v8, v1, v2 clamp", {bits(3), bits(5)}, bits(1)},
    {"gfx942", "v_add_f32 v8, v1, v2 clamp", {kNan, bits(5)}, 0},
    {"gfx942", "v_add_f32 v8, v1, v2 mul:4", {bits(3), bits(5)}, bits(32)},
    {"gfx942", "v_add_f32 v8, v1, v2 div:2", {bits(3), bits(5)}, bits(4)},
    {"gfx942", "v_mul_f32 v8, 0.15915494, v1", {bits(2)}, 0x3ea2f983},
    {"gfx942", "v_med3_f32 v8, v1, v2, v3", {bits(3), bits(1), bits(2)}, bits(2)},
    {"gfx1201", "v_maximumminimum_f32 v8, v1, v2, v3", {bits(3), bits(1), bits(2)}, bits(2)},
    {"gfx1201", "v_maximumminimum_f32 v8, v1, v2, v3", {kNan, bits(1), bits(2)}, kNan},
    {"gfx1201", "v_minimummaximum_f32 v8, v1, v2, v3", {bits(1), bits(-5), bits(-2)}, bits(-2)},
    {"gfx942", "v_exp_f32 v8, v1", {bits(-127)}, 0}, // flushed
    {"gfx942", "v_rcp_f32 v8, v1", {bits(4)}, bits(0.25f)},
    {"gfx942", "v_fract_f32 v8, v1", {bits(-0x1p-30f)}, bits(0x1.fffffep-1f)},
    {"gfx942", "v_ldexp_f32 v8, v1, v2", {bits(1.5f), 4}, bits(24)},
    {"gfx942", "v_frexp_exp_i32_f32 v8, v1", {bits(8)}, 4},
    {"gfx942", "v_frexp_exp_i32_f32 v8, v1", {kInf}, 0},
    {"gfx942", "v_cmp_class_f32 vcc, v1, v2\nv_cndmask_b32 v8, 0, 1, vcc", {kDenormal, 128}, 1},
    {"gfx942", "v_cmp_nlt_f32 vcc, v1, v2\nv_cndmask_b32 v8, 0, 1, vcc", {kNan, 0}, 1},
    {"gfx942", "v_cmp_lg_f32 vcc, v1, v2\nv_cndmask_b32 v8, 0, 1, vcc", {kNan, 0}, 0},
    // Division of 1 by a number whose inverse is denormal.
    {"gfx942",
     "v_div_scale_f32 v5, s[4:5], v1, v1, v2\nv_div_scale_f32 v6, vcc, v2, v1, v2\nv_rcp_f32 v7, v5\n"
     "v_fma_f32 v9, -v5, v7, 1.0\nv_fma_f32 v7, v9, v7, v7\nv_mul_f32 v9, v6, v7\nv_fma_f32 v10, -v5, v9, v6\n"
     "v_fma_f32 v9, v10, v7, v9\nv_fma_f32 v10, -v5, v9, v6\nv_div_fmas_f32 v9, v10, v7, v9\n"
     "v_div_fixup_f32 v8, v9, v1, v2",
     {bits(0x1.8p127f), bits(1)},
     bits(1.0f / 0x1.8p127f)},
};
INSTANTIATE_TEST_SUITE_P(Floats, Instruction, ::testing::ValuesIn(kFloats));

const Case kIntegers[] = {
    {"gfx942", "v_add_u32 v8, v1, v2 clamp", {0xfffffff0, 0x20}, 0xffffffff},
    {"gfx942", "v_sub_u32 v8, v1, v2 clamp", {1, 2}, 0},
    {"gfx942", "v_add_i32 v8, v1, v2 clamp", {0x7fffffff, 1}, 0x7fffffff},
    {"gfx942", "v_mul_hi_i32 v8, v1, v2", {0x80000000, 2}, 0xffffffff},
    {"gfx942", "v_mad_u32_u24 v8, v1, v2, v3", {0xff000003, 5, 1}, 16},
    {"gfx942", "v_mul_i32_i24 v8, v1, v2", {0x00ffffff, 7}, uint32_t(-7)},
    {"gfx942", "v_bfe_i32 v8, v1, 4, 4", {0x80}, 0xfffffff8},
    {"gfx942", "v_bfe_u32 v8, v1, 4, 0", {0xffffffff}, 0},
    {"gfx942", "v_alignbit_b32 v8, v1, v2, 8", {0x11, 0x22334455}, 0x11223344},
    {"gfx942", "v_perm_b32 v8, v1, v2, v3", {0x83828180, 0x13121110, 0x0d0c0407}, 0xff008083},
    {"gfx942", "v_ffbh_u32 v8, v1", {0}, 0xffffffff},
    {"gfx942", "v_add_co_u32 v8, vcc, v1, v2\nv_addc_co_u32 v8, vcc, v3, v4, vcc", {0xffffffff, 1, 5, 6}, 12},
    {"gfx942", "v_subb_co_u32 v8, vcc, v1, v2, vcc", {5, 3}, 2},
    {"gfx942",
     PAIRS "v_mad_u64_u32 v[8:9], s[4:5], v1, v2, v[12:13]\nv_mov_b32 v8, v9",
     {0xffffffff, 0xffffffff, 1, 1},
     0xffffffff},
    {"gfx942", PAIRS "v_lshl_add_u64 v[8:9], v[10:11], 2, v[12:13]\nv_mov_b32 v8, v9", {0xc0000000, 1, 0, 1}, 8},
    {"gfx942", "v_ashrrev_i32 v8, 33, v1", {0x80000000}, 0xc0000000},
    {"gfx942", "v_dot4_i32_i8 v8, v1, v2, v3", {0xff02807f, 0x01030201, 10}, uint32_t(-1 + 6 - 256 + 127 + 10)},
    {"gfx942", "v_sad_u8 v8, v1, v2, v3", {0x01020304, 0x04030201, 1}, 9},
    {"gfx950",
     "v_bitop3_b32 v8, v1, v2, v3 bitop3:0x96",
     {0xff00ff00, 0xf0f0f0f0, 0xcccccccc},
     0xff00ff00 ^ 0xf0f0f0f0 ^ 0xcccccccc},
    {"gfx1100", "v_add_nc_u32 v8, v1, v2", {7, 8}, 15},
    {"gfx1100", "v_dual_mov_b32 v8, v1 :: v_dual_add_f32 v9, v2, v3", {7, 0, 0}, 7},
    // Both halves of a pair read before either writes.
    {"gfx1100", "v_dual_mov_b32 v2, v1 :: v_dual_mov_b32 v1, v2\nv_sub_nc_u32 v8, v1, v2", {7, 9}, 2},
};
INSTANTIATE_TEST_SUITE_P(Integers, Instruction, ::testing::ValuesIn(kIntegers));

const Case kConversions[] = {
    {"gfx942", "v_cvt_i32_f32 v8, v1", {bits(3e9f)}, 0x7fffffff},
    {"gfx942", "v_cvt_i32_f32 v8, v1", {kNan}, 0},
    {"gfx942", "v_cvt_u32_f32 v8, v1", {bits(-2)}, 0},
    {"gfx942", "v_cvt_f16_f32 v8, v1", {bits(65520)}, 0x7c00},
    {"gfx942", "v_cvt_f32_f16 v8, v1", {0x0001}, bits(0x1p-24f)},
    {"gfx942", "v_cvt_pkrtz_f16_f32 v8, v1, v2", {bits(65535), bits(1 + 0x1.8p-11f)}, 0x3c007bff},
    {"gfx942", "v_cvt_f32_ubyte2 v8, v1", {0x00ab0000}, bits(171)},
    // FNUZ on gfx942, OCP on gfx950; the other half of the register is kept.
    {"gfx942", "v_mov_b32 v8, v3\nv_cvt_pk_fp8_f32 v8, v1, v2", {bits(1), bits(-2), 0xaaaaaaaa}, 0xaaaac840},
    {"gfx950", "v_mov_b32 v8, v3\nv_cvt_pk_fp8_f32 v8, v1, v2", {bits(1), bits(-2), 0xaaaaaaaa}, 0xaaaac038},
    {"gfx950",
     "v_mov_b32 v8, v3\nv_cvt_pk_fp8_f32 v8, v1, v2 op_sel:[0,0,1]",
     {bits(1), bits(-2), 0xaaaaaaaa},
     0xc038aaaa},
    // Beyond the range: NaN or infinity, with MODE.FP16_OVFL the largest number.
    {"gfx950", "v_mov_b32 v8, 0\nv_cvt_pk_fp8_f32 v8, v1, v2", {bits(463), bits(465)}, 0x7f7e},
    {"gfx950", "v_mov_b32 v8, 0\nv_cvt_pk_bf8_f32 v8, v1, v2", {bits(-61440), bits(61439)}, 0x7bfc},
    {"gfx942", "v_mov_b32 v8, 0\nv_cvt_pk_fp8_f32 v8, v1, v2", {bits(248), bits(247)}, 0x7f80},
    {"gfx950", SATURATING "v_cvt_pk_fp8_f32 v8, v1, v2", {bits(-INFINITY), bits(465)}, 0x7efe},
    {"gfx1201", SATURATING "v_cvt_pk_bf8_f32 v8, v1, v2", {kNan, bits(INFINITY)}, 0x7b7f},
    {"gfx942", SATURATING "v_cvt_pk_fp8_f32 v8, v1, v2", {bits(248), kNan}, 0x807f},
    // Scaled: of the scale its power of two, 4 of 6.
    {"gfx950", "v_mov_b32 v8, v4\nv_cvt_scalef32_pk_fp8_f32 v8, v1, v2, v3", {bits(2), bits(-8), bits(6)}, 0x0000c030},
    {"gfx950",
     "v_mov_b32 v8, v2\nv_cvt_scalef32_pk_fp8_bf16 v8, v1, v3",
     {0xc1004000, 0xaaaaaaaa, bits(6)},
     0xaaaac030},
    {"gfx950",
     "v_mov_b32 v8, v2\nv_cvt_scalef32_pk_bf8_f16 v8, v1, v3 op_sel:[0,0,1]",
     {0xc8004000, 0xaaaaaaaa, bits(2)},
     0xc43caaaa},
    {"gfx950", PAIRS "v_cvt_scalef32_pk_f32_fp8 v[8:9], v10, v11", {0x40b8, bits(6)}, bits(-4)},
    {"gfx950", "v_cvt_pk_bf16_f32 v8, v1, v2", {bits(1), bits(-2)}, 0xc0003f80},
    {"gfx942", "v_cvt_f32_fp8_sdwa v8, v1 src0_sel:BYTE_1", {0x00004000}, bits(1)},
};
INSTANTIATE_TEST_SUITE_P(Conversions, Instruction, ::testing::ValuesIn(kConversions));

const Case kHalves[] = {
    {"gfx942", "v_pk_add_f16 v8, v1, v2", {0x3c004000, 0x3c003c00}, 0x40004200},
    {"gfx942", "v_pk_add_f16 v8, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", {0x3c004000, 0x3c003c00}, 0x42004000},
    {"gfx942", "v_pk_mul_f16 v8, v1, v2 neg_lo:[1,0]", {0x3c003c00, 0x40004000}, 0x4000c000},
    {"gfx942", "v_pk_add_u16 v8, v1, v2 clamp", {0xffff0001, 0x00010001}, 0xffff0002},
    {"gfx942",
     PAIRS "v_pk_fma_f32 v[8:9], v[10:11], v[12:13], v[10:11] op_sel_hi:[1,0,1]\nv_mov_b32 v8, v9",
     {bits(1), bits(2), bits(3), bits(4)},
     bits(8)},
    {"gfx942", PAIRS "v_pk_mov_b32 v[8:9], v[10:11], v[12:13] op_sel:[1,0]", {1, 2, 3, 4}, 2},
    {"gfx942", PAIRS "v_pk_mov_b32 v[8:9], v[10:11], v[12:13] op_sel:[1,0]\nv_mov_b32 v8, v9", {1, 2, 3, 4}, 3},
    {"gfx942", "v_mov_b32 v8, v3\nv_add_f16 v8, v1, v2", {0x3c00, 0x3c00, 0xffffffff}, 0x4000}, // clears the other half
    {"gfx1100",
     "v_mov_b32 v8, v3\nv_fma_f16 v8, v1, v2, 0 op_sel:[1,0,0,0]",
     {0x3c000000, 0x3c00, 0xffffffff},
     0xffff3c00},
    {"gfx942",
     "v_mov_b32 v8, v3\nv_fma_mixhi_f16 v8, v1, v2, 0 op_sel:[1,0,0] op_sel_hi:[1,0,0]",
     {0x40000000, bits(3), 0x1234},
     0x46001234},
    {"gfx942", "v_fma_mix_f32 v8, v1, v2, v3", {bits(2), bits(3), bits(1)}, bits(7)},
    {"gfx942",
     "v_add_u32_sdwa v8, v1, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3",
     {0x00050000, 0xff000000},
     4},
    {"gfx942",
     "v_mov_b32 v8, v3\nv_or_b32_sdwa v8, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD "
     "src1_sel:DWORD",
     {0x1, 0x2, 0xaaaaaaaa},
     0x0003aaaa},
    {"gfx942", "v_dot2_f32_f16 v8, v1, v2, v3", {0x3c004000, 0x40004000, bits(1)}, bits(7)},
};
INSTANTIATE_TEST_SUITE_P(Halves, Instruction, ::testing::ValuesIn(kHalves));

const Case kScalars[] = {
    {"gfx942", "s_mov_b32 s4, 0xffffffff\ns_add_u32 s5, s4, 1\ns_addc_u32 s6, 0, 0\nv_mov_b32 v8, s6", {}, 1},
    {"gfx942", "s_movk_i32 s5, 0x80\ns_bfe_i32 s4, s5, 0x40004\nv_mov_b32 v8, s4", {}, 0xfffffff8},
    {"gfx942", "s_bfe_u64 s[4:5], -1, 0x400008\nv_mov_b32 v8, s5", {}, 0x00ffffff},
    {"gfx942", "s_mov_b64 s[4:5], 1.0\nv_mov_b32 v8, s5", {}, 0x3ff00000},
    {"gfx942", "s_movk_i32 s4, -3\ns_cmpk_lg_u32 s4, 0xfffd\ns_cselect_b32 s5, 1, 2\nv_mov_b32 v8, s5", {}, 1},
    {"gfx942", "s_mov_b32 s4, 0x80000000\ns_abs_i32 s5, s4\nv_mov_b32 v8, s5", {}, 0x80000000},
    {"gfx942", "s_flbit_i32_b32 s4, 0\nv_mov_b32 v8, s4", {}, 0xffffffff},
    {"gfx942",
     "s_pack_hh_b32_b16 s4, 0x11112222, s5\ns_lshr_b32 s4, s4, 0\ns_and_b32 s4, s4, 0xffff\nv_mov_b32 v8, s4",
     {},
     0x1111},
    {"gfx942", "s_ff1_i32_b64 s4, 0x100\nv_mov_b32 v8, s4", {}, 8},
    {"gfx1201", "s_fmac_f32 s4, 2.0, 0\ns_mul_f32 s4, 2.0, 4.0\nv_mov_b32 v8, s4", {}, 0x41000000},
    {"gfx942",
     "v_mov_b32 v8, 5\ns_mov_b64 s[4:5], 0\ns_and_saveexec_b64 s[6:7], s[4:5]\nv_mov_b32 v8, 6\ns_mov_b64 exec, s[6:7]",
     {},
     5},
};
// VGPR indexing: the registers that the mode names, and M0 as the index.
const Case kIndexed[] = {
    {"gfx942",
     "s_mov_b32 s4, 2\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32 v8, v1\ns_set_gpr_idx_off",
     {10, 11, 12, 13},
     12},
    {"gfx942",
     "s_mov_b32 s4, 3\ns_set_gpr_idx_on s4, gpr_idx(DST)\nv_mov_b32 v5, v1\ns_set_gpr_idx_off",
     {10, 11, 12, 13},
     10},
    {"gfx942",
     "s_mov_b32 s4, 1\ns_set_gpr_idx_on s4, gpr_idx(SRC1)\nv_sub_u32 v8, v1, v2\ns_set_gpr_idx_off",
     {10, 11, 12, 13},
     uint32_t(10 - 12)},
    {"gfx942",
     "s_mov_b32 s4, 1\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\ns_mov_b32 s5, 3\ns_set_gpr_idx_idx s5\n"
     "v_mov_b32 v8, v1\ns_set_gpr_idx_off\nv_add_u32 v8, v8, v1",
     {10, 11, 12, 13},
     23},
};
INSTANTIATE_TEST_SUITE_P(Indexed, Instruction, ::testing::ValuesIn(kIndexed));
INSTANTIATE_TEST_SUITE_P(Scalars, Instruction, ::testing::ValuesIn(kScalars));

TEST(Denormals, AreFlushedWhereTheDescriptorSaysSo) {
  testing::AssembledOptions o;
  o.flushDenormals = true;
  EXPECT_EQ(runOne("gfx942", "v_mul_f32 v8, 1.0, v1", {kDenormal}, o), 0u);
  EXPECT_EQ(runOne("gfx942", "v_add_f32 v8, v1, v1", {kDenormal | 0x80000000}, o), 0x80000000u);
  EXPECT_EQ(runOne("gfx942", "v_cndmask_b32 v8, v1, v1, vcc", {kDenormal}, o), kDenormal);
  EXPECT_EQ(runOne("gfx942", "v_mul_f32 v8, 1.0, v1", {kDenormal}), kDenormal);
}

// ---- exchanges between lanes: v1 has the lane's number, v2 a hundred more ----

Lanes exchange(const std::string &target, const std::string &body) {
  std::array<Lanes, 4> in{};
  for (unsigned l = 0; l < 64; ++l) {
    in[0][l] = l;
    in[1][l] = 100 + l;
  }
  auto out = runLanes(target, body, in);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? (*out)[0] : Lanes{};
}
struct Pattern {
  const char *target, *body;
  unsigned (*from)(unsigned lane); // 100 and more: v2's
};
void PrintTo(const Pattern &c, std::ostream *out) { *out << c.target << ": " << c.body; }
class Exchange : public ::testing::TestWithParam<Pattern> {};
TEST_P(Exchange, TakesTheLane) {
  const Pattern &p = GetParam();
  Lanes out = exchange(p.target, p.body);
  for (unsigned l = 0; l < (llvm::StringRef(p.target).starts_with("gfx9") ? 64u : 32u); ++l)
    EXPECT_EQ(out[l], p.from(l)) << p.body << ", lane " << l;
}
#define DPP(control) "v_mov_b32 v8, v2\nv_mov_b32_dpp v8, v1 " control
const Pattern kPatterns[] = {
    {"gfx942", DPP("quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l ^ 1; }},
    {"gfx942", DPP("row_shr:1 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l % 16 ? l - 1 : 100 + l; }},
    {"gfx942", DPP("row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:0"),
     [](unsigned l) { return l % 16 < 13 ? l + 3 : 0; }},
    {"gfx942", DPP("row_ror:4 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l / 16 * 16 + (l + 12) % 16; }},
    {"gfx942", DPP("row_mirror row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l ^ 15; }},
    {"gfx942", DPP("row_half_mirror row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l ^ 7; }},
    {"gfx942", DPP("row_bcast:15 row_mask:0xa bank_mask:0xf"),
     [](unsigned l) { return l / 16 % 2 ? l / 16 * 16 - 1 : 100 + l; }},
    {"gfx942", DPP("row_bcast:31 row_mask:0xc bank_mask:0xf"), [](unsigned l) { return l >= 32 ? 31 : 100 + l; }},
    {"gfx942", DPP("row_newbcast:5 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l / 16 * 16 + 5; }},
    {"gfx942", DPP("wave_shr:1 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l ? l - 1 : 100; }},
    {"gfx942", DPP("quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0x5"),
     [](unsigned l) { return l / 4 % 2 ? 100 + l : l / 4 * 4; }},
    {"gfx1100", DPP("row_share:3 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l / 16 * 16 + 3; }},
    {"gfx1100", DPP("row_xmask:6 row_mask:0xf bank_mask:0xf"), [](unsigned l) { return l ^ 6; }},
    {"gfx1100", DPP("dpp8:[7,6,5,4,3,2,1,0]"), [](unsigned l) { return l ^ 7; }},
    {"gfx942", "ds_swizzle_b32 v8, v1 offset:swizzle(BITMASK_PERM, \"00p11\")",
     [](unsigned l) { return (l & 4) | 3 | (l & 32); }},
    {"gfx942", "ds_swizzle_b32 v8, v1 offset:swizzle(SWAP, 16)", [](unsigned l) { return l ^ 16; }},
    {"gfx942", "v_xor_b32 v5, 17, v1\nv_lshlrev_b32 v5, 2, v5\nds_bpermute_b32 v8, v5, v1",
     [](unsigned l) { return l ^ 17; }},
    {"gfx942", "v_add_u32 v5, 1, v1\nv_lshlrev_b32 v5, 2, v5\nds_permute_b32 v8, v5, v1",
     [](unsigned l) { return (l + 63) % 64; }},
    {"gfx942", "v_readlane_b32 s4, v1, 9\nv_mov_b32 v8, s4", [](unsigned) { return 9u; }},
    {"gfx942", "s_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s4, v1\ns_mov_b64 exec, -1\nv_mov_b32 v8, s4",
     [](unsigned) { return 4u; }},
    {"gfx942", "v_mov_b32 v8, v1\nv_writelane_b32 v8, 63, 3", [](unsigned l) { return l == 3 ? 63 : l; }},
    {"gfx942", "v_mbcnt_lo_u32_b32 v5, -1, 0\nv_mbcnt_hi_u32_b32 v8, -1, v5", [](unsigned l) { return l; }},
    {"gfx950", "v_mov_b32 v8, v1\nv_permlane32_swap_b32 v8, v2", [](unsigned l) { return l < 32 ? l : 100 + l - 32; }},
    {"gfx950", "v_mov_b32 v8, v1\nv_permlane16_swap_b32 v8, v2", [](unsigned l) { return l & 16 ? 100 + l - 16 : l; }},
    {"gfx1100", "s_mov_b32 s4, 0x76543210\ns_mov_b32 s5, 0xfedcba98\nv_permlanex16_b32 v8, v1, s4, s5",
     [](unsigned l) { return l ^ 16; }},
};
INSTANTIATE_TEST_SUITE_P(Lanes, Exchange, ::testing::ValuesIn(kPatterns));

// Each lane gives the address of 8 bytes, here of bytes 8 l to 8 l + 7 (v0 has 4 l). Two lanes have a row of 16 bytes;
// of each 16 lanes, lane l gets column l, a byte of each of eight rows. Of halves four lanes have a row, and a lane
// gets four rows.
TEST(TransposingRead, GivesEachLaneAColumn) {
  constexpr char kFill[] = "v_lshlrev_b32 v5, 1, v0\nds_write_b32 v5, v1\nds_write_b32 v5, v2 offset:4\n"
                           "s_waitcnt lgkmcnt(0)\n";
  std::array<Lanes, 4> inputs = {};
  auto byteAt = [](unsigned at) { return (at * 37 + at / 64) & 0xff; };
  for (unsigned l = 0; l < 64; ++l)
    for (unsigned k = 0; k < 8; ++k) inputs[k / 4][l] |= byteAt(8 * l + k) << (8 * (k % 4));
  for (unsigned bytes : {1u, 2u}) {
    std::string read = bytes == 1 ? "ds_read_b64_tr_b8 v[8:9], v5\n" : "ds_read_b64_tr_b16 v[8:9], v5\n";
    auto out = runLanes("gfx950", kFill + read + "s_waitcnt lgkmcnt(0)", inputs, {.ldsBytes = 512});
    ASSERT_TRUE(out.ok()) << out.status();
    for (unsigned l = 0; l < 64; ++l)
      for (unsigned k = 0; k < 8; ++k) {
        unsigned row = k / bytes, at = l / 16 * 128 + row * 16 * bytes + l % 16 * bytes + k % bytes;
        EXPECT_EQ((*out)[k / 4][l] >> (8 * (k % 4)) & 0xff, byteAt(at)) << "lane " << l << ", byte " << k;
      }
  }
}

} // namespace
} // namespace tessera
