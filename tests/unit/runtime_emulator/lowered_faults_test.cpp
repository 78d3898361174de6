// Planted faults in LLVM IR as the lowering writes it, each of which the emulator must find and name: missing barriers
// and waits, wrong swizzles, divergence, accesses out of bounds. Most have a sound twin. Faults in kernels:
// faults_test.cpp.
#include "faults.h"
#include "llvm/IR/Metadata.h"

namespace tessera {
namespace {

using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::messageOf;
using testing::zeros;

using LoweredFaults = testing::OnTarget;
INSTANTIATE_TEST_SUITE_P(Targets, LoweredFaults, testing::kFaultTargets, [](auto &i) { return std::string(i.param); });

struct Module {
  bool amd;
  using Texts = std::initializer_list<std::pair<llvm::StringRef, llvm::StringRef>>;
  /// A kernel of this body: %tid is the thread's number, %x the argument, @global_smem shared memory. Words of the body
  /// are replaced by texts, and $BARRIER by a barrier as the target's lowering writes it.
  std::string operator()(llvm::StringRef body, Texts texts = {}) const {
    std::string s = amd ? R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)"
                        : R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
)";
    s += "@global_smem = external addrspace(3) global [0 x i8], align 16\n@table = internal addrspace(1) constant [2 x "
         "i32] [i32 5, i32 6]\n";
    s += "define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {\nentry:\n  "
         "%tid = call i32 ";
    s += amd ? "@llvm.amdgcn.workitem.id.x()\n" : "@llvm.nvvm.read.ptx.sreg.tid.x()\n";
    std::string barrier = amd ? "fence syncscope(\"workgroup\") release, !mmra !0\n  call void "
                                "@llvm.amdgcn.s.barrier()\n  fence syncscope(\"workgroup\") acquire, !mmra !0\n"
                              : "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
    std::string b = body.str();
    auto replace = [&](llvm::StringRef word, llvm::StringRef text) {
      for (size_t at = 0; (at = b.find(word, at)) != std::string::npos; at += text.size())
        b.replace(at, word.size(), text);
    };
    for (auto [word, text] : texts) replace(word, text);
    replace("$BARRIER", barrier);
    return s + b + "}\n!0 = !{!\"amdgpu-synchronize-as\", !\"local\"}\n";
  }
};

#define MINE "  %mine = getelementptr i32, ptr addrspace(3) @global_smem, i32 %tid\n"
#define OTHER "  %o = xor i32 %tid, 64\n  %other = getelementptr i32, ptr addrspace(3) @global_smem, i32 %o\n"
#define OUT "  %out = getelementptr i32, ptr addrspace(1) %x, i32 %tid\n"

