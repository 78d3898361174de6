// Named barriers and setmaxnreg on the emulator: modules written by hand, sound ones and planted faults; and
// partitions of warps (ttg.warp_specialize) with faults planted in what they were lowered to. That sound ones compute
// what they must is for the conformance suite (conformance/kernels/warp_specialize.kernels).
#include "emulation.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::AllOf;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::zeros;

/// kernel(x): body with %t (thread), %warp, %mine and %other (words of shared memory, of this and of the next thread
/// but 31).
std::string module(llvm::StringRef body, llvm::StringRef attributes = "") {
  return R"(target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@smem = external addrspace(3) global [0 x i8], align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 immarg)
declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 immarg)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %h0, ptr addrspace(1) %h1))" +
         attributes.str() + R"( {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %t, 5
  %first = icmp eq i32 %warp, 0
  %second = icmp eq i32 %warp, 1
  %low = icmp ult i32 %warp, 2
  %mine = getelementptr i32, ptr addrspace(3) @smem, i32 %t
  %o = xor i32 %t, 32
  %other = getelementptr i32, ptr addrspace(3) @smem, i32 %o
  %out = getelementptr i32, ptr addrspace(1) %x, i32 %t
)" + body.str() +
         "  ret void\n}\n";
}
std::string sync(int number, int threads) {
  return llvm::formatv("  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 {0}, i32 {1})\n", number, threads);
}
std::string arrive(int number, int threads) {
  return llvm::formatv("  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 {0}, i32 {1})\n", number, threads);
}
constexpr const char *kStore = "  store i32 %t, ptr addrspace(3) %mine, align 4\n";
std::string load(const char *name) {
  return llvm::formatv(
      "  %{0} = load i32, ptr addrspace(3) %other, align 4\n  store i32 %{0}, ptr addrspace(1) %out, align 4\n", name);
}

absl::StatusOr<emulator::Report> run(Emulation &e, const std::string &body, const char *attributes = "") {
  e.numWarps = 4;
  e.sharedBytes = 1024;
  return e.llvmModule(module(body, attributes), {zeros(512)});
}
std::string messageOf(const std::string &body, const char *attributes = "") {
  Emulation e;
  auto r = run(e, body, attributes);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
  return std::string(r.status().message());
}

// Two pairs of warps exchange words by barriers of their own, one of them twice as often.
TEST(NamedBarrier, OrdersTheWarpsThatItIsFor) {
  Emulation e;
  auto r = run(e, std::string(kStore) + "  br i1 %low, label %a, label %b\na:\n" + sync(1, 64) + load("v") +
                      sync(1, 64) + "  br label %end\nb:\n" + sync(2, 64) + load("w") + "  br label %end\nend:\n");
  ASSERT_TRUE(r.ok()) << r.status();
  for (int t = 0; t < 128; ++t) {
    int32_t v;
    memcpy(&v, e.buffers[0].data() + 4 * t, 4);
    EXPECT_EQ(v, t ^ 32);
  }
}

TEST(NamedBarrier, OrdersNobodyElse) {
  // Warps 0 and 2 meet, and so do 1 and 3; words go between 0 and 1.
  std::string body = std::string(kStore) +
                     "  %even = and i32 %warp, 1\n  %is = icmp eq i32 %even, 0\n  br i1 %is, label %a, label %b\na:\n" +
                     sync(1, 64) + "  br label %end\nb:\n" + sync(2, 64) + "  br label %end\nend:\n" + load("v");
  EXPECT_THAT(messageOf(body), AllOf(HasSubstr("race"), HasSubstr("no barrier orders the two")));
  // One after the other, both do: 0 with 2, 1 with 3, then 2 with 3, then each signals its partner.
  std::string chain =
      std::string(kStore) +
      "  %even = and i32 %warp, 1\n  %is = icmp eq i32 %even, 0\n  br i1 %is, label %a, label %b\na:\n" + sync(1, 64) +
      "  br label %m\nb:\n" + sync(2, 64) + "  br label %m\nm:\n  br i1 %low, label %n, label %high\nhigh:\n" +
      sync(3, 64) + "  br label %n\nn:\n  br i1 %is, label %c, label %d\nc:\n" + sync(1, 64) + "  br label %end\nd:\n" +
      sync(2, 64) + "  br label %end\nend:\n" + load("v");
  Emulation e;
  auto r = run(e, chain);
  EXPECT_TRUE(r.ok()) << r.status();
}

