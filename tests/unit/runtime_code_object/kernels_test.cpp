// Kernels of tests/kernels, compiled to machine code and executed as such, against the outputs that a GPU gave.
#include "runtime/code_object/run_object.h"
#include "runtime/compiler/compiler.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Case {
  const char *kernel, *target;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.kernel << " on " << c.target; }
class Kernels : public ::testing::TestWithParam<Case> {};

TEST_P(Kernels, ComputeWhatTheGpuComputed) {
  auto d = runtime::readLaunch(std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + GetParam().kernel + "/launch.json");
  ASSERT_TRUE(d.ok()) << d.status();
  std::string path = d->resolve(d->ttir);
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file));
  auto target = runtime::requireTarget(GetParam().target);
  ASSERT_TRUE(target.ok()) << target.status();
  runtime::CompileOptions options;
  options.config() = *d;
  ir::DiagnosticEngine diagnostics;
  auto made = runtime::compileText((*file)->getBuffer(), path, **target, options, diagnostics);
  if (absl::IsNotFound(made.status())) GTEST_SKIP() << made.status();
  ASSERT_TRUE(made.ok()) << made.status();
  code_object::ObjectRunOptions run;
  run.workItems = uint32_t(made->metadata.threadsPerBlock);
  run.dynamicLdsBytes = uint32_t(made->metadata.dynamicSharedBytes);
  for (bool reverse : {false, true}) {
    run.execute.reverseWaves = reverse;
    auto r = code_object::runObject(*d, made->output, run);
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(r->checks.size(), d->expected.size());
    for (auto &c : r->checks) EXPECT_TRUE(c.ok) << c.line;
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char *target : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"})
    for (const char *kernel : {"mm_f16", "mm_i8", "mm_across_k", "attn", "attn_two_loops", "softmax_row", "layernorm",
                               "atomics", "casts", "casts_saturate", "quantize_rows", "views", "loads_between_stores"})
      out.push_back({kernel, target});
  return out;
}
INSTANTIATE_TEST_SUITE_P(CodeObjects, Kernels, ::testing::ValuesIn(cases()));

} // namespace
} // namespace tessera
