// Bounds of clamps that differ in their signs, in one register (see opposite_constants.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createOppositeConstants();

} // namespace tessera::amd
