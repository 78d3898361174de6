// LLVM's option lsr-drop-solution is set while code is generated, for any number of threads, and restored.
#include "codegen/object/strength_reduction.h"
#include "llvm/Support/CommandLine.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace tessera::codegen {
namespace {

llvm::cl::Option &option() {
  auto &options = llvm::cl::getRegisteredOptions();
  return *options.find("lsr-drop-solution")->second;
}
bool isSet() { return option().getNumOccurrences() > 0; }

TEST(StrengthReduction, ThisLlvmHasTheOption) { EXPECT_TRUE(canDropReductions()); }

TEST(StrengthReduction, TheOptionIsSetWithinTheBodyAlone) {
  EXPECT_FALSE(isSet());
  withDroppedReductions([] {
    EXPECT_TRUE(isSet());
    withDroppedReductions([] { EXPECT_TRUE(isSet()); });
    EXPECT_TRUE(isSet());
  });
  EXPECT_FALSE(isSet());
}

TEST(StrengthReduction, AValueOfTheProgramStays) {
  ASSERT_FALSE(option().addOccurrence(0, "lsr-drop-solution", "false"));
  withDroppedReductions([] { EXPECT_EQ(option().getNumOccurrences(), 1); });
  EXPECT_TRUE(isSet());
  option().reset();
}

TEST(StrengthReduction, ThreadsShareIt) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        withDroppedReductions([&] {
          wrong += !isSet();
          std::this_thread::yield();
          wrong += !isSet();
        });
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(isSet());
}

} // namespace
} // namespace tessera::codegen
