// What PTX's instructions compute, against values of the manual's definitions and against LLVM's APFloat; and the text
// of inline PTX.
#include "runtime/ptx_text.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

namespace tessera::inline_ptx {
namespace {

using llvm::APFloat;
using llvm::StringRef;

std::optional<Operation> find(StringRef instruction, size_t operands, std::string &why) {
  llvm::SmallVector<StringRef, 6> words;
  instruction.split(words, '.');
  return operationOf(words[0], llvm::ArrayRef(words).drop_front(), operands, why);
}
uint64_t run(StringRef instruction, std::initializer_list<uint64_t> in) {
  std::string why;
  auto op = find(instruction, in.size(), why);
  EXPECT_TRUE(op.has_value()) << instruction.str() << ": " << why;
  uint64_t operands[4] = {};
  std::copy(in.begin(), in.end(), operands);
  return op ? op->run(operands) : ~uint64_t(0);
}
uint32_t f(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t d(double x) { return std::bit_cast<uint64_t>(x); }

TEST(PtxArithmetic, Integers) {
  EXPECT_EQ(run("add.u32", {0xffffffff, 2}), 1u);
  EXPECT_EQ(run("sub.s16", {1, 2}), 0xffffu);
  EXPECT_EQ(run("mul.hi.s32", {0x80000000, 2}), 0xffffffffu);
  EXPECT_EQ(run("mul.hi.u32", {0x80000000, 2}), 1u);
  EXPECT_EQ(run("mul.wide.s16", {0xffff, 3}), 0xfffffffdu);
  EXPECT_EQ(run("mad.wide.u32", {0xffffffff, 2, 5}), 0x200000003u);
  EXPECT_EQ(run("mul24.lo.s32", {0xffffff, 5}), 0xfffffffbu);
  EXPECT_EQ(run("mul24.hi.u32", {0xffffff, 0xffffff}), 0xfffffe00u);
  EXPECT_EQ(run("mad24.lo.u32", {3, 4, 5}), 17u);
  EXPECT_EQ(run("sad.s32", {5, 0xfffffffe, 1}), 8u);
  EXPECT_EQ(run("div.s32", {0xfffffff9, 2}), 0xfffffffdu);
  EXPECT_EQ(run("rem.s32", {0xfffffff9, 2}), 0xffffffffu);
  EXPECT_EQ(run("rem.u64", {7, 4}), 3u);
  EXPECT_EQ(run("dp4a.s32.s32", {0x01ff02fe, 0x02030405, 10}), uint32_t(10 + 2 - 3 + 8 - 10));
  EXPECT_EQ(run("dp4a.u32.s32", {0x000000ff, 0x000000ff, 0}), uint32_t(-255));
  EXPECT_EQ(run("dp2a.hi.s32.u32", {0xffff0003, 0x02050000, 1}), uint32_t(1 + 15 - 2));
  EXPECT_EQ(run("popc.b64", {~uint64_t(0)}), 64u);
  EXPECT_EQ(run("clz.b32", {0x00800000}), 8u);
  EXPECT_EQ(run("brev.b32", {1}), 0x80000000u);
  EXPECT_EQ(run("bfind.s32", {0xfffffff0}), 3u);
  EXPECT_EQ(run("bfind.shiftamt.u32", {1}), 31u);
  EXPECT_EQ(run("bfe.s32", {0x00000f00, 8, 4}), 0xffffffffu);
  EXPECT_EQ(run("bfe.u32", {0x12345678, 8, 8}), 0x56u);
  EXPECT_EQ(run("bfi.b32", {0xab, 0x12345678, 8, 8}), 0x1234ab78u);
  EXPECT_EQ(run("add.u16x2", {0x0001ffff, 0x00010001}), 0x00020000u);
  EXPECT_EQ(run("max.s16x2", {0x8000ffff, 0x00000001}), 0x00000001u);
  EXPECT_EQ(run("min.relu.s32", {0xffffffff, 4}), 0u);
}

TEST(PtxArithmetic, BitsAndBytes) {
  EXPECT_EQ(run("lop3.b32", {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xea}), (0xf0f0f0f0u & 0xccccccccu) | 0xaaaaaaaau);
  EXPECT_EQ(run("lop3.b32", {0x1234, 0xff, 0x4300, 0x6a}), (0x1234u & 0xffu) ^ 0x4300u);
  EXPECT_EQ(run("prmt.b32", {0x33221100, 0x77665544, 0x7531}), 0x77553311u);
  EXPECT_EQ(run("prmt.b32", {0x00008000, 0, 0x9999}), 0xffffffffu);
  EXPECT_EQ(run("prmt.b32.f4e", {0x33221100, 0x77665544, 1}), 0x44332211u);
  EXPECT_EQ(run("prmt.b32.b4e", {0x33221100, 0x77665544, 0}), 0x55667700u);
  EXPECT_EQ(run("prmt.b32.rc16", {0x33221100, 0, 3}), 0x33223322u);
  EXPECT_EQ(run("prmt.b32.ecl", {0x33221100, 0, 2}), 0x33222222u);
  EXPECT_EQ(run("shl.b32", {1, 32}), 0u);
  EXPECT_EQ(run("shr.s32", {0x80000000, 40}), 0xffffffffu);
  EXPECT_EQ(run("shr.u64", {uint64_t(1) << 63, 63}), 1u);
  EXPECT_EQ(run("shf.l.wrap.b32", {0x80000000, 1, 33}), 3u);
  EXPECT_EQ(run("shf.l.clamp.b32", {0x80000000, 1, 33}), 0x80000000u);
  EXPECT_EQ(run("shf.r.clamp.b32", {5, 7, 99}), 7u);
  EXPECT_EQ(run("not.pred", {1}), 0u);
  EXPECT_EQ(run("cnot.b32", {0}), 1u);
}

TEST(PtxArithmetic, ComparisonsAndSelections) {
  uint32_t nan = 0x7fc00000;
  EXPECT_EQ(run("setp.lt.f32", {f(1), nan}), 0u);
  EXPECT_EQ(run("setp.ltu.f32", {f(1), nan}), 1u);
  EXPECT_EQ(run("setp.nan.f32", {f(1), nan}), 1u);
  EXPECT_EQ(run("setp.num.f32", {f(1), f(2)}), 1u);
  EXPECT_EQ(run("setp.lt.s32", {0xffffffff, 0}), 1u);
  EXPECT_EQ(run("setp.lo.u32", {0xffffffff, 0}), 0u);
  EXPECT_EQ(run("setp.eq.and.s32", {1, 1, 0}), 0u);
  EXPECT_EQ(run("setp.ne.or.s32", {1, 1, 1}), 1u);
  EXPECT_EQ(run("setp.gt.ftz.f32", {1, 0}), 0u);
  EXPECT_EQ(run("set.lt.u32.f32", {f(1), f(2)}), 0xffffffffu);
  EXPECT_EQ(run("set.gt.f32.s32", {2, 1}), f(1));
  EXPECT_EQ(run("selp.b32", {5, 6, 0}), 6u);
  EXPECT_EQ(run("slct.f32.s32", {f(1), f(2), 0xffffffff}), f(2));
  EXPECT_EQ(run("slct.u32.f32", {1, 2, f(-0.0f)}), 1u);
  EXPECT_EQ(run("testp.infinite.f32", {f(INFINITY)}), 1u);
  std::string why;
  auto both = find("setp.lt.f16x2", 2, why);
  const uint64_t in[4] = {0x3c004000, 0x40003c00}; // (2, 1) and (1, 2), the low ones first
  EXPECT_EQ(both->run(in), 0u);
  EXPECT_EQ(both->runSecond(in), 1u);
  auto one = find("setp.lt.and.s32", 3, why);
  const uint64_t with[4] = {1, 2, 1}, without[4] = {1, 2, 0};
  EXPECT_EQ(one->run(with), 1u);
  EXPECT_EQ(one->runSecond(with), 0u);
  EXPECT_EQ(one->runSecond(without), 0u);
}

TEST(PtxArithmetic, Floats) {
  EXPECT_EQ(run("add.f32", {f(1), f(2)}), f(3));
  EXPECT_EQ(run("add.rz.f32", {f(1), f(0x1.8p-24f)}), f(1));
  EXPECT_EQ(run("add.rp.f32", {f(1), f(0x1p-60f)}), f(0x1.000002p0f));
  EXPECT_EQ(run("mul.ftz.f32", {f(0x1p-126f), f(0.5f)}), 0u);
  EXPECT_EQ(run("add.sat.f32", {f(1), f(2)}), f(1));
  EXPECT_EQ(run("fma.rn.f32", {f(0x1.001p0f), f(0x1.001p0f), f(-1)}), f(0x1p-11f + 0x1p-24f));
  EXPECT_EQ(run("fma.rn.f32x2", {uint64_t(f(2)) << 32 | f(3), uint64_t(f(5)) << 32 | f(7), uint64_t(f(1)) << 32}),
            uint64_t(f(11)) << 32 | f(21));
  EXPECT_EQ(run("min.f32", {0x7fc00000, f(2)}), f(2));
  EXPECT_EQ(run("min.NaN.f32", {0x7fc00000, f(2)}), 0x7fffffffu);
  EXPECT_EQ(run("max.f32", {f(-0.0f), f(0)}), f(0));
  EXPECT_EQ(run("mul.bf16x2", {0x40004040, 0x40003f80}), 0x40804040u);
  EXPECT_EQ(run("fma.rn.relu.f16x2", {0xbc003c00, 0x3c003c00, 0}), 0x00003c00u);
  EXPECT_EQ(run("neg.bf16x2", {0x00003f80}), 0x8000bf80u);
  EXPECT_EQ(run("abs.f16x2", {0xbc00fe00}), 0x3c007e00u);
  EXPECT_EQ(run("max.NaN.bf16x2", {0x7fc03f80, 0x3f804000}), 0x7fff4000u);
  EXPECT_EQ(run("copysign.f32", {f(-1), f(3)}), f(-3));
  EXPECT_EQ(run("rcp.approx.ftz.f32", {f(4)}), f(0.25f));
  EXPECT_EQ(run("rcp.rz.f32", {f(3)}), f(0x1.555554p-2f));
  EXPECT_EQ(run("sqrt.rn.f64", {d(2)}), d(std::sqrt(2.0)));
  EXPECT_EQ(run("rsqrt.approx.f32", {f(4)}), f(0.5f));
  EXPECT_EQ(run("ex2.approx.ftz.f32", {f(-1)}), f(0.5f));
  EXPECT_EQ(run("ex2.approx.ftz.f32", {f(-130)}), 0u);
  EXPECT_EQ(run("ex2.approx.ftz.bf16x2", {0x40003f80}), 0x40804000u);
  EXPECT_EQ(run("lg2.approx.f32", {f(8)}), f(3));
  EXPECT_EQ(run("tanh.approx.f32", {f(0)}), f(0));
  EXPECT_EQ(run("tanh.approx.f16", {0x7c00}), 0x3c00u);
}

// Scales of the microscaling formats: the exponent alone.
TEST(PtxArithmetic, ConversionsToPowersOfTwo) {
  EXPECT_EQ(run("cvt.rp.ue8m0x2.f32", {f(1), f(1.25f)}), 0x7f80u);
  EXPECT_EQ(run("cvt.rz.ue8m0x2.f32", {f(-3), f(1.25f)}), 0x807fu);
  EXPECT_EQ(run("cvt.rp.ue8m0x2.f32", {0x00400000, 0x00400001}), 0x0001u); // 2^-127, and the number after it
  EXPECT_EQ(run("cvt.rz.ue8m0x2.f32", {0, 0x007fffff}), 0u);
  EXPECT_EQ(run("cvt.rp.ue8m0x2.f32", {f(NAN), 0x7f000001}), 0xffffu); // above 2^127
  EXPECT_EQ(run("cvt.rp.satfinite.ue8m0x2.f32", {f(INFINITY), 0x7f000001}), 0xfefeu);
  EXPECT_EQ(run("cvt.rp.ue8m0x2.bf16x2", {0x40404000}), 0x8180u);
  EXPECT_EQ(run("cvt.rn.bf16x2.ue8m0x2", {0x80ff}), 0x40007fffu);
}

TEST(PtxArithmetic, Conversions) {
  EXPECT_EQ(run("cvt.rn.f16x2.f32", {f(1), f(2)}), 0x3c004000u); // the first operand is the upper element
  EXPECT_EQ(run("cvt.rn.bf16x2.f32", {f(1), f(2)}), 0x3f804000u);
  EXPECT_EQ(run("cvt.rz.bf16.f32", {0x3f80ffff}), 0x3f80u);
  EXPECT_EQ(run("cvt.rn.relu.f16.f32", {f(-3)}), 0u);
  EXPECT_EQ(run("cvt.rn.satfinite.e4m3x2.f32", {f(1000), f(1)}), 0x7e38u);
  EXPECT_EQ(run("cvt.rn.satfinite.relu.e5m2x2.f32", {f(-1), f(1)}), 0x003cu);
  EXPECT_EQ(run("cvt.rn.satfinite.e4m3x2.f16x2", {0x3c004000}), 0x3840u);
  EXPECT_EQ(run("cvt.rn.f16x2.e4m3x2", {0x3840}), 0x3c004000u);
  EXPECT_EQ(run("cvt.rn.relu.f16x2.e5m2x2", {0xbc3c}), 0x00003c00u);
  EXPECT_EQ(run("cvt.rn.satfinite.e2m1x2.f32", {f(-5), f(0.25f)}), 0xe0u);   // halfway: to the even pattern
  EXPECT_EQ(run("cvt.rn.satfinite.e2m1x2.f32", {f(0.75f), f(-100)}), 0x2fu); // saturates
  EXPECT_EQ(run("cvt.rn.satfinite.e2m1x2.f32", {f(NAN), f(-0.0f)}), 0x78u);
  EXPECT_EQ(run("cvt.rn.satfinite.relu.e2m1x2.f32", {f(-5), f(5.1f)}), 0x07u);
  EXPECT_EQ(run("cvt.rn.f16x2.e2m1x2", {0x9f}), 0xb800c600u);
  EXPECT_EQ(run("cvt.rn.f16.f32", {f(-1e6f)}), 0xfc00u);
  EXPECT_EQ(run("cvt.rn.satfinite.f16.f32", {f(-1e6f)}), 0xfbffu);
  EXPECT_EQ(run("cvt.rn.satfinite.bf16x2.f32", {f(INFINITY), f(NAN)}), 0x7f7f7fffu);
  EXPECT_EQ(run("cvt.rna.tf32.f32", {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(run("cvt.rni.s32.f32", {f(2.5f)}), 2u);
  EXPECT_EQ(run("cvt.rzi.s8.f32", {f(-200)}), 0x80u);
  EXPECT_EQ(run("cvt.rmi.u32.f32", {f(-1)}), 0u);
  EXPECT_EQ(run("cvt.rpi.f32.f32", {f(1.5f)}), f(2));
  EXPECT_EQ(run("cvt.sat.f32.f32", {f(1.5f)}), f(1));
  EXPECT_EQ(run("cvt.rn.f32.s8", {0xff}), f(-1));
  EXPECT_EQ(run("cvt.rz.f32.u32", {0xffffffff}), f(0x1.fffffep31f));
  EXPECT_EQ(run("cvt.rn.f32.u64", {0x8000008000000001}), f(0x1.000002p63f)); // rounded once
  EXPECT_EQ(run("cvt.rp.f32.f64", {d(1 + 0x1p-40)}), f(0x1.000002p0f));
  EXPECT_EQ(run("cvt.s32.s8", {0x80}), 0xffffff80u);
  EXPECT_EQ(run("cvt.u16.s8", {0x80}), 0xff80u);
  EXPECT_EQ(run("cvt.sat.s8.s32", {300}), 127u);
  EXPECT_EQ(run("cvt.sat.u8.s32", {0xffffffff}), 0u);
  EXPECT_EQ(run("cvt.f32.bf16", {0x3f80}), f(1));
}

/// Patterns of 16 bits: what APFloat gives, rounded once.
TEST(PtxArithmetic, HalvesRoundOnce) {
  std::mt19937_64 random(17);
  constexpr auto kNearest = APFloat::rmNearestTiesToEven;
  for (StringRef type : {"f16", "bf16"}) {
    auto &format = type == "f16" ? APFloat::IEEEhalf() : APFloat::BFloat();
    for (int n = 0; n < 20000; ++n) {
      uint64_t bits[3];
      APFloat x[3] = {APFloat(format), APFloat(format), APFloat(format)};
      for (int k = 0; k < 3; ++k) {
        // Sums whose exponents are close to each other, and any.
        bits[k] = n % 2 ? random() & 0xffff : (random() & 0x83ff) | 0x3800;
        x[k] = APFloat(format, llvm::APInt(16, bits[k]));
      }
      auto expect = [&](StringRef name, const APFloat &wanted, std::initializer_list<uint64_t> in) {
        uint64_t got = run(name.str() + "." + type.str(), in);
        if (wanted.isNaN())
          EXPECT_TRUE(APFloat(format, llvm::APInt(16, got)).isNaN()) << name.str();
        else
          EXPECT_EQ(got, wanted.bitcastToAPInt().getZExtValue()) << name.str() << n;
      };
      APFloat sum = x[0], product = x[0], fused = x[0];
      sum.add(x[1], kNearest);
      product.multiply(x[1], kNearest);
      fused.fusedMultiplyAdd(x[1], x[2], kNearest);
      expect("add", sum, {bits[0], bits[1]});
      expect("mul", product, {bits[0], bits[1]});
      expect("fma.rn", fused, {bits[0], bits[1], bits[2]});
    }
  }
}

TEST(PtxArithmetic, CarriesAreHandedOn) {
  std::string why;
  bool carry = false;
  const uint64_t low[4] = {0xffffffff, 1}, high[4] = {1, 2}, product[4] = {0xffffffff, 0xffffffff, 5};
  EXPECT_EQ(find("add.cc.u32", 2, why)->run(low, &carry), 0u);
  EXPECT_EQ(find("addc.cc.u32", 2, why)->run(high, &carry), 4u);
  EXPECT_EQ(find("addc.u32", 2, why)->run(high, &carry), 3u);
  EXPECT_EQ(find("sub.cc.u64", 2, why)->run(high, &carry), ~uint64_t(0));
  EXPECT_TRUE(carry);
  EXPECT_EQ(find("madc.hi.u32", 3, why)->run(product, &carry), 4u);
}

TEST(PtxArithmetic, UnknownOnesSayWhy) {
  auto reason = [](StringRef instruction, size_t operands) {
    std::string why;
    EXPECT_FALSE(find(instruction, operands, why).has_value()) << instruction.str();
    return why;
  };
  EXPECT_EQ(reason("frobnicate.b32", 1), "instruction 'frobnicate'");
  EXPECT_EQ(reason("add.odd.f32", 2), "modifier .odd");
  EXPECT_EQ(reason("add.f32", 3), "type or number of operands");
  EXPECT_EQ(reason("add", 2), "no type");
  EXPECT_EQ(reason("setp.f32", 2), "no comparison");
  EXPECT_EQ(reason("cvt.f32", 1), "number of types");
  EXPECT_EQ(reason("add.f32.f16", 2), "number of types");
  EXPECT_EQ(reason("add.rz.f16", 2), "rounding of 16 bits");
  EXPECT_EQ(reason("cvt.rn.f16x2.f32", 1), "number of operands");
}

TEST(PtxText, ScopesHaveTheirOwnRegisters) {
  Text text;
  std::string problem;
  ASSERT_TRUE(
      parseText("{ .reg .b32 t, %f<2>; mov.b32 t, $1; // a comment; with semicolons\n { .reg .f32 t; mov.b32 t, "
                "%f1; } /* } */ @!p$$ mov.b32 ${0}, t; }",
                text, problem) == false);
  EXPECT_EQ(problem, "the inline PTX '@!p$$ mov.b32 ${0}, t' (guard 'p$$')");
  Text good;
  ASSERT_TRUE(parseText("{ .reg .pred p$$; .reg .b32 t, %f<2>; mov.b32 t, $1; { .reg .f32 t; mov.b32 t, %f1; } "
                        "@!p$$\tmov.b32 ${0}, t; }",
                        good, problem))
      << problem;
  ASSERT_EQ(good.registers.size(), 5u);
  ASSERT_EQ(good.statements.size(), 3u);
  EXPECT_EQ(good.statements[0]->operands[0].index, 1u);
  EXPECT_EQ(good.statements[1]->operands[0].index, 4u);
  EXPECT_EQ(good.statements[1]->operands[1].index, 3u);
  EXPECT_EQ(good.statements[2]->operands[1].index, 1u);
  EXPECT_TRUE(good.statements[2]->guard && good.statements[2]->guard->negated);
}

TEST(PtxText, Operands) {
  Text text;
  std::string problem;
  ASSERT_TRUE(parseText(
      "{.reg .b32 a; op.b32 a|_, {a, $0}, [$1+-4], [$1, {a, 0}], 0f3F800000, -1, 1.5, 0x10U, %tid.x;}", text, problem))
      << problem;
  auto &o = text.statements[0]->operands;
  ASSERT_EQ(o.size(), 9u);
  EXPECT_EQ(o[0].parts[1].kind, TextOperand::Sink);
  EXPECT_EQ(o[1].parts[1].kind, TextOperand::Argument);
  EXPECT_EQ(o[2].offset, -4);
  EXPECT_EQ(o[3].parts[1].parts.size(), 2u);
  EXPECT_EQ(o[4].bits, 0x3f800000u);
  EXPECT_EQ(o[5].bits, ~uint64_t(0));
  EXPECT_EQ(o[6].real, 1.5);
  EXPECT_EQ(o[7].bits, 16u);
  EXPECT_EQ(o[8].name, "tid.x");
  for (StringRef wrong : {"mov.b32 a, b;", "{ mov.b32 $0, $1;", "}", ".reg .b32 b<x>;", ".reg .b32 b<999>;",
                          "loop: bra loop;", "mov.b32 $0, 1.2.3;"}) {
    Text t;
    EXPECT_FALSE(parseText(wrong, t, problem)) << wrong.str();
  }
}

TEST(PtxText, Constraints) {
  auto c = parseConstraints("=r,=&h,r,1,~{memory}");
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->size(), 4u);
  EXPECT_TRUE((*c)[1].isResult);
  EXPECT_EQ((*c)[3].sameAs, 1u);
  EXPECT_EQ(parseConstraints("=r, =r,r, 0")->size(), 4u);
  EXPECT_FALSE(parseConstraints("=r,9").has_value());
  EXPECT_FALSE(parseConstraints("={eax},r").has_value());
}

} // namespace
} // namespace tessera::inline_ptx
