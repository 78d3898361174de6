// What the counters say of live registers, against sums made by hand: which values count, how much, up to where, and
// along which branches; and on a kernel as both vendors' lowerings make it.
#include "emulation.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::zeros;

/// The peaks of a body that may use %x, a buffer of 256 integers that count from 0.
emulator::RegistersLive live(const char *target, llvm::StringRef body, llvm::StringRef functions = "") {
  bool amd = llvm::StringRef(target).starts_with("gfx");
  std::string s = amd ? R"(
target datalayout = "e-p:64:64-p1:64:64-p3:32:32-p5:32:32-A5"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @kernel()"
                      : R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @kernel()";
  s += "ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {\nentry:\n" + body.str() + "}\n" +
       functions.str();
  Emulation e;
  e.target = target;
  e.numWarps = 1;
  e.options.counters = true;
  e.options.checks = emulator::Checks::none();
  auto r = e.llvmModule(s, {counting(1024)});
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? r->live : emulator::RegistersLive();
}

constexpr llvm::StringLiteral kStraight = R"(
  %p1 = getelementptr i32, ptr addrspace(1) %x, i32 1
  %p2 = getelementptr i32, ptr addrspace(1) %x, i32 2
  %p3 = getelementptr i32, ptr addrspace(1) %x, i32 3
  %a = load i32, ptr addrspace(1) %x
  %b = load i32, ptr addrspace(1) %p1
  %c = load i32, ptr addrspace(1) %p2
  %d = load i32, ptr addrspace(1) %p3
  %s = add i32 %a, %b
  %t = xor i32 %c, %d
  %r = mul i32 %s, %t
  store i32 %r, ptr addrspace(1) %x
  ret void
)";

TEST(RegistersLive, StraightLine) {
  // Four values after the last load; constant offsets are the accesses', arguments are read where they lie.
  auto n = live("sm_90a", kStraight);
  EXPECT_EQ(n.vector.count, 4u);
  EXPECT_EQ(n.vector.operation, "load");
  EXPECT_EQ(n.predicates.count, 0u);
  EXPECT_FALSE(n.scalarsApart);
  // The same four: nothing says that the scalar unit may load them. The pointer is in two scalar registers.
  auto a = live("gfx942", kStraight);
  EXPECT_EQ(a.vector.count, 4u);
  EXPECT_EQ(a.scalar.count, 2u);
  EXPECT_TRUE(a.scalarsApart);
}

TEST(RegistersLive, OffsetsThatNoAccessTakesUp) {
  // An address that is compared takes two registers, beside the loaded value.
  auto r = live("sm_90a", R"(
  %v = load i32, ptr addrspace(1) %x
  %far = getelementptr i8, ptr addrspace(1) %x, i64 64
  %c = icmp eq ptr addrspace(1) %far, %x
  %z = zext i1 %c to i32
  %w = add i32 %v, %z
  store i32 %w, ptr addrspace(1) %x
  ret void
)");
  EXPECT_EQ(r.vector.count, 3u); // %v and %far
  EXPECT_EQ(r.vector.operation, "getelementptr");
}

TEST(RegistersLive, CarriedByALoop) {
  // After the load: the sum (2) and the counter for the next iteration, what is added in it (2), the four loaded.
  auto r = live("sm_90a", R"(
  %k = load double, ptr addrspace(1) %x
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %loop ]
  %acc = phi double [ 0.0, %entry ], [ %s, %loop ]
  %s = fadd double %acc, %k
  %n = add i32 %i, 1
  %q = load <4 x i32>, ptr addrspace(1) %x
  store <4 x i32> %q, ptr addrspace(1) %x
  %c = icmp eq i32 %n, 4
  br i1 %c, label %done, label %loop
done:
  store double %s, ptr addrspace(1) %x
  ret void
)");
  EXPECT_EQ(r.vector.count, 9u);
  EXPECT_EQ(r.vector.operation, "load");
  EXPECT_EQ(r.predicates.count, 1u);
  EXPECT_EQ(r.predicates.operation, "icmp");
}

TEST(RegistersLive, ByType) {
  // <4 x half> 2, <2 x double> 4, i8 1, double 2.
  auto r = live("sm_90a", R"(
  %h = load <4 x half>, ptr addrspace(1) %x
  %d = load <2 x double>, ptr addrspace(1) %x
  %b = load i8, ptr addrspace(1) %x
  %f = load double, ptr addrspace(1) %x
  store <4 x half> %h, ptr addrspace(1) %x
  store <2 x double> %d, ptr addrspace(1) %x
  store i8 %b, ptr addrspace(1) %x
  store double %f, ptr addrspace(1) %x
  ret void
)");
  EXPECT_EQ(r.vector.count, 9u);
}

TEST(RegistersLive, PartsOfValues) {
  // Of %f the low word lives on, of %q two elements: 1 + 2 beside the two of %g. Putting them into a structure and
  // taking them out again makes none.
  auto r = live("sm_90a", R"(
  %f = load double, ptr addrspace(1) %x
  %i = bitcast double %f to i64
  %lo = trunc i64 %i to i32
  %q = load <2 x i32>, ptr addrspace(1) %x
  %q0 = extractelement <2 x i32> %q, i32 0
  %q1 = extractelement <2 x i32> %q, i32 1
  %s0 = insertvalue { i32, i32 } poison, i32 %q0, 0
  %s1 = insertvalue { i32, i32 } %s0, i32 %q1, 1
  %g = load double, ptr addrspace(1) %x
  store i32 %lo, ptr addrspace(1) %x
  %e0 = extractvalue { i32, i32 } %s1, 0
  %e1 = extractvalue { i32, i32 } %s1, 1
  store i32 %e0, ptr addrspace(1) %x
  store i32 %e1, ptr addrspace(1) %x
  store double %g, ptr addrspace(1) %x
  ret void
)");
  EXPECT_EQ(r.vector.count, 5u);
}

