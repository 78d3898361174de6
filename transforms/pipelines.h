// The pipelines, one readable function per level: which passes run, in which order, and why.
#pragma once
#include "transforms/pass.h"

namespace tessera::transforms {

/// TTIR to better TTIR, the same for all vendors but for what the target lacks.
Pipeline ttirPipeline(const ir::TargetInfo &);
/// TTIR to TTGIR with good layouts.
Pipeline ttgirPipeline(const ir::TargetInfo &, int numWarps, int numCtas, int numStages);
/// What the lowering needs: shared memory placed, barriers put.
Pipeline loweringPipeline(const ir::TargetInfo &);

} // namespace tessera::transforms
