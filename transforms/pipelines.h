// The pipelines, one readable function per level and, where vendors differ, per vendor: which passes run, in which
// order, and why.
#pragma once
#include "transforms/pass.h"

namespace tessera::transforms {

/// TTIR to better TTIR, the same for all vendors but for what the target lacks.
Pipeline ttirPipeline(const ir::TargetInfo &);
/// TTIR to TTGIR with good layouts, for NVIDIA.
Pipeline nvidiaTtgirPipeline(const ir::TargetInfo &, int numWarps, int numCtas, int numStages);
/// TTIR to TTGIR with good layouts, for AMD. `matrixInstrNonkdim`: rows and columns of matrix instructions, 0: by the
/// least work.
Pipeline amdTtgirPipeline(const ir::TargetInfo &, int numWarps, int numCtas, int numStages, int matrixInstrNonkdim = 0);
/// The one of the two that is the target's.
Pipeline ttgirPipeline(const ir::TargetInfo &, int numWarps, int numCtas, int numStages, int matrixInstrNonkdim = 0);
/// What the lowering needs: shared memory placed, barriers put.
Pipeline loweringPipeline(const ir::TargetInfo &);

} // namespace tessera::transforms
