// Passes and how they are run. A pass is a free function on a module in a file of its own; one row in
// transforms/registry.cpp gives it a name (triton-opt's where the pass exists there), help and options. A pipeline is a
// readable function that returns a list of steps; `runPipeline` is the one place where passes meet verification, dumps,
// timing, skipping, bisection and reproducers.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "transforms/remark.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// Options of one step: `-pass=key=value key2=value2` on the command line.
struct PassOptions {
  llvm::StringMap<std::string> values;
  mutable std::string problem; // what was wrong with a value that the pass asked for; the run is then an error
  int64_t getInt(llvm::StringRef name, int64_t otherwise, int64_t least = INT64_MIN) const;
  int64_t getPowerOfTwo(llvm::StringRef name, int64_t otherwise, int64_t most) const;
  bool getBool(llvm::StringRef name, bool otherwise) const;
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise) const;
};

struct PassContext {
  const ir::TargetInfo *target = nullptr; // null: none was given, and the module names none that there is
  ir::DiagnosticEngine &diagnostics;      // what is the user's fault is reported here, and the pass returns an error
  const PassOptions &options;
  const std::function<void(Remark)> *remarks = nullptr; // null: nobody listens

  /// Says something, if somebody listens; what is costly to find out is asked for only then.
  bool wantsRemarks() const { return remarks && *remarks; }
  void remark(Remark r) const {
    if (wantsRemarks()) (*remarks)(std::move(r));
  }
};

/// Returns whether the module was changed, or an error after having reported a diagnostic.
using PassFn = absl::StatusOr<bool> (*)(ir::Module &, PassContext &);

enum PassTrait : uint8_t {
  kRequired = 1,     // compiling needs it: bisection does not leave it out
  kNeedsLayouts = 2, // works on TTGIR: a tensor without a layout is the input's fault
};

struct PassInfo {
  llvm::StringRef name; // as triton-opt spells it
  PassFn run;
  llvm::StringRef help;    // one line
  llvm::StringRef options; // the accepted ones, "num-warps=N target=NAME …": N is an integer
  uint8_t traits = 0;      // of PassTrait
  bool has(PassTrait t) const { return traits & t; }
};

llvm::ArrayRef<PassInfo> allPasses();
const PassInfo *findPass(llvm::StringRef name);

struct PipelineStep {
  const PassInfo *pass;
  PassOptions options;
};
using Pipeline = std::vector<PipelineStep>;

/// One pass with options, for writing pipelines: step("tritongpu-coalesce"), step("...", {{"num-warps", "4"}}).
/// @pre the pass exists.
PipelineStep step(llvm::StringRef name, std::initializer_list<std::pair<llvm::StringRef, std::string>> options = {});

/// The step of a pass with options as they are written: "num-stages=2 foo=bar", also in quotes or braces. An error
/// where the pass has no such option, or one with another kind of value.
absl::StatusOr<PipelineStep> parseStep(const PassInfo &, llvm::StringRef options);

struct PassTiming {
  std::string name;
  double ms;
  bool changed;
};

struct RunOptions {
  const ir::TargetInfo *target = nullptr;
  const ir::TargetInfo *(*findTarget)(llvm::StringRef name) =
      nullptr; // without a target: that of the module's ttg.target
  bool verifyEach = false;
  std::function<bool(llvm::StringRef)> printBefore, printAfter; // passes by name; empty: none
  bool printAfterAll = false;
  std::vector<std::string> skip;  // names of passes to leave out
  int64_t bisectLimit = -1;       // run only the first N passes that are not required, and dump which; -1: all
  mutable int64_t bisectDone = 0; // how many earlier pipelines of the same compilation have run
  std::string reproducerPath;     // where the IR before a failing pass is written; empty: nowhere
  std::function<void(llvm::StringRef)> dump;                             // takes printed IR
  std::function<void(const PassInfo &, ir::Module &, bool before)> hook; // called around every pass
  std::vector<PassTiming> *timings = nullptr;
  std::function<void(const Remark &)> remarks; // takes what passes say; empty: they say nothing
};

/// Runs the steps. On failure a diagnostic names the pass, the operation and its line.
absl::Status runPipeline(ir::Module &, const Pipeline &, const RunOptions &, ir::DiagnosticEngine &);

} // namespace tessera::transforms
