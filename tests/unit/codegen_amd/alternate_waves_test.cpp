// Loops are cut into parts of memory and of MFMA only if these may follow each other as they then do.
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/passes/alternate_waves.h"
#include "run_pass.h"

namespace tessera::amd {
namespace {

std::string fence(const std::string &order, const std::string &scope = "workgroup") {
  return "  fence syncscope(\"" + scope + "\") " + order + "\n";
}
const std::string kBarrier = "  call void @llvm.amdgcn.s.barrier()\n";
const std::string kSynchronize = fence("release") + kBarrier + fence("acquire");

std::string mfma(const std::string &d, const std::string &c, const std::string &a, const std::string &b) {
  return "  " + d + " = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.f16(<8 x half> " + a + ", <8 x half> " + b +
         ", <16 x float> " + c + ", i32 0, i32 0, i32 0)\n";
}
std::string read(const std::string &v, const std::string &from) {
  return "  " + v + " = load <8 x half>, ptr addrspace(3) " + from + "\n";
}
std::string write(const std::string &v) { return "  store <8 x half> " + v + ", ptr addrspace(3) %p\n"; }

/// The parts of an iteration. By default it is one that is cut.
struct Iteration {
  std::string loads = "  %g = load <8 x half>, ptr addrspace(1) %from\n";
  std::string first = kSynchronize;
  std::string reads = read("%a", "%p") + read("%b", "%q");
  std::string dots = mfma("%e", "%c", "%a", "%b") + mfma("%d", "%e", "%b", "%a");
  std::string second = kSynchronize;
  std::string writes = write("%g");
  std::string carried = "%d"; // the accumulator of the next iteration
};

/// Whether a kernel of eight waves has the loop cut.
bool isCut(const Iteration &iteration, int64_t mostLdsPercent = 1000, int64_t otherRegisters = 0) {
  ir::TargetInfo info = codegen::findArch(archTable(), "gfx950")->info;
  info.tuning.alternateLeastClocks = 1;
  info.tuning.alternateMostLdsPercent = mostLdsPercent;
  info.tuning.alternateOtherRegisters = otherRegisters;
  testing::PassRun run = testing::runPass(
      AlternateWavesPass(info),
      "declare void @llvm.amdgcn.s.barrier()\n"
      "declare <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.f16(<8 x half>, <8 x half>, <16 x float>, i32, i32, i32)\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %from, ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n, "
      "ptr addrspace(1) %out, <8 x half> %h) #0 {\nentry:\n  br label %loop\nloop:\n"
      "  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]\n"
      "  %c = phi <16 x float> [ zeroinitializer, %entry ], [ " +
          iteration.carried + ", %loop ]\n" + iteration.loads + iteration.first + iteration.reads + iteration.dots +
          iteration.second + iteration.writes +
          "  %i1 = add i32 %i, 1\n  %more = icmp ult i32 %i1, %n\n  br i1 %more, label %loop, label %end\nend:\n"
          "  store <16 x float> %c, ptr addrspace(1) %out\n  ret void\n}\n"
          "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"512,512\" }\n!0 = !{!\"amdgpu-synchronize-as\", "
          "!\"local\"}\n");
  bool isCut = run.has("s.setprio");
  EXPECT_EQ(isCut, run.changed());
  return isCut;
}

TEST(AlternateWaves, AnAccumulatingLoopIsCut) { EXPECT_TRUE(isCut({})); }

TEST(AlternateWaves, BarriersAreFenceBarrierAndFence) {
  Iteration other;
  other.second = kBarrier + fence("release") + fence("acquire");
  EXPECT_FALSE(isCut(other)) << "in another order";
  other.second = fence("release", "agent") + kBarrier + fence("acquire");
  EXPECT_FALSE(isCut(other)) << "of another scope";
  other.second = "  fence syncscope(\"workgroup\") release, !mmra !0\n" + kBarrier + fence("acquire");
  EXPECT_FALSE(isCut(other)) << "of other memory";
  other.second = kSynchronize + kSynchronize;
  EXPECT_FALSE(isCut(other)) << "three of them";
}

TEST(AlternateWaves, LdsIsReadAfterOneBarrierAndWrittenAfterAnother) {
  Iteration early;
  early.loads += read("%a", "%p");
  early.reads = read("%b", "%q");
  EXPECT_FALSE(isCut(early));
  Iteration late;
  late.second += read("%l", "%q");
  EXPECT_FALSE(isCut(late));
  Iteration between;
  between.reads += write("%h");
  EXPECT_FALSE(isCut(between));
}

TEST(AlternateWaves, OtherAccessesStayWhereTheyAre) {
  Iteration stores;
  stores.writes += "  store <8 x half> %h, ptr addrspace(1) %out\n";
  EXPECT_FALSE(isCut(stores));
  Iteration isVolatile;
  isVolatile.loads += "  %u = load volatile <8 x half>, ptr addrspace(1) %from\n";
  EXPECT_FALSE(isCut(isVolatile));
}

TEST(AlternateWaves, ResultsAreOnlyAccumulated) {
  Iteration scaled;
  scaled.dots += "  %f = fmul <16 x float> %d, splat (float 2.0)\n";
  scaled.carried = "%f";
  EXPECT_FALSE(isCut(scaled));
}

TEST(AlternateWaves, OperandsAreWhatIsRead) {
  Iteration rearranged;
  rearranged.reads += "  %ra = shufflevector <8 x half> %a, <8 x half> %b, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 "
                      "2, i32 10, i32 3, i32 11>\n";
  rearranged.dots = mfma("%d", "%c", "%ra", "%b");
  EXPECT_TRUE(isCut(rearranged));
  Iteration computed;
  computed.reads += "  %sa = fadd <8 x half> %a, %h\n";
  computed.dots = mfma("%d", "%c", "%sa", "%b");
  EXPECT_FALSE(isCut(computed));
}

TEST(AlternateWaves, LoadsAndWritesDoNotDependOnWhatIsRead) {
  Iteration copied;
  copied.writes = write("%a");
  EXPECT_FALSE(isCut(copied)) << "what is read is written";
  Iteration gathered;
  gathered.loads = "";
  gathered.reads += "  %w = load i64, ptr addrspace(3) %q\n  %at = getelementptr i8, ptr addrspace(1) %from, i64 %w\n"
                    "  %g = load <8 x half>, ptr addrspace(1) %at\n";
  gathered.writes = write("%h");
  EXPECT_FALSE(isCut(gathered)) << "what is read is an address";
  Iteration indexed;
  indexed.loads += "  %w = load i32, ptr addrspace(1) %from\n"
                   "  %at = getelementptr i8, ptr addrspace(3) %q, i32 %w\n";
  indexed.reads = read("%a", "%p") + read("%b", "%at");
  EXPECT_FALSE(isCut(indexed)) << "what is loaded is an address of LDS";
}

// The MFMA take 64 clocks. 256 lanes read 32 bytes and write 16 each: LDS takes 96.
TEST(AlternateWaves, LdsIsLessBusyThanTheMatrixUnits) {
  EXPECT_TRUE(isCut({}, 150));
  EXPECT_FALSE(isCut({}, 149));
}

// Of 256 registers: the accumulator, the counter, a load and two parts of half of the reads.
TEST(AlternateWaves, RegistersSuffice) {
  constexpr int64_t kTaken = 16 + 1 + 4 + 8;
  EXPECT_TRUE(isCut({}, 1000, 256 - kTaken));
  EXPECT_FALSE(isCut({}, 1000, 256 - kTaken + 1));
}

} // namespace
} // namespace tessera::amd
