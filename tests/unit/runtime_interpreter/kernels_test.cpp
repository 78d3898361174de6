// Whole kernels on the interpreter against the outputs that Triton's compiled code gave on a GPU: every folder of
// tests/kernels, and with TESSERA_SHARED set every folder of $TESSERA_SHARED/kernels, and the TTGIR files of
// $TESSERA_SHARED/ttgir (NAME.TARGET.ttgir) on the data of kernel NAME.
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launcher.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Case {
  std::string name, folder, ir;
};

void addFolders(const std::string &root, const char *prefix, std::vector<Case> &out) {
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(root, ec), end; it != end && !ec; it.increment(ec))
    if (llvm::sys::fs::exists(it->path() + "/launch.json"))
      out.push_back({prefix + llvm::sys::path::filename(it->path()).str(), it->path(), ""});
}

std::vector<Case> cases() {
  std::vector<Case> out;
  addFolders(TESSERA_SOURCE_DIR "/tests/kernels", "", out);
  if (const char *shared = getenv("TESSERA_SHARED")) {
    addFolders(std::string(shared) + "/kernels", "shared_", out);
    std::error_code ec;
    for (llvm::sys::fs::directory_iterator it(std::string(shared) + "/ttgir", ec), end; it != end && !ec;
         it.increment(ec)) {
      llvm::StringRef file = llvm::sys::path::filename(it->path());
      if (!file.ends_with(".ttgir")) continue;
      std::string id = "ttgir_" + file.drop_back(6).str();
      for (char &c : id)
        if (c == '.') c = '_';
      out.push_back({id, std::string(shared) + "/kernels/" + file.split('.').first.str(), it->path()});
    }
  }
  llvm::sort(out, [](auto &a, auto &b) { return a.name < b.name; });
  return out;
}

class Kernels : public testing::TestWithParam<Case> {
protected:
  void run(const runtime::InterpreterOptions &options) {
    auto d = runtime::readLaunch(GetParam().folder + "/launch.json");
    ASSERT_TRUE(d.ok()) << d.status();
    std::string path = GetParam().ir.empty() ? d->directory + "/" + d->ttir : GetParam().ir;
    auto buffer = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(bool(buffer)) << path;
    ir::Context context;
    std::string messages;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &x) { messages += ir::render(x); });
    auto m = frontend::parseModule((*buffer)->getBuffer(), path, context, diag);
    ASSERT_TRUE(m) << messages;
    auto kernel = runtime::selectKernel(*m, d->kernel);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    auto args = runtime::prepareArguments(*d, *kernel);
    ASSERT_TRUE(args.ok()) << args.status();
    auto s = runtime::interpretLaunch(*m, *kernel, *d, *args, options, diag);
    ASSERT_TRUE(s.ok()) << s << "\n" << messages;
    ASSERT_FALSE(d->expected.empty());
    for (auto &e : d->expected) {
      auto c = runtime::check(*d, e, args->buffers[e.arg]);
      ASSERT_TRUE(c.ok()) << c.status();
      EXPECT_TRUE(c->ok) << c->line;
      RecordProperty("arg" + std::to_string(e.arg), c->line);
    }
  }
};

TEST_P(Kernels, MeetExpectedOutputs) { run({}); }
TEST_P(Kernels, MeetExpectedOutputsOnSeveralThreads) {
  runtime::InterpreterOptions o;
  o.threads = 4;
  run(o);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(cases()), [](auto &p) { return p.param.name; });

} // namespace
} // namespace tessera