TEST_P(LoweredFaults, MissingBarrier) {
  auto e = make();
  e.sharedBytes = 4096;
  unsigned threads = amd() ? 256 : 128;
  std::string store = MINE OTHER OUT "  store i32 %tid, ptr addrspace(3) %mine, align 4\n",
              load = "  %v = load i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align "
                     "4\n  ret void\n";
  EXPECT_SOUND(e.llvmModule(Module{amd()}(store + "  $BARRIER" + load), {zeros(threads * 4)}));
  auto r = e.llvmModule(Module{amd()}(store + load), {zeros(threads * 4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted);
  // The first warp finds nothing there yet, or the second what the first wrote.
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("never wrote"), HasSubstr("race")));
}
TEST_P(LoweredFaults, MissingBarrierBeforeOverwriting) {
  auto e = make();
  e.sharedBytes = 4096;
  std::string body = MINE OTHER OUT R"(  store i32 %tid, ptr addrspace(3) %mine, align 4
  $BARRIER
  %v = load i32, ptr addrspace(3) %other, align 4
  SECOND
  store i32 %v, ptr addrspace(3) %mine, align 4
  ret void
)";
  auto with = [&](const char *text) { return Module{amd()}(body, {{"SECOND", text}}); };
  EXPECT_SOUND(e.llvmModule(with("$BARRIER"), {zeros(2048)}));
  EXPECT_FOUND(e.llvmModule(with(""), {zeros(2048)}), HasSubstr("race: it "),
               HasSubstr("of shared memory, which thread"), HasSubstr("no barrier orders the two"));
}
TEST(LoweredFaultsOfOneVendor, BarriersOfInlinePtx) {
  // Through global memory: what the other half of the threads wrote.
  auto with = [](const std::string &barrier) {
    return Module{false}(R"(  %p = getelementptr i32, ptr addrspace(1) %x, i32 %tid
  %o = xor i32 %tid, 64
  %q = getelementptr i32, ptr addrspace(1) %x, i32 %o
  store i32 %tid, ptr addrspace(1) %p, align 4
  call void asm sideeffect ")" +
                         barrier + R"(", ""()
  %v = load i32, ptr addrspace(1) %q, align 4
  %r = getelementptr i32, ptr addrspace(1) %q, i32 128
  store i32 %v, ptr addrspace(1) %r, align 4
  ret void
)");
  };
  for (const char *barrier : {"bar.sync 0;", "barrier.sync 0;", "barrier.cta.sync.aligned 0;"}) {
    Emulation e;
    EXPECT_SOUND(e.llvmModule(with(barrier), {zeros(2048)}));
  }
  Emulation e;
  EXPECT_FOUND(e.llvmModule(with(""), {zeros(2048)}), HasSubstr("race: it "));
  EXPECT_SOUND(e.llvmModule(with("griddepcontrol.wait; bar.sync 0; griddepcontrol.launch_dependents;"), {zeros(2048)}));
  EXPECT_FOUND(e.llvmModule(with("griddepcontrol.wait;"), {zeros(2048)}), HasSubstr("race: it "));
  EXPECT_FOUND(e.llvmModule(with("bar.sync 0; trap; // never comes back"), {zeros(2048)}),
               HasSubstr("the kernel traps (inline PTX 'trap')"));
  EXPECT_SOUND(e.llvmModule(with("bar.sync 0; { .reg .pred p; setp.ne.u32 p, 1, 1; @p trap; }"), {zeros(2048)}));
  for (const char *unknown : {"bar.sync 1;", "bar.sync 0, 64;", "bar.arrive 0, 128;", "griddepcontrol.other;"})
    EXPECT_EQ(e.llvmModule(with(unknown), {zeros(2048)}).status().code(), absl::StatusCode::kUnimplemented) << unknown;
}
/// 64 elements of x are loaded by all threads, a copy for each 64 of them, and changed by those for which `owner` is
/// true. REST follows: %q is a place of the thread's own.
std::string inPlace(llvm::StringRef owner, llvm::StringRef rest) {
  return R"(  %e = and i32 %tid, 63
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %e
  %o = add i32 %tid, 64
  %q = getelementptr i32, ptr addrspace(1) %x, i32 %o
  %v = load i32, ptr addrspace(1) %p, align 4
  %w = add i32 %v, 1
  %owns = icmp )" +
         owner.str() + R"(
  br i1 %owns, label %change, label %rest
change:
  store i32 %w, ptr addrspace(1) %p, align 4
  br label %rest
