// What tests of planted faults share: how a run must end, and a fixture for each target.
#pragma once
#include "emulation.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::testing {

inline std::string messageOf(const absl::Status &s) { return std::string(s.message()); }

/// The run is aborted, and its message says all of this.
#define EXPECT_FOUND(result, ...)                                                                                      \
  do {                                                                                                                 \
    auto &&found = (result);                                                                                           \
    EXPECT_EQ(found.status().code(), absl::StatusCode::kAborted) << found.status();                                    \
    EXPECT_THAT(messageOf(found.status()), ::testing::AllOf(__VA_ARGS__));                                             \
  } while (false)
#define EXPECT_SOUND(result)                                                                                           \
  do {                                                                                                                 \
    auto &&found = (result);                                                                                           \
    EXPECT_TRUE(found.ok()) << found.status();                                                                         \
  } while (false)

/// A test that runs for targets of both vendors.
class OnTarget : public ::testing::TestWithParam<const char *> {
protected:
  Emulation make(int warps = 4) {
    Emulation e;
    e.target = GetParam();
    e.numWarps = warps;
    return e;
  }
  bool amd() const { return llvm::StringRef(GetParam()).starts_with("gfx"); }
};
inline const auto kFaultTargets = ::testing::Values("sm_80", "sm_90a", "gfx942", "gfx1100", "gfx1201");

} // namespace tessera::testing
