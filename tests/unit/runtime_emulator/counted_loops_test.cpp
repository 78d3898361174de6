// Counters of loops (codegen_nvidia/passes/count_loops.cpp) are made amid code generation, after what the emulator
// executes elsewhere. Here code generation of NVIDIA modules runs as far as that, its passes before included, and the
// emulator executes what it gives: random loops, whose memory must be what the untouched module leaves, and sums of
// rows. A wrong count must be found.
#include "codegen_nvidia/passes/count_loops.h"
#include "emulation.h"
#include "runtime/compiler/targets.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

constexpr const char *kTarget = "sm_90a";
constexpr const char *kTripCount = "tessera.trip_count";

std::unique_ptr<llvm::TargetMachine> machineOf(const llvm::Module &m) {
  const codegen::ArchInfo &arch = *runtime::findArch(kTarget);
  arch.registerLLVMTarget();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(m.getTargetTriple(), error);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(m.getTargetTriple(), arch.cpu, arch.features, {}, llvm::Reloc::PIC_));
}

/// Takes LLVM's passes up to loop strength reduction, and the counters after it.
class PassesUpToCounters final : public llvm::legacy::PassManagerBase {
public:
  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info = llvm::Pass::lookupPassInfo(pass->getPassID());
    bool isReduction = info && info->getPassArgument() == "loop-reduce"; // the pass may be gone once it is added
    if (isComplete_) return delete pass;
    passes_.add(pass);
    if (!isReduction) return;
    passes_.add(nvidia::createCountLoops());
    isComplete_ = true;
  }
  void run(llvm::Module &m) {
    ASSERT_TRUE(isComplete_) << "LLVM adds no pass 'loop-reduce' any more";
    passes_.run(m);
  }

private:
  llvm::legacy::PassManager passes_;
  bool isComplete_ = false;
};

void runCodegenUpToCounters(llvm::Module &m) {
  std::unique_ptr<llvm::TargetMachine> tm = machineOf(m);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  PassesUpToCounters passes;
  ASSERT_FALSE(tm->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(m);
}

void recordTripCounts(llvm::Module &m) {
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  for (llvm::Function &f : m)
    if (!f.isDeclaration()) nvidia::RecordTripCountsPass().run(f, analyses);
}

/// The loops whose count is recorded, to each of which `added` is added.
unsigned countedLoops(llvm::Module &m, int added = 0) {
  unsigned counted = 0;
  for (llvm::Function &f : m) {
    if (f.isDeclaration()) continue;
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
      std::optional<int> trips = llvm::getOptionalIntLoopAttribute(loop, kTripCount);
      if (trips && added) llvm::addStringMetadataToLoop(loop, kTripCount, unsigned(*trips + added));
      counted += trips.has_value();
    }
  }
  return counted;
}

/// Writes a kernel of random loops, each of which leaves after a test at its end. Threads hash what they load and the
/// values of the induction variables, and store that.
class LoopWriter {
public:
  explicit LoopWriter(unsigned seed) : random_(seed) {}

