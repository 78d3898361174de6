// The matrix instructions of a target as data: shapes and element types of its matrix unit. The passes
// choose a row of the target's table (TargetInfo::matrixInstructions) and say it through the layout of the result; the
// lowering finds the row again by the types and the layout. The layouts say which lane holds which element
// (layouts/nvidia_mma.h, amd_mfma.h, amd_wmma.h).
#pragma once
#include <cstdint>
#include <optional>

namespace tessera::ir {

class Type;

enum class MatrixType : uint8_t { F16, BF16, F32, TF32, F64, I8, I32, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ };

/// The matrix type of elements of a type; none for what no matrix unit takes. (f32 operands may go to units as TF32.)
std::optional<MatrixType> matrixTypeOf(Type);
/// Width of an element in an operand's register or memory (TF32: 32).
int bitWidthOf(MatrixType);

/// D = A · B + C with A of m × k, B of k × n, C and D of m × n elements, by the lanes of a warp together.
struct MatrixInstruction {
  MatrixType a, b, c; // c: of the accumulator and the result
  int m, n, k;
  int lanesK;       // lanes that share a row of A (and a column of B), each with its part of K
  int slowness = 1; // time relative to the fastest instruction for the types
  /// Elements of one row of A, and of one column of B, that one lane gives.
  int depth() const { return k / lanesK; }
};

} // namespace tessera::ir
