// Constants beside DPP operands in registers (see dpp_constants.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createDppConstants();

} // namespace tessera::amd