  std::string kernel() {
    code_ = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {
  %thread32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %thread64 = zext i32 %thread32 to i64
  %middle = getelementptr i32, ptr addrspace(1) %x, i32 1024
  br label %start
start:
)";
    block_ = "start";
    std::string hash = "%thread32";
    for (int left = pick(1, 2); left; --left) hash = loop(hash, /*depth=*/pick(0, 2) ? 0 : 1, "", 0);
    line("%to = getelementptr i32, ptr addrspace(1) %x, i64 %thread64");
    line("store i32 " + hash + ", ptr addrspace(1) %to");
    line("ret void");
    return code_ + "}\n";
  }

private:
  int64_t pick(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random_); }
  void line(const std::string &text) { code_ += "  " + text + "\n"; }
  void label(const std::string &name) {
    code_ += name + ":\n";
    block_ = name;
  }

  /// Where the induction variable starts, for an outer one's value: any number of the type, also beside its ends.
  std::string start(int bits, const std::string &outer, int outerBits, const std::string &id) {
    int64_t ends[] = {0, pick(-300, 300), INT32_MAX, INT32_MIN, -1};
    std::string constant = std::to_string(ends[pick(0, 4)] + pick(-40, 40));
    if (bits == 32) constant = std::to_string(int32_t(std::stoll(constant)));
    bool isConstant = pick(0, 1);
    if (isConstant) return constant;
    std::string depends = !outer.empty() && outerBits == bits ? outer : llvm::formatv("%thread{0}", bits).str();
    line(llvm::formatv("%from{0} = add i{1} {2}, {3}", id, bits, depends, constant));
    return "%from" + id;
  }

  /// The hash after a loop that starts from `hash`, inside one whose induction variable is `outer`.
  std::string loop(const std::string &hash, int depth, const std::string &outer, int outerBits) {
    std::string id = std::to_string(++loops_), before = block_;
    int bits = pick(0, 1) ? 32 : 64;
    int64_t trips = pick(1, 3) > 1 ? pick(2, 9) : pick(1, 40), step = pick(1, 9) * (pick(0, 1) ? 1 : -1);
    std::string type = llvm::formatv("i{0}", bits), from = start(bits, outer, outerBits, id);
    std::string end = bound(bits, from, trips, step, id);
    bool isGuarded = pick(0, 3) == 0; // entered by threads of even numbers alone
    if (isGuarded) {
      line(llvm::formatv("%odd{0} = trunc i32 %thread32 to i1", id));
      line(llvm::formatv("br i1 %odd{0}, label %join{0}, label %enter{0}", id));
      label("enter" + id);
    }
    std::string enter = block_;
    line("br label %loop" + id);
    label("loop" + id);
    size_t phis = code_.size();
    line(llvm::formatv("%offset{0} = sub {1} %i{0}, {2}", id, type, from));
    line(bits == 32 ? llvm::formatv("%index{0} = sext i32 %offset{0} to i64", id)
                    : llvm::formatv("%index{0} = add i64 %offset{0}, 0", id));
    line(llvm::formatv("%at{0} = getelementptr i32, ptr addrspace(1) %middle, i64 %index{0}", id));
    line(llvm::formatv("%v{0} = load i32, ptr addrspace(1) %at{0}", id));
    line(llvm::formatv("%mul{0} = mul i32 %h{0}, 1664525", id));
    line(llvm::formatv("%sum{0} = add i32 %mul{0}, %v{0}", id));
    line(bits == 32 ? llvm::formatv("%low{0} = add i32 %i{0}, 0", id)
                    : llvm::formatv("%low{0} = trunc i64 %i{0} to i32", id));
    line(llvm::formatv("%mix{0} = xor i32 %sum{0}, %low{0}", id));
    std::string result = depth ? loop("%mix" + id, depth - 1, "%i" + id, bits) : "%mix" + id;
    bool leavesEarly = pick(0, 7) == 0;
    if (leavesEarly) {
      line(llvm::formatv("%bits{0} = and i32 {1}, 15", id, result));
      line(llvm::formatv("%leaves{0} = icmp eq i32 %bits{0}, 3", id));
      line(llvm::formatv("br i1 %leaves{0}, label %end{0}, label %stays{0}", id));
    }
    std::string leaving = block_;
    if (leavesEarly) label("stays" + id);
    line(llvm::formatv("%i1{0} = add {1} %i{0}, {2}", id, type, step));
    branch(type, step, end, id);
    code_.insert(phis, llvm::formatv("  %i{0} = phi {1} [{2}, %{3}], [%i1{0}, %{4}]\n"
                                     "  %h{0} = phi i32 [{5}, %{3}], [{6}, %{4}]\n",
                                     id, type, from, enter, block_, hash, result)
                           .str());
    std::string latch = block_;
    label("end" + id);
    std::string early = leavesEarly ? llvm::formatv(", [{0}, %{1}]", result, leaving).str() : "";
    std::string earlyLast = leavesEarly ? llvm::formatv(", [%i{0}, %{1}]", id, leaving).str() : "";
    line(llvm::formatv("%hash{0} = phi i32 [{1}, %{2}]{3}", id, result, latch, early));
    line(llvm::formatv("%last{0} = phi {1} [%i1{0}, %{2}]{3}", id, type, latch, earlyLast));
    line(bits == 32 ? llvm::formatv("%rest{0} = add i32 %last{0}, 0", id)
                    : llvm::formatv("%rest{0} = trunc i64 %last{0} to i32", id));
    line(llvm::formatv("%after{0} = add i32 %hash{0}, %rest{0}", id));
    if (!isGuarded) return "%after" + id;
    line("br label %join" + id);
    label("join" + id);
    line(llvm::formatv("%joined{0} = phi i32 [{1}, %{2}], [%after{0}, %end{0}]", id, hash, before));
    return "%joined" + id;
  }

  /// The value after `trips` steps; of a few loops a number of trips that depends on the thread.
  std::string bound(int bits, const std::string &from, int64_t trips, int64_t step, const std::string &id) {
    bool isUneven = pick(0, 5) == 0;
    std::string way = std::to_string(trips * step);
    if (isUneven) {
      line(llvm::formatv("%more{0} = and i{1} %thread{1}, 3", id, bits));
      line(llvm::formatv("%steps{0} = mul i{1} %more{0}, {2}", id, bits, step));
      line(llvm::formatv("%way{0} = add i{1} %steps{0}, {2}", id, bits, way));
      way = "%way" + id;
    }
    line(llvm::formatv("%bound{0} = add i{1} {2}, {3}", id, bits, from, way));
    return "%bound" + id;
  }

  /// Stays in the loop until the bound, by one of the comparisons that do so even if the numbers wrap around.
  void branch(const std::string &type, int64_t step, const std::string &end, const std::string &id) {
    std::string value = "%i1" + id, limit = end;
    int kind = int(pick(0, 3));
    bool ofDistance = kind >= 2; // what is left, by ordered comparisons, with 0 or with less than a step
    if (kind == 1) {             // before the step
      value = "%i" + id;
      line(llvm::formatv("%limit{0} = sub {1} {2}, {3}", id, type, end, step));
      limit = "%limit" + id;
    }
    const char *stays = "ne", *leaves = "eq";
    if (ofDistance) {
      line(llvm::formatv("%left{0} = sub {1} {2}, %i1{0}", id, type, end));
      value = "%left" + id;
      limit = std::to_string(kind == 2 ? 0 : pick(0, std::abs(step) - 1) * (step > 0 ? 1 : -1));
      stays = step > 0 ? "sgt" : "slt";
      leaves = step > 0 ? "sle" : "sge";
    }
    bool staysIfTrue = pick(0, 1);
    line(llvm::formatv("%test{0} = icmp {1} {2} {3}, {4}", id, staysIfTrue ? stays : leaves, type, value, limit));
    line(llvm::formatv(staysIfTrue ? "br i1 %test{0}, label %loop{0}, label %end{0}"
                                   : "br i1 %test{0}, label %end{0}, label %loop{0}",
                       id));
  }

  std::mt19937 random_;
  std::string code_, block_;
  int loops_ = 0;
};

