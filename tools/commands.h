// The subcommands of `tessera`, one function each. They return the process's exit code: 0 fine, 1 the input is at
// fault, 2 wrong usage, 3 the run failed or a check found a difference.
#pragma once
#include "ir/diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
}
namespace tessera::tools {

enum ExitCode { kOk = 0, kInputAtFault = 1, kUsage = 2, kRunFailed = 3 };

int compileCommand(int argc, char **argv);
int optCommand(int argc, char **argv);
int layoutCommand(int argc, char **argv);
int runCommand(int argc, char **argv);
int benchCommand(int argc, char **argv);
int timeCommand(int argc, char **argv);
int tuneCommand(int argc, char **argv);
int cacheCommand(int argc, char **argv);
int conformanceCommand(int argc, char **argv);
int reduceCommand(int argc, char **argv);
int devicesCommand(int argc, char **argv);
int versionCommand(int argc, char **argv);

/// Prints to stderr as `error: message`, and gives the code back.
int fail(int code, const llvm::Twine &message);
/// The errors of a launch description or another JSON file, `FILE:LINE:COL: what` on a line each, in the form of all
/// diagnostics: with the line of the file's text and a caret. Others as fail() prints them.
int failLocated(llvm::StringRef errors, const std::string &file, llvm::StringRef text);
/// The file's contents (`-`: standard input). What is no regular file, a pipe or a device, may have no end: more than
/// 256 MiB of it is an error.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readText(const std::string &path);
/// The same, or null after an error was printed.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path);
/// Writes to the file (`-` or empty: standard output). False after an error was printed.
bool writeOutput(const std::string &path, llvm::StringRef contents);
/// An engine that prints diagnostics to stderr.
ir::DiagnosticEngine printingDiagnostics();

} // namespace tessera::tools
