// amdg.upcast_mxfp, which names no axis: which elements share a scale.
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::ir {

/// The floats that bytes of amdg.upcast_mxfp are. @pre they are no e2m1
inline FloatKind float8KindOf(amdg::UpcastMxfpOp op) {
  return op.fpType() == ScaleDotElemType::E4m3 ? FloatKind::F8E4M3FN : FloatKind::F8E5M2;
}

/// Elements along K that share a scale (OCP Microscaling Formats).
inline constexpr int64_t kElementsOfMxfpScale = 32;

/// The dimension of K: that of the dot operand whose layout the elements have. An element at […, m, k, …] has the scale
/// at […, m, k / 32], whether K is the operand's last dimension or the one before it. Nothing if the layout is another
/// one, or the shapes or types of operands and result do not fit together.
std::optional<unsigned> axisOfK(amdg::UpcastMxfpOp);

} // namespace tessera::ir
