// The program as its users see it: every case of tests/cli/*.test and tests/malformed/cli/*.test runs a shell command
// in an empty folder and compares exit code, standard error and standard output to the last character.
// tools/bless.sh rewrites what differs.
//
// A case:
//   == name
//   file NAME            the lines that follow and start with `|` are the file's
//   bytes NAME "…"       a file of these bytes (\n, \r, \xHH, \\, \" are escapes; \{HH*N} repeats a byte)
//   $ command            `tessera` is the program under test
//   exit N
//   err / out            the lines that follow and start with `|`; `out *` takes anything
// Lines that start with # are comments. No GPU is found: the drivers' libraries are named as files that do not exist.
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <ostream>
#include <sys/wait.h>
#include <utility>

namespace tessera {
namespace {

std::string readFile(const std::string &path) {
  auto b = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return b ? (*b)->getBuffer().str() : std::string();
}
void writeFile(const std::string &path, llvm::StringRef text) {
  std::error_code ec;
  llvm::raw_fd_ostream(path, ec) << text;
}

struct Case {
  std::string file, name, head; // head: the lines up to and with the command, as written
  std::vector<std::pair<std::string, std::string>> files;
  std::string command, exit, err, out;
  bool anyOut = false;
};

void PrintTo(const Case &c, std::ostream *o) { *o << c.file << ": " << c.name; }

std::string unescape(llvm::StringRef s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    char c = s[++i];
    if (c == 'n')
      out += '\n';
    else if (c == 'r')
      out += '\r';
    else if (c == 'x')
      out += char(llvm::hexDigitValue(s[i + 1]) * 16 + llvm::hexDigitValue(s[i + 2])), i += 2;
    else if (c == '{') { // \{HH*N}
      size_t end = s.find('}', i);
      auto [byte, count] = s.slice(i + 1, end).split('*');
      unsigned b = 0, n = 0;
      byte.getAsInteger(16, b), count.getAsInteger(10, n);
      out.append(n, char(b));
      i = end;
    } else
      out += c;
  }
  return out;
}

std::vector<Case> readCases(const std::string &path) {
  std::vector<Case> cases;
  std::string text = readFile(path), *block = nullptr;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    bool known = true, command = false;
    if (line.consume_front("== ")) {
      cases.push_back({path, line.str(), "== " + line.str() + "\n", {}, "", "", "", "", false});
      block = nullptr;
      continue;
    }
    if (cases.empty()) continue;
    Case &c = cases.back();
    llvm::StringRef l = line;
    if (l.starts_with("|")) {
      l = l.drop_front();
      l.consume_front(" ");
      if (!block)
        ADD_FAILURE() << path << ": " << c.name << ": a line without a block";
      else
        *block += l.str() + "\n";
    } else if (l.consume_front("file "))
      c.files.push_back({l.str(), ""}), block = &c.files.back().second;
    else if (l.consume_front("bytes ")) {
      auto [name, data] = l.split(' ');
      data.consume_front("\""), data.consume_back("\"");
      c.files.push_back({name.str(), unescape(data)}), block = nullptr;
    } else if (l.consume_front("$ "))
      c.command = l.str(), command = true, block = nullptr;
    else if (l.consume_front("exit "))
      c.exit = l.str(), block = nullptr;
    else if (l == "err")
      block = &c.err;
    else if (l == "out")
      block = &c.out;
    else if (l == "out *")
      c.anyOut = true;
    else if (!l.empty() && !l.starts_with("#"))
      known = false;
    if (!known) ADD_FAILURE() << path << ": " << c.name << ": what is '" << line.str() << "'?";
    if (c.command.empty() || command) c.head += line.str() + "\n";
  }
  return cases;
}

