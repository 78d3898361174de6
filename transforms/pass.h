// Passes and how they are run. A pass is a free function on a module in a file of its own; one row in
// transforms/registry.cpp gives it a name (triton-opt's where the pass exists there), help and options. A pipeline is a
// readable function that returns a list of steps; `runPipeline` is the one place where passes meet verification, dumps,
// timing, skipping, bisection and reproducers.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "transforms/pass_options.h"
#include "transforms/remark.h"
#include <any>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::transforms {

struct PassContext {
  const ir::TargetInfo *target = nullptr; // null: none was given, and the module names none that there is
  ir::DiagnosticEngine &diagnostics;      // what is the user's fault is reported here, and the pass returns an error
  const std::function<void(Remark)> *remarks = nullptr; // null: nobody listens

  /// Says something, if somebody listens; what is costly to find out is asked for only then.
  bool wantsRemarks() const { return remarks && *remarks; }
  void remark(Remark r) const {
    if (wantsRemarks()) (*remarks)(std::move(r));
  }
};

enum PassTrait : uint8_t {
  kRequired = 1,     // compiling needs it: bisection does not leave it out
  kNeedsLayouts = 2, // works on TTGIR: a tensor without a layout is the input's fault
};

/// The address of a pass's function, to find its row by.
using AnyFunction = void (*)();

/// One row of the registry.
struct PassInfo {
  llvm::StringRef name; // as triton-opt spells it, if the pass exists there
  AnyFunction function;
  absl::StatusOr<bool> (*run)(ir::Module &, const std::any &options, PassContext &);
  llvm::StringRef help; // one line
  llvm::ArrayRef<PassOption> options;
  uint8_t traits = 0; // of PassTrait
  bool has(PassTrait t) const { return traits & t; }
};

llvm::ArrayRef<PassInfo> allPasses();
const PassInfo *findPass(llvm::StringRef name);
/// The first row of a function; a fatal error if it has none.
const PassInfo &passOf(AnyFunction);

/// A pass with its options: an empty `any`, or the options struct of the pass.
struct PipelineStep {
  const PassInfo *pass;
  std::any options;
};
using Pipeline = std::vector<PipelineStep>;

/// One pass with options, for writing pipelines: step(coalesce), step(pipelineLoads, {.numStages = 2}).
/// @pre the pass is registered.
inline PipelineStep step(absl::StatusOr<bool> (*pass)(ir::Module &, PassContext &)) {
  return {&passOf(reinterpret_cast<AnyFunction>(pass)), {}};
}
template <typename Options>
PipelineStep step(absl::StatusOr<bool> (*pass)(ir::Module &, const Options &, PassContext &),
                  std::type_identity_t<Options> options = {}) {
  return {&passOf(reinterpret_cast<AnyFunction>(pass)), std::move(options)};
}

/// The step of a pass with options as they are written: "num-stages=2 foo=bar", also in quotes or braces. An error if
/// the pass has no such option, or a value is out of its range.
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
