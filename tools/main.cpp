// `tessera`: the command line. Looks up the subcommand and hands over; see commands.h.
#include "ir/write_file.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <new>
#include <unistd.h>

namespace tessera::tools {

int fail(int code, const llvm::Twine &message) {
  llvm::errs() << "tessera: error: " << message << "\n";
  return code;
}

int failLocated(llvm::StringRef errors, const std::string &file, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 8> lines, textLines;
  errors.split(lines, '\n');
  text.consume_front("\xEF\xBB\xBF"); // positions do not count a byte order mark
  text.split(textLines, '\n');
  for (auto line : lines) {
    ir::Diagnostic d;
    llvm::StringRef rest = line;
    if (!rest.consume_front(file + ":") || rest.consumeInteger(10, d.position.line) || !rest.consume_front(":") ||
        rest.consumeInteger(10, d.position.col) || !rest.consume_front(": ")) {
      fail(kInputAtFault, line);
      continue;
    }
    d.position.file = file;
    d.message = rest.str();
    bool isShown = !text.trim().empty() && !text.contains('\0');
    if (isShown && d.position.line && d.position.line <= textLines.size())
      d.snippet = ir::lineWithCaret(textLines[d.position.line - 1].rtrim('\r'), d.position.col);
    llvm::errs() << ir::render(d);
  }
  return kInputAtFault;
}

llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readText(const std::string &path) {
  namespace fs = llvm::sys::fs;
  constexpr size_t most = size_t(1) << 28, chunk = 1 << 16;
  fs::file_status status;
  if (auto ec = path == "-" ? fs::status(0, status) : fs::status(path, status)) return ec;
  // Files of /proc are regular files of 0 bytes, whose text is there when it is read.
  bool hasSize = status.type() == fs::file_type::regular_file && status.getSize() > 0;
  if (hasSize || status.type() == fs::file_type::directory_file)
    return llvm::MemoryBuffer::getFileOrSTDIN(path, false, false);
  int fd = 0;
  if (path != "-")
    if (auto ec = fs::openFileForRead(path, fd)) return ec;
  llvm::SmallString<0> text;
  std::error_code error;
  for (size_t got = 1; got && !error;) {
    size_t before = text.size();
    text.resize_for_overwrite(before + chunk);
    auto n = fs::readNativeFile(fd, {text.data() + before, chunk});
    error = n ? std::error_code() : llvm::errorToErrorCode(n.takeError());
    got = error ? 0 : *n;
    text.truncate(before + got);
    if (text.size() > most) error = std::make_error_code(std::errc::file_too_large);
  }
  if (fd) fs::closeFile(fd);
  if (error) return error;
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text), path == "-" ? "<stdin>" : path,
                                                         /*RequiresNullTerminator=*/false);
}

std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path) {
  auto b = readText(path);
  if (b) return std::move(*b);
  fail(kInputAtFault, (path == "-" ? "standard input" : path) + ": " + b.getError().message());
  return nullptr;
}

bool writeOutput(const std::string &path, llvm::StringRef contents) {
  if (path.empty() || path == "-") {
    llvm::outs() << contents;
    return true; // main looks whether it could be written
  }
  std::error_code ec = ir::writeFile(path, contents);
  if (ec) fail(kRunFailed, path + ": " + ec.message());
  return !ec;
}

ir::DiagnosticEngine printingDiagnostics() {
  return ir::DiagnosticEngine([](const ir::Diagnostic &d) { llvm::errs() << ir::render(d); });
}

} // namespace tessera::tools

using namespace tessera::tools;

static const struct Command {
  const char *name;
  int (*run)(int, char **);
  const char *help;
} commands[] = {
    {"compile", compileCommand, "compile TTIR or TTGIR to PTX, cubin, AMDGCN assembly, hsaco, or any earlier stage"},
    {"opt", optCommand, "run passes over textual IR"},
    {"layout", layoutCommand, "print or draw a tensor layout"},
    {"run", runCommand, "run a kernel as a launch description says, and check its outputs"},
    {"bench", benchCommand, "measure a kernel as a launch description says"},
    {"time", timeCommand, "time a kernel of an AMD code object by a model of the machine"},
    {"tune", tuneCommand, "find the fastest numbers of warps and stages for a kernel"},
    {"conformance", conformanceCommand, "run the conformance suite on devices"},
    {"reduce", reduceCommand, "shrink a failing kernel"},
    {"cache", cacheCommand, "show or shrink the cache of compiled kernels"},
    {"devices", devicesCommand, "list the GPUs of this machine"},
    {"version", versionCommand, "print the versions of Tessera, LLVM and the toolchains found"},
};

static int usage(llvm::raw_ostream &o, int code) {
  o << "usage: tessera COMMAND ...\n\ncommands:\n";
  for (auto &c : commands)
    o << "  " << llvm::StringRef(c.name) << std::string(12 - llvm::StringRef(c.name).size(), ' ') << c.help << "\n";
  o << "\n`tessera COMMAND --help` prints a command's options.\n";
  return code;
}

static int command(int argc, char **argv) {
  if (argc < 2) return usage(llvm::errs(), kUsage);
  llvm::StringRef name = argv[1];
  std::string help = "--help"; // `tessera help COMMAND` is `tessera COMMAND --help`
  char *withHelp[] = {argv[0], argc > 2 ? argv[2] : nullptr, help.data(), nullptr};
  if (name == "help" && argc > 2) {
    argc = 3;
    argv = withHelp;
    name = argv[1];
  }
  if (name == "--help" || name == "-h" || name == "help") return usage(llvm::outs(), kOk);
  if (name == "--version") name = "version";
  for (auto &c : commands)
    if (name == c.name) return c.run(argc - 1, argv + 1);
  std::vector<llvm::StringRef> names;
  for (auto &c : commands) names.push_back(c.name);
  fail(kUsage, "unknown command '" + name + "'" + suggest(name, names));
  return usage(llvm::errs(), kUsage);
}

/// Where an allocation fails, on any thread: nothing is left that could be done, nor memory to do it with.
static void endWithoutMemory() {
  static constexpr char kMessage[] = "tessera: error: this process cannot get more memory\n";
  if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) { // nobody reads it
  }
  std::_Exit(kRunFailed);
}

int main(int argc, char **argv) {
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); }); // of malloc
  std::signal(SIGXFSZ, SIG_IGN); // a file that grows beyond a limit (ulimit -f) is an error of writing, not the end
  int code = command(argc, argv);
  llvm::outs().flush();
  if (auto ec = llvm::outs().error()) {
    llvm::outs().clear_error();
    code = fail(kRunFailed, "standard output: " + ec.message());
  }
  llvm::errs().flush();
  std::fflush(nullptr);
  std::_Exit(code); // without the destructors of LLVM's global state
}
