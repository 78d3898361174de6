// mbarrier and elect.sync on the emulator: modules written by hand, sound ones and planted faults.
#include "emulation.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::AllOf;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::zeros;

/// kernel(x): body with %t (thread), %warp, @smem (bytes 0 and 8: mbarriers; data from byte 64 on).
std::string module(llvm::StringRef body) {
  return R"(target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@smem = external addrspace(3) global [0 x i8], align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %h0, ptr addrspace(1) %h1) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %t, 5
  %first = icmp eq i32 %t, 0
  %second = getelementptr i8, ptr addrspace(3) @smem, i32 8
  %data = getelementptr i8, ptr addrspace(3) @smem, i32 64
  %mine = getelementptr i32, ptr addrspace(3) %data, i32 %t
  %o = xor i32 %t, 32
  %other = getelementptr i32, ptr addrspace(3) %data, i32 %o
  %out = getelementptr i32, ptr addrspace(1) %x, i32 %t
)" + body.str() +
         "  ret void\n}\n";
}
/// Thread 0 initialises the barrier, then all meet.
std::string initialised(int count,
                        const char *barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n") {
  return "  br i1 %first, label %init, label %go\ninit:\n  call void asm sideeffect \"mbarrier.init.shared::cta.b64 "
         "[$0], " +
         std::to_string(count) + ";\", \"r\"(ptr addrspace(3) @smem)\n  br label %go\ngo:\n" + barrier;
}
constexpr const char *kArrive =
    "  %s = call i64 asm sideeffect \"mbarrier.arrive.shared::cta.b64 $0, [$1];\", \"=l,r\"(ptr addrspace(3) @smem)\n";
std::string waitFor(const char *name, int parity, const char *form = "try_wait") {
  std::string n = name;
  return "  br label %" + n + "\n" + n + ":\n  %p" + n + " = call i32 asm sideeffect \"{ .reg .pred q; mbarrier." +
         form +
         ".parity.shared::cta.b64 q, [$1], $2; selp.u32 $0, 1, 0, q; }\", \"=r,r,r\"(ptr addrspace(3) @smem, i32 " +
         std::to_string(parity) + ")\n  %c" + n + " = icmp eq i32 %p" + n + ", 0\n  br i1 %c" + n + ", label %" + n +
         ", label %" + n + "done\n" + n + "done:\n";
}
constexpr const char
    *kStore = "  store i32 %t, ptr addrspace(3) %mine, align 4\n",
    *kLoad = "  %v = load i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align 4\n";

absl::StatusOr<emulator::Report> run(Emulation &e, const std::string &body) {
  e.numWarps = 2;
  e.sharedBytes = 1024;
  return e.llvmModule(module(body), {zeros(256)});
}
std::string messageOf(const std::string &body) {
  Emulation e;
  auto r = run(e, body);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
  return std::string(r.status().message());
}

