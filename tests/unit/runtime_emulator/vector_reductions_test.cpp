// Reductions of vectors of floats, which LLVM's vectorizer makes of a thread's elements: every step is rounded to the
// element's type, minimum and maximum follow IEEE 754-2019 (maxnum drops NaN, maximum keeps it; -0 < +0).
#include "emulation.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr const char *kHead = R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {
)";

/// The reduction `name` of four numbers of the type. `start`: the first operand of fadd and fmul, with its comma.
template <class Bits>
Bits reduced(const char *name, const char *type, const char *start, std::initializer_list<Bits> numbers) {
  std::string code = kHead;
  code += llvm::formatv(R"(  %v = load <4 x {1}>, ptr addrspace(1) %x, align 8
  %r = call {1} @llvm.vector.reduce.{0}.v4{2}({3}<4 x {1}> %v)
  %to = getelementptr {1}, ptr addrspace(1) %x, i32 4
  store {1} %r, ptr addrspace(1) %to, align 2
  ret void
}
)",
                        name, type,
                        sizeof(Bits) == 2   ? "f16"
                        : sizeof(Bits) == 4 ? "f32"
                                            : "f64",
                        start)
              .str();
  std::vector<uint8_t> x(5 * sizeof(Bits));
  std::memcpy(x.data(), numbers.begin(), 4 * sizeof(Bits));
  testing::Emulation e;
  e.target = "gfx942";
  e.numWarps = 1;
  auto r = e.llvmModule(code, {testing::bytesOf(std::move(x))});
  EXPECT_TRUE(r.ok()) << name << ": " << r.status();
  Bits result = 0;
  if (r.ok()) std::memcpy(&result, e.buffers[0].data() + 4 * sizeof(Bits), sizeof(Bits));
  return result;
}

constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000, kNan = 0x7e00, kMinusZero = 0x8000; // f16
bool isNan(uint16_t f16) { return (f16 & 0x7fff) > 0x7c00; }

TEST(VectorReductions, RoundEveryStepToHalf) {
  // 2048 + 1 is 2048 in f16, each time; in f32 the sum is 2052.
  EXPECT_EQ(reduced<uint16_t>("fadd", "half", "half 2048.0, ", {kOne, kOne, kOne, kOne}), 0x6800);
  EXPECT_EQ(reduced<uint16_t>("fmul", "half", "half 2.0, ", {kOne, kTwo, kTwo, kOne}), 0x4800);
}
TEST(VectorReductions, MaximumKeepsNanAndMaxnumDropsIt) {
  EXPECT_EQ(reduced<uint16_t>("fmax", "half", "", {kOne, kNan, kTwo, 0}), kTwo);
  EXPECT_TRUE(isNan(reduced<uint16_t>("fmaximum", "half", "", {kOne, kNan, kTwo, 0})));
  EXPECT_EQ(reduced<uint16_t>("fmin", "half", "", {kOne, kNan, kTwo, kOne}), kOne);
  EXPECT_TRUE(isNan(reduced<uint16_t>("fminimum", "half", "", {kOne, kNan, kTwo, 0})));
  EXPECT_EQ(reduced<uint16_t>("fminimum", "half", "", {0, kMinusZero, kTwo, 0}), kMinusZero);
  EXPECT_EQ(reduced<uint16_t>("fmaximum", "half", "", {kMinusZero, 0, kMinusZero, kMinusZero}), 0);
}
TEST(VectorReductions, OfFloatAndDouble) {
  auto f = [](float x) { return std::bit_cast<uint32_t>(x); };
  auto d = [](double x) { return std::bit_cast<uint64_t>(x); };
  EXPECT_EQ(reduced<uint32_t>("fadd", "float", "float -0.0, ", {f(1e8f), f(1), f(-1e8f), f(3)}), f(3));
  EXPECT_EQ(reduced<uint32_t>("fmax", "float", "", {f(1), f(-7), f(4), f(2)}), f(4));
  EXPECT_EQ(reduced<uint64_t>("fmul", "double", "double 1.0, ", {d(1.5), d(2), d(-3), d(0.25)}), d(-2.25));
  EXPECT_EQ(reduced<uint64_t>("fmin", "double", "", {d(1), d(-7), d(4), d(2)}), d(-7));
}

} // namespace
} // namespace tessera
