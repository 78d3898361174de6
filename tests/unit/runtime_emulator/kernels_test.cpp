// Whole kernels on the emulator, with every check on, against the outputs that Triton's compiled code gave on a GPU: every
// folder of tests/kernels (and of $TESSERA_SHARED/kernels) for every target, with 1 and 4 warps; with
// TESSERA_EMULATOR_WARPS=all also 2 and 8. A kernel that this compiler cannot lower yet, or whose device library is not
// installed, is skipped with its reason.
#include "emulation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "runtime/targets.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Case {
  std::string name, folder, target;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  auto add = [&](const std::string &root, const char *prefix) {
    std::error_code ec;
    for (llvm::sys::fs::directory_iterator it(root, ec), end; it != end && !ec; it.increment(ec))
      if (llvm::sys::fs::exists(it->path() + "/launch.json"))
        for (auto *t : runtime::allTargets()) out.push_back({prefix + llvm::sys::path::filename(it->path()).str() + "_" + t->info.name.str(), it->path(), t->info.name.str()});
  };
  add(TESSERA_SOURCE_DIR "/tests/kernels", "");
  if (const char *shared = getenv("TESSERA_SHARED")) add(std::string(shared) + "/kernels", "shared_");
  llvm::sort(out, [](auto &a, auto &b) { return a.name < b.name; });
  return out;
}

class Kernels : public ::testing::TestWithParam<Case> {};

TEST_P(Kernels, ComputeWhatTheGpuComputed) {
  std::vector<int> warps{1, 4};
  if (const char *w = getenv("TESSERA_EMULATOR_WARPS"); w && llvm::StringRef(w) == "all") warps = {1, 2, 4, 8};
  for (int n : warps) {
    testing::Emulation e;
    e.target = GetParam().target;
    e.numWarps = n;
    auto r = e.launch(GetParam().folder);
    if (absl::IsNotFound(r.status()) || (!r.ok() && llvm::StringRef(std::string(r.status().message())).contains("has no lowering"))) GTEST_SKIP() << r.status();
    EXPECT_TRUE(r.ok()) << n << " warps: " << r.status();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, ::testing::ValuesIn(cases()), [](auto &i) { return i.param.name; });

/// Two runs give the same bits, atomics included.
TEST(Determinism, AtomicsToo) {
  for (const char *target : {"sm_90a", "gfx942"}) {
    testing::Emulation a, b;
    a.target = b.target = target;
    std::string folder = TESSERA_SOURCE_DIR "/tests/kernels/atomics";
    ASSERT_TRUE(a.launch(folder).ok());
    ASSERT_TRUE(b.launch(folder).ok());
    EXPECT_EQ(a.buffers, b.buffers);
  }
}

} // namespace
} // namespace tessera
