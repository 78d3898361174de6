// Dots of microscaled operands: which of them a matrix instruction with scales computes. Such an instruction multiplies
// each 32 elements along K of both operands by a scale of 8 bits, 2^(s - 127), not a number for s = 255 (OCP
// Microscaling Formats, e8m0); the targets' are TargetInfo::scaledMatrixInstructions.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include <optional>

namespace tessera::ir {

/// Among the types of these instructions, bytes stand for two e2m1 each, as in the IR; k counts elements.
inline constexpr MatrixType kPackedE2M1 = MatrixType::I8;

/// The type of a dot's operand among the types of these instructions; nothing if no target has one that takes it.
std::optional<MatrixType> matrixTypeOf(ScaleDotElemType);

/// Elements along K; two of e2m1 to a byte.
int64_t depthOf(tt::DotScaledOp);

/// Whether the target has an instruction for the dot: its scales are e8m0, one for 32 elements along K, or there are
/// none; its elements are an instruction's; and its K is at least as long as the instruction's. All other dots are
/// decomposed (triton-decompose-scaled-dot).
bool hasMatrixInstruction(tt::DotScaledOp, const TargetInfo &);

} // namespace tessera::ir
