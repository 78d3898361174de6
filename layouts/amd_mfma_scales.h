// The layout of the scales of a dot of microscaled operands for the instructions that take them (v_mfma_scale_*,
// amd_mfma version 4): one for each 32 elements along K. A lane gives one scale to an instruction: of its row, and of
// the group of 32 that its place among the lanes of the row numbers ("CDNA4 Instruction Set Architecture", "Matrix
// Arithmetic Instructions").
#pragma once
#include "layouts/amd_mfma.h"

namespace tessera::layouts {

/// [M, K / 32] of operand 0, [N, K / 32] of operand 1, with the batch before them if the rank is 3. `groups`:
/// consecutive groups that a lane holds.
absl::StatusOr<LinearLayout> scaleLayout(const AmdMfmaEncoding &, llvm::ArrayRef<int64_t> shape, unsigned opIdx,
                                         int32_t groups);

} // namespace tessera::layouts