rest:
)" + rest.str() +
         "  ret void\n";
}
TEST_P(LoweredFaults, CopiesOfWhatIsChangedInPlace) {
  auto e = make();
  bool wide = llvm::StringRef(GetParam()).starts_with("gfx9"); // four warps of 64 lanes, else of 32
  std::string last = "uge i32 %tid, " + std::to_string(wide ? 192 : 64);
  for (std::string owner : {std::string("ult i32 %tid, 64"), last}) {
    auto run = [&](llvm::StringRef rest) { return e.llvmModule(Module{amd()}(inPlace(owner, rest)), {zeros(2048)}); };
    EXPECT_SOUND(run(""));
    EXPECT_SOUND(run("  store i32 %tid, ptr addrspace(1) %q, align 4\n"));
    EXPECT_SOUND(run("  %c = icmp sgt i32 %v, 7\n  %d = select i1 %c, i32 1, i32 2\n"));
    // What a copy holds is stored, directly or as an address, or decides what is stored.
    EXPECT_FOUND(run("  store i32 %v, ptr addrspace(1) %q, align 4\n"), HasSubstr("race: it "), HasSubstr("of 'a'"),
                 HasSubstr("no barrier orders the two"));
    EXPECT_FOUND(run("  %d = mul i32 %v, 4\n  %r = getelementptr i32, ptr addrspace(1) %q, i32 %d\n"
                     "  store i32 %tid, ptr addrspace(1) %r, align 4\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n"
                     "  store i32 %tid, ptr addrspace(1) %q, align 4\n  br label %end\nend:\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n  br label %end\nend:\n"
                     "  %f = phi i32 [ 1, %rest ], [ 2, %less ]\n  store i32 %f, ptr addrspace(1) %q, align 4\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n"
                     "  $BARRIER  br label %end\nend:\n"),
                 HasSubstr("race: it "));
  }
}
TEST_P(LoweredFaults, UninitialisedSharedMemory) {
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_FOUND(e.llvmModule(Module{amd()}(MINE OUT "  %v = load i32, ptr addrspace(3) %mine, align 4\n  store i32 %v, "
                                                   "ptr addrspace(1) %out, align 4\n  ret void\n"),
                            {zeros(2048)}),
               HasSubstr("reads byte 0 of shared memory, which the block never wrote"),
               HasSubstr("thread 0 (warp 0, lane 0)"));
}
TEST_P(LoweredFaults, WrongSwizzle) {
  // Written with a row of 33 words, read with 32: what was not written shows.
  auto e = make(1);
  e.sharedBytes = 64 * 33 * 4;
  std::string body = R"(  %at = mul i32 %tid, 33
  %p = getelementptr i32, ptr addrspace(3) @global_smem, i32 %at
  store i32 %tid, ptr addrspace(3) %p, align 4
  $BARRIER
  %bt = mul i32 %tid, STRIDE
  %q = getelementptr i32, ptr addrspace(3) @global_smem, i32 %bt
  %v = load i32, ptr addrspace(3) %q, align 4
)" OUT R"(  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
)";
  auto with = [&](const char *text) { return Module{amd()}(body, {{"STRIDE", text}}); };
  EXPECT_SOUND(e.llvmModule(with("33"), {zeros(256)}));
  EXPECT_FOUND(e.llvmModule(with("32"), {zeros(256)}),
               HasSubstr("reads byte 128 of shared memory, which the block never wrote"));
}
TEST_P(LoweredFaults, SharedMemoryOutOfBounds) {
  auto e = make();
  e.sharedBytes = 256;
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}(MINE "  store i32 %tid, ptr addrspace(3) %mine, align 4\n  ret void\n"), {zeros(4)}),
      HasSubstr("out of bounds: it writes 4 bytes at byte 256 of shared memory, which has 256"),
      HasSubstr("thread 64"));
}
TEST_P(LoweredFaults, SharedMemoryMisaligned) {
  auto e = make();
  e.sharedBytes = 8192;
  EXPECT_FOUND(
      e.llvmModule(
          Module{amd()}(MINE "  store <4 x i32> zeroinitializer, ptr addrspace(3) %mine, align 16\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("misaligned access: it writes 16 bytes at byte 4 of shared memory"));
}
TEST_P(LoweredFaults, BarrierInDivergentCode) {
  auto e = make();
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, 5\n  br i1 %c, label %a, label %b\na:\n  $BARRIER "
                                          " br label %b\nb:\n  ret void\n"),
                            {zeros(4)}),
               HasSubstr("the barrier is reached by 5 of the warp's"), HasSubstr("is in another branch"));
}
TEST_P(LoweredFaults, TheSignBitMadeOfOneBitIsNoWrap) {
  auto e = make(1);
  EXPECT_SOUND(e.llvmModule(
      Module{amd()}(
          "  %odd = and i32 %tid, 1\n  %c = icmp eq i32 %odd, 0\n  br i1 %c, label %even, label %end\neven:\n  %s = "
          "shl i32 %tid, 31\n  %o = or disjoint i32 %s, 1\n  %p = getelementptr i32, ptr addrspace(1) %x, i32 %o\n"
          "  %v = load i32, ptr addrspace(1) %p, align 4\n  br label %end\nend:\n  ret void\n"),
      {zeros(8)}));
}
TEST_P(LoweredFaults, OneLaneWorksWhileTheOthersWait) {
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_SOUND(e.llvmModule(
      Module{amd()}(MINE "  %c = icmp eq i32 %tid, 0\n  br i1 %c, label %a, label %b\na:\n  %i = phi i32 [ 0, %entry "
                         "], [ %n, %a ]\n  store i32 %i, ptr addrspace(3) %mine, align 4\n  %n = add i32 %i, 1\n"
                         "  %m = icmp ult i32 %n, 20000\n  br i1 %m, label %a, label %b\nb:\n  $BARRIER  ret void\n"),
      {zeros(4)}));
}
/// Long loops of all lanes are no reason to take lanes past the place where branches join.
TEST_P(LoweredFaults, BranchesAfterALongLoop) {
  auto e = make();
  EXPECT_SOUND(e.llvmModule(Module{amd()}(R"(  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 1200000
  br i1 %more, label %loop, label %split
split:
  %odd = trunc i32 %tid to i1
  br i1 %odd, label %some, label %join
some:
  %out = getelementptr i32, ptr addrspace(1) %x, i32 %tid
  store i32 %tid, ptr addrspace(1) %out, align 4
  br label %join
join:
  $BARRIER
  ret void
)"),
                            {zeros(4 * 256)}));
}

