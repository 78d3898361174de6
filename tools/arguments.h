// What the subcommands share in reading their command lines: errors in one form, suggestions for misspelt names, and
// the options for dumps, timings and bisection of passes.
#pragma once
#include "runtime/compiler/compile_cache.h"
#include "transforms/pass.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace tessera::tools {

/// Parses. Returns the exit code if the command ends here: help or an error was printed.
std::optional<int> parseArguments(CLI::App &, int argc, char **argv);
/// The same for arguments that were rewritten, the program's name first.
std::optional<int> parseArguments(CLI::App &, std::vector<std::string> arguments);

/// "; did you mean 'X'?" with the nearest of the names, or nothing.
std::string suggest(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> names);

/// Checks of values, for CLI::Option::check: empty, or what is wrong.
std::function<std::string(const std::string &)> wholeNumber(int64_t least, int64_t most = INT32_MAX);
std::function<std::string(const std::string &)> oneOf(llvm::StringRef first, llvm::StringRef second); // literals

/// An option that names a file to write, and what it names: empty if it is not given, - for standard output.
struct OutputOption {
  const char *option;
  std::string path;
};
/// Before hours of work: whether the files can be written, and are different ones and none of the inputs. An exit code
/// after an error was printed. Nothing is created.
int checkOutputFiles(const std::vector<OutputOption> &, const std::vector<std::string> &inputs = {});
/// Whether none of the files to be written is an input, whose contents would be lost: for files that an input names.
/// An exit code after an error was printed.
int checkInputsAreKept(const std::vector<OutputOption> &, const std::vector<std::string> &inputs);
/// The same for a folder, which may have to be created. Empty: none.
int checkOutputFolder(const std::string &path);

/// The check of values of a kernel option.
std::function<std::string(const std::string &)> valueOf(const runtime::KernelOption &);
/// Adds all kernel options (--num-warps, …), which set a configuration.
void addKernelOptions(CLI::App &, runtime::KernelConfig &);
/// Warns of those on the command line that the target has no use for.
void warnOfUnreadOptions(const CLI::App &, const ir::TargetInfo &);
void addExactNumWarps(CLI::App &, bool &exact);
void addNoTensorMemory(CLI::App &, bool &tensorMemory);

/// A remark that can be reported (docs/remarks.md).
struct KnownRemark {
  llvm::StringRef pass, name;
  runtime::Stage stage; // the first stage whose compilation reports it
};

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
  /// Warns if every remark that --remarks selects is reported after the stage that a compilation ends at.
  void warnOfLaterRemarks(runtime::Stage last, const ir::TargetInfo &) const;
  /// Adds --remarks and --remarks-json.
  void addRemarks(CLI::App &);
  /// Writes the file of --remarks-json, if given; false after an error was printed.
  bool writeRemarks() const;
  /// --time-passes: to stderr.
  void printTimings() const;

private:
  /// The remarks that --remarks selects. @pre its regular expression is valid.
  llvm::SmallVector<const KnownRemark *, 12> matchingRemarks() const;
};

/// The kernel options of `run` and `bench`, which replace those of a launch description.
struct NumberFlags {
  std::array<std::optional<int>, runtime::kNumKernelOptions> values; // in the order of kernelOptions()
  bool exactNumWarps = false;
  bool tensorMemory = true;
  void add(CLI::App &);
  void apply(runtime::CompileOptions &) const;
};

/// The options of the cache of compiled kernels, which is off unless the command line or the environment turns it on.
struct CacheFlags {
  std::string directory; // --cache[=DIR]
  bool off = false;      // --no-cache

  void add(CLI::App &);
  /// Opens the cache, which keeps nothing if it is off; an exit code after an error was printed.
  int open(std::unique_ptr<runtime::CompileCache> &) const;
  /// Where a kernel could not be kept, says why.
  static void warn(const runtime::CompileCache &);
};
/// How large the folder of compiled kernels may be: TESSERA_CACHE_BYTES, else 1 GiB. An exit code after an error was
/// printed.
int cacheLimit(uint64_t &bytes);
/// "1000", "64K", "500M", "2G"; nullopt if it is none of these.
std::optional<uint64_t> parseBytes(llvm::StringRef);
std::string formatBytes(uint64_t);

} // namespace tessera::tools
