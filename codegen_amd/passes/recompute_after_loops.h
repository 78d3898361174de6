// Recomputes indices after loops with matrix instructions (see recompute_after_loops.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. `lastToo`: also what only the code after the last such loop uses. The
/// caller owns it.
llvm::Pass *createRecomputeAfterLoops(bool lastToo);

} // namespace tessera::amd
