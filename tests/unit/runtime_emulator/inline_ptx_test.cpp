// Inline PTX that users write: vectors of bytes, and special registers.
#include "runtime_emulator/emulation.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera::testing {
namespace {

/// A kernel of one warp, in which %tid is the lane, %in loads word %tid of the buffer %x, and `%p` is its address.
std::string kernel(const std::string &body) {
  return R"(target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %tid
  %in = load i32, ptr addrspace(1) %p, align 4
)" + body +
         "  ret void\n}\n";
}

/// The words after the kernel has run on 0x8f402001 + the lane.
std::vector<uint32_t> run(const std::string &body, size_t words = 32) {
  std::vector<uint32_t> x(words);
  for (size_t i = 0; i < words; ++i) x[i] = 0x8f402001 + uint32_t(i);
  std::vector<uint8_t> bytes(words * 4);
  std::memcpy(bytes.data(), x.data(), bytes.size());
  Emulation e;
  e.numWarps = 1;
  auto r = e.llvmModule(kernel(body), {bytesOf(bytes)});
  EXPECT_TRUE(r.ok()) << r.status();
  if (r.ok()) std::memcpy(x.data(), e.buffers[0].data(), bytes.size());
  return x;
}

TEST(InlinePtx, BytesArePackedAndUnpacked) {
  // Reversed.
  auto x =
      run("  %r = call i32 asm \"{ .reg .b8 b<4>; mov.b32 {b0, b1, b2, b3}, $1; mov.b32 $0, {b3, b2, b1, b0}; }\", "
          "\"=r,r\"(i32 %in)\n  store i32 %r, ptr addrspace(1) %p, align 4\n");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], 0x0120408fu + (i << 24));
  // Declared one by one, with parts that nobody reads, and converted with their signs.
  x = run("  %r = call i32 asm \"{ .reg .b8 a, d; mov.b32 {a, _, _, d}, $1; .reg .s32 s, t; cvt.s32.s8 s, d; "
          "cvt.s32.s8 t, a; add.s32 $0, s, t; }\", \"=r,r\"(i32 %in)\n  store i32 %r, ptr addrspace(1) %p, align 4\n");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(int32_t(x[i]), -113 + 1 + int(i));
  // Floats of bytes, in two scopes whose registers have the same names.
  x = run("  %r = call float asm \"{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $1; { .reg .f32 f<2>; cvt.rn.f32.u8 f0, "
          "t1; cvt.rn.f32.u8 f1, t2; add.f32 $0, f0, f1; } }\", \"=f,r\"(i32 %in)\n  store float %r, ptr addrspace(1) "
          "%p, align 4\n");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], 0x42c00000u); // 32 + 64 = 96
  // Halves still are.
  x = run("  %r = call i32 asm \"{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; mov.b32 $0, {h1, h0}; }\", \"=r,r\"(i32 %in)\n"
          "  store i32 %r, ptr addrspace(1) %p, align 4\n");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], 0x20018f40u + (i << 16));
}

TEST(InlinePtx, SpecialRegisters) {
  auto read = [](const char *type, const char *name) {
    return run(std::string("  %r = call i32 asm sideeffect \"mov.") + type + " $0, %" + name +
               ";\", \"=r\"()\n  store i32 %r, ptr addrspace(1) %p, align 4\n");
  };
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(read("u32", "laneid")[i], i);
    EXPECT_EQ(read("u32", "tid.x")[i], i);
    EXPECT_EQ(read("u32", "lanemask_lt")[i], (1u << i) - 1);
  }
  EXPECT_EQ(read("u32", "smid")[3], 0u);
  EXPECT_EQ(read("u32", "nsmid")[3], 1u);
  EXPECT_EQ(read("u32", "nwarpid")[3], 1u);
  EXPECT_EQ(read("u32", "nctaid.y")[3], 1u);
  EXPECT_EQ(read("b32", "cluster_ctarank")[3], 0u);
  EXPECT_NE(read("u32", "globaltimer_lo")[3], 0x8f402004u); // it was read
  auto x = run("  %r = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()\n  store i32 %r, ptr addrspace(1) %p, align 4\n");
  EXPECT_EQ(x[0], 1u);
}

TEST(InlinePtx, TimePasses) {
  for (const char *name : {"globaltimer", "clock64"}) {
    std::string move = std::string("mov.u64 $0, %") + name + ";";
    auto x = run("  %a = call i64 asm sideeffect \"" + move + "\", \"=l\"()\n  br label %next\nnext:\n" +
                 "  %b = call i64 asm sideeffect \"" + move + "\", \"=l\"()\n  %later = icmp ugt i64 %b, %a\n" +
                 "  %r = zext i1 %later to i32\n  store i32 %r, ptr addrspace(1) %p, align 4\n");
    EXPECT_EQ(x[5], 1u) << name;
  }
}

TEST(InlinePtx, UnknownOnesAreNamed) {
  for (const char *text : {"mov.u32 $0, %pm0;", "mov.u32 $0, %nothing;", "{ .reg .b8 b<999999>; mov.u32 $0, 1; }",
                           "{ .reg .b8 b<x>; mov.u32 $0, 1; }"}) {
    Emulation e;
    e.numWarps = 1;
    auto r = e.llvmModule(kernel(std::string("  %r = call i32 asm sideeffect \"") + text +
                                 "\", \"=r\"()\n  store i32 %r, ptr addrspace(1) %p, align 4\n"),
                          {zeros(128)});
    EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented) << text;
  }
}

} // namespace
} // namespace tessera::testing
