// Minima and maxima of gfx12 without instructions that make NaNs quiet before them (see drop_quieting.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createDropQuieting();

} // namespace tessera::amd
