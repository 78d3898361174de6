// Exact cycles of short pieces of code, where they follow from the table of machines.
#include "runtime_timing/code.h"
#include "gtest/gtest.h"

namespace tessera::timing {
namespace {
using namespace testing;

Cycle issueOf(const CuReplay &r, uint32_t instruction, unsigned wave = 0) {
  for (auto &i : r.records)
    if (i.instruction == instruction && i.wave == wave) return i.cycle;
  ADD_FAILURE() << "instruction " << instruction << " of wave " << wave << " was not issued";
  return 0;
}

TEST(Replay, DependentMatrixInstructionsTakeTheirPassesAndTheForwarding) {
  Machine m = machine("gfx950");
  Code code;
  for (int n = 0; n < 5; ++n) code.matrix(0, 0);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 4), 4 * (16 + m.matrixAccumulateExtra));
  EXPECT_EQ(m.matrixAccumulateExtra, 2u); // measured: 18.25
}

TEST(Replay, IndependentMatrixInstructionsFillTheUnit) {
  Machine m = machine("gfx950");
  Code code;
  for (unsigned n = 0; n < 5; ++n) code.matrix(4 * n, 4 * n);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 4), 4u * 16);
  EXPECT_EQ(r.busy[unsigned(Resource::Matrix)], 5u * 16);
}

TEST(Replay, MatrixResultsReachOtherInstructionsLater) {
  Machine m = machine("gfx942");
  Code code;
  code.matrix(0, 0);
  code.valu(50, 2);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 1), 16u + m.matrixResultExtra);
  EXPECT_EQ(r.instructions[1].stalled[unsigned(Stall::Registers)], 16 + m.matrixResultExtra - m.issueCycles);
}

TEST(Replay, VectorInstructionsOverlapMatrixInstructionsOfTheSameWave) {
  Machine m = machine("gfx942");
  Code code;
  code.matrix(0, 0);
  for (unsigned n = 0; n < 3; ++n) code.valu(50 + n, 60);
  code.matrix(4, 4);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 3), 12u); // one every 4 cycles
  EXPECT_EQ(issueOf(r, 4), 16u);
}

TEST(Replay, OnRdnaMatrixInstructionsOccupyTheVectorUnit) {
  Machine m = machine("gfx1100");
  Code code;
  code.add(Unit::Matrix, "v_wmma_f32_16x16x16_f16", {v(0, 8)}, {v(20, 8), v(30, 8), v(0, 8)});
  code.valu(50, 60);
  auto r = run(m, code, {execute(code, 0, 0, [](unsigned l) { return l; }, 32)});
  EXPECT_EQ(issueOf(r, 1), 32u);
}

TEST(Replay, DependentAndIndependentVectorInstructions) {
  Machine m = machine("gfx950");
  Code code;
  code.valu(1, 0);
  code.valu(2, 1);
  code.valu(3, 0);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 1), m.valuLatency);
  EXPECT_EQ(issueOf(r, 2), m.valuLatency + m.valuCycles);
}

TEST(Replay, TranscendentalInstructionsHaveAQuarterOfTheRate) {
  Machine m = machine("gfx942");
  Code code;
  code.add(Unit::Transcendental, "v_exp_f32", {v(1)}, {v(0)});
  code.valu(2, 0);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 1), 16u);
}

TEST(Replay, LdsReadWithoutAndWithConflicts) {
  Machine m = machine("gfx942");
  Code code;
  code.ldsRead(0, 4);
  code.waitLds(0);
  code.end();
  auto plain = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(plain, 1), m.ldsLatency);
  EXPECT_EQ(plain.ldsCycles, 2u);
  EXPECT_EQ(plain.ldsConflictCycles, 0u);
  // All lanes in one bank: 32 cycles for each half of the wave.
  auto worst = run(m, code, {execute(code, 0, 0, [](unsigned lane) { return uint64_t(128) * lane; })});
  EXPECT_EQ(worst.ldsCycles, 64u);
  EXPECT_EQ(worst.ldsConflictCycles, 62u);
  EXPECT_EQ(issueOf(worst, 1), m.ldsLatency + 62);
  // One address for all: a broadcast.
  auto same = run(m, code, {execute(code, 0, 0, [](unsigned) { return uint64_t(64); })});
  EXPECT_EQ(same.ldsCycles, 2u);
}

TEST(Replay, WavesShareTheBanksOfLds) {
  Machine m = machine("gfx942");
  Code code;
  code.ldsRead(0, 16); // 8 cycles of the banks
  code.waitLds(0);
  code.end();
  std::vector<WaveTrace> waves;
  auto rows = [](unsigned lane) { return uint64_t(16) * lane; };
  for (unsigned w = 0; w < 4; ++w) waves.push_back(execute(code, 0, w, rows));
  auto r = run(m, code, waves); // on four SIMDs, all issue at once
  EXPECT_EQ(r.ldsCycles, 4u * 8);
  for (unsigned w = 0; w < 4; ++w) EXPECT_EQ(issueOf(r, 1, w), m.ldsLatency + 6 + 8 * w) << w;
}

