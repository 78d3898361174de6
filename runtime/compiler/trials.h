// What trials have in common (spill_trials.h, warps_after_spills.h): a kernel is compiled in several ways, and one
// result is taken.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::runtime {

/// What one compilation made.
struct CompiledOnce {
  absl::StatusOr<CompileResult> result;
  int64_t spilledInLoops = 0; // bytes of registers that an iteration of the innermost loops stores and loads again
  int64_t instructionsInLoops = 0;
};
/// Compiles with exactly the options, without trials.
using CompileOnce = llvm::function_ref<CompiledOnce(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                                    ir::DiagnosticEngine &)>;

/// The options of a compilation that nobody observes: it runs the same passes.
CompileOptions unobserved(const CompileOptions &);
/// The time that the stages of a compilation took.
double milliseconds(const CompileResult &);

} // namespace tessera::runtime
