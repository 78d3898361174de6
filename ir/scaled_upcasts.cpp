// Which elements of amdg.upcast_mxfp share a scale (see scaled_upcasts.h).
#include "ir/scaled_upcasts.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"

namespace tessera::ir {

/// Whether the elements are what the kind says: bytes, floats of 8 bits, or such that were widened before.
static bool areOfKind(Type element, ScaleDotElemType kind) {
  bool isFloat8Kind = kind == ScaleDotElemType::E4m3 || kind == ScaleDotElemType::E5m2;
  if (element.isInteger(8)) return isFloat8Kind || kind == ScaleDotElemType::E2m1;
  if (!element.isFloat() || !isFloat8Kind) return false;
  switch (element.cast<FloatType>().floatKind()) {
  case FloatKind::F8E4M3FN: return kind == ScaleDotElemType::E4m3;
  case FloatKind::F8E5M2: return kind == ScaleDotElemType::E5m2;
  case FloatKind::F16:
  case FloatKind::BF16: return true;
  default: return false;
  }
}

std::optional<unsigned> axisOfK(amdg::UpcastMxfpOp op) {
  auto src = tensorOf(op.src()), scale = tensorOf(op.scale()), out = tensorOf(op.output());
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(src.encoding());
  auto &c = op->context();
  bool areTypes = areOfKind(src.element(), op.fpType()) && scale.element().isInteger(8) &&
                  (out.element() == c.f16() || out.element() == c.bf16());
  unsigned rank = src.rank();
  if (!operand || !areTypes || rank < 2 || scale.rank() != rank || out.rank() != rank) return std::nullopt;
  unsigned k = operand->kDim(), other = 2 * rank - 3 - k; // the other one of the last two
  bool fits = out.dim(k) == src.dim(k) * (op.fpType() == ScaleDotElemType::E2m1 ? 2 : 1) &&
              out.dim(other) == src.dim(other) && scale.dim(rank - 2) == out.dim(other) &&
              scale.dim(rank - 1) * kElementsOfMxfpScale == out.dim(k);
  for (unsigned d = 0; d + 2 < rank; ++d) fits &= out.dim(d) == src.dim(d) && scale.dim(d) == src.dim(d);
  return fits ? std::optional(k) : std::nullopt;
}

} // namespace tessera::ir
