// Options of the whole process are set for any number of threads that want the same values, and restored after them.
#include "codegen/object/process_options.h"
#include "llvm/Support/CommandLine.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace tessera::codegen {
namespace {

constexpr int kNone = -1;
std::atomic<int> value = kNone, sets = 0;

HeldOptions &holder() {
  static auto *held = new HeldOptions(
      [](unsigned setting) {
        ++sets;
        value = int(setting);
      },
      [] { value = kNone; });
  return *held;
}

TEST(ProcessOptions, AreFoundByName) {
  ASSERT_TRUE(findProcessOption("inline-threshold"));
  EXPECT_EQ(findProcessOption("inline-threshold")->ArgStr, "inline-threshold");
  EXPECT_FALSE(findProcessOption("inline-threshold-of-another-llvm"));
}

TEST(ProcessOptions, AreSetOnceForNestedBodies) {
  sets = 0;
  holder().holdDuring(
      [] {
        holder().holdDuring([] { EXPECT_EQ(value, 2); }, 2);
        EXPECT_EQ(value, 2);
      },
      2);
  EXPECT_EQ(value, kNone);
  EXPECT_EQ(sets, 1);
}

TEST(ProcessOptions, AreRestoredAfterAnException) {
  EXPECT_THROW(holder().holdDuring([] { throw 1; }, 2), int);
  EXPECT_EQ(value, kNone);
  holder().holdDuring([] { EXPECT_EQ(value, 3); }, 3); // nobody is inside any more
}

// A body of one holder's is none of another's: they wait for settings of their own.
TEST(ProcessOptions, HoldersDoNotKnowEachOther) {
  static std::atomic<bool> isSet = false;
  static HeldOptions other([](unsigned) { isSet = true; }, [] { isSet = false; });
  holder().holdDuring(
      [] {
        other.holdDuring([] {
          EXPECT_TRUE(isSet);
          EXPECT_EQ(value, 1);
        });
        EXPECT_FALSE(isSet);
        EXPECT_EQ(value, 1);
      },
      1);
}

TEST(ProcessOptions, ThreadsWithTheSameSettingAreInsideAtOnce) {
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      holder().holdDuring([&] {
        ++inside;
        while (inside < 2) std::this_thread::yield(); // for ever, if the other one must wait
      });
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(value, kNone);
}

TEST(ProcessOptions, ThreadsWithDifferentSettingsWaitForEachOther) {
  std::atomic<int> wrong = 0, bodies = 0;
  std::vector<std::thread> threads;
  for (unsigned setting : {0, 1, 2, 0, 1})
    threads.emplace_back([&, setting] {
      for (int i = 0; i < 200; ++i)
        holder().holdDuring(
            [&] {
              wrong += value != int(setting);
              std::this_thread::yield();
              wrong += value != int(setting);
              ++bodies;
            },
            setting);
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(bodies, 1000);
  EXPECT_EQ(value, kNone);
}

} // namespace
} // namespace tessera::codegen
