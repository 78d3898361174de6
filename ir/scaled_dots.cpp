// Which dots of microscaled operands instructions compute (see scaled_dots.h).
#include "ir/scaled_dots.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/STLExtras.h"

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

int64_t depthOf(tt::DotScaledOp dot) {
  auto a = tensorOf(dot.a());
  bool isPacked = dot.aElemType() == ScaleDotElemType::E2m1 && dot.lhsKPack();
  return a.dim(a.rank() - 1) * (isPacked ? 2 : 1);
}

/// No scales, or e8m0 of 32 elements each.
static bool isServed(Value scale, int64_t k) {
  constexpr int64_t kElementsOfScale = 32;
  if (!scale) return true;
  auto type = tensorOf(scale);
  return type.element().isInteger() && k == kElementsOfScale * type.dim(type.rank() - 1);
}

bool hasMatrixInstruction(tt::DotScaledOp dot, const TargetInfo &target) {
  auto a = matrixTypeOf(dot.aElemType());
  auto b = matrixTypeOf(dot.bElemType());
  auto result = dot.d().type().scalar();
  bool isNarrowFloat = result.isFloat() && result.bitWidth() <= 32;
  int64_t k = depthOf(dot);
  if (!a || !b || !isNarrowFloat || !isServed(dot.aScale(), k) || !isServed(dot.bScale(), k)) return false;
  return llvm::any_of(target.scaledMatrixInstructions, [&](auto &i) { return i.a == *a && i.b == *b && i.k <= k; });
}

} // namespace tessera::ir
