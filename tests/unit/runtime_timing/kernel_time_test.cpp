// Occupancy, the sample of the grid, the sum over it, and the table of machines.
#include "runtime/compiler/compiler.h"
#include "runtime/timing/kernel_time.h"
#include "runtime/timing/machine.h"
#include "runtime_timing/code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <set>

namespace tessera::timing {
namespace {
using namespace testing;
using code_object::Grid;
using code_object::Kernel;

Kernel kernel(unsigned vgprs, unsigned ldsBytes, unsigned waveSize = 64) {
  Kernel k;
  k.name = "k";
  k.waveSize = waveSize;
  k.vgprs = vgprs;
  k.descriptor.ldsBytes = ldsBytes;
  return k;
}
Grid grid(unsigned workgroups, unsigned workItems) {
  Grid g;
  g.workgroups = {workgroups, 1, 1};
  g.workItems = {workItems, 1, 1};
  return g;
}

TEST(Machine, UnknownTargetsAndNumbersAreErrors) {
  EXPECT_EQ(machineOf("gfx803").status().code(), absl::StatusCode::kNotFound);
  MachineOverrides o;
  o.numbers = {"noSuchNumber=3"};
  EXPECT_EQ(machineOf("gfx942", o).status().code(), absl::StatusCode::kInvalidArgument);
  o.numbers = {"simds=0"};
  EXPECT_EQ(machineOf("gfx942", o).status().code(), absl::StatusCode::kInvalidArgument);
  o.numbers = {"simds=two"};
  EXPECT_EQ(machineOf("gfx942", o).status().code(), absl::StatusCode::kInvalidArgument);
}

// The model times code of any compiler and has figures of its own. Those that the compiler has, too, are the same.
TEST(Machine, AgreesWithTheTargetTable) {
  for (llvm::StringRef name : machineTargets()) {
    SCOPED_TRACE(name.str());
    Machine m = *machineOf(name);
    const ir::TargetInfo &t = **runtime::requireTarget(name);
    EXPECT_EQ(int(m.simds), t.schedulersPerMultiprocessor);
    EXPECT_EQ(int(m.mostWaves * m.simds), t.maxWarpsPerMultiprocessor);
    EXPECT_EQ(int(m.vgprs), t.registersPerScheduler);
    EXPECT_EQ(int(m.vgprUnit), t.registerAllocationUnit);
    EXPECT_EQ(int64_t(m.ldsBytes), t.sharedMemoryPerMultiprocessor);
    EXPECT_EQ(int(m.ldsGranule), t.sharedMemoryGranularity);
    EXPECT_EQ(m.dies, t.dies);
  }
}

// Operations a clock of a compute unit, as the data sheets give them.
TEST(Machine, MatrixRatesAreThoseOfTheDataSheets) {
  struct Row {
    const char *target, *mnemonic;
    int m, n, k;
    unsigned perClock;
  } rows[] = {
      {"gfx90a", "v_mfma_f32_32x32x8f16", 32, 32, 8, 1024},
      {"gfx90a", "v_mfma_f64_16x16x4f64", 16, 16, 4, 256},
      {"gfx942", "v_mfma_f32_32x32x8_f16", 32, 32, 8, 2048},
      {"gfx942", "v_mfma_f32_16x16x16_bf16", 16, 16, 16, 2048},
      {"gfx942", "v_mfma_f32_16x16x8_xf32", 16, 16, 8, 1024},
      {"gfx942", "v_mfma_f32_32x32x2_f32", 32, 32, 2, 256},
      {"gfx942", "v_mfma_i32_16x16x32_i8", 16, 16, 32, 4096},
      {"gfx942", "v_mfma_f32_32x32x16_fp8_fp8", 32, 32, 16, 4096},
      {"gfx942", "v_mfma_f64_16x16x4_f64", 16, 16, 4, 256},
      {"gfx950", "v_mfma_f32_16x16x32_f16", 16, 16, 32, 4096},
      {"gfx950", "v_mfma_i32_32x32x32_i8", 32, 32, 32, 8192},
      {"gfx950", "v_mfma_f64_16x16x4_f64", 16, 16, 4, 128},
      {"gfx1100", "v_wmma_f32_16x16x16_f16", 16, 16, 16, 1024}, // of a WGP
      {"gfx1201", "v_wmma_f32_16x16x16_bf16", 16, 16, 16, 2048},
      {"gfx1201", "v_wmma_f32_16x16x16_fp8_bf8", 16, 16, 16, 4096},
  };
  for (auto &r : rows) {
    Machine m = machine(r.target);
    unsigned cycles = m.matrixCycles(r.mnemonic, false);
    ASSERT_NE(cycles, 0u) << r.mnemonic;
    EXPECT_EQ(2u * unsigned(r.m * r.n * r.k) / cycles * m.simds, r.perClock) << r.target << " " << r.mnemonic;
  }
  Machine m = machine("gfx950");
  EXPECT_EQ(m.matrixCycles("v_mfma_f32_16x16x128_f8f6f4", true), 32u);  // 8192 a clock
  EXPECT_EQ(m.matrixCycles("v_mfma_f32_16x16x128_f8f6f4", false), 16u); // 16384: both operands of 4 or 6 bits
  EXPECT_EQ(m.matrixCycles("v_mfma_nothing", false), 16u);
  EXPECT_EQ(m.matrixCycles("v_wmma_f32_16x16x16_f16", false), 0u);
}

TEST(Machine, FormatsOfScaledOperandsAreReadFromTheText) {
  Machine m = machine("gfx950");
  auto cycles = [&](std::string text) {
    code_object::Instruction i;
    i.unit = Unit::Matrix;
    i.mnemonic = "v_mfma_f32_16x16x128_f8f6f4";
    i.text = i.mnemonic + " v[0:3], v[4:11], v[12:19], v[0:3]" + text;
    return costOf(i, m, 64)->occupies;
  };
  EXPECT_EQ(cycles(""), 32u);
  EXPECT_EQ(cycles(" cbsz:4 blgp:4"), 16u);
  EXPECT_EQ(cycles(" cbsz:2 blgp:3"), 16u);
  EXPECT_EQ(cycles(" cbsz:4"), 32u); // B is fp8
  EXPECT_EQ(cycles(" cbsz:4 blgp:1"), 32u);
}

TEST(Occupancy, IsLimitedByRegistersLdsAndWaves) {
  Machine m = machine("gfx942");
  auto by = [&](unsigned vgprs, unsigned lds, unsigned workItems) {
    return *occupancy(m, kernel(vgprs, lds), grid(1, workItems));
  };
  EXPECT_EQ(by(64, 0, 256).workgroups, 8u); // 8 waves a SIMD
  EXPECT_STREQ(by(64, 0, 256).limit, "number of waves");
  EXPECT_EQ(by(128, 0, 256).workgroups, 4u);
  EXPECT_STREQ(by(128, 0, 256).limit, "registers");
  EXPECT_EQ(by(512, 0, 256).workgroups, 1u);
  EXPECT_EQ(by(64, 32768, 256).workgroups, 2u);
  EXPECT_STREQ(by(64, 32768, 256).limit, "LDS");
  EXPECT_EQ(by(64, 32769, 256).workgroups, 1u);
  EXPECT_EQ(occupancy(m, kernel(64, 65537), grid(1, 256)).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(occupancy(m, kernel(512, 0), grid(1, 512)).status().code(), absl::StatusCode::kResourceExhausted);
  // A wave of 64 on RDNA takes twice the registers of one of 32.
  Machine rdna = machine("gfx1100");
  EXPECT_EQ(occupancy(rdna, kernel(192, 0, 32), grid(1, 128))->wavesByRegisters, 8u);
  EXPECT_EQ(occupancy(rdna, kernel(192, 0, 64), grid(1, 256))->wavesByRegisters, 4u);
  // Allocated by 24, for 64 lanes by 12: 136 registers take 144, and 76 of 64 lanes take 84.
  EXPECT_EQ(occupancy(rdna, kernel(136, 0, 32), grid(1, 128))->wavesByRegisters, 1536u / 144);
  EXPECT_EQ(occupancy(rdna, kernel(76, 0, 64), grid(1, 256))->wavesByRegisters, 1536u / (2 * 84));
}

TEST(Sample, WorkgroupsOfOneComputeUnitAreFarApart) {
  Machine m = machine("gfx942");
  Occupancy o = *occupancy(m, kernel(128, 0), grid(1, 256)); // 4 at a time
  Sample s = sampleOf(m, o, grid(4096, 256));
  ASSERT_EQ(s.replayed.size(), 4u);
  for (auto &id : s.replayed) EXPECT_EQ(id[0] % 8, 0u); // on the first die
  EXPECT_EQ(s.replayed[1][0] - s.replayed[0][0], 304u);
  EXPECT_EQ(s.neighbours.size(), 31u);
  EXPECT_EQ(s.residentOnDie, 4u * 38);
  std::set<code_object::WorkgroupId> all;
  for (auto &id : s.all()) EXPECT_TRUE(all.insert(id).second);
}

TEST(Sample, SmallGridsAreTakenWhole) {
  Machine m = machine("gfx942");
  Occupancy o = *occupancy(m, kernel(128, 0), grid(1, 256));
  Sample s = sampleOf(m, o, grid(1, 256));
  EXPECT_THAT(s.replayed, ::testing::ElementsAre(code_object::WorkgroupId{0, 0, 0}));
  EXPECT_TRUE(s.neighbours.empty());
  Grid g = grid(3, 256);
  g.workgroups = {3, 5, 2};
  for (auto &id : sampleOf(m, o, g).all()) {
    EXPECT_LT(id[0], 3u);
    EXPECT_LT(id[1], 5u);
    EXPECT_LT(id[2], 2u);
  }
}

/// Times code of which every workgroup has one wave, each accessing its own lines or the same.
KernelTime timeOf(const Machine &m, const Code &code, unsigned workgroups, bool shared, TimeOptions options = {}) {
  Grid g = grid(workgroups, 64);
  Occupancy o = *occupancy(m, kernel(512, 0), g); // four at a time, one on each SIMD
  Sample s = sampleOf(m, o, g, options.sample);
  code_object::Trace trace;
  for (auto &id : s.all()) {
    trace.waves.push_back(execute(
        code, id[0], 0, [&](unsigned lane) { return uint64_t(16) * lane + (shared ? 0 : uint64_t(4096) * id[0]); }));
  }
  code_object::Program p;
  p.kernel = "k";
  p.target = m.target;
  p.instructions = code.instructions;
  auto t = timeKernel(m, o, s, p, g, trace, options);
  EXPECT_TRUE(t.ok()) << t.status().message();
  return t.ok() ? *std::move(t) : KernelTime();
}

TEST(KernelTime, CountsFullBatchesAndTheLastOne) {
  Machine m = machine("gfx942", {"computeUnits=8", "launchNs=0", "clockMHz=1000", "matrixClockMHz=1000"});
  Code code;
  for (int n = 0; n < 10; ++n) code.matrix(0, 0);
  code.end();
  KernelTime t = timeOf(m, code, 32, true); // 8 compute units, 4 at a time
  EXPECT_EQ(t.fullBatches, 1u);
  EXPECT_EQ(t.lastResident, 0u);
  EXPECT_EQ(t.batchCycles, 9u * 18 + 16); // each forwards to the next; the passes of the last
  KernelTime more = timeOf(m, code, 33, true);
  EXPECT_EQ(more.fullBatches, 1u);
  EXPECT_EQ(more.lastResident, 1u);
  EXPECT_DOUBLE_EQ(more.microseconds, double(more.batchCycles + m.workgroupStartCycles + more.lastCycles) / m.clockMHz);
}

// The clock falls from its peak to matrixClockMHz as far as the matrix units of the whole GPU are busy.
TEST(KernelTime, BusyMatrixUnitsLowerTheClock) {
  auto timeWith = [](std::vector<std::string> numbers, unsigned workgroups) {
    numbers.insert(numbers.end(), {"computeUnits=8", "launchNs=0", "clockMHz=2000"});
    Machine m = machine("gfx942", numbers);
    Code code;
    for (int n = 0; n < 1000; ++n) code.matrix(4 * unsigned(n % 8), 4 * unsigned(n % 8));
    code.end();
    return timeOf(m, code, workgroups, true);
  };
  KernelTime free = timeWith({"matrixClockMHz=2000"}, 32), full = timeWith({"matrixClockMHz=1000"}, 32);
  EXPECT_DOUBLE_EQ(free.clockMHz, 2000);
  EXPECT_GT(full.matrixLoad, 0.99);
  EXPECT_NEAR(full.clockMHz, 1000, 10);
  EXPECT_NEAR(full.computeMicroseconds / free.computeMicroseconds, 2, 0.02);
  KernelTime half = timeWith({"matrixClockMHz=1000"}, 4); // one of the four SIMDs of four of the eight compute units
  EXPECT_NEAR(half.matrixLoad, 0.125, 0.01);
  EXPECT_NEAR(half.clockMHz, 2000 / 1.125, 20);
  // A board whose peak is lower has power to spare.
  EXPECT_DOUBLE_EQ(timeWith({"matrixClockMHz=3000"}, 32).clockMHz, 2000);
}

// What neighbours read after their first instructions is taken from what the same instructions read before.
TEST(KernelTime, SharingIsExtrapolatedFromTheFirstInstructions) {
  Machine m = machine("gfx942");
  Code code;
  for (unsigned n = 0; n < 64; ++n) code.load(n);
  code.waitVector(0);
  code.end();
  TimeOptions all, few;
  few.sample.neighbourInstructions = 8;
  for (bool shared : {true, false})
    EXPECT_NEAR(timeOf(m, code, 4864, shared, few).behindBytes / timeOf(m, code, 4864, shared, all).behindBytes, 1,
                0.01);
}

TEST(KernelTime, LinesThatAllReadCostLessBandwidth) {
  Machine m = machine("gfx942");
  Code code;
  for (unsigned n = 0; n < 8; ++n) code.load(n);
  code.waitVector(0);
  code.end();
  KernelTime own = timeOf(m, code, 4864, false);
  KernelTime same = timeOf(m, code, 4864, true);
  EXPECT_GT(own.behindBytes, 10 * same.behindBytes);
  EXPECT_GT(own.microseconds, same.microseconds);
}

TEST(KernelTime, ColdBuffersTakeLonger) {
  Machine m = machine("gfx942");
  Code code;
  for (unsigned n = 0; n < 8; ++n) code.load(n);
  code.waitVector(0);
  code.end();
  TimeOptions warm, cold;
  warm.bufferBytes = cold.bufferBytes = 1e6;
  cold.cold = true;
  KernelTime w = timeOf(m, code, 304, false, warm);
  KernelTime c = timeOf(m, code, 304, false, cold);
  EXPECT_TRUE(w.inCache);
  EXPECT_FALSE(c.inCache);
  EXPECT_GE(c.replay.cycles, w.replay.cycles + m.memoryLatency - m.cacheLatency);
}

} // namespace
} // namespace tessera::timing
