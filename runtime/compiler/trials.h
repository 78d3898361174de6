// Trials: a kernel is compiled as requested, then in other ways, and one of the results is taken. spill_trials.h and
// warps_after_spills.h say which kernels, which ways and which result; `compile` (compiler.cpp) says which of the two
// applies.
//
// Users see one run of each pass, with the options that are taken. Trials are therefore compiled without observers
// (dumps, hooks, times of passes, …); where there are any, they compile copies, and the module is compiled once more,
// with the options of the trial that is taken. Remarks do not need that: each trial keeps its own.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

/// One way to compile a kernel, and what that made.
struct Trial {
  CompileOptions options;
  absl::StatusOr<CompileResult> result;
  int64_t spilledInLoops = 0; // bytes of registers that an iteration of the innermost loops stores and loads again
  int64_t instructionsInLoops = 0;
  std::vector<transforms::Remark> remarks = {}; // where users want them and the module is not compiled once more

  int warps() const { return result->metadata.numWarps; }
};

/// Compiles a module with exactly the options, without further trials.
using CompileOnce =
    llvm::function_ref<Trial(ir::Module &, const ir::TargetInfo &, const CompileOptions &, ir::DiagnosticEngine &)>;
/// Compiles a copy of the kernel with other options; errors are in the result alone.
using TryOptions = llvm::function_ref<Trial(const CompileOptions &)>;
/// The trial to take instead of what was compiled as requested, if any. @pre requested.result.ok()
using TrialSearch =
    llvm::function_ref<std::unique_ptr<Trial>(const ir::Module &unchanged, const Trial &requested, TryOptions)>;
/// The remark on a trial that is taken.
using TrialRemark =
    llvm::function_ref<transforms::Remark(ir::Operation *kernel, const Trial &requested, const Trial &taken)>;

/// Compiles as requested, or as the trial that the search finds. The remark on the trial comes ahead of its own.
absl::StatusOr<CompileResult> compileWithTrials(ir::Module &, const ir::TargetInfo &, const CompileOptions &requested,
                                                ir::DiagnosticEngine &, CompileOnce, TrialSearch, TrialRemark);

/// Whether the user and the kernel leave the number of warps open (see mayTakeMoreWarps).
bool mayTryMoreWarps(const ir::Module &, const CompileOptions &requested);
/// The options of a trial with twice the warps of what was compiled as requested; none if the user, the kernel or the
/// target forbids so many.
std::optional<CompileOptions> withTwiceTheWarps(const ir::Module &, const ir::TargetInfo &, const Trial &requested);

} // namespace tessera::runtime
