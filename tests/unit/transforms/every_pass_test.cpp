// Every pass alone on every text at hand, TTIR and TTGIR, whether it makes sense or not: a pass either works and
// leaves valid IR, or reports an error with a location; it never crashes. And every pass has a golden test. Texts:
// tests/kernels, tests/golden/roundtrip and, with TESSERA_SHARED set, $TESSERA_SHARED/ttgir and the kernels there.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "runtime/compiler/compiler.h"
#include "transforms/pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

std::vector<std::string> texts() {
  std::vector<std::string> out,
      folders{TESSERA_SOURCE_DIR "/tests/kernels", TESSERA_SOURCE_DIR "/tests/golden/roundtrip"};
  if (const char *shared = getenv("TESSERA_SHARED"))
    for (auto *f : {"/kernels", "/ttgir"}) folders.push_back(shared + std::string(f));
  std::error_code ec;
  for (auto &f : folders)
    for (llvm::sys::fs::recursive_directory_iterator it(f, ec), end; it != end && !ec; it.increment(ec))
      if (llvm::StringRef(it->path()).ends_with(".ttir") || llvm::StringRef(it->path()).ends_with(".ttgir") ||
          llvm::StringRef(it->path()).ends_with(".mlir"))
        out.push_back(it->path());
  llvm::sort(out);
  return out;
}

class EveryPass : public testing::TestWithParam<transforms::PassInfo> {};

TEST_P(EveryPass, WorksOrComplains) {
  const auto &pass = GetParam();
  unsigned worked = 0, complained = 0;
  for (auto &path : texts()) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(bool(buffer)) << path;
    for (auto &section : frontend::splitSections((*buffer)->getBuffer()))
      for (const char *targetName : {"sm_90a", "gfx942"}) {
        ir::Context context;
        std::string messages;
        bool located = true;
        unsigned errors = 0;
        ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
          messages += ir::render(d);
          if (d.severity != ir::Severity::Error) return;
          ++errors;
          located &= d.position.line || !d.loc.source().isUnknown();
        });
        frontend::ParseOptions parse;
        parse.allowUnregistered = true;
        parse.locateByText = true;
        auto m = frontend::parseModule(section, path, context, diag, parse);
        if (!m) continue; // not this test's concern
        auto target = runtime::requireTarget(targetName);
        ASSERT_TRUE(target.ok());
        transforms::RunOptions options;
        options.target = *target;
        options.verifyEach = true;
        auto s = transforms::runPipeline(*m, {{&pass, {}}}, options, diag);
        SCOPED_TRACE(path + " line " + std::to_string(section.firstLine) + " for " + targetName);
        if (s.ok()) {
          ++worked;
          continue;
        }
        ++complained;
        EXPECT_GT(errors, 0u) << s;
        EXPECT_TRUE(located) << messages;
        EXPECT_EQ(messages.find("is invalid after pass"), std::string::npos) << messages;
      }
  }
  EXPECT_GT(worked, 0u);
  RecordProperty("worked", int(worked));
  RecordProperty("complained", int(complained));
}

/// Whether a RUN line of the text runs the pass by `tessera opt` and checks the result.
bool tests(llvm::StringRef text, llvm::StringRef pass) {
  llvm::SmallVector<llvm::StringRef> lines, words;
  text.split(lines, '\n');
  for (auto line : lines) {
    auto [before, command] = line.split("RUN:");
    auto [run, check] = command.split("| FileCheck");
    if (!run.contains("tessera opt") || (check.empty() && !run.contains("--verify-diagnostics"))) continue;
    words.clear();
    run.split(words, ' ', -1, false);
    for (auto word : words)
      if (word.consume_front("-") && word.ltrim('-').split('=').first == pass) return true;
  }
  return false;
}

TEST_P(EveryPass, HasGoldenTest) {
  std::error_code ec;
  unsigned files = 0;
  for (llvm::sys::fs::recursive_directory_iterator it(TESSERA_SOURCE_DIR "/tests/golden", ec), end; it != end && !ec;
       it.increment(ec)) {
    if (!llvm::StringRef(it->path()).ends_with(".mlir")) continue;
    auto buffer = llvm::MemoryBuffer::getFile(it->path());
    ASSERT_TRUE(bool(buffer)) << it->path();
    ++files;
    if (tests((*buffer)->getBuffer(), GetParam().name)) return;
  }
  FAIL() << "no RUN line of " << files << " files in tests/golden checks what -" << GetParam().name.str() << " makes";
}

INSTANTIATE_TEST_SUITE_P(All, EveryPass, testing::ValuesIn(transforms::allPasses()), [](auto &p) {
  std::string name = p.param.name.str();
  for (char &c : name)
    if (c == '-') c = '_';
  return name;
});

} // namespace
} // namespace tessera