/// What the kernel of the module leaves in memory; empty if the emulator refuses it.
std::vector<uint8_t> memoryAfter(const llvm::Module &m) {
  std::string text;
  llvm::raw_string_ostream(text) << m;
  testing::Emulation e;
  e.target = kTarget;
  e.numWarps = 1;
  auto report = e.llvmModule(text, {testing::counting(2048 * 4)});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? e.buffers[0] : std::vector<uint8_t>();
}

struct RandomLoops {
  llvm::LLVMContext context;
  std::string text;
  std::unique_ptr<llvm::Module> module; // as it was written

  explicit RandomLoops(unsigned seed) : text(LoopWriter(seed).kernel()) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(text, error, context);
    EXPECT_TRUE(module) << error.getMessage().str() << ": " << error.getLineContents().str() << text;
  }
};

TEST(CountedLoops, OfRandomBoundsComputeTheSame) {
  unsigned counted = 0, count = 400;
  for (unsigned seed = 1; seed <= count; ++seed) {
    RandomLoops loops(seed);
    ASSERT_TRUE(loops.module);
    std::vector<uint8_t> expected = memoryAfter(*loops.module);
    recordTripCounts(*loops.module);
    counted += countedLoops(*loops.module);
    runCodegenUpToCounters(*loops.module);
    ASSERT_EQ(memoryAfter(*loops.module), expected) << "seed " << seed << loops.text;
  }
  EXPECT_GE(counted, count / 2) << "loops without counters say nothing";
}

