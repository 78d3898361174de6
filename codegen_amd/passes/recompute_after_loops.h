// Recomputes indices after loops with matrix instructions (see recompute_after_loops.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createRecomputeAfterLoops();

} // namespace tessera::amd
