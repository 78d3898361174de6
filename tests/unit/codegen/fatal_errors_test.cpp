// LLVM's fatal errors become failed calls, on many threads at once, and a host program keeps its own handler.
#include "codegen/object/fatal_errors.h"
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace tessera::codegen {
namespace {

bool fails(std::string &message) {
  return !runCatchingFatalErrors([] { llvm::report_fatal_error("no such thing"); }, message);
}

TEST(FatalErrors, BecomeFailedCallsOnEachThread) {
  std::atomic<int> caught = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::string message;
        if (fails(message) && message == "no such thing") ++caught;
      }
    });
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(caught, 8 * 50);
}

TEST(FatalErrors, InnerCallsLeaveOuterOnesAlone) {
  std::string outer, inner;
  EXPECT_TRUE(runCatchingFatalErrors([&] { EXPECT_TRUE(fails(inner)); }, outer));
  EXPECT_EQ(inner, "no such thing");
  EXPECT_EQ(outer, "");
}

TEST(FatalErrors, ExceptionsPassThrough) {
  std::string outer, inner;
  EXPECT_TRUE(runCatchingFatalErrors(
      [&] {
        EXPECT_THROW(runCatchingFatalErrors([] { throw 1; }, inner), int);
        EXPECT_TRUE(fails(inner)); // the outer call is intact
      },
      outer));
  EXPECT_EQ(outer, "");
  // And the handler is the host's again.
  EXPECT_EXIT(
      {
        setHostFatalErrorHandler([](void *, const char *, bool) { std::_Exit(7); });
        try {
          runCatchingFatalErrors([] { throw 1; }, inner);
        } catch (int) {
        }
        llvm::report_fatal_error("later");
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(FatalErrors, HostProgramKeepsItsHandler) {
  auto host = [](void *, const char *reason, bool) {
    std::fprintf(stderr, "the host's: %s\n", reason);
    std::_Exit(7);
  };
  EXPECT_EXIT(
      {
        setHostFatalErrorHandler(host);
        std::string message;
        if (!fails(message)) std::_Exit(1);
        llvm::report_fatal_error("later");
      },
      ::testing::ExitedWithCode(7), "the host's: later");
}

} // namespace
} // namespace tessera::codegen
