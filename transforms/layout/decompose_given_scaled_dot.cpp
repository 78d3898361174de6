// Pass decompose-given-scaled-dot: in TTGIR that is given, a dot of microscaled operands for which Tessera makes no
// instruction becomes a plain one. Triton's own layouts stay: those of the operands are that of the result's with
// other numbers of elements along K.
//
//   %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16
//          : tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, tensor<64x2xi8, #linear> * …
//     →
//   %f = tt.fp_to_fp %a : … -> tensor<64x64xf32, …>
//   %p = 2^(%s - 127), repeated for the elements that share it
//   %x = arith.truncf (arith.mulf %f, %p) : … to tensor<64x64xbf16, …>
//   %y = ttg.convert_layout %x : … -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
//   %d = tt.dot %y, %b, %c
//
// As in TTIR (triton-decompose-scaled-dot) it is computed in bf16, which holds the scaled elements exactly, or in f16
// if an operand is f16.
//
// Limits: results in the layout of mma.sync (sm_120a's mma with block scales is not used); e2m1 packed along K; no
// formats of six bits. Others are refused by the lowering.
//
// Runs: on TTGIR that is given.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/scaled_dots.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/nvidia_mma.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/scaled_elements.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// One of a dot's operands.
struct ScaledOperand {
  unsigned index; // 0: left, 1: right
  Value elements, scales;
  ScaleDotElemType kind;
  bool isPackedAlongK;
};

/// Whether the elements can be converted in the layout that they have.
bool isKnown(const ScaledOperand &o) {
  switch (o.kind) {
  case ScaleDotElemType::E2m3:
  case ScaleDotElemType::E3m2: return false;
  case ScaleDotElemType::E2m1:
    return o.isPackedAlongK && layouts::dynCast<layouts::DotOperandEncoding>(encodingOf(o.elements));
  case ScaleDotElemType::E4m3:
  case ScaleDotElemType::E5m2:
  case ScaleDotElemType::Bf16:
  case ScaleDotElemType::Fp16: return encodingOf(o.elements);
  }
  return false;
}

/// The operand's elements as f32, K elements along K.
Value numbersOf(Builder &b, Location loc, const ScaledOperand &o) {
  if (o.kind != ScaleDotElemType::E2m1)
    return widenedFloats(b, loc, o.elements,
                         o.kind == ScaleDotElemType::E4m3 ? FloatKind::F8E4M3FN : FloatKind::F8E5M2);
  auto type = tensorOf(o.elements);
  auto *e = layouts::dynCast<layouts::DotOperandEncoding>(type.encoding());
  auto *wide = *b.context().encodings().getDotOperand(o.index, e->parent(), 2 * e->kWidth());
  auto shape = type.shape().vec();
  unsigned k = e->kDim();
  shape[k] *= 2;
  return unpackedE2m1(b, loc, o.elements, k, TensorType::get(shape, type.element(), wide));
}

/// The operand of a plain dot; null if the scales have no layout for all elements.
Value plainOperand(Builder &b, Location loc, const ScaledOperand &o, Type element, const layouts::Encoding *layout) {
  Value numbers = numbersOf(b, loc, o);
  if (!o.scales) return inLayout(b, loc, inElementType(b, loc, numbers, element), layout);
  auto type = tensorOf(numbers), scales = tensorOf(o.scales);
  bool isLeft = o.index == 0;
  int64_t k = type.dim(type.rank() - (isLeft ? 1 : 2));
  Value repeated = repeatedScales(b, loc, o.scales, k / scales.dim(scales.rank() - 1), isLeft);
  return repeated ? inLayout(b, loc, scaledNumbers(b, loc, numbers, repeated, element), layout) : Value();
}

/// Whether anything was built: the plain dot, as a rule.
bool decompose(tt::DotScaledOp dot) {
  auto *result = layouts::dynCast<layouts::NvidiaMmaEncoding>(encodingOf(dot.d()));
  ScaledOperand operands[] = {{0, dot.a(), dot.aScale(), dot.aElemType(), dot.lhsKPack()},
                              {1, dot.b(), dot.bScale(), dot.bElemType(), dot.rhsKPack()}};
  if (!result || result->versionMajor() != 2 || !llvm::all_of(operands, isKnown)) return false;
  Builder b(dot.op);
  auto &c = b.context();
  bool isF16 = dot.aElemType() == ScaleDotElemType::Fp16 || dot.bElemType() == ScaleDotElemType::Fp16;
  Value plain[2];
  for (const ScaledOperand &o : operands) {
    constexpr int64_t kWidth = 2; // elements of 16 bits to a register
    auto *layout = *c.encodings().getDotOperand(o.index, result, kWidth);
    plain[o.index] = plainOperand(b, dot->loc(), o, isF16 ? c.f16() : c.bf16(), layout);
    if (!plain[o.index]) return true; // the lowering refuses the dot; what was built has no uses
  }
  dot.d().replaceAllUsesWith(tt::DotOp::create(b, dot->loc(), plain[0], plain[1], dot.c()).d());
  dot->erase();
  return true;
}

} // namespace

absl::StatusOr<bool> decomposeGivenScaledDot(Module &m, PassContext &c) {
  bool changed = false;
  for (auto dot : collect<tt::DotScaledOp>(m.op()))
    if (!c.target || !hasMatrixInstruction(dot, *c.target)) changed |= decompose(dot);
  return changed;
}

} // namespace tessera::transforms