TEST(NamedBarrier, OfAllWarpsOrdersTheBlock) {
  Emulation e;
  auto r = run(e, kStore + sync(5, 128) + load("v"));
  EXPECT_TRUE(r.ok()) << r.status();
}

// The number in a register: warps 0 and 1 meet at barrier 2, warps 2 and 3 at barrier 3.
TEST(NamedBarrier, NumberInARegister) {
  auto syncAt = [](const char *number) {
    return llvm::formatv("  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 {0}, i32 64)\n", number).str();
  };
  std::string pairs = "  %pair = lshr i32 %warp, 1\n  %number = add i32 %pair, 2\n";
  Emulation e;
  auto r = run(e, kStore + pairs + syncAt("%number") + load("v"));
  EXPECT_TRUE(r.ok()) << r.status();
  EXPECT_THAT(messageOf(kStore + ("  %number = and i32 %warp, 1\n" + syncAt("%number")) + load("v")),
              HasSubstr("no barrier orders the two"));
  EXPECT_THAT(messageOf("  %number = and i32 %t, 1\n" + syncAt("%number")),
              HasSubstr("the lanes of a warp name different barriers"));
  EXPECT_THAT(messageOf("  %number = or i32 %warp, 16\n" + syncAt("%number")), HasSubstr("there is no barrier 16"));
}

// Warps 0 and 1 load what the other one stored: 0 after 1 has arrived without waiting, 1 after 0 has.
TEST(NamedBarrier, ArrivalsOrderWhatComesBefore) {
  std::string begin =
      std::string(kStore) + "  br i1 %low, label %a, label %end\na:\n  br i1 %first, label %b, label %c\n";
  std::string end = "  br label %end\nend:\n";
  std::string first = "b:\n" + arrive(2, 64) + sync(1, 64) + load("v") + "  br label %end\n";
  std::string second = "c:\n" + arrive(1, 64) + sync(2, 64) + load("w");
  Emulation e;
  auto r = run(e, begin + first + second + end);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_THAT(messageOf(begin + first + "c:\n" + load("w") + arrive(1, 64) + end),
              HasSubstr("no barrier orders the two"));
  EXPECT_THAT(messageOf(begin + "b:\n" + sync(1, 64) + load("v") + "  br label %end\n" + second + end),
              HasSubstr("waits at barrier 2 for 64 threads, of which 32 have come"));
}

TEST(NamedBarrier, ArrivalsThatDoNotFit) {
  EXPECT_THAT(messageOf(arrive(1, 128) + arrive(1, 128)),
              HasSubstr("arrives at barrier 1 again, before all of its threads have come to it"));
  EXPECT_THAT(messageOf("  br i1 %first, label %a, label %b\na:\n" + arrive(1, 64) + "  br label %end\nb:\n" +
                        arrive(1, 128) + "  br label %end\nend:\n"),
              AllOf(HasSubstr("arrives at barrier 1 for"), HasSubstr("64"), HasSubstr("128")));
  EXPECT_THAT(messageOf("  br i1 %first, label %a, label %b\na:\n" + arrive(1, 64) + "  br label %end\nb:\n" +
                        sync(1, 128) + "  br label %end\nend:\n"),
              HasSubstr("waits at barrier 1 for 128 threads, and warp 0 arrives for 64"));
  EXPECT_THAT(messageOf("  br i1 %first, label %a, label %b\na:\n" + arrive(1, 64) + "  br label %end\nb:\n" +
                        sync(1, 64) + "  br label %end\nend:\n"),
              HasSubstr("barrier 1 is for 64 threads, and 128 have come to it"));
}

TEST(NamedBarrier, ArrivalsEndWithTheirBlock) {
  Emulation e;
  e.grid = {2, 1, 1};
  auto r = run(e, "  br i1 %first, label %a, label %end\na:\n" + arrive(1, 64) + "  br label %end\nend:\n");
  EXPECT_TRUE(r.ok()) << r.status();
}

