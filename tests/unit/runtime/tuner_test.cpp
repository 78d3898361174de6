// The autotuner against a device of the test's own: what is measured, what counts as the same result, and what is
// said of configurations that cannot be compiled, fail, or compute something else.
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/debug/tuner.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {
using testing::HasSubstr;
using Outcome = TuneMeasurement::Outcome;

const char kKernel[] = R"(module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: !tt.ptr<i32>) {
    tt.return
  }
}
)";

/// Runs nothing: the results and the time depend on the number of warps.
class TestDevice final : public Device {
public:
  std::string name() const override { return "test"; }
  std::string target() const override { return "gfx942"; }
  std::string driver() const override { return ""; }
  int64_t memoryBytes() const override { return 0; }
  absl::StatusOr<std::unique_ptr<DeviceMemory>> allocate(size_t, const std::string &) override {
    return absl::UnimplementedError("");
  }
  absl::Status write(DeviceMemory &, size_t, const void *, size_t, const std::string &) override {
    return absl::UnimplementedError("");
  }
  absl::Status read(const DeviceMemory &, size_t, void *, size_t, const std::string &) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> load(llvm::StringRef, const KernelMetadata &) override {
    return absl::UnimplementedError("");
  }
  absl::Status launch(LoadedKernel &, std::array<int64_t, 3>, llvm::ArrayRef<DeviceArgument>) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<LaunchTiming> time(LoadedKernel &, std::array<int64_t, 3>, llvm::ArrayRef<DeviceArgument>,
                                    int) override {
    return absl::UnimplementedError("");
  }
  absl::Status run(llvm::StringRef, const KernelMetadata &md, std::array<int64_t, 3>,
                   llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *t) override {
    ++runs;
    EXPECT_EQ(reps, 7);
    // Each run begins with what the description says.
    float before;
    std::memcpy(&before, args[0].buffer->data(), 4);
    EXPECT_EQ(before, 3.0f);
    if (md.numWarps == 8) return absl::UnavailableError("the device is on fire");
    float out[2] = {md.numWarps == 4   ? 2.0f
                    : md.numWarps == 2 ? 1.0f + 0x1p-22f
                                       : 1.0f,
                    std::numeric_limits<float>::quiet_NaN()};
    std::memcpy(args[0].buffer->data(), out, sizeof out);
    int32_t n = md.numWarps == 16 ? 6 : 5;
    std::memcpy(args[1].buffer->data(), &n, 4);
    *t = {10.0 / md.numWarps, 9.0 / md.numWarps};
    return absl::OkStatus();
  }
  int runs = 0;
};

TEST(Tuner, ReportsWhatBecomesOfEachConfiguration) {
  auto d = parseLaunch(
      R"({"ttir": "k", "grid": [1], "args": [{"name": "p", "dtype": "f32", "shape": [2], "fill": 3}, {"name": "n", "dtype": "i32", "shape": [1], "fill": 0}]})",
      "l.json");
  ASSERT_TRUE(d.ok()) << d.status();
  ir::Context context;
  ir::DiagnosticEngine diag;
  auto module = frontend::parseModule(kKernel, "k", context, diag);
  auto arguments = prepareArguments(*d, *selectKernel(*module, ""));
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  TestDevice device;
  CompileCache cache({.directory = "", .memoryBytes = 0});
  size_t seen = 0;
  std::vector<CompileOptions> configurations;
  for (auto [warps, stages, waves] :
       {std::tuple(1, 1, 0), {1, 2, 0}, {2, 1, 0}, {4, 1, 0}, {8, 1, 0}, {16, 1, 0}, {32, 1, 0}, {2, 1, 4}}) {
    auto &o = configurations.emplace_back();
    o.numWarps = warps, o.exactNumWarps = true, o.numStages = stages, o.wavesPerEu = waves;
  }
  TuneJob job{*d, kKernel, "k", *arguments, device, nullptr, cache, configurations, 7, nullptr, [&](size_t done) {
                EXPECT_EQ(done, seen++);
              }};
  auto all = tune(job);
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(seen, 9u);
  EXPECT_EQ(all[0].outcome, Outcome::Measured);
  EXPECT_EQ(all[0].medianMs, 10);
  EXPECT_EQ(all[1].outcome, Outcome::SameCode); // there is no loop
  EXPECT_EQ(all[1].sameAs, 0u);
  EXPECT_EQ(all[1].configuration.numStages, 2);
  EXPECT_EQ(all[1].medianMs, 10);
  EXPECT_EQ(all[2].outcome, Outcome::Measured) << all[2].reason; // two units in the last place; both NaN
  EXPECT_EQ(all[3].outcome, Outcome::Wrong);
  EXPECT_THAT(all[3].reason, HasSubstr("p: "));
  EXPECT_EQ(all[4].outcome, Outcome::Failed);
  EXPECT_EQ(all[4].reason, "the device is on fire");
  EXPECT_EQ(all[5].outcome, Outcome::Wrong); // integers have no tolerance
  EXPECT_THAT(all[5].reason, HasSubstr("n: "));
  EXPECT_EQ(all[6].outcome, Outcome::NotCompiled);
  EXPECT_THAT(all[6].reason, HasSubstr("gfx942 allows 1024"));
  EXPECT_EQ(all[7].outcome, Outcome::Measured) << all[7].reason; // other waves are other code
  EXPECT_EQ(all[7].metadata.wavesPerEu, 4);
  EXPECT_EQ(device.runs, 6);
  EXPECT_EQ(best(all, false), 2u); // what is wrong would be faster

  // Against what somebody else has computed.
  LaunchArguments right = *arguments;
  float two[2] = {2, 0};
  std::memcpy(right.buffers[0].data(), two, sizeof two);
  right.buffers[1] = {5, 0, 0, 0};
  job.right = &right;
  seen = 0;
  all = tune(job);
  EXPECT_EQ(all[0].outcome, Outcome::Wrong);
  EXPECT_EQ(best(all, false), std::nullopt);
}

} // namespace
} // namespace tessera::runtime
