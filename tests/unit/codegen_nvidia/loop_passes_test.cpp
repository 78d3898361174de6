// Conditions of passes on loops: which trip counts are recorded, which descriptors are computed in each iteration, and
// when the second of two dots is delayed.
#include "codegen_nvidia/passes/count_loops.h"
#include "codegen_nvidia/passes/descriptors_in_loops.h"
#include "codegen_nvidia/passes/dots_behind_loads.h"
#include "codegen_nvidia/passes/unroll_loading_loops.h"
#include "ir/tuning.h"
#include "run_pass.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace tessera::nvidia {
namespace {

using testing::PassRun;

const std::string kAttributes = "attributes #0 = { \"tessera-matrix\"=\"warp-group\" }\n"
                                "attributes #1 = { convergent }\n";

/// A loop of `trips` iterations, `%i` from 0 on.
std::string loopOf(const std::string &body, const std::string &trips = "8", const std::string &metadata = "") {
  return "define void @f(ptr addrspace(1) %a, ptr addrspace(3) %s, i64 %d, float %x, i1 %on, ptr %out) {\nentry:\n"
         "  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]\n" +
         body + "  %i1 = add nuw nsw i32 %i, 1\n  %more = icmp ult i32 %i1, " + trips +
         "\n  br i1 %more, label %loop, label %end" + metadata + "\nend:\n  ret void\n}\n" + kAttributes;
}

const std::string kNever = ", !llvm.loop !0";
const std::string kNeverMetadata = "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.disable\"}\n";

bool isCounted(const std::string &body) {
  return testing::runPass(RecordTripCountsPass(), loopOf(body)).has("tessera.trip_count");
}

TEST(CountLoops, TripCountsOfLoopsThatPtxasMayUnrollAreRecorded) {
  EXPECT_TRUE(isCounted("  %v = load float, ptr addrspace(1) %a\n"));
  EXPECT_TRUE(isCounted("  store float %x, ptr addrspace(3) %s\n")); // moves before no load of global memory
  EXPECT_FALSE(isCounted("  store float %x, ptr addrspace(1) %a\n"));
  EXPECT_FALSE(isCounted("  call void asm sideeffect \"st.global.f32 [$0], 0f00000000;\", \"l,~{memory}\"(i64 %d)\n"));
  EXPECT_FALSE(isCounted("  %w = call float asm \"wgmma.mma_async $0, $1;\", \"=f,l\"(i64 %d) #0\n"));
}

TEST(CountLoops, LoopsThatMustNotBeUnrolledAreNotCounted) {
  std::string load = "  %v = load float, ptr addrspace(1) %a\n";
  std::string ir = loopOf(load, "8", kNever) + kNeverMetadata;
  EXPECT_FALSE(testing::runPass(RecordTripCountsPass(), ir).has("tessera.trip_count"));
}

/// A wgmma whose accumulator is one register.
std::string dot(const std::string &result, const std::string &operands, const std::string &values) {
  return "  " + result + " = call float asm sideeffect \"wgmma.mma_async {$0}, " + operands + ";\", \"=f," + values +
         ") #0\n";
}

TEST(DescriptorsInLoops, AWgmmaTakesTwoOrFourUniformRegisters) {
  std::string fromShared = dot("%w", "$1, $1", "l\"(i64 %d");
  std::string fromRegisters = dot("%w", "{$1}, $2", "f,l\"(float %x, i64 %d");
  auto computes = [](const std::string &body, unsigned most) {
    return testing::runPass(DescriptorsInLoopsPass(most), loopOf(body)).has("shr.u32 $0, $1, 1;");
  };
  EXPECT_TRUE(computes(fromShared, 3));
  EXPECT_FALSE(computes(fromShared, 4));
  EXPECT_TRUE(computes(fromRegisters, 1));
  EXPECT_FALSE(computes(fromRegisters, 2));
}

const std::string kCommit = "  call void asm sideeffect \"wgmma.commit_group.sync.aligned;\", \"\"()\n";
const std::string kWait = "  call void asm sideeffect \"wgmma.wait_group.sync.aligned 1;\", \"\"()\n";
const std::string kFirst = dot("%w1", "$1, $1", "l\"(i64 %d"), kSecond = dot("%w2", "$1, $1", "l\"(i64 %d");
const std::string kLoad = "  %v = load float, ptr addrspace(3) %s\n", kUse = "  store float %v, ptr %out\n";

bool waits(const std::string &body) { return testing::runPass(DotsBehindLoadsPass(), loopOf(body)).changed(); }

TEST(DotsBehindLoads, TheSecondDotWaitsForWhatIsUsedBehindIt) {
  EXPECT_TRUE(waits(kLoad + kFirst + kCommit + kSecond + kCommit + kWait + kUse));
  EXPECT_FALSE(waits(kLoad + kFirst + kCommit + kSecond + kCommit + kWait)) << "nothing uses the value";
  EXPECT_FALSE(waits(kLoad + kFirst + kCommit + kUse + kSecond + kCommit + kWait)) << "used before it";
}

TEST(DotsBehindLoads, DotsThatAreNotInFlightTogether) {
  EXPECT_FALSE(waits(kLoad + kFirst + kCommit + kWait + kSecond + kCommit + kUse)) << "the first one is waited for";
  EXPECT_FALSE(waits(kLoad + kFirst + kSecond + kCommit + kWait + kUse)) << "two parts of one dot";
}

TEST(DotsBehindLoads, LoadsFromSharedMemoryOf32Bits) {
  std::string dots = kFirst + kCommit + kSecond + kCommit + kWait;
  EXPECT_FALSE(waits("  %v = load float, ptr addrspace(1) %a\n" + dots + kUse));
  EXPECT_FALSE(waits("  %v = load half, ptr addrspace(3) %s\n" + dots + "  store half %v, ptr %out\n"));
  EXPECT_TRUE(waits("  %v = load <2 x float>, ptr addrspace(3) %s\n" + dots + "  store <2 x float> %v, ptr %out\n"));
}

TEST(DotsBehindLoads, InnermostLoopsAlone) {
  PassRun nested = testing::runPass(
      DotsBehindLoadsPass(), "define void @f(ptr addrspace(3) %s, i64 %d, ptr %out) {\nentry:\n  br label %loop\n"
                             "loop:\n  %i = phi i32 [ 0, %entry ], [ %i1, %next ]\n" +
                                 kLoad + kFirst + kCommit + kSecond + kCommit + kWait + kUse +
                                 "  br label %inner\ninner:\n  %j = phi i32 [ 0, %loop ], [ %j1, %inner ]\n"
                                 "  %j1 = add i32 %j, 1\n  %again = icmp ult i32 %j1, 8\n"
                                 "  br i1 %again, label %inner, label %next\nnext:\n  %i1 = add i32 %i, 1\n"
                                 "  %more = icmp ult i32 %i1, 8\n  br i1 %more, label %loop, label %end\nend:\n"
                                 "  ret void\n}\n" +
                                 kAttributes);
  EXPECT_FALSE(nested.changed()) << nested.after;
}

// ---- unroll-loading-loops ----

ir::Tuning fewIterations() {
  ir::Tuning tuning;
  tuning.unrolledLoadingIterations = 8;
  tuning.unrolledStoringIterations = 2;
  tuning.unrolledLoadingInstructions = 100;
  tuning.partlyUnrolledMostLoaded = 4;
  tuning.partlyUnrolledRegisters = 16;
  tuning.partlyUnrolledInstructions = 100;
  return tuning;
}

/// The loop after the pass: whole loops have no branch left; in part, metadata says so.
PassRun unroll(const std::string &body, const std::string &trips) {
  static const ir::Tuning tuning = fewIterations();
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(UnrollLoadingLoopsPass(tuning)));
  struct Passes {
    llvm::FunctionPassManager *passes;
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &a) { return passes->run(f, a); }
  };
  return testing::runPass(Passes{&passes}, loopOf(body, trips));
}
bool isWhole(const PassRun &run) { return !run.has("br i1 %more"); }

