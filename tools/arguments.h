// What the subcommands share in reading their command lines: errors in one form, suggestions for what is misspelt, and
// the options that ask for dumps, timings and bisection of passes.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "transforms/pass.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace tessera::tools {

/// Parses; gives the exit code where the command is over: help was asked for, or an error was printed.
std::optional<int> parseArguments(CLI::App &, int argc, char **argv);

/// "; did you mean 'X'?" with the nearest of the names, or nothing.
std::string suggest(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> names);

/// Checks of values, for CLI::Option::check: empty, or what is wrong.
std::function<std::string(const std::string &)> wholeNumber(int64_t least, int64_t most = INT32_MAX);
std::string powerOfTwo(const std::string &);
std::string matrixTile(const std::string &);
std::string onOrOff(const std::string &);

/// The options of `compile` and `opt` about their passes.
struct PassFlags {
  std::vector<std::string> skip;
  std::string before, after;
  bool beforeAll = false, afterAll = false, verifyEach = false, time = false;
  int64_t bisectLimit = -1;
  std::vector<transforms::PassTiming> timings;
  std::string remarks, remarksFile; // --remarks=RE (over PASS:NAME), --remarks-json
  llvm::json::Array remarkList;

  /// Checks and takes them over; false after an error was printed. `*this` outlives the run.
  bool apply(transforms::RunOptions &);
  bool dumps() const { return beforeAll || afterAll || !before.empty() || !after.empty(); }
  /// Adds --remarks and --remarks-json.
  void addRemarks(CLI::App &);
  /// Writes the file of --remarks-json, if it was asked for; false after an error was printed.
  bool writeRemarks() const;
  /// --time-passes: to stderr.
  void printTimings() const;
};

} // namespace tessera::tools
