// The table of instructions with scales (see scaled_matrix_instructions.h): v_mfma_scale_f32_32x32x64_f8f6f4 and
// …_16x16x128_f8f6f4 ("CDNA4 Instruction Set Architecture", "Matrix Arithmetic Instructions").
#include "ir/scaled_matrix_instructions.h"
#include <vector>

namespace tessera::ir {

std::optional<MatrixType> matrixTypeOf(ScaleDotElemType t) {
  switch (t) {
  case ScaleDotElemType::E4m3: return MatrixType::F8E4M3FN;
  case ScaleDotElemType::E5m2: return MatrixType::F8E5M2;
  case ScaleDotElemType::E2m1: return kPackedE2M1;
  case ScaleDotElemType::E2m3:
  case ScaleDotElemType::E3m2:
  case ScaleDotElemType::Bf16:
  case ScaleDotElemType::Fp16: break;
  }
  return std::nullopt;
}

llvm::ArrayRef<MatrixInstruction> scaledMatrixInstructions(const TargetInfo &target) {
  static const std::vector<MatrixInstruction> ofCdna4 = [] {
    constexpr MatrixType kTypes[] = {MatrixType::F8E4M3FN, MatrixType::F8E5M2, kPackedE2M1};
    std::vector<MatrixInstruction> rows;
    for (MatrixType a : kTypes)
      for (MatrixType b : kTypes) {
        rows.push_back({a, b, MatrixType::F32, 32, 32, 64, 2});
        rows.push_back({a, b, MatrixType::F32, 16, 16, 128, 4});
      }
    return rows;
  }();
  constexpr int kCdna4 = 4;
  bool hasThem = target.matrixUnit == MatrixUnit::Mfma && target.matrixVersion == kCdna4;
  return hasThem ? llvm::ArrayRef(ofCdna4) : llvm::ArrayRef<MatrixInstruction>();
}

} // namespace tessera::ir
