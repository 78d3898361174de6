// What the tests over files of text share: walking a folder, reading, re-blessing.
#pragma once
#include "frontend/parser.h"
#include "ir/printer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace tessera::test {

inline std::string sourceDir() { return TESSERA_SOURCE_DIR; }
inline bool bless() { return std::getenv("TESSERA_BLESS") != nullptr; }

/// The files below a folder with one of the suffixes, sorted.
inline std::vector<std::string> filesBelow(const std::string &folder, std::initializer_list<llvm::StringRef> suffixes) {
  std::vector<std::string> out;
  std::error_code ec;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, ec), end; it != end && !ec; it.increment(ec))
    for (auto s : suffixes)
      if (llvm::StringRef(it->path()).ends_with(s)) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

inline std::string readFile(const std::string &path) {
  auto b = llvm::MemoryBuffer::getFile(path);
  return b ? (*b)->getBuffer().str() : std::string();
}

inline void writeFile(const std::string &path, llvm::StringRef text) {
  std::error_code ec;
  llvm::raw_fd_ostream o(path, ec);
  o << text;
}

struct Parsed {
  bool ok = true;
  std::string printed, errors;
};

/// Parses every section of a text and prints what was read, sections joined as they were split.
inline Parsed parseAndPrint(llvm::StringRef text, llvm::StringRef name, ir::Context &context,
                            const frontend::ParseOptions &options = {}, const ir::PrintOptions &print = {}) {
  Parsed p;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { p.errors += ir::render(d); });
  bool first = true;
  for (auto &section : frontend::splitSections(text)) {
    auto module = frontend::parseModule(section, name, context, diag, options);
    p.ok &= module != nullptr;
    if (!first) p.printed += "// -----\n";
    first = false;
    if (module) p.printed += ir::printToString(*module, print);
  }
  return p;
}

} // namespace tessera::test