TEST_P(LoweredFaults, LockAmongTheLanesOfAWarp) {
  // Lanes of NVIDIA's warps run independently; those of a wave wait for each other.
  auto e = make(1);
  auto r = e.llvmModule(
      Module{amd()}("  br label %spin\nspin:\n  %old = cmpxchg ptr addrspace(1) %x, i32 0, i32 1 acq_rel monotonic\n  "
                    "%got = extractvalue { i32, i1 } %old, 1\n  br i1 %got, label %mine, label %spin\nmine:\n"
                    "  %q = getelementptr i32, ptr addrspace(1) %x, i32 1\n  %o = atomicrmw add ptr addrspace(1) %q, "
                    "i32 1 monotonic\n  %f = atomicrmw xchg ptr addrspace(1) %x, i32 0 release\n  ret void\n"),
      {zeros(8)});
  if (amd()) {
    EXPECT_FOUND(r, HasSubstr("deadlock"));
  } else {
    EXPECT_SOUND(r);
    EXPECT_EQ(e.buffers[0][4], 32);
  }
}
TEST_P(LoweredFaults, WarpsAtDifferentBarriers) {
  auto e = make();
  unsigned warp = amd() && llvm::StringRef(GetParam()).starts_with("gfx9") ? 64 : 32;
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, " + std::to_string(warp) +
                                          "\n  br i1 %c, label %a, label %b\na:\n  $BARRIER  br label %d\nb:\n  "
                                          "$BARRIER  br label %d\nd:\n  ret void\n"),
                            {zeros(4)}),
               HasSubstr("waits at this barrier while warp 1 waits at another"));
}
TEST_P(LoweredFaults, WarpsABarrierApart) {
  if (!amd()) GTEST_SKIP() << "codegen_amd/passes/alternate_waves.cpp";
  // What the second half of the warps writes is there for the first half two barriers later.
  auto with = [&](llvm::StringRef barriers, llvm::StringRef attribute) {
    std::string m =
        Module{amd()}(MINE OTHER OUT
                      "  %late = icmp uge i32 %tid, 64\n  br i1 %late, label %wait, label %work\nwait:\n  $BARRIER  br "
                      "label %work\nwork:\n  store i32 %tid, ptr addrspace(3) %mine, align 4\n  $BARRIERS  %v = load "
                      "i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align 4\n  br i1 "
                      "%late, label %end, label %last\nlast:\n  $BARRIER  br label %end\nend:\n  ret void\n",
                      {{"$BARRIERS", barriers}});
    constexpr llvm::StringLiteral kHead = "ptr addrspace(1) %profile) ";
    return m.insert(m.find(kHead) + kHead.size(), attribute.str());
  };
  constexpr llvm::StringLiteral kAlternates = "\"tessera-alternating-waves\" ";
  auto e = make(amd() && llvm::StringRef(GetParam()).starts_with("gfx9") ? 2 : 4);
  e.sharedBytes = 4096;
  EXPECT_SOUND(e.llvmModule(with("$BARRIER $BARRIER", kAlternates), {zeros(512)}));
  EXPECT_EQ(e.buffers[0][0], 64);
  auto r = e.llvmModule(with("$BARRIER", kAlternates), {zeros(512)});
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("never wrote"), HasSubstr("race")));
  EXPECT_FOUND(e.llvmModule(with("$BARRIER $BARRIER", ""), {zeros(512)}), HasSubstr("waits at another"));
}
TEST_P(LoweredFaults, WarpEndsBeforeTheBarrier) {
  auto e = make();
  unsigned warp = llvm::StringRef(GetParam()).starts_with("gfx9") ? 64 : 32;
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, " + std::to_string(warp) +
                                 "\n  br i1 %c, label %a, label %b\na:\n  $BARRIER  br label %b\nb:\n  ret void\n"),
                   {zeros(4)}),
      HasSubstr("waits at this barrier, but warp 1 has ended without it"));
}
TEST_P(LoweredFaults, WriteToAConstant) {
  auto e = make();
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  store i32 1, ptr addrspace(1) @table, align 4\n  ret void\n"), {zeros(4)}),
               HasSubstr("writes the constant 'table'"));
}
TEST_P(LoweredFaults, Unreachable) {
  auto e = make();
  EXPECT_FOUND(
      e.llvmModule(
          Module{amd()}(
              "  %c = icmp eq i32 %tid, 7\n  br i1 %c, label %a, label %b\na:\n  unreachable\nb:\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("declared unreachable"), HasSubstr("thread 7"));
}
TEST_P(LoweredFaults, OwnMemoryOutOfBounds) {
  auto e = make();
  std::string space = amd() ? " addrspace(5)" : "";
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}("  %p = alloca [4 x i32], align 4" + std::string(amd() ? ", addrspace(5)" : "") +
                                 "\n  %q = getelementptr i32, ptr" + space + " %p, i32 %tid\n  store i32 1, ptr" +
                                 space + " %q, align 4\n  ret void\n"),
                   {zeros(4)}),
      HasSubstr("out of bounds"), HasSubstr("the thread's own memory"), HasSubstr("thread 4 "));
}
TEST_P(LoweredFaults, ShuffleWithoutAllLanes) {
  if (amd()) GTEST_SKIP() << "a wave goes through divergent code with lanes off, so this is well defined there";
  auto e = make();
  EXPECT_FOUND(
      e.llvmModule(
          Module{false}(
              "  %c = icmp ult i32 %tid, 16\n  br i1 %c, label %a, label %b\na:\n  %v = call i32 "
              "@llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 1, i32 31)\n  br label %b\nb:\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("the shuffle waits for lane 16, which is in another branch"));
}
TEST_P(LoweredFaults, MissingWarpBarrier) {
  // Lanes of one warp through shared memory: in order on AMD, only after bar.warp.sync on NVIDIA.
  auto e = make(1);
  e.sharedBytes = 4096;
  std::string body = MINE OUT R"(  %o = xor i32 %tid, 1
  %other = getelementptr i32, ptr addrspace(3) @global_smem, i32 %o
  store i32 %tid, ptr addrspace(3) %mine, align 4
  SYNC
  %v = load i32, ptr addrspace(3) %other, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
)";
  auto with = [&](const char *text) { return Module{amd()}(body, {{"SYNC", text}}); };
  if (amd()) {
    EXPECT_SOUND(e.llvmModule(with(""), {zeros(1024)}));
    return;
  }
  EXPECT_SOUND(e.llvmModule(with("call void @llvm.nvvm.bar.warp.sync(i32 -1)"), {zeros(1024)}));
  EXPECT_FOUND(e.llvmModule(with(""), {zeros(1024)}), HasSubstr("race: it reads byte"),
               HasSubstr("thread 1 (warp 0, lane 1)"));
}
TEST_P(LoweredFaults, BarrierThatOrdersSharedMemoryAlone) {
  // Global data handed from thread to thread: bar.sync orders it, AMD's barrier only if its fences do.
  auto e = make();
  std::string body = OUT R"(  %o = xor i32 %tid, 64
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %o
  store i32 %tid, ptr addrspace(1) %out, align 4
  $BARRIER
  %v = load i32, ptr addrspace(1) %from, align 4
  %w = getelementptr i32, ptr addrspace(1) %out, i32 512
  store i32 %v, ptr addrspace(1) %w, align 4
  ret void
)";
  auto module = Module{amd()}(body);
  if (!amd()) {
    EXPECT_SOUND(e.llvmModule(module, {zeros(8192)}));
    return;
  }
  EXPECT_FOUND(e.llvmModule(module, {zeros(8192)}), HasSubstr("race: it reads byte"), HasSubstr("of 'a'"));
  for (size_t at; (at = module.find(", !mmra !0")) != std::string::npos;) module.erase(at, 10);
  EXPECT_SOUND(e.llvmModule(module, {zeros(8192)}));
}
TEST_P(LoweredFaults, ReadThatIsOverBeforeABarrierOfSharedMemory) {
  // A scale that all threads load, and that one of them replaces by what it was reduced to. AMD's barrier waits for no
  // loads from buffers, but a thread that stored what it made of the loaded value has waited for the load.
  auto e = make();
  e.sharedBytes = 4096;
  auto with = [&](const char *beforeBarrier, const char *afterBarrier) {
    const char *body = MINE OTHER OUT R"(  %scale = load i32, ptr addrspace(1) %x, align 4
  %mix = add i32 %scale, %tid
  store i32 BEFORE, ptr addrspace(3) %mine, align 4
  $BARRIER
  %v = load i32, ptr addrspace(3) %other, align 4
  %new = or i32 %v, 1
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %change, label %rest
change:
  store i32 %new, ptr addrspace(1) %x, align 4
  br label %rest
rest:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 512
  store i32 AFTER, ptr addrspace(1) %place, align 4
  ret void
)";
    return Module{amd()}(body, {{"BEFORE", beforeBarrier}, {"AFTER", afterBarrier}});
  };
  EXPECT_SOUND(e.llvmModule(with("%mix", "%tid"), {zeros(8192)}));
  EXPECT_SOUND(e.llvmModule(with("%mix", "%scale"), {zeros(8192)}));
  auto module = with("%tid", "%scale");
  if (!amd()) {
    EXPECT_SOUND(e.llvmModule(module, {zeros(8192)}));
    return;
  }
  EXPECT_FOUND(e.llvmModule(module, {zeros(8192)}), HasSubstr("race: it "), HasSubstr("byte 0 of 'a'"));
}
TEST_P(LoweredFaults, ReadThatIsOverInAnEarlierIterationAlone) {
  if (!amd()) GTEST_SKIP() << "bar.sync orders the loads as well";
  // The last iteration's load is used after its barrier, the one before it was used in time.
  auto e = make();
  e.sharedBytes = 4096;
  auto with = [&](const char *used) {
    const char *body = MINE R"(  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %loop ]
  %q = getelementptr i32, ptr addrspace(1) %x, i32 512
  %scale = load i32, ptr addrspace(1) %x, align 4
  %last = icmp eq i32 %i, 1
  %mix = USED
  store i32 %mix, ptr addrspace(3) %mine, align 4
  $BARRIER
  %n = add i32 %i, 1
  br i1 %last, label %done, label %loop
done:
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %change, label %rest
change:
  store i32 5, ptr addrspace(1) %x, align 4
  br label %rest
rest:
  %r = getelementptr i32, ptr addrspace(1) %q, i32 %tid
  store i32 %scale, ptr addrspace(1) %r, align 4
  ret void
)";
    return Module{true}(body, {{"USED", used}});
  };
  EXPECT_SOUND(e.llvmModule(with("add i32 %scale, %tid"), {zeros(8192)}));
  EXPECT_FOUND(e.llvmModule(with("add i32 %i, %tid"), {zeros(8192)}), HasSubstr("race: it "));
}
TEST_P(LoweredFaults, BarrierWithoutFences) {
  if (!amd()) GTEST_SKIP() << "bar.sync orders memory by itself";
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_FOUND(
      e.llvmModule(
          Module{true}(
              MINE OTHER OUT
              "  store i32 %tid, ptr addrspace(3) %mine, align 4\n  call void @llvm.amdgcn.s.barrier()\n  %v = load "
              "i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align 4\n  ret void\n"),
          {zeros(2048)}),
      HasSubstr("race"));
}

