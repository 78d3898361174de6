// Raises the priority of waves that are near a barrier (see raise_priorities.cpp).
#pragma once
#include "ir/target.h"

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions after prologues and epilogues are inserted. The caller owns it. The target's facts
/// outlive it.
llvm::Pass *createRaisePriorities(const ir::TargetInfo &);

} // namespace tessera::amd
