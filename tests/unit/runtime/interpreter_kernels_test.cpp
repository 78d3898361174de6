// Runs every kernel under tests/kernels on the interpreter, as TTIR and again as the TTGIR that our pipelines make of
// it, for several numbers of warps and both warp sizes, and after every single pass, and checks the expected outputs.
// What a pass breaks shows here. With TESSERA_SHARED set, the kernels of $TESSERA_SHARED/kernels too.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launcher.h"
#include "transforms/pipelines.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace tessera {
namespace {

std::vector<std::string> kernels() {
  std::vector<std::string> out;
  std::vector<std::string> folders{TESSERA_SOURCE_DIR "/tests/kernels"};
  if (const char *shared = getenv("TESSERA_SHARED")) folders.push_back(std::string(shared) + "/kernels");
  std::error_code ec;
  std::set<std::string> names; // tests/kernels holds copies of some of the shared ones
  for (auto &f : folders)
    for (llvm::sys::fs::directory_iterator it(f, ec), end; it != end && !ec; it.increment(ec))
      if (llvm::sys::fs::exists(it->path() + "/launch.json") &&
          names.insert(llvm::sys::path::filename(it->path()).str()).second)
        out.push_back(it->path());
  llvm::sort(out);
  return out;
}

class KernelTest : public testing::TestWithParam<std::string> {
protected:
  /// With `everyPass` the kernel is run after each pass that changed it, else after the last.
  void run(const char *target, int warps, bool everyPass = false) {
    auto d = runtime::readLaunch(GetParam() + "/launch.json");
    ASSERT_TRUE(d.ok()) << d.status();
    auto buffer = llvm::MemoryBuffer::getFile(d->directory + "/" + d->ttir);
    ASSERT_TRUE(bool(buffer));
    ir::Context context;
    std::string messages;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &x) { messages += ir::render(x); });
    auto m = frontend::parseModule((*buffer)->getBuffer(), d->ttir, context, diag);
    ASSERT_TRUE(m) << messages;
    if (target) {
      auto t = runtime::requireTarget(target);
      ASSERT_TRUE(t.ok());
      transforms::RunOptions o;
      o.target = *t;
      o.verifyEach = true;
      if (everyPass) {
        std::string last = ir::printToString(*m);
        o.hook = [&, last](const transforms::PassInfo &pass, ir::Module &module, bool before) mutable {
          if (before || HasFailure()) return;
          std::string now = ir::printToString(module);
          if (now == last) return;
          last = now;
          SCOPED_TRACE("after pass " + pass.name.str());
          evaluate(module, *d);
        };
      }
      ASSERT_TRUE(transforms::runPipeline(*m, transforms::ttirPipeline(**t), o, diag).ok()) << messages;
      ASSERT_TRUE(transforms::runPipeline(*m, transforms::ttgirPipeline(**t, {.numWarps = warps}), o, diag).ok())
          << messages;
    }
    if (!everyPass) evaluate(*m, *d);
  }
  void evaluate(ir::Module &m, const runtime::LaunchDescription &d) {
    std::string messages;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &x) { messages += ir::render(x); });
    auto kernel = runtime::selectKernel(m, d.kernel);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    auto args = runtime::prepareArguments(d, *kernel);
    ASSERT_TRUE(args.ok()) << args.status();
    auto s = runtime::interpretLaunch(m, *kernel, d, *args, {}, diag);
    ASSERT_TRUE(s.ok()) << s << messages;
    ASSERT_FALSE(d.expected.empty());
    for (auto &e : d.expected) {
      auto c = runtime::check(d, e, args->buffers[e.arg]);
      ASSERT_TRUE(c.ok()) << c.status();
      EXPECT_TRUE(c->ok) << c->line;
    }
  }
};

TEST_P(KernelTest, Ttir) { run(nullptr, 4); }
TEST_P(KernelTest, TtgirOfWarps32) {
  for (int warps : {1, 2, 4, 8}) run("sm_90a", warps);
}
TEST_P(KernelTest, TtgirOfWarps64) {
  for (int warps : {1, 4}) run("gfx942", warps);
}

TEST_P(KernelTest, AfterEveryPass) {
  run("sm_90a", 4, true);
  run("gfx1100", 2, true);
}

INSTANTIATE_TEST_SUITE_P(All, KernelTest, testing::ValuesIn(kernels()),
                         [](auto &p) { return llvm::StringRef(p.param).rsplit('/').second.str(); });

} // namespace
} // namespace tessera
