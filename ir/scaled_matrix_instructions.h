// The matrix instructions of a target that multiply each 32 elements along K of both operands by a scale of 8 bits,
// 2^(s - 127), not a number for s = 255 (OCP Microscaling Formats, e8m0).
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include <optional>

namespace tessera::ir {

/// In the rows of this table, bytes stand for two e2m1 each, as in the IR; k counts elements.
inline constexpr MatrixType kPackedE2M1 = MatrixType::I8;

/// The type of a dot's operand in this table; nothing if no instruction takes it.
std::optional<MatrixType> matrixTypeOf(ScaleDotElemType);

/// Of equal types the one of the largest tile first. Empty for targets without such instructions.
llvm::ArrayRef<MatrixInstruction> scaledMatrixInstructions(const TargetInfo &);

} // namespace tessera::ir