constexpr const char *kWaitForCopies = "call void asm sideeffect \"cp.async.wait_group 0;\", \"~{memory}\"()";

TEST_P(LoweredFaults, MissingWaitForAsynchronousCopies) {
  if (amd()) GTEST_SKIP() << "cp.async is NVIDIA's";
  auto e = make();
  e.sharedBytes = 4096;
  std::string body = MINE OTHER OUT R"(  %s = ptrtoint ptr addrspace(3) %mine to i32
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %s, ptr addrspace(1) %out)
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"()
  WAIT
  SYNCHRONISE
  %v = load i32, ptr addrspace(3) %other, align 4
  %w = getelementptr i32, ptr addrspace(1) %out, i32 256
  store i32 %v, ptr addrspace(1) %w, align 4
  ret void
)";
  auto with = [&](const char *wait, const char *barrier) {
    return Module{false}(body, {{"WAIT", wait}, {"SYNCHRONISE", barrier}});
  };
  EXPECT_SOUND(e.llvmModule(with(kWaitForCopies, "$BARRIER"), {counting(2048)}));
  EXPECT_EQ(e.buffers[0][1024], 64);
  EXPECT_FOUND(e.llvmModule(with("", "$BARRIER"), {counting(2048)}), HasSubstr("an asynchronous copy is in flight"));
  EXPECT_FOUND(e.llvmModule(with("call void asm sideeffect \"cp.async.wait_group 1;\", \"~{memory}\"()", "$BARRIER"),
                            {counting(2048)}),
               HasSubstr("an asynchronous copy is in flight"));
  auto r = e.llvmModule(with(kWaitForCopies, ""), {counting(2048)});
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("never wrote"), HasSubstr("race")));
}

