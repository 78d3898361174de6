// What functions take in the layouts that they have, to compare two ways of choosing them.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include <vector>

namespace tessera::transforms {

/// For each operation of the module's body, in order: instructions of a thread for what depends on layouts, each as
/// often as its block is executed. That is conversions, reductions, scans, arithmetic and accesses to global memory;
/// dots and shared memory have their layouts from elsewhere.
std::vector<double> costsInLayouts(ir::Module &, const ir::Tuning &);

} // namespace tessera::transforms
