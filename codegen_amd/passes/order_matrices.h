// Orders machine instructions around MFMA (see order_matrices.cpp).
#pragma once
#include "ir/target.h"

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// The mask of a SCHED_BARRIER between iterations of an unrolled loop that are ordered one by one. For LLVM, all may
/// cross it: it stands between two that nothing crosses.
constexpr unsigned kEndsIteration = 0x7ff;

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it. The
/// target's facts outlive it.
llvm::Pass *createOrderMatrices(const ir::TargetInfo &);

} // namespace tessera::amd
