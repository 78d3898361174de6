// Work in child processes: whatever a piece of it does to its process, the rest is done.
#include "runtime/debug/isolated.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

namespace tessera::runtime {
namespace {

using Key = std::pair<size_t, size_t>;
struct Record {
  std::map<Key, std::string> done, lost, said;
  IsolatedWork work;
  Record(size_t jobs, size_t parts, int processes) {
    work.jobs = jobs;
    work.processes = processes;
    work.parts = [parts](size_t) { return parts; };
    work.done = [this](size_t j, size_t p, const std::string &r) { EXPECT_TRUE(done.emplace(Key(j, p), r).second); };
    work.lost = [this](size_t j, size_t p, const std::string &what, const std::string &text) {
      EXPECT_TRUE(lost.emplace(Key(j, p), what).second);
      said[{j, p}] = text;
    };
  }
};

TEST(Isolated, EverythingIsDoneOnce) {
  for (int processes : {1, 3}) {
    Record r(20, 3, processes);
    r.work.work = [](size_t j, size_t p, bool &) {
      return std::to_string(j) + "." + std::to_string(p) + std::string(j * 10000, 'x');
    };
    EXPECT_EQ(runIsolated(r.work), "");
    EXPECT_EQ(r.done.size(), 60u);
    EXPECT_TRUE(r.lost.empty());
    EXPECT_EQ((r.done[{7, 2}]), "7.2" + std::string(70000, 'x'));
  }
}

TEST(Isolated, CrashesAreLostPartsAndNothingElse) {
  Record r(6, 3, 2);
  r.work.work = [](size_t j, size_t p, bool &) -> std::string {
    if (p == 1 && j == 1) std::raise(SIGKILL);
    if (p == 1 && j == 2) {
      std::fprintf(stderr, "the reason\n");
      std::_Exit(5);
    }
    if (p == 0 && j == 3) std::signal(SIGABRT, SIG_DFL), std::abort();
    if (p == 2 && j == 4) std::raise(SIGTERM);
    return "ok";
  };
  EXPECT_EQ(runIsolated(r.work), "");
  EXPECT_EQ(r.done.size(), 6 * 3 - 4u);
  ASSERT_EQ(r.lost.size(), 4u);
  EXPECT_EQ((r.lost[{1, 1}]), "killed by signal 9 (Killed)");
  EXPECT_EQ((r.lost[{2, 1}]), "the process ended with exit code 5");
  EXPECT_EQ((r.said[{2, 1}]), "the reason\n");
  EXPECT_EQ((r.lost[{3, 0}]), "killed by signal 6 (Aborted)");
  EXPECT_TRUE(r.done.count({3, 1}) && r.done.count({3, 2}));
}

TEST(Isolated, WhatTakesTooLongIsKilled) {
  Record r(3, 2, 2);
  r.work.limitSeconds = 0.3;
  r.work.work = [](size_t j, size_t p, bool &) -> std::string {
    if (j == 1 && p == 0)
      for (;;) pause();
    return "ok";
  };
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(runIsolated(r.work), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(r.done.size(), 5u);
  EXPECT_EQ((r.lost[{1, 0}]), "took longer than 0.3 s");
}

// A part may request a new process for what follows.
TEST(Isolated, Renewal) {
  Record r(1, 4, 1);
  static int turns = 0;
  r.work.work = [](size_t, size_t p, bool &renew) {
    renew = p == 1;
    return std::to_string(++turns);
  };
  EXPECT_EQ(runIsolated(r.work), "");
  EXPECT_EQ((r.done[{0, 1}]), "2");
  EXPECT_EQ((r.done[{0, 2}]), "1"); // counts anew
  EXPECT_EQ((r.done[{0, 3}]), "2");
  EXPECT_TRUE(r.lost.empty());
}

} // namespace
} // namespace tessera::runtime
