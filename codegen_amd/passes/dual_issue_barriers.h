// Keeps dual issue from delaying loads behind waits (see dual_issue_barriers.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it.
llvm::Pass *createDualIssueBarriers();

} // namespace tessera::amd
