// Shares the constants that accumulators start from (see share_constants.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createShareConstants();

} // namespace tessera::amd