std::vector<std::string> caseFiles() {
  std::vector<std::string> files;
  std::error_code ec;
  for (auto folder : {TESSERA_SOURCE_DIR "/tests/cli", TESSERA_SOURCE_DIR "/tests/malformed/cli"})
    for (llvm::sys::fs::directory_iterator it(folder, ec), end; it != end && !ec; it.increment(ec))
      if (llvm::StringRef(it->path()).ends_with(".test")) files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Case> allCases() {
  std::vector<Case> all;
  for (auto &f : caseFiles())
    for (auto &c : readCases(f)) all.push_back(std::move(c));
  return all;
}

std::string withBars(llvm::StringRef text) {
  std::string out;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    out += line.empty() ? "|\n" : "| " + line.str() + "\n";
    text = rest;
  }
  return out;
}

void rewrite(const Case &blessed) {
  std::string text = readFile(blessed.file), out = text.substr(0, text.find("== "));
  bool isFirst = true;
  for (auto &c : readCases(blessed.file)) {
    const Case &now = c.name == blessed.name ? blessed : c;
    if (!std::exchange(isFirst, false)) out += "\n";
    out += now.head + "exit " + now.exit + "\n";
    if (!now.err.empty()) out += "err\n" + withBars(now.err);
    if (now.anyOut)
      out += "out *\n";
    else if (!now.out.empty())
      out += "out\n" + withBars(now.out);
  }
  writeFile(blessed.file, out);
}

class CommandLine : public testing::TestWithParam<Case> {};

TEST_P(CommandLine, SaysWhatItShould) {
  Case c = GetParam();
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-cli", folder));
  std::string base = folder.str().str();
  ASSERT_FALSE(llvm::sys::fs::create_directory(base + "/run"));
  for (auto &[name, contents] : c.files) {
    ASSERT_FALSE(llvm::sys::fs::create_directories(llvm::sys::path::parent_path(base + "/run/" + name)));
    writeFile(base + "/run/" + name, contents);
  }
  // Locale, drivers and toolkits of the machine must not show.
  std::string script =
      "cd '" + base +
      "/run' || exit 99\nunset TESSERA_CACHE_DIR TESSERA_CACHE_BYTES XDG_CACHE_HOME; export PATH=" TESSERA_PROGRAM_DIR
      ":$PATH LC_ALL=C TESSERA_CUDA_LIBRARY=/no/libcuda.so TESSERA_HIP_LIBRARY=/no/libamdhip64.so "
      "TREE=" TESSERA_SOURCE_DIR "\nulimit -c 0\n" +
      c.command + "\n";
  writeFile(base + "/script", script);
  int status =
      std::system(("timeout 120 sh '" + base + "/script' >'" + base + "/out' 2>'" + base + "/err' </dev/null").c_str());
  Case got = c;
  got.exit = std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  got.err = readFile(base + "/err"), got.out = readFile(base + "/out");
  for (auto *s : {&got.err, &got.out}) // the folder's name is no part of the answer
    for (size_t at; (at = s->find(base)) != std::string::npos;) s->replace(at, base.size(), "TMP");
  llvm::sys::fs::remove_directories(base);
  int code = std::atoi(got.exit.c_str());
  EXPECT_TRUE(code >= 0 && code <= 3) << "exit code " << code << "\n" << got.err;
  if (std::getenv("TESSERA_BLESS")) return rewrite(got);
  EXPECT_EQ(got.exit, c.exit) << c.command;
  EXPECT_EQ(got.err, c.err) << c.command;
  if (!c.anyOut) EXPECT_EQ(got.out, c.out) << c.command;
}

INSTANTIATE_TEST_SUITE_P(All, CommandLine, testing::ValuesIn(allCases()), [](auto &p) { return p.param.name; });

// So that a renamed folder does not leave the suite empty and green.
TEST(CommandLineCases, AreThere) { EXPECT_GE(allCases().size(), 100u); }

// As tools/bless.sh writes them: git complains of blank lines at the end of a file.
TEST(CommandLineCases, EndWithoutBlankLines) {
  for (auto &file : caseFiles()) {
    std::string text = readFile(file);
    EXPECT_TRUE(llvm::StringRef(text).ends_with("\n") && !llvm::StringRef(text).ends_with("\n\n")) << file;
  }
}

} // namespace
} // namespace tessera
