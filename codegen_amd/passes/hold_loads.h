// Keeps loads ahead of the first use of any (see hold_loads.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it.
llvm::Pass *createHoldLoads();

} // namespace tessera::amd