TEST(Replay, VectorMemoryCounterWaitsForTheOldest) {
  Machine m = machine("gfx942");
  Code code;
  code.load(0);
  code.load(1);
  code.waitVector(1);
  code.waitVector(0);
  // Two lines each; the second load's lines are those of the first.
  auto r = run(m, code, {execute(code)});
  // The first line's transfer passes L2 and what is behind it: 128 bytes at 64 and at 8 bytes a cycle.
  Cycle first = issueOf(r, 2);
  EXPECT_EQ(first, Cycle(2 * 128 / 8) + m.cacheLatency);
  EXPECT_EQ(r.instructions[2].stalled[unsigned(Stall::VectorMemory)], first - 2 * m.issueCycles);
  // In order: the second, which hits L1, completes not before the first.
  EXPECT_EQ(issueOf(r, 3), first + m.issueCycles);
}

TEST(Replay, LoadsHitL1TheSecondTime) {
  Machine m = machine("gfx942");
  Code code;
  code.load(0);
  code.waitVector(0);
  code.load(0);
  code.waitVector(0);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 3) - issueOf(r, 2), m.l1Latency + 128 / m.l1BytesPerCycle); // two lines, one after the other
  EXPECT_EQ(r.traffic.l2Bytes, 2u * 128);
}

TEST(Replay, FullCountersDelayTheNextAccess) {
  Machine m = machine("gfx942", {"ldsCounterMost=2"});
  Code code;
  for (unsigned n = 0; n < 3; ++n) code.ldsRead(n, 4);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 1), 4u);
  EXPECT_EQ(issueOf(r, 2), m.ldsLatency);
  EXPECT_EQ(r.instructions[2].stalled[unsigned(Stall::Counter)], m.ldsLatency - 8);
}

TEST(Replay, TwoWavesHideEachOthersLatency) {
  Machine m = machine("gfx942", {"simds=1"});
  Code code;
  for (int n = 0; n < 8; ++n) code.matrix(0, 0, "v_mfma_f32_32x32x8_f16"); // each depends on the one before
  auto one = run(m, code, {execute(code)});
  auto two = run(m, code, {execute(code, 0, 0), execute(code, 0, 1)});
  EXPECT_EQ(one.cycles, 7u * 34 + 32);
  // The second wave's fill the unit; it takes 16 × 32 and no more.
  EXPECT_EQ(two.cycles, 16u * 32);
  EXPECT_EQ(two.stalled[unsigned(Stall::Registers)], 2u * 7 * 30); // each for its own results
}

TEST(Replay, BarriersHoldTheEarlyWave) {
  Machine m = machine("gfx942");
  Code code;
  code.control("s_sleep", 2); // the late wave's alone
  code.barrier();
  code.valu(0, 1);
  WaveTrace late = execute(code, 0, 0);
  WaveTrace soon = execute(code, 0, 1);
  soon.events.erase(soon.events.begin());
  auto r = run(m, code, {late, soon});
  Cycle arrival = 2 * m.sleepCycles;
  EXPECT_EQ(issueOf(r, 1, 1), 0u);
  EXPECT_EQ(issueOf(r, 1, 0), arrival);
  EXPECT_EQ(issueOf(r, 2, 0), arrival + m.barrierCycles);
  EXPECT_EQ(issueOf(r, 2, 1), arrival + m.barrierCycles);
  EXPECT_EQ(r.waves[1].stalled[unsigned(Stall::Barrier)], arrival + m.barrierCycles - m.issueCycles);
}

TEST(Replay, BarriersDoNotWaitForWavesThatHaveEnded) {
  Machine m = machine("gfx942");
  Code code;
  code.barrier();
  code.end();
  WaveTrace all = execute(code, 0, 0);
  WaveTrace ends = execute(code, 0, 1);
  ends.events.erase(ends.events.begin());
  auto r = run(m, code, {all, ends});
  EXPECT_EQ(issueOf(r, 1, 0), m.issueCycles + m.barrierCycles); // from the other's end
}

