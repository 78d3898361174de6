// The limits of a grid are those of the device, whoever launches: the command line, the C API and Python check by
// checkGrid. Emulators have the limits of their GPUs.
#include "runtime/launch_checks.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {
using testing::HasSubstr;

std::string problem(std::array<int64_t, 3> grid, llvm::StringRef device, int64_t scratchBytes = 0) {
  return std::string(checkGrid(grid, device, scratchBytes).message());
}

TEST(LaunchChecks, NvidiaLimitsYAndZ) {
  for (const char *device : {"cuda:0", "cuda:7", "emulator:sm_80", "emulator:sm_120a"}) {
    SCOPED_TRACE(device);
    EXPECT_EQ(problem({2147483647, 1, 1}, device), "");
    EXPECT_EQ(problem({1, 65535, 1}, device), "");
    EXPECT_EQ(problem({1, 1, 65535}, device), "");
    EXPECT_EQ(problem({1, 65536, 1}, device),
              std::string("the grid (1, 65536, 1) is too large for ") + device + ", which takes at most 65535 in y");
    EXPECT_THAT(problem({1, 1, 65536}, device), HasSubstr("at most 65535 in z"));
    EXPECT_THAT(problem({int64_t(1) << 31, 1, 1}, device), HasSubstr("at most 2147483647 in x"));
  }
}

TEST(LaunchChecks, OthersTakeAsManyAlongEachDimension) {
  for (const char *device : {"hip:0", "emulator:gfx942", "interpreter"}) {
    SCOPED_TRACE(device);
    EXPECT_EQ(problem({1, 65536, 1}, device), "");
    EXPECT_EQ(problem({1, 1, 2147483647}, device), "");
    EXPECT_THAT(problem({1, 1, int64_t(1) << 31}, device), HasSubstr("at most 2147483647 in z"));
  }
}

TEST(LaunchChecks, EmptyGridsAndFarTooManyPrograms) {
  EXPECT_THAT(problem({1, 0, 1}, "interpreter"), HasSubstr("is empty"));
  EXPECT_THAT(problem({-1, 1, 1}, "cuda:0"), HasSubstr("is empty"));
  EXPECT_EQ(problem({1 << 20, 1 << 20, 1}, "interpreter"), "");
  EXPECT_THAT(problem({1 << 20, 1 << 20, 2}, "interpreter"),
              HasSubstr("is too large: it has more than 1099511627776 programs"));
  EXPECT_THAT(problem({1 << 20, 1 << 20, 1}, "interpreter", 1 << 20), HasSubstr("needs too much scratch memory"));
}

} // namespace
} // namespace tessera::runtime