TEST(Mbarrier, ArrivalsOrderWhatCameBefore) {
  for (const char *form : {"try_wait", "test_wait"}) {
    Emulation e;
    auto r = run(e, initialised(64) + kStore + kArrive + waitFor("w", 0, form) + kLoad);
    ASSERT_TRUE(r.ok()) << r.status();
    for (int t = 0; t < 64; ++t) EXPECT_EQ(e.buffers[0][size_t(t) * 4], t ^ 32);
  }
}
TEST(Mbarrier, PhasesFollowOneAnother) {
  // Three iterations of: write, arrive, wait, read, arrive, wait.
  std::string body = initialised(64);
  for (int k = 0; k < 3; ++k) {
    std::string n = std::to_string(k), arrive = kArrive, load = kLoad;
    auto rename = [&](std::string s, const char *from, const std::string &to) {
      for (size_t at = 0; (at = s.find(from, at)) != std::string::npos; at += to.size())
        s.replace(at, strlen(from), to);
      return s;
    };
    body += "  %d" + n + " = add i32 %t, " + n + "\n  store i32 %d" + n + ", ptr addrspace(3) %mine, align 4\n" +
            rename(arrive, "%s ", "%sa" + n + " ") + waitFor(("a" + n).c_str(), 0) + rename(load, "%v", "%v" + n) +
            rename(arrive, "%s ", "%sb" + n + " ") + waitFor(("b" + n).c_str(), 1);
  }
  Emulation e;
  auto r = run(e, body);
  ASSERT_TRUE(r.ok()) << r.status();
  for (int t = 0; t < 64; ++t) EXPECT_EQ(e.buffers[0][size_t(t) * 4], (t ^ 32) + 2);
}
TEST(Mbarrier, AWaitLateInALongRunTakesFewInstructions) {
  // The first warp waits for the second one, which has not run yet.
  std::string loop = "  br label %loop\nloop:\n  %i = phi i32 [ 0, %go ], [ %n, %loop ]\n"
                     "  store i32 %i, ptr addrspace(1) %out, align 4\n  %n = add i32 %i, 1\n"
                     "  %more = icmp slt i32 %n, 22000\n  br i1 %more, label %loop, label %ready\nready:\n";
  Emulation without, with;
  auto runs = run(without, initialised(64) + loop + kArrive);
  auto waits = run(with, initialised(64) + loop + kArrive + waitFor("w", 0));
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_TRUE(waits.ok()) << waits.status();
  EXPECT_LT(waits->instructions - runs->instructions, 2000U);
}
TEST(Mbarrier, OneArrivalForTheWarpAfterAWarpBarrier) {
  // The elected lane of each warp arrives for all, after they met.
  std::string body = initialised(2) + kStore +
                     "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"
                     "  %e = call i32 asm sideeffect \"{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 $0, 1, 0, "
                     "q; }\", \"=r\"()\n  %is = icmp ne i32 %e, 0\n  br i1 %is, label %arrive, label %join\narrive:\n" +
                     std::string(kArrive) + "  br label %join\njoin:\n" + waitFor("w", 0) + kLoad;
  Emulation e;
  auto r = run(e, body);
  ASSERT_TRUE(r.ok()) << r.status();
  // Without that meeting the other lanes' stores are not ordered.
  std::string without = body;
  without.replace(without.find("  call void @llvm.nvvm.bar.warp.sync"),
                  std::string("  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n").size(), "");
  EXPECT_THAT(messageOf(without), HasSubstr("race"));
}
TEST(Mbarrier, ExpectedBytesKeepThePhaseOpen) {
  std::string expect =
      "  br i1 %first, label %expect, label %goon\nexpect:\n  %es = call i64 asm sideeffect "
      "\"mbarrier.arrive.expect_tx.shared::cta.b64 $0, [$1], 128;\", \"=l,r\"(ptr addrspace(3) @smem)\n";
  std::string complete = "  call void asm sideeffect \"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$0], 128;\", "
                         "\"r\"(ptr addrspace(3) @smem)\n";
  Emulation e;
  EXPECT_TRUE(run(e, initialised(1) + expect + complete + "  br label %goon\ngoon:\n" + waitFor("w", 0)).ok());
  EXPECT_THAT(messageOf(initialised(1) + expect + "  br label %goon\ngoon:\n" + waitFor("w", 0)),
              HasSubstr("deadlock"));
}
TEST(MbarrierFaults, NoWait) {
  EXPECT_THAT(messageOf(initialised(64) + kStore + kArrive + kLoad),
              ::testing::AnyOf(HasSubstr("race"), HasSubstr("never wrote")));
}
TEST(MbarrierFaults, WaitsForTheWrongParity) {
  EXPECT_THAT(messageOf(initialised(64) + kStore + kArrive + waitFor("w", 1) + kLoad),
              ::testing::AnyOf(HasSubstr("race"), HasSubstr("never wrote")));
}
TEST(MbarrierFaults, TooFewArrive) {
  EXPECT_THAT(messageOf(initialised(65) + kStore + kArrive + waitFor("w", 0) + kLoad), HasSubstr("deadlock"));
}
TEST(MbarrierFaults, TooManyArrive) {
  EXPECT_THAT(messageOf(initialised(40) + kArrive +
                        "  %two = call i64 asm sideeffect \"mbarrier.arrive.shared::cta.b64 $0, [$1], 41;\", "
                        "\"=l,r\"(ptr addrspace(3) @smem)\n"),
              HasSubstr("whose phase waits for"));
}
TEST(MbarrierFaults, NotInitialised) {
  EXPECT_THAT(messageOf(kArrive), HasSubstr("no initialised mbarrier at byte 0"));
}
TEST(MbarrierFaults, UsedWithoutABarrierAfterInitialisation) {
  EXPECT_THAT(messageOf(initialised(64, "") + kArrive), AllOf(HasSubstr("race"), HasSubstr("byte 0 of shared memory")));
}
TEST(MbarrierFaults, Overwritten) {
  EXPECT_THAT(messageOf(initialised(64) + "  store i32 0, ptr addrspace(3) @smem, align 8\n"),
              HasSubstr("where an mbarrier lives"));
}
TEST(MbarrierFaults, InitialisedTwice) {
  EXPECT_THAT(
      messageOf(initialised(64) +
                "  br i1 %first, label %again, label %end\nagain:\n  call void asm sideeffect "
                "\"mbarrier.init.shared::cta.b64 [$0], 1;\", \"r\"(ptr addrspace(3) @smem)\n  br label %end\nend:\n"),
      HasSubstr("initialised already"));
}
TEST(MbarrierFaults, Misaligned) {
  EXPECT_THAT(
      messageOf("  br i1 %first, label %init, label %go\ninit:\n  call void asm sideeffect "
                "\"mbarrier.init.shared::cta.b64 [$0+4], 1;\", \"r\"(ptr addrspace(3) @smem)\n  br label %go\ngo:\n"),
      HasSubstr("not a multiple of 8"));
}
TEST(Mbarrier, InvalidatedMemoryIsFreeAgain) {
  std::string meet = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  Emulation e;
  auto r = run(e, initialised(64) + kArrive + waitFor("w", 0) + meet +
                      "  br i1 %first, label %inval, label %end\ninval:\n  call void asm sideeffect "
                      "\"mbarrier.inval.shared::cta.b64 [$0];\", \"r\"(ptr addrspace(3) @smem)\n  store i32 7, ptr "
                      "addrspace(3) @smem, align 8\n  br label %end\nend:\n");
  EXPECT_TRUE(r.ok()) << r.status();
}

} // namespace
} // namespace tessera
