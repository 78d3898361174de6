// Additions of 64 bits that shift an operand themselves (see shifts_in_additions.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it.
llvm::Pass *createShiftsInAdditions();

} // namespace tessera::amd
