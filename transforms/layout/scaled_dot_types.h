// Which dots of microscaled operands an instruction with scales computes, and in which element types: those whose
// scales are e8m0, one for 32 elements along K, or none; whose elements a row of ir/scaled_matrix_instructions.h has;
// and whose K is as long as one instruction's. All others are decomposed (triton-decompose-scaled-dot), so that there
// is an instruction for every tt.dot_scaled that has a layout.
#pragma once
#include "transforms/layout/matrix_instruction_choice.h"

namespace tessera::transforms {

/// None: no instruction.
std::optional<DotTypes> scaledDotTypes(ir::tt::DotScaledOp, const ir::TargetInfo &);
/// Elements along K; two of e2m1 to a byte.
int64_t depthOf(ir::tt::DotScaledOp);

} // namespace tessera::transforms