TEST(RegistersLive, BranchNotTaken) {
  auto with = [](unsigned value) {
    return live("sm_90a", R"(
  %v = load <4 x i32>, ptr addrspace(1) %x
  %z = load <4 x i32>, ptr addrspace(1) %x
  %p = getelementptr i32, ptr addrspace(1) %x, i32 7
  %w = load i32, ptr addrspace(1) %p
  %c = icmp eq i32 %w, )" + std::to_string(value) +
                              R"(
  br i1 %c, label %then, label %end
then:
  store <4 x i32> %v, ptr addrspace(1) %x
  br label %end
end:
  store <4 x i32> %z, ptr addrspace(1) %x
  ret void
)");
  };
  EXPECT_EQ(with(7).vector.count, 9u); // %v, %z, %w
  EXPECT_EQ(with(8).vector.count, 5u); // %z, %w: nobody reads %v
}

TEST(RegistersLive, AcrossACall) {
  // Two of the caller's beside four of the callee's.
  for (const char *target : {"sm_90a", "gfx942"}) {
    auto r = live(target, R"(
  %v = load <2 x i32>, ptr addrspace(1) %x
  %s = call i32 @sum(ptr addrspace(1) %x)
  store <2 x i32> %v, ptr addrspace(1) %x
  store i32 %s, ptr addrspace(1) %x
  ret void
)",
                  R"(
define internal i32 @sum(ptr addrspace(1) %p) noinline {
  %q = load <4 x i32>, ptr addrspace(1) %p
  %a = extractelement <4 x i32> %q, i32 0
  %b = extractelement <4 x i32> %q, i32 1
  %c = extractelement <4 x i32> %q, i32 2
  %d = extractelement <4 x i32> %q, i32 3
  %e = add i32 %a, %b
  %f = add i32 %c, %d
  %g = add i32 %e, %f
  ret i32 %g
}
)");
    EXPECT_EQ(r.vector.count, 6u) << target;
  }
}

TEST(RegistersLive, UniformValuesOfAmd) {
  constexpr llvm::StringLiteral body = R"(
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %a = mul i32 %g, 3
  %b = add i32 %t, %a
  %c = add i32 %b, %a
  %q = getelementptr i32, ptr addrspace(1) %x, i32 %t
  store i32 %c, ptr addrspace(1) %q
  ret void
)";
  auto r = live("gfx942", body);
  EXPECT_EQ(r.vector.count, 3u); // %c and the address
  EXPECT_EQ(r.scalar.count, 3u); // the pointer and the block's number, or what is made of it
  // Floating point is the vector unit's, before gfx12.
  constexpr llvm::StringLiteral floats = R"(
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %f = sitofp i32 %g to float
  %h = fadd float %f, 1.0
  %i = bitcast float %h to i32
  %j = add i32 %i, 5
  store i32 %j, ptr addrspace(1) %x
  ret void
)";
  EXPECT_EQ(live("gfx942", floats).vector.count, 1u);
  EXPECT_EQ(live("gfx1201", floats).vector.count, 0u);
  EXPECT_EQ(live("gfx1201", floats).scalar.count, 3u);
}

TEST(RegistersLive, VectorAddition) {
  // tests/kernels/vecadd, two elements of a thread of sm_90a. After the first load: itself, the 64-bit index for the
  // addresses yet to come, the addresses of x and of the result; two masks.
  Emulation n;
  n.options.counters = true;
  auto r = n.launch(TESSERA_SOURCE_DIR "/tests/kernels/vecadd");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->live.vector.count, 7u);
  EXPECT_THAT(r->live.vector.where, HasSubstr("tt.load at kernels.py:17:28"));
  EXPECT_EQ(r->live.predicates.count, 2u);
  EXPECT_THAT(
      emulator::counterTable(*r),
      HasSubstr(
          "\nregisters                           7               inline assembly of tt.load at kernels.py:17:28\n"));
  // One element of a thread of gfx942: three addresses; three pointers, the length, the block's number and the last
  // index of the block, which may be full.
  Emulation a;
  a.target = "gfx942";
  a.options.counters = true;
  r = a.launch(TESSERA_SOURCE_DIR "/tests/kernels/vecadd");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->live.vector.count, 6u);
  EXPECT_THAT(r->live.vector.where, HasSubstr("tt.addptr at kernels.py:17:"));
  EXPECT_EQ(r->live.scalar.count, 8u);
  EXPECT_EQ(r->live.predicates.count, 1u);
}

TEST(RegistersLive, Accumulators) {
  // A dot of 64 × 64 has 32 accumulators in each of 128 threads, 16 in each of 256 (gfx942).
  for (auto [target, least] : {std::pair{"sm_80", 32u}, {"sm_90a", 32u}, {"gfx942", 16u}, {"gfx1201", 32u}}) {
    Emulation e;
    e.target = target;
    e.options.counters = true;
    auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/mm_f16");
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_GE(r->live.vector.count, least) << target;
    EXPECT_LE(r->live.vector.count, 256u) << target;
  }
}

TEST(RegistersLive, OnlyWithCounters) {
  Emulation e;
  auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/vecadd");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->live.vector.count, 0u);
}

} // namespace
} // namespace tessera
