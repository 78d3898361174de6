// Orders machine instructions around MFMA (see order_matrices.cpp).
#pragma once
#include "ir/target.h"

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions, to run between LLVM's scheduler and register allocation. The caller owns it. The
/// target's facts outlive it.
llvm::Pass *createOrderMatrices(const ir::TargetInfo &);

} // namespace tessera::amd