TEST_P(LoweredFaults, TwoAsynchronousCopiesIntoTheSameBytes) {
  if (amd()) GTEST_SKIP() << "cp.async is NVIDIA's";
  auto e = make();
  e.sharedBytes = 4096;
  std::string body = MINE OUT R"(  %s = ptrtoint ptr addrspace(3) %mine to i32
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4, $2;", "r,l,r,~{memory}"(i32 %s, ptr addrspace(1) %out, i32 FIRST)
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"()
  WAIT
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %s, ptr addrspace(1) %out)
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"()
  call void asm sideeffect "cp.async.wait_group 0;", "~{memory}"()
  %v = load i32, ptr addrspace(3) %mine, align 4
  %w = getelementptr i32, ptr addrspace(1) %out, i32 256
  store i32 %v, ptr addrspace(1) %w, align 4
  ret void
)";
  auto with = [&](const char *bytesOfFirst, const char *wait) {
    return Module{false}(body, {{"FIRST", bytesOfFirst}, {"WAIT", wait}});
  };
  EXPECT_SOUND(e.llvmModule(with("0", kWaitForCopies), {counting(2048)}));
  EXPECT_EQ(e.buffers[0][1024 + 4], 1);
  EXPECT_SOUND(e.llvmModule(with("4", ""), {counting(2048)})); // of the same value
  EXPECT_FOUND(e.llvmModule(with("0", ""), {counting(2048)}),  // zeros or the value
               HasSubstr("into which an asynchronous copy of thread"));
}

