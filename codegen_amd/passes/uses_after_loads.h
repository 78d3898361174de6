// Moves uses of loaded values behind the loads that follow (see uses_after_loads.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it.
llvm::Pass *createUsesAfterLoads();

} // namespace tessera::amd
