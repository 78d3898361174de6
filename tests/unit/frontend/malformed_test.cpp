// Every malformed input under tests/malformed must give exactly the diagnostics in its .txt file: located, complete,
// and never a crash. tools/bless.sh rewrites the expected files.
#include "frontend/parser.h"
#include "ir/context.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

std::vector<std::string> inputs() {
  std::vector<std::string> out;
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(TESSERA_SOURCE_DIR "/tests/malformed", ec), end; it != end && !ec;
       it.increment(ec))
    if (llvm::StringRef(it->path()).ends_with(".mlir")) out.push_back(it->path());
  llvm::sort(out);
  return out;
}

class MalformedTest : public testing::TestWithParam<std::string> {};

TEST_P(MalformedTest, GivesItsDiagnostics) {
  auto text = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(text));
  ir::Context context;
  std::string got;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { got += ir::render(d); });
  auto m = frontend::parseModule((*text)->getBuffer(), llvm::sys::path::filename(GetParam()), context, diag);
  EXPECT_EQ(m, nullptr);
  EXPECT_GT(diag.errors(), 0u);
  std::string expected = llvm::StringRef(GetParam()).drop_back(5).str() + ".txt";
  if (std::getenv("TESSERA_BLESS")) {
    std::error_code ec;
    llvm::raw_fd_ostream(expected, ec) << got;
    return;
  }
  auto want = llvm::MemoryBuffer::getFile(expected);
  ASSERT_TRUE(bool(want)) << expected;
  EXPECT_EQ(got, (*want)->getBuffer());
}

INSTANTIATE_TEST_SUITE_P(All, MalformedTest, testing::ValuesIn(inputs()),
                         [](auto &p) { return llvm::sys::path::stem(p.param).str(); });

} // namespace
} // namespace tessera
