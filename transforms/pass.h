// Passes and how they are run. A pass is a free function on a module in a file of its own (transforms/passes.h). One
// row in transforms/registry.cpp gives it a name (triton-opt's if the pass exists there), help, options and the stages
// of the IR (ir/stages.h) that it needs and establishes. A pipeline is a function that returns a list of steps
// (transforms/pipelines.cpp). `runPipeline` does for all passes what is not theirs: verification, dumps, timing,
// skipping, bisection and reproducers.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/stages.h"
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
  const ir::TargetInfo *target = nullptr; // null: none was given, and the module names no known one
  ir::DiagnosticEngine &diagnostics;      // takes errors in the input, after which the pass returns an error
  const std::function<void(Remark)> *remarks = nullptr; // null: remarks are off

  /// Whether remarks are on; facts that are costly to compute are computed only then.
  bool wantsRemarks() const { return remarks && *remarks; }
  void remark(Remark r) const {
    if (wantsRemarks()) (*remarks)(std::move(r));
  }
};

/// The address of a pass's function, to find its row by.
using AnyFunction = void (*)();

/// One row of the registry.
struct PassInfo {
  llvm::StringRef name; // as triton-opt spells it, if the pass exists there
  llvm::StringRef file; // below transforms/
  AnyFunction function;
  absl::StatusOr<bool> (*run)(ir::Module &, const std::any &options, PassContext &);
  llvm::StringRef help; // one line
  llvm::ArrayRef<PassOption> options;
  ir::IrStages needs;       // checked before the pass runs: the input's fault if the module is not there
  ir::IrStages establishes; // hold after the pass
  bool required;            // `tessera compile` refuses to skip it (`opt` skips it), and bisection always runs it
  llvm::StringRef aliasOf;  // the name of the row of which this one is another name; else empty
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
  const ir::TargetInfo *(*findTarget)(llvm::StringRef name) = nullptr; // finds ttg.target's, if `target` is null
  bool verifyEach = false;
  std::function<bool(llvm::StringRef)> printBefore, printAfter; // passes by name; empty: none
  bool printAfterAll = false;
  std::vector<std::string> skip;  // names of passes that are skipped
  int64_t bisectLimit = -1;       // run only the first N passes that are not required, and dump which; -1: all
  mutable int64_t bisectDone = 0; // passes that earlier pipelines of the same compilation counted
  std::string reproducerPath;     // the file to which the IR before a failing pass is written; empty: none
  std::function<void(llvm::StringRef)> dump;                             // takes printed IR
  std::function<void(const PassInfo &, ir::Module &, bool before)> hook; // called around every pass
  std::vector<PassTiming> *timings = nullptr;
  std::function<void(const Remark &)> remarks; // empty: remarks are off
};

/// Whether all passes run, and nothing is said of any.
bool hasNoObservers(const RunOptions &);

/// Runs the steps. On failure a diagnostic names the pass, the operation and its line.
absl::Status runPipeline(ir::Module &, const Pipeline &, const RunOptions &, ir::DiagnosticEngine &);

} // namespace tessera::transforms