TEST(NamedBarrier, Misuse) {
  EXPECT_THAT(messageOf("  br i1 %first, label %a, label %end\na:\n" + sync(1, 64) + "  br label %end\nend:\n"),
              HasSubstr("waits at barrier 1 for 64 threads, of which 32 have come"));
  EXPECT_THAT(messageOf("  br i1 %first, label %a, label %b\na:\n" + sync(1, 64) + "  br label %end\nb:\n" +
                        sync(1, 96) + "  br label %end\nend:\n"),
              AllOf(HasSubstr("barrier 1"), HasSubstr("64 threads"), HasSubstr("for 96")));
  EXPECT_THAT(messageOf(sync(1, 64)), HasSubstr("barrier 1 is for 64 threads, and 128 have come to it"));
  EXPECT_THAT(
      messageOf(
          "  br i1 %first, label %a, label %b\na:\n" + sync(1, 64) +
          "  br label %end\nb:\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %end\nend:\n"),
      HasSubstr("barrier"));
  // A part of a warp.
  EXPECT_THAT(messageOf("  %l = icmp ult i32 %t, 16\n  br i1 %l, label %a, label %end\na:\n" + sync(1, 32) +
                        "  br label %end\nend:\n"),
              HasSubstr("16 of the warp's 32 threads"));
  for (auto [number, threads] : {std::pair(16, 64), std::pair(1, 48), std::pair(1, 0), std::pair(1, 2048)}) {
    Emulation e;
    EXPECT_EQ(run(e, sync(number, threads)).status().code(), absl::StatusCode::kUnimplemented)
        << number << " " << threads;
  }
}

TEST(SetMaxRegisters, ChangesWhatTheKernelStartsWith) {
  auto set = [](const char *how, int n) {
    return llvm::formatv("  call void @llvm.nvvm.setmaxnreg.{0}.sync.aligned.u32(i32 {1})\n", how, n).str();
  };
  constexpr const char *kStarts = " \"nvvm.maxnreg\"=\"128\"";
  Emulation e;
  auto r = run(e, set("dec", 40) + set("inc", 128) + set("inc", 168), kStarts);
  EXPECT_TRUE(r.ok()) << r.status();
  EXPECT_THAT(messageOf(set("dec", 40)), HasSubstr("does not say how many registers it starts with"));
  EXPECT_THAT(messageOf(set("inc", 40), kStarts), HasSubstr("setmaxnreg.inc to 40 registers of a thread that has 128"));
  EXPECT_THAT(messageOf(set("dec", 136), kStarts),
              HasSubstr("setmaxnreg.dec to 136 registers of a thread that has 128"));
}

// ---- partitions ----

