// Recomputes indices after loops with matrix instructions (see recompute_after_loops.cpp).
#pragma once
#include "ir/tuning.h"
#include <cstdint>

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// Of which functions: those with two loops with matrix instructions at least, or all, for those that would spill.
enum class RecomputedAfter : uint8_t { TwoLoops, EveryLoop };

/// A pass on machine functions in SSA form; `most`: registers after a loop, 0: any number. The caller owns it; the
/// numbers must outlive it.
llvm::Pass *createRecomputeAfterLoops(const ir::Tuning &, RecomputedAfter, int64_t most);

} // namespace tessera::amd
