// Failures of the back end, reported at the operation of the kernel that caused them.
#pragma once
#include "absl/status/status.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"

namespace tessera::runtime {

/// What was lowered and given to the back end.
struct CompiledKernel {
  ir::Module &module;
  ir::Operation *function;
  const ir::TargetInfo &target;
};

/// Reports a failure of the back end at the operation that caused it, as far as the status says which: a function that
/// it calls or inline assembly, else the kernel. Missing tools are not the program's fault: they stay Statuses.
absl::Status reportBackendError(const absl::Status &, const CompiledKernel &, ir::DiagnosticEngine &);

} // namespace tessera::runtime