bool isInPart(const PassRun &run) { return run.has("llvm.loop.unroll.count"); }

/// A load as the lowering writes it, under a mask.
std::string loadIf(const std::string &mask) {
  return "  %v = call float asm sideeffect \"@$2 ld.global.b32 $0, [$1];\", \"=f,l,b\"(i64 %d, i1 " + mask +
         ") \"tessera-loads\"=\"1\"\n";
}
const std::string kMasked = loadIf("%on");
const std::string kStore = "  call void asm sideeffect \"st.global.b32 [$0], 0;\", \"l,~{memory}\"(i64 %d)\n";

std::string repeated(const std::string &text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(UnrollLoadingLoops, ShortLoopsThatLoadAreUnrolledWhole) {
  const std::string much = repeated("  call void asm sideeffect \"nanosleep.u32 0;\", \"\"()\n", 60);
  EXPECT_TRUE(isWhole(unroll(kMasked, "8")));
  EXPECT_FALSE(isWhole(unroll(kMasked + much, "8"))) << "480 instructions";
  EXPECT_FALSE(isWhole(unroll(kMasked, "64")));
}

TEST(UnrollLoadingLoops, LongerLoopsOfMaskedLoadsAreUnrolledInPart) {
  EXPECT_TRUE(unroll(kMasked, "64").has("!{!\"llvm.loop.unroll.count\", i32 16}")) << "16 registers";
  EXPECT_TRUE(unroll(kMasked, "24").has("!{!\"llvm.loop.unroll.count\", i32 8}")) << "no remainder";
  EXPECT_FALSE(isInPart(unroll(kMasked, "63")));
  EXPECT_FALSE(isInPart(unroll(loadIf("true"), "64"))) << "no mask";
}

TEST(UnrollLoadingLoops, LoopsThatWriteMemoryStay) {
  EXPECT_FALSE(unroll(kMasked + kStore, "8").changed());
  EXPECT_TRUE(isWhole(unroll(kMasked + kStore, "2")));
  EXPECT_FALSE(isInPart(unroll(kMasked + kStore, "64")));
}

TEST(UnrollLoadingLoops, LoopsWithConvergentCallsStay) {
  EXPECT_FALSE(unroll(kMasked + "  call void asm sideeffect \"bar.sync 0;\", \"\"() #1\n", "4").changed());
}

} // namespace
} // namespace tessera::nvidia