/// The comparison above finds a loop that runs once more or once less.
TEST(CountedLoops, OfWrongCountsAreFound) {
  unsigned wrong = 0, found = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    RandomLoops loops(seed);
    ASSERT_TRUE(loops.module);
    std::vector<uint8_t> expected = memoryAfter(*loops.module);
    recordTripCounts(*loops.module);
    if (!countedLoops(*loops.module, seed % 2 ? 1 : -1)) continue;
    ++wrong;
    runCodegenUpToCounters(*loops.module);
    found += memoryAfter(*loops.module) != expected;
  }
  EXPECT_GE(wrong, 10u);
  EXPECT_EQ(found, wrong);
}

/// A row's sum, in a loop whose induction variable code generation shares with the threads' columns.
TEST(CountedLoops, OfRowsSumTheWholeRow) {
  constexpr const char *text = R"(
tt.func public @sum(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {{
  %first = arith.constant {0} : i32
  %end = arith.constant {1} : i32
  %step = arith.constant {2} : i32
  %zeros = arith.constant dense<0> : tensor<{3}xi32>
  %length = arith.constant dense<{4}> : tensor<{3}xi32>
  %lanes = tt.make_range {{end = {3} : i32, start = 0 : i32} : tensor<{3}xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<{3}x!tt.ptr<i32>>
  %sums = scf.for %i = %first to %end step %step iter_args(%acc = %zeros) -> (tensor<{3}xi32>) : i32 {{
    %is = tt.splat %i : i32 -> tensor<{3}xi32>
    %columns = arith.addi %is, %lanes : tensor<{3}xi32>
    %mask = arith.cmpi slt, %columns, %length : tensor<{3}xi32>
    %at = tt.addptr %xs, %columns : tensor<{3}x!tt.ptr<i32>>, tensor<{3}xi32>
    %v = tt.load %at, %mask, %zeros : tensor<{3}x!tt.ptr<i32>>
    %next = arith.addi %acc, %v : tensor<{3}xi32>
    scf.yield %next : tensor<{3}xi32>
  }
  %sum = "tt.reduce"(%sums) <{{axis = 0 : i32}> ({{
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<{3}xi32>) -> i32
  tt.store %y, %sum : !tt.ptr<i32>
  tt.return
})";
  struct {
    int first, end, step, length, warps;
  } rows[] = {{0, 16384, 256, 16384, 4}, // whole blocks
              {0, 12300, 128, 12300, 1}, // the last block is masked, and the end no multiple of the step
              {100, 9001, 64, 9000, 2},
              {3, 5003, 50, 4990, 1}}; // blocks of 64 overlap
  unsigned counted = 0;
  for (auto &row : rows)
    for (const char *target : {"sm_80", "sm_90a", "sm_120a"}) {
      int block = row.step == 50 ? 64 : row.step;
      testing::Emulation e;
      e.target = target;
      e.numWarps = row.warps;
      std::string code = llvm::formatv(text, row.first, row.end, row.step, block, row.length);
      auto report = e.text(code, "sum", {testing::counting(16448 * 4), testing::zeros(4)}, [&](llvm::Module &m) {
        counted += countedLoops(m);
        runCodegenUpToCounters(m);
      });
      ASSERT_TRUE(report.ok()) << target << ": " << report.status();
      uint32_t expected = 0, sum;
      for (int i = row.first; i < row.end; i += row.step)
        for (int column = i; column < std::min(i + block, row.length); ++column) expected += uint32_t(column);
      memcpy(&sum, e.buffers[1].data(), 4);
      EXPECT_EQ(sum, expected) << target << ", step " << row.step;
    }
  EXPECT_GE(counted, 6u) << "loops without counters say nothing";
}

} // namespace
} // namespace tessera
