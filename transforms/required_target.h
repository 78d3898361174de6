// The error of passes that cannot do without a target.
#pragma once
#include "ir/operation.h"
#include "transforms/pass.h"

namespace tessera::transforms {

/// Reports, at the module, that the pass needs a target; the pass returns the status.
inline absl::Status requiresTarget(PassContext &c, const ir::Module &m, llvm::StringRef pass) {
  // A module that no line of the text names is placed at its first operation.
  ir::Operation *at = m.op();
  if (at->loc().source().isUnknown() && m.body()->front()) at = m.body()->front();
  c.diagnostics.error(at->loc(), pass + " needs a target: the module's 'ttg.target', or that of --target");
  return absl::InvalidArgumentError("no target");
}

} // namespace tessera::transforms
