// The error of passes that cannot do without a target.
#pragma once
#include "transforms/pass.h"

namespace tessera::transforms {

/// Reports that the pass needs a target; the pass returns the status.
inline absl::Status requiresTarget(PassContext &c, llvm::StringRef pass) {
  c.diagnostics.error({}, pass + " needs a target");
  return absl::InvalidArgumentError("no target");
}

} // namespace tessera::transforms