/// A partition turns 256 numbers round through shared memory; the default region adds others up.
constexpr const char *kTurn =
    R"(#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c7 = arith.constant 7 : i32
    %shift = arith.addi %pid, %c7 : i32
    ttg.warp_specialize(%a, %o, %shift)
    default {
      %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #d>
      %s = tt.splat %a : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #d>
      %p = tt.addptr %s, %i : tensor<256x!tt.ptr<i32>, #d>, tensor<256xi32, #d>
      %v = tt.load %p : tensor<256x!tt.ptr<i32>, #d>
      %r = "tt.reduce"(%v) ({
      ^bb0(%x: i32, %y: i32):
        %z = arith.addi %x, %y : i32
        tt.reduce.return %z : i32
      }) {axis = 0 : i32} : (tensor<256xi32, #d>) -> i32
      tt.store %o, %r : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%pa: !tt.ptr<i32>, %po: !tt.ptr<i32>, %ps: i32) num_warps(4) {
      %c1 = arith.constant 1 : i32
      %c255 = arith.constant dense<255> : tensor<256xi32, #d>
      %to = tt.addptr %po, %c1 : !tt.ptr<i32>, i32
      %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #d>
      %s = tt.splat %pa : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #d>
      %p = tt.addptr %s, %i : tensor<256x!tt.ptr<i32>, #d>, tensor<256xi32, #d>
      %v = tt.load %p : tensor<256x!tt.ptr<i32>, #d>
      %b = ttg.local_alloc : () -> !ttg.memdesc<256xi32, #plain, #smem, mutable>
      ttg.local_store %v, %b : tensor<256xi32, #d> -> !ttg.memdesc<256xi32, #plain, #smem, mutable>
      %j = arith.subi %c255, %i : tensor<256xi32, #d>
      %w = ttg.local_gather %b[%j] {axis = 0 : i32} : !ttg.memdesc<256xi32, #plain, #smem, mutable>, tensor<256xi32, #d> -> tensor<256xi32, #d>
      %n = tt.splat %ps : i32 -> tensor<256xi32, #d>
      %x = arith.addi %w, %n : tensor<256xi32, #d>
      %t = tt.splat %to : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #d>
      %q = tt.addptr %t, %i : tensor<256x!tt.ptr<i32>, #d>, tensor<256xi32, #d>
      tt.store %q, %x : tensor<256x!tt.ptr<i32>, #d>
      ttg.warp_return
    } : (!tt.ptr<i32>, !tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
)";

/// The calls of the barrier with this number, in order.
std::vector<llvm::CallInst *> barriers(llvm::Module &m, uint64_t number) {
  std::vector<llvm::CallInst *> out;
  for (auto &f : m)
    for (auto &b : f)
      for (auto &i : b)
        if (auto *c = llvm::dyn_cast<llvm::CallInst>(&i);
            c && c->getCalledFunction() && c->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier.cta.sync"))
          if (llvm::cast<llvm::ConstantInt>(c->getArgOperand(0))->getZExtValue() == number) out.push_back(c);
  return out;
}

TEST(WarpSpecialize, TurnsAndAdds) {
  for (const char *target : {"sm_80", "sm_90a"}) {
    Emulation e;
    e.target = target;
    auto r = e.text(kTurn, "k", {testing::counting(1024), zeros(4 * 257)});
    ASSERT_TRUE(r.ok()) << r.status();
    std::vector<int32_t> got(257);
    memcpy(got.data(), e.buffers[1].data(), 4 * 257);
    EXPECT_EQ(got[0], 255 * 128);
    for (int k = 0; k < 256; ++k) EXPECT_EQ(got[1 + k], 255 - k + 7);
  }
}

TEST(WarpSpecialize, PlantedFaultsAreFound) {
  auto with = [](llvm::function_ref<void(llvm::Module &)> change) {
    Emulation e;
    auto r = e.text(kTurn, "k", {testing::counting(1024), zeros(4 * 257)}, change);
    return std::string(r.status().message());
  };
  // Without the partition's own barrier.
  EXPECT_THAT(with([](llvm::Module &m) {
                ASSERT_EQ(barriers(m, 2).size(), 1u);
                barriers(m, 2)[0]->eraseFromParent();
              }),
              ::testing::AnyOf(HasSubstr("race"), HasSubstr("never wrote")));
  // Made the default region's, or for fewer threads.
  EXPECT_THAT(with([](llvm::Module &m) {
                barriers(m, 2)[0]->setArgOperand(0, llvm::ConstantInt::get(llvm::Type::getInt32Ty(m.getContext()), 0));
              }),
              HasSubstr("barrier"));
  EXPECT_THAT(with([](llvm::Module &m) {
                barriers(m, 2)[0]->setArgOperand(1, llvm::ConstantInt::get(llvm::Type::getInt32Ty(m.getContext()), 64));
              }),
              HasSubstr("barrier 2 is for 64 threads"));
  // Without one of the barriers of all warps.
  size_t meetings = 0;
  with([&](llvm::Module &m) { meetings = barriers(m, 1).size(); });
  EXPECT_GE(meetings, 4u);
  for (size_t k = 0; k < meetings; ++k)
    EXPECT_THAT(with([&](llvm::Module &m) { barriers(m, 1)[k]->eraseFromParent(); }),
                ::testing::AnyOf(HasSubstr("barrier"), HasSubstr("race"), HasSubstr("never wrote")))
        << k;
}

} // namespace
} // namespace tessera
