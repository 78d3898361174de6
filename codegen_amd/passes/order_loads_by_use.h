// Issues loads in the order in which they are waited for (see order_loads_by_use.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it.
llvm::Pass *createOrderLoadsByUse();

} // namespace tessera::amd
