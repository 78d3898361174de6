// The ptxas that is started ahead: it gives what the plain run gives, and a tool that behaves in any other way than the
// known ones costs nothing but the plain run: no hang, no wrong cubin, no process left behind.
#include "codegen/lowering/targets.h"
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/ptxas_process.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tessera::nvidia {
namespace {

using codegen::BackendOptions;

const codegen::ArchInfo &sm90() { return *codegen::findArch(archTable(), "sm_90a"); }
constexpr const char *kPtx = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 128 {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.s32 %r2, %r1, 41;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

/// A shell script in ptxas's place for the life of the object. $in and $out are the files it is to read and write.
class FakePtxas {
public:
  explicit FakePtxas(const std::string &body) {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-test", folder_));
    path = (folder_ + "/ptxas").str();
    std::error_code error;
    llvm::raw_fd_ostream script(path, error);
    script << "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -o) out=$2; shift ;; -*) ;; *) in=$1 ;; esac; shift; done\n"
           << body << "\n";
    script.close();
    EXPECT_FALSE(error);
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
    if (const char *old = std::getenv("TESSERA_PTXAS")) old_ = old;
    setenv("TESSERA_PTXAS", path.c_str(), 1);
  }
  ~FakePtxas() {
    old_ ? setenv("TESSERA_PTXAS", old_->c_str(), 1) : unsetenv("TESSERA_PTXAS");
    llvm::sys::fs::remove_directories(folder_);
  }
  std::optional<Compiled> compile(llvm::StringRef ptx, std::chrono::milliseconds startedAhead = {}) {
    auto ahead = startPtxasAhead(sm90(), {});
    EXPECT_NE(ahead, nullptr);
    std::this_thread::sleep_for(startedAhead);
    return compileAhead(ahead.get(), path, ptx);
  }
  std::string path;

private:
  llvm::SmallString<128> folder_;
  std::optional<std::string> old_;
};

bool noChildren() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

std::string large() { // more than any pipe takes
  std::string s;
  for (unsigned i = 0; s.size() < 5 << 20; ++i) s += "line " + std::to_string(i) + "\n";
  return s;
}

TEST(PtxasProcess, ARefusalEndsWithItsLastLine) {
  EXPECT_EQ(refusedPtx("ptxas", sm90(), "line 25; error : unknown\nptxas fatal : aborted\n\n").message(),
            "ptxas refused the PTX for sm_90a: line 25; error : unknown\nptxas fatal : aborted");
}

TEST(PtxasAhead, GivesThePlainRunsCubin) {
  absl::StatusOr<std::string> ptxas = findPtxas();
  if (!ptxas.ok()) GTEST_SKIP() << ptxas.status().message();
  for (bool lineInfo : {false, true}) {
    BackendOptions options;
    options.lineInfo = lineInfo;
    auto plain = makeCubin(kPtx, sm90(), options);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    options.ahead = startPtxasAhead(sm90(), options);
    ASSERT_NE(options.ahead, nullptr);
    auto ahead = compileAhead(options.ahead.get(), *ptxas, kPtx);
    ASSERT_TRUE(ahead.has_value());
    EXPECT_EQ(ahead->cubin, plain->object);
    EXPECT_THAT(ahead->log, testing::HasSubstr("registers"));
    // It serves once; makeCubin works without it.
    EXPECT_FALSE(compileAhead(options.ahead.get(), *ptxas, kPtx).has_value());
    auto again = makeCubin(kPtx, sm90(), options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->object, plain->object);
  }
  EXPECT_TRUE(noChildren());
}

TEST(PtxasAhead, BothReadingsHaveTheWholeText) {
  FakePtxas fake(
      "cat \"$in\" > \"$0.1\"; cat \"$in\" > \"$out\"; cat \"$0.1\" >> \"$out\"; rm \"$0.1\"; echo said >&2");
  for (const std::string &text : {std::string("short"), large()}) {
    auto c = fake.compile(text);
    ASSERT_TRUE(c.has_value());
    EXPECT_TRUE(c->cubin == text + text);
    EXPECT_EQ(c->log, "said\n");
  }
}

TEST(PtxasAhead, MayOpenItsInputBeforeOrAfterTheTextIsThere) {
  std::string read = "cat \"$in\" > \"$out\"; cat \"$in\" >> \"$out\"";
  for (const std::string &text : {std::string("short"), large()}) {
    auto early = FakePtxas(read).compile(text, std::chrono::milliseconds(200));
    ASSERT_TRUE(early.has_value());
    EXPECT_TRUE(early->cubin == text + text);
    auto late = FakePtxas("sleep 0.2; " + read).compile(text);
    ASSERT_TRUE(late.has_value());
    EXPECT_TRUE(late->cubin == text + text);
  }
}

TEST(PtxasProcess, TakesMemoryInLargeSteps) {
  FakePtxas fake("cat \"$in\" > /dev/null; printf '%s' \"$GLIBC_TUNABLES\" > \"$out\"");
  const char *old = std::getenv("GLIBC_TUNABLES");
  std::string restored = old ? old : "";
  std::string ours = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216";
  std::pair<std::string, std::string> cases[] = {
      {"", ours},
      {"glibc.cpu.hwcaps=-AVX2", ours + ":glibc.cpu.hwcaps=-AVX2"},
      {"glibc.malloc.check=1", "glibc.malloc.check=1"}, // the user's choice
  };
  for (const auto &[users, expected] : cases) {
    users.empty() ? unsetenv("GLIBC_TUNABLES") : setenv("GLIBC_TUNABLES", users.c_str(), 1);
    auto ahead = fake.compile("text");
    ASSERT_TRUE(ahead.has_value());
    EXPECT_EQ(ahead->cubin, expected);
    auto plain = compileByProcess(fake.path, "text", sm90(), {});
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    EXPECT_EQ(plain->cubin, expected);
  }
  old ? setenv("GLIBC_TUNABLES", restored.c_str(), 1) : unsetenv("GLIBC_TUNABLES");
}

TEST(PtxasAhead, OtherManners) {
  std::string text = large();
  EXPECT_TRUE(FakePtxas("cat \"$in\" > \"$out\"").compile(text).has_value()); // reads once
  for (const char *body : {"exit 0", "exit 1", "echo x > \"$out\"", "cat \"$in\" > /dev/null",
                           "cat \"$in\" > \"$out\"; exit 1", "head -c 100 \"$in\" > \"$out\"; exit 1", "kill -9 $$"}) {
    SCOPED_TRACE(body);
    EXPECT_FALSE(FakePtxas(body).compile(text).has_value());
    EXPECT_TRUE(noChildren());
  }
}

TEST(PtxasAhead, MakesItsOutputInMemory) {
  FakePtxas fake("cat \"$in\" > /dev/null; case $out in /proc/*) printf '%s' made > \"$out\" ;; esac");
  auto made = fake.compile("text");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->cubin, "made");
}

TEST(PtxasAhead, EndsWithItsOwner) {
  FakePtxas fake("cat \"$in\"; sleep 1000");
  {
    auto ahead = startPtxasAhead(sm90(), {});
  }
  EXPECT_TRUE(noChildren());
}

TEST(PtxasProcess, EndsWithAProcessThatIsKilled) {
  FakePtxas fake("echo $$ > \"$0.pid\"; cat \"$in\" > /dev/null; cat \"$in\" > /dev/null; exec sleep 1000");
  std::string pidFile = fake.path + ".pid";
  auto startedProcess = [&] { // once its whole number is there
    auto text = llvm::MemoryBuffer::getFile(pidFile);
    pid_t pid = 0;
    bool isWhole = text && (*text)->getBuffer().ends_with("\n");
    return isWhole && !(*text)->getBuffer().rtrim().getAsInteger(10, pid) ? pid : 0;
  };
  auto waitUntil = [](auto condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  prctl(PR_SET_CHILD_SUBREAPER, 1); // orphans become our children, so that their end can be seen
  enum { Plain, Waiting, Compiling };
  for (int how : {Plain, Waiting, Compiling}) {
    SCOPED_TRACE(how);
    llvm::sys::fs::remove(pidFile);
    pid_t owner = fork();
    if (owner == 0) {
      auto ahead = how == Plain ? nullptr : startPtxasAhead(sm90(), {});
      if (how == Plain) (void)compileByProcess(fake.path, kPtx, sm90(), {});
      if (how == Compiling) (void)compileAhead(ahead.get(), fake.path, kPtx);
      pause();
      _exit(0);
    }
    ASSERT_TRUE(waitUntil(startedProcess));
    EXPECT_EQ(kill(startedProcess(), 0), 0);
    kill(owner, SIGKILL);
    waitpid(owner, nullptr, 0);
    pid_t ptxas = startedProcess();
    EXPECT_TRUE(waitUntil([&] { return waitpid(ptxas, nullptr, WNOHANG) == ptxas; }));
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  while (waitpid(-1, nullptr, 0) > 0) { // the script's
  }
}

TEST(PtxasProcess, SignalsAreAsBefore) {
  sigset_t blocked, before, after;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGUSR2, SIG_IGN);
  auto made = FakePtxas("kill -USR2 $$; cat \"$in\" > \"$out\"").compile("text");
  signal(SIGUSR2, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(made.has_value()); // what is ignored is ignored by ptxas, too
  EXPECT_TRUE(sigismember(&after, SIGHUP));
  EXPECT_FALSE(sigismember(&after, SIGUSR2));
}

/// Runs a function; whether all processes that it started, and those that they started, have ended (soon) after it. It
/// has a pipe that they inherit, whose end is read when none of them has it open.
bool leavesNoProcess(llvm::function_ref<void()> act) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  act();
  close(ends[1]);
  pollfd p{ends[0], POLLIN, 0};
  bool allEnded = poll(&p, 1, /*milliseconds=*/5000) == 1 && (p.revents & POLLHUP);
  close(ends[0]);
  return allEnded;
}

TEST(PtxasProcess, OneThatHangsIsEndedWithWhatItStarted) {
  setenv("TESSERA_PTXAS_SECONDS", "1", 1);
  for (const char *body : {"exec sleep 1000", "cat \"$in\" > /dev/null; sleep 1000; exit 1",
                           "cat \"$in\" > /dev/null; cat \"$in\" > /dev/null; (sleep 1000 & wait) & sleep 1000"}) {
    SCOPED_TRACE(body);
    FakePtxas fake(body);
    EXPECT_TRUE(leavesNoProcess([&] { EXPECT_FALSE(fake.compile(large()).has_value()); })); // started ahead
    EXPECT_TRUE(noChildren());
    absl::StatusOr<Compiled> r;
    EXPECT_TRUE(leavesNoProcess([&] { r = compileByProcess(fake.path, kPtx, sm90(), {}); }));
    EXPECT_EQ(r.status().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(r.status().message()), testing::HasSubstr("did not end within 1 s and was killed"));
    EXPECT_TRUE(noChildren());
  }
  unsetenv("TESSERA_PTXAS_SECONDS");
}

TEST(PtxasProcess, IsInOurProcessGroup) { // so that Ctrl-C in a terminal ends it, too
  FakePtxas fake("cut -d ' ' -f 5 /proc/$$/stat > \"$out\"");
  auto r = compileByProcess(fake.path, kPtx, sm90(), {});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->cubin, std::to_string(getpgrp()) + "\n");
}

TEST(PtxasProcess, FailuresAreErrors) {
  const std::pair<const char *, const char *> failures[] = {
      {"exit 3", " refused the PTX for sm_90a: exit code 3"},
      {"echo no >&2; exit 1", " refused the PTX for sm_90a: no"},
      {"echo no >&2; kill -9 $$", " did not finish: Killed"}}; // by a machine without memory, say
  for (auto [body, why] : failures) {
    SCOPED_TRACE(body);
    FakePtxas fake(body);
    absl::Status failed = compileByProcess(fake.path, kPtx, sm90(), {}).status();
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(failed.message(), fake.path + why);
  }
  absl::Status missing = compileByProcess("/no/ptxas", kPtx, sm90(), {}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(missing.message(), "cannot run /no/ptxas: No such file or directory");
  EXPECT_TRUE(noChildren());
}

TEST(PtxasProcess, TimeLimitMustBeANumber) {
  FakePtxas fake("cat \"$in\" > \"$out\"");
  for (const char *limit : {"soon", "0", "-1", "1.5"}) {
    SCOPED_TRACE(limit);
    setenv("TESSERA_PTXAS_SECONDS", limit, 1);
    EXPECT_FALSE(fake.compile(kPtx).has_value()); // started ahead
    EXPECT_THAT(std::string(compileByProcess(fake.path, kPtx, sm90(), {}).status().message()),
                testing::HasSubstr("TESSERA_PTXAS_SECONDS must be a whole number of seconds from 1 up, not '"));
  }
  setenv("TESSERA_PTXAS_SECONDS", "", 1); // as if it were not set
  EXPECT_TRUE(fake.compile(kPtx).has_value());
  unsetenv("TESSERA_PTXAS_SECONDS");
}

TEST(PtxasAhead, AnotherPtxasIsNotServed) {
  FakePtxas fake("cat \"$in\" > \"$out\"");
  auto ahead = startPtxasAhead(sm90(), {});
  EXPECT_FALSE(compileAhead(ahead.get(), "/other/ptxas", "text").has_value());
  EXPECT_FALSE(compileAhead(nullptr, fake.path, "text").has_value());
}

TEST(PtxasAhead, RefusedPtxIsReportedByThePlainRun) {
  if (!findPtxas().ok()) GTEST_SKIP();
  BackendOptions options;
  options.ahead = startPtxasAhead(sm90(), options);
  auto r = makeCubin(".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k() { nonsense.b32 %r1; }\n",
                     sm90(), options);
  EXPECT_THAT(std::string(r.status().message()),
              testing::AllOf(testing::HasSubstr("ptxas"), testing::HasSubstr("nonsense"),
                             testing::Not(testing::HasSubstr("/proc/"))));
}

} // namespace
} // namespace tessera::nvidia
