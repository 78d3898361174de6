// Text → IR → text is the identity: on the files of tests/golden/roundtrip, on the kernels under tests/kernels, and,
// where the environment names a folder of further samples (TESSERA_SHARED), on its kernels, benchmarks and TTGIR. Every
// row of the op table occurs in a golden file.
#include "ir/op_table.h"
#include "text_files.h"
#include <gtest/gtest.h>
#include <set>

namespace tessera::test {
namespace {

/// Without the comment lines at the start, which say what a golden file is for.
llvm::StringRef withoutHead(llvm::StringRef text) {
  while (text.starts_with("//")) text = text.drop_front(std::min(text.size(), text.find('\n') + 1));
  return text;
}

void expectFixedPoint(const std::string &printed, const frontend::ParseOptions &options,
                      const ir::PrintOptions &print) {
  ir::Context context;
  Parsed again = parseAndPrint(printed, "printed", context, options, print);
  EXPECT_TRUE(again.ok) << again.errors;
  EXPECT_EQ(again.printed, printed);
}

// Every section of NAME.mlir prints back as it is; where NAME.printed stands beside it, as that. A file without
// locations is printed without them. tools/bless.sh rewrites what differs.
TEST(RoundTrip, GoldenFiles) {
  auto files = filesBelow(sourceDir() + "/tests/golden/roundtrip", {".mlir"});
  ASSERT_GE(files.size(), 15u);
  for (auto &file : files) {
    SCOPED_TRACE(file);
    std::string text = readFile(file), printedFile = file.substr(0, file.size() - 5) + ".printed";
    frontend::ParseOptions options;
    options.allowUnregistered = llvm::StringRef(text).contains("unregistered");
    ir::PrintOptions print;
    print.locations = llvm::StringRef(text).contains("loc(");
    print.genericForm = llvm::StringRef(file).ends_with("in_generic_form.mlir");
    std::string printed;
    bool ok = true;
    for (auto &section : frontend::splitSections(text)) {
      ir::Context context;
      Parsed p = parseAndPrint(section.text, llvm::sys::path::filename(file), context, options, print);
      EXPECT_TRUE(p.ok) << p.errors;
      EXPECT_EQ(p.errors, "");
      ok &= p.ok;
      if (p.ok) expectFixedPoint(p.printed, options, print);
      printed += (printed.empty() ? "" : "// -----\n") + p.printed;
    }
    if (!ok) continue;
    bool separate = llvm::sys::fs::exists(printedFile);
    if (bless()) {
      llvm::StringRef head = llvm::StringRef(text).take_front(text.size() - withoutHead(text).size());
      writeFile(separate ? printedFile : file, separate ? printed : head.str() + printed);
    } else {
      EXPECT_EQ(printed, separate ? readFile(printedFile) : withoutHead(text).str());
    }
  }
}

void expectIdentity(const std::string &folder, unsigned atLeast) {
  auto files = filesBelow(folder, {".ttir", ".ttgir"});
  EXPECT_GE(files.size(), atLeast) << folder;
  for (auto &file : files) {
    SCOPED_TRACE(file);
    std::string text = readFile(file);
    ir::Context context;
    Parsed p = parseAndPrint(text, file, context);
    EXPECT_TRUE(p.ok) << p.errors;
    EXPECT_EQ(p.printed, text);
    expectFixedPoint(p.printed, {}, {});
  }
}

TEST(RoundTrip, Kernels) { expectIdentity(sourceDir() + "/tests/kernels", 10); }

TEST(RoundTrip, FurtherSamples) {
  const char *folder = std::getenv("TESSERA_SHARED");
  if (!folder) GTEST_SKIP() << "TESSERA_SHARED is not set";
  for (auto sub : {"/kernels", "/bench", "/ttgir"}) expectIdentity(folder + std::string(sub), 10);
}

TEST(RoundTrip, EveryRowOccurs) {
  std::set<llvm::StringRef> missing;
  for (auto &row : ir::allOps()) missing.insert(row.name);
  for (auto &file : filesBelow(sourceDir() + "/tests/golden/roundtrip", {".mlir"})) {
    std::string text = readFile(file);
    ir::Context context;
    ir::DiagnosticEngine diag;
    frontend::ParseOptions options;
    options.allowUnregistered = true;
    for (auto &section : frontend::splitSections(text))
      if (auto module = frontend::parseModule(section, file, context, diag, options))
        module->op()->walk([&](ir::Operation *op) { missing.erase(op->name()); });
  }
  std::string list;
  for (auto m : missing) list += " " + m.str();
  EXPECT_EQ(list, "") << "rows of ir/ops.table that no file of tests/golden/roundtrip has";
}

// The generic form of everything is read, and means the same.
TEST(RoundTrip, GenericForm) {
  for (auto &file : filesBelow(sourceDir() + "/tests/golden/roundtrip", {".mlir"})) {
    SCOPED_TRACE(file);
    std::string text = readFile(file);
    frontend::ParseOptions options;
    options.allowUnregistered = llvm::StringRef(text).contains("unregistered");
    ir::Context context;
    ir::PrintOptions generic;
    generic.genericForm = true;
    Parsed pretty = parseAndPrint(text, file, context, options);
    Parsed p = parseAndPrint(text, file, context, options, generic);
    ASSERT_TRUE(p.ok) << p.errors;
    Parsed back = parseAndPrint(p.printed, "generic", context, options);
    EXPECT_TRUE(back.ok) << back.errors;
    EXPECT_EQ(back.printed, pretty.printed);
  }
}

} // namespace
} // namespace tessera::test
