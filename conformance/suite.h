// The kernels of the conformance suite: text with parameters, and what each must compute. A file of kernels is a
// feature; README.md explains its language. A case is a kernel with a value for each of its parameters.
#pragma once
#include "absl/status/statusor.h"
#include "conformance/formula.h"
#include "runtime/launch/launch_description.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::conformance {

/// Which values of a kernel's parameters are combined: every value at least once, every two values of different
/// parameters at least once, or all with all. Each contains the one before.
enum class Coverage : uint8_t { Quick, Pairs, All };

/// A line of a kernel that says something, after its keyword.
struct Line {
  unsigned number = 0;
  std::string text;
};

/// One `for`: names, and the values that they take together.
struct Parameter {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;
  std::vector<std::string> labels; // of the values, in names of cases
};

struct Kernel {
  std::string file, feature, name;
  unsigned line = 0;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, Line>> lines; // keyword and rest, in order
  unsigned textLine = 0;
  std::string text;
};

struct Macro {
  std::vector<std::string> parameters;
  std::string body;
};

struct Suite {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  std::map<std::string, Macro> macros;
};

/// Adds a file of kernels. Errors are `FILE:LINE: error: what`, one per line, all of the file.
absl::Status readKernels(llvm::StringRef text, llvm::StringRef fileName, llvm::StringRef feature, Suite &);
/// The kernels that are part of the program.
absl::StatusOr<Suite> builtInSuite();

struct Case {
  std::shared_ptr<const Kernel> kernel;
  std::vector<unsigned> values; // of each parameter
  std::string name;             // "reductions/sum-f32-16x64-w4"
  const std::string &feature() const { return kernel->feature; }
};

/// The cases of a suite in a fixed order.
absl::StatusOr<std::vector<Case>> cases(const Suite &, Coverage);

/// What a buffer must hold after the launch.
struct Output {
  unsigned arg = 0;
  enum Kind : uint8_t { Compared, Unordered, Ignored } kind = Compared; // Unordered: the same elements in any order
  std::vector<std::string> variables;
  std::optional<Formula> want;       // of each element; none: what the interpreter gives
  std::optional<Formula> within, of; // allowed units in the last place, and the value whose last place it is
};

/// A case with everything in place.
struct Instance {
  std::string text;                  // of the IR
  runtime::LaunchDescription launch; // arguments have no files: contents are in `contents`
  std::vector<FormulaBuffer> names;  // by argument, with data pointing to `contents`
  std::vector<std::vector<uint8_t>> contents;
  std::vector<Output> outputs; // by argument, scalars left out
  int lanes = 0;               // threads per warp that the text is written for; 0: any
  /// Why the target cannot run the case; empty: it can.
  std::string whyNot(llvm::StringRef target) const;
  std::vector<std::pair<std::string, std::string>> skips; // regular expression over targets, reason
};

absl::StatusOr<Instance> instantiate(const Suite &, const Case &);

} // namespace tessera::conformance
