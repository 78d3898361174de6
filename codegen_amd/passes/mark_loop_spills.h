// Counts what the innermost loops of a function spill (see mark_loop_spills.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions after prologues and epilogues are inserted. The caller owns it.
llvm::Pass *createMarkLoopSpills();

} // namespace tessera::amd
