// The emulator stays quick enough to be used on every change: whole runs of the program on real kernels, with every
// check on. An optimised build takes 0.05 to 0.15 s for each; the bounds leave room for builds without optimisation
// and for busy machines, and catch what makes it slower by an order of magnitude.
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace tessera {
namespace {

struct Case {
  const char *kernel;
  double seconds;
};

/// libdevice is a part of the CUDA toolkit, which is optional; kernels that call it are left out without it.
bool needsWhatIsMissing(const std::string &command) {
  return system((command + " 2>&1 | grep -q 'libdevice.10.bc (CUDA toolkit) not found'").c_str()) == 0;
}

TEST(EmulatorSpeed, WholeRuns) {
  for (auto [kernel, bound] :
       {Case{"vecadd", 3}, {"math_zoo", 20}, {"layernorm", 20}, {"mm_f16", 20}, {"mm_i8", 20}, {"attn", 30}})
    for (const char *target : {"sm_90a", "gfx942"}) {
      std::string command = std::string(TESSERA_PROGRAM_DIR "/tessera run " TESSERA_SOURCE_DIR "/tests/kernels/") +
                            kernel + "/launch.json --check --device emulator:" + target;
      auto start = std::chrono::steady_clock::now();
      int code = system((command + " >/dev/null").c_str());
      if (code && needsWhatIsMissing(command)) continue;
      ASSERT_EQ(code, 0) << command;
      double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      EXPECT_LT(took, bound) << kernel << " on " << target;
      RecordProperty(std::string(kernel) + "_" + target, std::to_string(took));
    }
}

} // namespace
} // namespace tessera
