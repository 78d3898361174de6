// Matrix types (see matrix_instruction.h).
#include "ir/matrix_instruction.h"
#include "ir/type.h"

namespace tessera::ir {

std::optional<MatrixType> matrixTypeOf(Type t) {
  if (t.isInteger())
    return t.bitWidth() == 8    ? std::optional(MatrixType::I8)
           : t.bitWidth() == 32 ? std::optional(MatrixType::I32)
                                : std::nullopt;
  if (!t.isFloat()) return std::nullopt;
  switch (t.cast<FloatType>().floatKind()) {
  case FloatKind::F16: return MatrixType::F16;
  case FloatKind::BF16: return MatrixType::BF16;
  case FloatKind::F32: return MatrixType::F32;
  case FloatKind::F64: return MatrixType::F64;
  case FloatKind::F8E4M3FN: return MatrixType::F8E4M3FN;
  case FloatKind::F8E5M2: return MatrixType::F8E5M2;
  case FloatKind::F8E4M3FNUZ: return MatrixType::F8E4M3FNUZ;
  case FloatKind::F8E5M2FNUZ: return MatrixType::F8E5M2FNUZ;
  case FloatKind::F8E4M3B11FNUZ: return std::nullopt;
  }
  return std::nullopt;
}

int bitWidthOf(MatrixType t) {
  switch (t) {
  case MatrixType::F16:
  case MatrixType::BF16: return 16;
  case MatrixType::F32:
  case MatrixType::TF32:
  case MatrixType::I32: return 32;
  case MatrixType::F64: return 64;
  case MatrixType::I8:
  case MatrixType::F8E4M3FN:
  case MatrixType::F8E5M2:
  case MatrixType::F8E4M3FNUZ:
  case MatrixType::F8E5M2FNUZ: return 8;
  }
  return 0;
}

} // namespace tessera::ir
