// Element types of dots of microscaled operands (see scaled_dot_types.h).
#include "transforms/layout/scaled_dot_types.h"
#include "ir/scaled_matrix_instructions.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;

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

std::optional<DotTypes> scaledDotTypes(tt::DotScaledOp dot, const TargetInfo &target) {
  auto a = matrixTypeOf(dot.aElemType());
  auto b = matrixTypeOf(dot.bElemType());
  auto result = dot.d().type().scalar();
  bool isNarrowFloat = result.isFloat() && result.bitWidth() <= 32;
  int64_t k = depthOf(dot);
  if (!a || !b || !isNarrowFloat || !isServed(dot.aScale(), k) || !isServed(dot.bScale(), k)) return std::nullopt;
  bool isServedByOne =
      llvm::any_of(scaledMatrixInstructions(target), [&](auto &i) { return i.a == *a && i.b == *b && i.k <= k; });
  if (!isServedByOne) return std::nullopt;
  return DotTypes{*a, *b, MatrixType::F32, dot.a().type().scalar(), dot.b().type().scalar(), dot->context().f32()};
}

} // namespace tessera::transforms
