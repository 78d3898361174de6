// The CUDA and HIP devices against stand-ins for their drivers (tests/fakes): a whole `tessera run`, then the same
// run again for every call of it, with that call failing. Every failure must give exit code 3 and the driver's own
// text with what was being done, and nothing may stay allocated, loaded or retained, whatever failed.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <sys/wait.h>

namespace tessera {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

struct Vendor {
  const char *name, *device, *variable, *library, *incomplete, *arch, *prefix;
};
const Vendor kVendors[] = {
    {"Cuda", "cuda", "TESSERA_CUDA_LIBRARY", FAKE_CUDA, FAKE_CUDA_INCOMPLETE, "sm_90", "CUDA: "},
    {"Hip", "hip", "TESSERA_HIP_LIBRARY", FAKE_HIP, FAKE_HIP_INCOMPLETE, "gfx942", "HIP: "},
};

void PrintTo(const Vendor &v, std::ostream *o) { *o << v.name; }

std::string readFile(const std::string &path) {
  auto b = llvm::MemoryBuffer::getFile(path, false, false);
  return b ? (*b)->getBuffer().str() : std::string();
}

struct Outcome {
  int code;
  std::string out, err;
  std::vector<std::string> calls, notes;
  int held = -1, contexts = -1;
};

class FakeDriver : public testing::TestWithParam<Vendor> {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-fake", folder_));
    // The back end's tools are needed to make an object, the driver is not.
    auto o = tessera("compile " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/vecadd.ttir --target " +
                         std::string(GetParam().arch) + " -o " + path("k.o"),
                     "");
    if (o.code == 3 && llvm::StringRef(o.err).contains("no tool to compile PTX")) GTEST_SKIP() << o.err;
    ASSERT_EQ(o.code, 0) << o.err;
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }
  std::string path(const std::string &name) { return (folder_ + "/" + name).str(); }

  Outcome tessera(const std::string &arguments, const std::string &environment) {
    std::string log = path("log"), command = "env -u CUDA_VISIBLE_DEVICES FAKE_DRIVER_LOG=" + log + " " + environment +
                                             " timeout 60 " TESSERA_PROGRAM_DIR "/tessera " + arguments + " >" +
                                             path("out") + " 2>" + path("err") + " </dev/null";
    llvm::sys::fs::remove(log);
    int status = std::system(command.c_str());
    Outcome o{WIFEXITED(status) ? WEXITSTATUS(status) : -1, readFile(path("out")), readFile(path("err")), {}, {}};
    std::string text = readFile(log);
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n', -1, false);
    for (auto l : lines)
      if (l.consume_front("held "))
        l.getAsInteger(10, o.held);
      else if (l.consume_front("contexts "))
        l.getAsInteger(10, o.contexts);
      else if (l.consume_front("# "))
        o.notes.push_back(l.str());
      else
        o.calls.push_back(l.str());
    return o;
  }
  Outcome run(const std::string &environment, const std::string &more = " --reps 2") {
    auto &v = GetParam();
    return tessera("run " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/launch.json --device " + std::string(v.device) +
                       more,
                   std::string(v.variable) + "=" + v.library + " FAKE_DRIVER_ARCH=" + v.arch + " " + environment);
  }
  llvm::SmallString<128> folder_;
};

TEST_P(FakeDriver, RunsAndGivesEverythingBack) {
  auto o = run("");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("median 0.5000 ms"));
  EXPECT_EQ(o.held, 0);
  EXPECT_EQ(o.contexts, 0);
  // What the launch was: vecadd's grid, four warps, and the name of the kernel.
  EXPECT_THAT(o.notes, testing::Contains(HasSubstr("function vecadd")));
  EXPECT_THAT(o.notes, testing::Contains(HasSubstr(std::string("block ") +
                                                   (GetParam().device == llvm::StringRef("hip") ? "256" : "128") +
                                                   " 1 1 shared 0")));
  EXPECT_THAT(o.notes, testing::Not(testing::Contains(HasSubstr("wrong"))));
  // In order: loaded before launched, waited for before copied out.
  auto at = [&](llvm::StringRef part) {
    for (size_t i = 0; i < o.calls.size(); ++i)
      if (llvm::StringRef(o.calls[i]).contains(part)) return int(i);
    return -1;
  };
  EXPECT_LT(at("ModuleLoadData"), at("LaunchKernel"));
  EXPECT_LT(at("HtoD"), at("LaunchKernel"));
  EXPECT_LT(at("LaunchKernel"), at("Synchronize"));
  EXPECT_LT(at("Synchronize"), at("DtoH"));
  EXPECT_GE(o.calls.size(), 30u);
}