TEST(Replay, SplitBarriersWaitOnlyAtTheirSecondHalf) {
  Machine m = machine("gfx1201");
  Code code;
  code.add(Unit::Barrier, "s_barrier_signal");
  code.valu(0, 1);
  code.add(Unit::Barrier, "s_barrier_wait");
  code.valu(2, 3);
  code.control("s_sleep", 1);
  WaveTrace quick = execute(code, 0, 0);
  WaveTrace slow = execute(code, 0, 1);
  std::rotate(slow.events.begin(), slow.events.end() - 1, slow.events.end()); // sleeps first
  auto r = run(m, code, {quick, slow});
  EXPECT_EQ(issueOf(r, 1, 0), 1u);
  EXPECT_EQ(issueOf(r, 3, 0), m.sleepCycles + m.barrierCycles);
}

TEST(Replay, BarriersThatNobodyReachesAreAnError) {
  Machine m = machine("gfx1201");
  Code code;
  code.add(Unit::Barrier, "s_barrier_wait");
  code.end();
  std::vector<WaveTrace> waves{execute(code)};
  ReplayInput in;
  in.code = code.instructions;
  auto to = pointers(waves);
  in.waves = to;
  EXPECT_EQ(replay(m, in).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Replay, PriorityWinsOverAge) {
  Machine m = machine("gfx942", {"simds=1"});
  Code code;
  code.control("s_setprio", 3);
  code.control("s_nop", 0);
  for (unsigned n = 0; n < 4; ++n) code.matrix(4 * n, 4 * n);
  WaveTrace older = execute(code, 0, 0);
  older.events.erase(older.events.begin()); // without s_setprio
  WaveTrace younger = execute(code, 0, 1);
  auto r = run(m, code, {older, younger});
  // The older one's first is in flight before the younger is ready; the younger's four follow.
  EXPECT_LT(issueOf(r, 5, 1), issueOf(r, 3, 0));
}

TEST(Replay, SleepsAndNopsDelay) {
  Machine m = machine("gfx942");
  Code code;
  code.control("s_nop", 3);
  code.valu(0, 1);
  code.control("s_sleep", 5);
  code.valu(2, 3);
  auto r = run(m, code, {execute(code)});
  EXPECT_EQ(issueOf(r, 1), 4u * m.issueCycles);
  EXPECT_EQ(issueOf(r, 3) - issueOf(r, 2), 5u * m.sleepCycles);
}

TEST(Replay, WorkgroupsThatDoNotFitStartLater) {
  Machine m = machine("gfx942");
  Code code;
  code.valu(0, 1);
  code.end();
  std::vector<WaveTrace> waves{execute(code, 0), execute(code, 1)};
  auto together = run(m, code, waves, 2);
  auto apart = run(m, code, waves, 1);
  EXPECT_EQ(together.waves[1].start, 0u);
  EXPECT_EQ(apart.waves[1].start, apart.waves[0].end + m.workgroupStartCycles);
}

TEST(Replay, InstructionsWithoutTimingAreNamed) {
  Machine m = machine("gfx942");
  Code code;
  code.add(Unit::Matrix, "v_unknown_matrix", {v(0)}, {v(1)});
  std::vector<WaveTrace> waves{execute(code)};
  ReplayInput in;
  in.code = code.instructions;
  auto to = pointers(waves);
  in.waves = to;
  auto r = replay(m, in);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(r.status().message().find("v_unknown_matrix"), std::string::npos);
}

// A pipelined loop body: loads, LDS, matrix instructions, a barrier.
Code loop(int iterations) {
  Code code;
  for (int n = 0; n < iterations; ++n) {
    code.load(60);
    code.ldsRead(20, 16);
    code.ldsRead(24, 16);
    code.waitLds(0);
    for (unsigned k = 0; k < 4; ++k) code.matrix(4 * k, 4 * k);
    code.valu(70, 60);
    code.waitVector(0);
    code.barrier();
  }
  code.end();
  return code;
}

TEST(Replay, MoreLatencyNeverTakesFewerCycles) {
  Code code = loop(6);
  auto cycles = [&](std::vector<std::string> numbers) {
    Machine m = machine("gfx942", std::move(numbers));
    std::vector<WaveTrace> waves;
    for (unsigned g = 0; g < 2; ++g)
      for (unsigned w = 0; w < 8; ++w)
        waves.push_back(execute(code, g, w, [&](unsigned lane) { return uint64_t(16) * lane + 4096 * w; }));
    return run(m, code, waves).cycles;
  };
  for (std::string number : {"ldsLatency", "cacheLatency", "l1Latency", "matrixAccumulateExtra", "matrixResultExtra",
                             "valuLatency", "barrierCycles"}) {
    Cycle before = 0;
    for (unsigned value : {0u, 4u, 16u, 64u, 100u, 400u, 1600u}) {
      Cycle now = cycles({number + "=" + std::to_string(value)});
      EXPECT_GE(now, before) << number << " = " << value;
      before = now;
    }
    EXPECT_GT(before, 0u) << number;
  }
}

} // namespace
} // namespace tessera::timing
