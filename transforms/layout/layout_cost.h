// What a whole module takes in the layouts that it has, to compare two ways of choosing them.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"

namespace tessera::transforms {

/// Instructions of a thread for what depends on layouts: conversions, reductions, scans, arithmetic and accesses to
/// global memory, each as often as its block is executed. Dots and shared memory are left out: they have their layouts
/// from elsewhere.
double costInLayouts(ir::Module &, const ir::Tuning &);

} // namespace tessera::transforms