TEST_P(FakeDriver, TuneMeasuresEveryConfiguration) {
  auto &v = GetParam();
  std::string environment = std::string(v.variable) + "=" + v.library + " FAKE_DRIVER_ARCH=" + v.arch;
  // The stand-in runs nothing, so nothing may be expected of the outputs.
  std::string launch =
      R"({"ttir": ")" TESSERA_SOURCE_DIR
      R"(/tests/kernels/vecadd/vecadd.ttir", "grid": [4], "args": [{"name": "x", "dtype": "f32", "shape": [1000]}, {"name": "y", "dtype": "f32", "shape": [1000]}, {"name": "o", "dtype": "f32", "shape": [1000]}, {"name": "n", "scalar": 1000, "type": "i32"}], "bytes": 12000})";
  std::error_code ec;
  llvm::raw_fd_ostream(path("l.json"), ec) << launch;
  std::string arguments =
      "tune " + path("l.json") + " --device " + v.device + " --num-warps 2,4 --num-stages 1,2 --reps 3";
  auto o = tessera(arguments, environment);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("0.5000     0.5000  same code as 2 warps, 1 stage\n"));
  EXPECT_THAT(o.out, HasSubstr("best: --num-warps 2 --num-stages 1, "));
  EXPECT_EQ(o.held, 0);
  // Of each code one launch is checked and three are measured; a configuration with the same code is not run.
  auto launches = llvm::count_if(o.calls, [](auto &c) { return llvm::StringRef(c).contains("LaunchKernel"); });
  EXPECT_EQ(launches, 8);

  // If a launch fails, its driver's text is printed, and the others are measured all the same.
  size_t first =
      llvm::find_if(o.calls, [](auto &c) { return llvm::StringRef(c).contains("LaunchKernel"); }) - o.calls.begin();
  auto f = tessera(arguments, environment + " FAKE_DRIVER_FAIL_AT=" + std::to_string(first + 1));
  EXPECT_EQ(f.code, 3);
  EXPECT_THAT(f.out, HasSubstr("failed: "));
  EXPECT_THAT(f.out, HasSubstr("best: --num-warps 4"));
  EXPECT_EQ(f.held, 0);
}

TEST_P(FakeDriver, EveryCallMayFail) {
  auto whole = run("");
  ASSERT_EQ(whole.code, 0) << whole.err;
  for (size_t i = 0; i < whole.calls.size(); ++i) {
    llvm::StringRef name = whole.calls[i];
    SCOPED_TRACE("call " + std::to_string(i + 1) + " of " + std::to_string(whole.calls.size()) + ": " + name.str());
    auto o = run("FAKE_DRIVER_FAIL_AT=" + std::to_string(i + 1));
    auto givesBack = [](llvm::StringRef call) {
      return call.contains("Free") || call.contains("Unload") || call.contains("Destroy") || call.contains("Release");
    };
    // A device is made the current one before something of it is given back.
    bool current = (name.contains("Current") || name.contains("SetDevice")) && i + 1 < whole.calls.size() &&
                   givesBack(whole.calls[i + 1]);
    if (current || givesBack(name)) { // nothing that the user could do; the run was fine
      EXPECT_EQ(o.code, 0) << o.err;
      continue;
    }
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_THAT(o.err, testing::StartsWith(std::string("tessera: error: ") + GetParam().prefix));
    EXPECT_THAT(o.err, HasSubstr("unspecified launch failure"));
    EXPECT_THAT(o.err, HasSubstr(GetParam().device == llvm::StringRef("hip") ? "hipErrorLaunchFailure"
                                                                             : "CUDA_ERROR_LAUNCH_FAILED"));
    // Once the kernel is loaded, the error names it.
    bool inRun = false;
    for (size_t k = 0; k < i; ++k) inRun |= llvm::StringRef(whole.calls[k]).contains("ModuleLoadData");
    if (inRun || name.contains("ModuleLoadData")) EXPECT_THAT(o.err, HasSubstr("kernel 'vecadd'"));
    EXPECT_EQ(o.held, 0);
    EXPECT_EQ(o.contexts, 0);
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST_P(FakeDriver, OutOfMemory) {
  auto whole = run("");
  size_t at = 0;
  while (at < whole.calls.size() && !llvm::StringRef(whole.calls[at]).contains("Alloc") &&
         !llvm::StringRef(whole.calls[at]).contains("Malloc"))
    ++at;
  auto o = run("FAKE_DRIVER_ERROR=2 FAKE_DRIVER_FAIL_AT=" + std::to_string(at + 1));
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("allocating"));
  EXPECT_THAT(o.err, HasSubstr("bytes for argument 0 of kernel 'vecadd'"));
  EXPECT_THAT(o.err, HasSubstr("out of memory"));
}

TEST_P(FakeDriver, NoDevice) {
  auto o = run("FAKE_DRIVER_DEVICES=0");
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr(std::string(GetParam().prefix) + "there is no device 0; the machine has 0"));
  auto many = run("FAKE_DRIVER_DEVICES=2", "");
  EXPECT_EQ(many.code, 0) << many.err;
}

