// Reads of buffers' memory that nothing wrote, on targets of both vendors: no fault where what is read is dropped, and
// a fault of the right place where it is not. The interpreter's: runtime_interpreter/unwritten_values_test.cpp.
#include "faults.h"

namespace tessera {
namespace {

using testing::bytesOf;
using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::messageOf;
using testing::scalar;
using testing::zeros;

/// The sum of x[i] for i < n of 256, added to each y[i].
std::string sums(const char *bound) {
  return std::string(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
    %z = arith.constant dense<0> : tensor<256xi32>
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %ns = tt.splat %n : i32 -> tensor<256xi32>
    %m = arith.cmpi )") +
         bound + R"(, %i, %ns : tensor<256xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %v = tt.load %xp : tensor<256x!tt.ptr<i32>> loc("kernel.py":7:3)
    %w = arith.select %m, %v, %z : tensor<256xi1>, tensor<256xi32>
    %sum = "tt.reduce"(%w) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<256xi32>) -> i32
    %r = tt.splat %sum : i32 -> tensor<256xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %old = tt.load %yp : tensor<256x!tt.ptr<i32>> loc("kernel.py":9:3)
    %both = arith.addi %old, %r : tensor<256xi32>
    tt.store %yp, %both : tensor<256x!tt.ptr<i32>> loc("kernel.py":11:3)
    tt.return
  }
}
)";
}

std::vector<uint8_t> unwrittenFrom(size_t first) {
  std::vector<uint8_t> flags(1024);
  std::fill(flags.begin() + long(first), flags.end(), 1);
  return flags;
}

using Unwritten = testing::OnTarget;
INSTANTIATE_TEST_SUITE_P(Targets, Unwritten, testing::kFaultTargets, [](auto &i) { return std::string(i.param); });

TEST_P(Unwritten, ValuesThatASelectDropsAreNoFault) {
  auto e = make();
  e.undefined[0] = unwrittenFrom(800);
  auto r = e.text(sums("slt"), "k", {counting(1024), zeros(1024), scalar(200)});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_GT(r->instructions, 0u);
  auto *y = reinterpret_cast<const int32_t *>(e.buffers[1].data());
  EXPECT_EQ(y[0], 199 * 200 / 2);
  // What nobody wrote is as it was.
  EXPECT_EQ(reinterpret_cast<const int32_t *>(e.buffers[0].data())[255], 255);
  EXPECT_EQ(e.undefined[0], unwrittenFrom(800));
}

TEST_P(Unwritten, ValuesThatReachMemoryAreFaults) {
  for (auto [bound, n] : {std::pair("slt", 201), std::pair("sge", 200)}) {
    auto e = make();
    e.undefined[0] = unwrittenFrom(800);
    auto r = e.text(sums(bound), "k", {counting(1024), zeros(1024), scalar(uint64_t(n))});
    EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted);
    EXPECT_THAT(messageOf(r.status()), HasSubstr("kernel.py:7:3: reads byte 800 of 'a', which nothing ever wrote"));
  }
}

TEST_P(Unwritten, ThePlaceThatMattersIsNamed) {
  auto e = make();
  e.undefined[0] = unwrittenFrom(800);
  e.undefined[1] = unwrittenFrom(1000);
  auto r = e.text(sums("slt"), "k", {counting(1024), zeros(1024), scalar(200)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("kernel.py:9:3: reads byte 1000 of 'b', which nothing ever wrote"));
}

TEST_P(Unwritten, OnSeveralThreadsAsOnOne) {
  auto e = make();
  e.grid = {4, 1, 1}; // all of which write the same
  e.options.threads = 3;
  e.undefined[0] = unwrittenFrom(800);
  e.undefined[1] = unwrittenFrom(1000);
  auto r = e.text(sums("slt"), "k", {counting(1024), zeros(1024), scalar(200)});
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("race"), HasSubstr("nothing ever wrote")));
}

TEST_P(Unwritten, OtherFaultsAfterHarmlessReadsAreReported) {
  auto e = make();
  e.undefined[0] = unwrittenFrom(800);
  auto r = e.text(sums("slt"), "k", {counting(1024), zeros(1000), scalar(200)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("out of bounds"));
}

TEST_P(Unwritten, WithoutTheCheckNothingIsRunAgain) {
  auto e = make();
  e.options.checks.undefined = false;
  e.undefined[0] = unwrittenFrom(0);
  auto r = e.text(sums("slt"), "k", {counting(1024), zeros(1024), scalar(256)});
  EXPECT_TRUE(r.ok()) << r.status();
}

} // namespace
} // namespace tessera
