// Moves uses of loaded values behind the loads that follow (see uses_after_loads.cpp).
#pragma once
#include "ir/target.h"

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it.
/// The numbers outlive it.
llvm::Pass *createUsesAfterLoads(const ir::Tuning &);

} // namespace tessera::amd