TEST_P(FakeDriver, DeviceNumberTooHigh) {
  auto &v = GetParam();
  for (const char *number : {"1", "4294967295", "99999999999999999999"}) {
    auto o = tessera("run " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/launch.json --device " + std::string(v.device) +
                         ":" + number,
                     std::string(v.variable) + "=" + v.library);
    EXPECT_GE(o.code, 2) << number << o.err;
    EXPECT_LE(o.code, 3) << number << o.err;
    EXPECT_THAT(o.err, testing::AnyOf(HasSubstr("there is no device"), HasSubstr("must be a whole number")));
  }
}

TEST_P(FakeDriver, LibraryOfAnotherAge) {
  auto &v = GetParam();
  auto o = tessera("run " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/launch.json --device " + std::string(v.device),
                   std::string(v.variable) + "=" + v.incomplete);
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("LaunchKernel"));
  EXPECT_THAT(o.err, HasSubstr("too old"));
}

TEST_P(FakeDriver, NotALibrary) {
  auto &v = GetParam();
  auto o = tessera("run " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/launch.json --device " + std::string(v.device),
                   std::string(v.variable) + "=" TESSERA_SOURCE_DIR "/README.md");
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr(std::string(v.variable) + " names a library that does not load"));
}

TEST_P(FakeDriver, UnknownArchitecture) {
  auto &v = GetParam();
  auto o = tessera("run " TESSERA_SOURCE_DIR "/tests/kernels/vecadd/launch.json --device " + std::string(v.device),
                   std::string(v.variable) + "=" + v.library +
                       " FAKE_DRIVER_ARCH=" + (v.device == llvm::StringRef("hip") ? "gfx803" : "sm_35"));
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("targets:"));
}

TEST_P(FakeDriver, Devices) {
  auto &v = GetParam();
  auto o = tessera("devices",
                   std::string(v.variable) + "=" + v.library + " FAKE_DRIVER_DEVICES=2 FAKE_DRIVER_ARCH=" + v.arch);
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, ContainsRegex(std::string(v.device) + ":1 +Stand-in GPU  " + v.arch));
  EXPECT_EQ(o.contexts, 0);
  // The second device breaks: the first is still listed, and why the other is not is said.
  auto whole = o.calls;
  auto broken = tessera("devices", std::string(v.variable) + "=" + v.library +
                                       " FAKE_DRIVER_DEVICES=2 FAKE_DRIVER_ARCH=" + v.arch + " FAKE_DRIVER_FAIL_AT=" +
                                       std::to_string(whole.size() - (v.device == llvm::StringRef("hip") ? 0 : 2)));
  EXPECT_EQ(broken.code, 0);
  EXPECT_THAT(broken.out, ContainsRegex(std::string(v.device) + ":0 +Stand-in GPU"));
  EXPECT_THAT(broken.out, HasSubstr("unspecified launch failure"));
  EXPECT_EQ(broken.contexts, 0);
}

INSTANTIATE_TEST_SUITE_P(Vendors, FakeDriver, testing::ValuesIn(kVendors),
                         [](auto &p) { return std::string(p.param.name); });

} // namespace
} // namespace tessera