// ---- switches ----

TEST_P(LoweredFaults, ChecksCanBeTurnedOff) {
  auto e = make();
  e.options.checks = emulator::Checks::none();
  e.sharedBytes = 4096;
  EXPECT_SOUND(e.llvmModule(Module{amd()}(MINE OUT "  %v = load i32, ptr addrspace(3) %mine, align 4\n  store i32 %v, "
                                                   "ptr addrspace(1) %out, align 4\n  ret void\n"),
                            {zeros(4)}));
}

// ---- what is not known ----

TEST(Unknown, IsNamed) {
  Emulation e;
  auto r = e.llvmModule(Module{false}("  %v = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()\n  ret void\n}\ndeclare i32 "
                                      "@llvm.nvvm.read.ptx.sreg.envreg3()\ndefine void @rest() {\n  ret void\n"),
                        {zeros(4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the intrinsic 'llvm.nvvm.read.ptx.sreg.envreg3'"));
  r = e.llvmModule(
      Module{false}("  %v = call i32 asm \"vabsdiff.s32.s32.s32 $0, $1, $1, $1;\", \"=r,r\"(i32 %tid)\n  ret void\n"),
      {zeros(4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the inline PTX 'vabsdiff.s32.s32.s32"));
  r = e.llvmModule(
      Module{false}(
          "  %v = call i32 asm \"ld.global.mystery.b32 $0, [$1];\", \"=r,l\"(ptr addrspace(1) %x)\n  ret void\n"),
      {zeros(4)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("modifier .mystery"));
  e.target = "gfx942";
  r = e.llvmModule(Module{true}("  call void asm sideeffect \"s_frobnicate\", \"\"()\n  ret void\n"), {zeros(4)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the inline assembly 's_frobnicate'"));
}
} // namespace
} // namespace tessera
