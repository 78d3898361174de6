// Bounds the time that LLVM's greedy register allocator spends on evictions (see eviction_budget.cpp).
#pragma once
#include "llvm/Pass.h"
#include <cstdint>

namespace tessera::amd {

/// The allocator's eviction advisor: LLVM's default one until it may have tried `maxTries` registers in a run of the
/// allocator, then a cheaper one. The pass manager that the pass is added to owns it. `tried`, if given, counts the
/// registers that all runs may have tried.
llvm::ImmutablePass *createEvictionBudget(int64_t maxTries, int64_t *tried = nullptr);

} // namespace tessera::amd
