// Blocks on several host threads: results, counters and reports are those of one thread, whether the blocks have
// nothing to do with each other, interact by atomics, or race.
#include "emulation.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::scalar;
using testing::zeros;

struct Case {
  const char *kernel;
  bool parallel; // its blocks have nothing to do with each other
};
class Parallel : public ::testing::TestWithParam<std::tuple<const char *, Case>> {};

TEST_P(Parallel, IsTheSame) {
  auto [target, c] = GetParam();
  std::string folder = std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + c.kernel;
  Emulation one, many;
  one.target = many.target = target;
  one.options.counters = many.options.counters = true;
  many.options.threads = 4;
  auto a = one.launch(folder), b = many.launch(folder);
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(one.buffers, many.buffers);
  EXPECT_EQ(emulator::counterTable(*a), emulator::counterTable(*b));
  EXPECT_EQ(a->threads, 1u);
  EXPECT_EQ(b->threads > 1, c.parallel);
}
INSTANTIATE_TEST_SUITE_P(Kernels, Parallel,
                         ::testing::Combine(::testing::Values("sm_80", "sm_90a", "gfx942", "gfx1201"),
                                            ::testing::Values(Case{"vecadd", true}, Case{"mm_f16", true},
                                                              Case{"layernorm", true}, Case{"transpose", true},
                                                              Case{"atomics", false})),
                         [](auto &i) { return std::string(std::get<0>(i.param)) + "_" + std::get<1>(i.param).kernel; });

/// x[pid + 1] = x[pid] + 1, or y[OUT] = x[pid] with OUT from the program's number.
std::string chain(const char *from, const char *to) {
  return std::string(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %next = arith.addi %pid, %c1 : i32
    %half = arith.divsi %pid, %n : i32
    %p = tt.addptr %x, %pid : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    %q = tt.addptr )") +
         from + ", " + to + R"( : !tt.ptr<i32>, i32
    tt.store %q, %w : !tt.ptr<i32> loc("kernel.py":9:3)
    tt.return
  }
})";
}

TEST(ParallelFaults, RacesAreReportedAsByOneThread) {
  for (const char *target : {"sm_90a", "gfx942"}) {
    std::string message;
    for (int threads : {1, 2, 4, 16}) {
      Emulation e;
      e.target = target;
      e.grid = {64, 1, 1};
      e.options.threads = threads;
      auto r = e.text(chain("%x", "%next"), "k", {zeros(65 * 4), zeros(4), scalar(1)});
      EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
      EXPECT_THAT(std::string(r.status().message()), HasSubstr("race"));
      if (message.empty()) message = std::string(r.status().message());
      EXPECT_EQ(message, std::string(r.status().message()));
    }
  }
}
TEST(ParallelFaults, WritesToTheSamePlaceAreReportedAsByOneThread) {
  std::string message;
  for (int threads : {1, 4}) {
    Emulation e;
    e.grid = {64, 1, 1};
    e.options.threads = threads;
    auto r = e.text(chain("%y", "%half"), "k", {counting(64 * 4), zeros(64 * 4), scalar(2)});
    EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
    if (message.empty()) message = std::string(r.status().message());
    EXPECT_EQ(message, std::string(r.status().message()));
  }
}
TEST(ParallelFaults, TheFirstBlockThatFailsIsNamed) {
  for (int threads : {1, 4}) {
    Emulation e;
    e.grid = {64, 1, 1};
    e.options.threads = threads;
    auto r = e.text(chain("%y", "%pid"), "k", {counting(40 * 4), zeros(64 * 4), scalar(1)});
    EXPECT_THAT(std::string(r.status().message()),
                ::testing::AllOf(HasSubstr("block (40, 0, 0)"), HasSubstr("out of bounds")));
  }
}
TEST(ParallelFaults, TheSameValueFromAllIsSound) {
  for (int threads : {1, 4}) {
    Emulation e;
    e.grid = {64, 1, 1};
    e.options.threads = threads;
    auto r = e.text(chain("%y", "%half"), "k", {zeros(64 * 4), zeros(64 * 4), scalar(64)});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(e.buffers[1][0], 1);
  }
}

} // namespace
} // namespace tessera
