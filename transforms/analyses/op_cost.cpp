// What operations and layout conversions cost (see op_cost.h).
#include "transforms/analyses/op_cost.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/reduce_shape.h"
#include "layouts/scan_shape.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

// ---- operations -----------------------------------------------------------------------------------------------------

/// Layouts that an operation cannot be lowered in.
static constexpr double kImpossible = 1e6;

OperationCost costOf(Operation *op, const Tuning &t) {
  const int64_t slow = t.stripSlowOpWork;
  switch (op->opcode()) {
  case Opcode::arith_constant:
  case Opcode::tt_splat:
  case Opcode::tt_make_range:
  case Opcode::tt_broadcast:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_trans: return {t.placementCost, true, 1, true};

  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui: {
    bool byConstant = intConstantOf(BinaryOp(op).rhs()).has_value();
    return {byConstant ? t.divisionByConstantCost : t.integerDivisionCost, false, slow, false};
  }
  // Rare in index arithmetic, which is what layouts are chosen for: counted in code size alone.
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi: return {1, true, slow, false};

  case Opcode::arith_divf:
  case Opcode::tt_approx_divf:
  case Opcode::arith_remf:
  case Opcode::tt_extern_elementwise: return {t.floatDivisionCost, false, slow, false};
  // Precise division and square root count as cheap for the moves of remove-layout-conversions: they are written where
  // data is computed, and a move there seldom repeats them. Slices, which compare times, count them as slow.
  case Opcode::tt_precise_divf: return {t.floatDivisionCost, true, slow, false};
  case Opcode::tt_precise_sqrt: return {t.floatDivisionCost, true, 1, false};
  // Its text is as many instructions as the user wrote: usually one for several elements.
  case Opcode::tt_elementwise_inline_asm: return {t.floatDivisionCost, false, 1, false};

  case Opcode::math_sin:
  case Opcode::math_cos:
  case Opcode::math_tan:
  case Opcode::math_powf: return {t.mathFunctionCost, false, t.stripLongFunctionWork, false};
  // One instruction each; strip-mine counts nearly all of math alike.
  case Opcode::math_absf:
  case Opcode::math_fma: return {1, true, slow, false};

  case Opcode::tt_load: return {t.narrowLoadCost, false, 1, false};
  default: break;
  }
  if (op->name().starts_with("math.")) return {t.mathFunctionCost, false, slow, false};
  return {1, true, 1, false};
}

/// Different elements of a thread; all of the tensor if there is no such layout. Registers that hold copies of an
/// element, as those of a row do where a thread has several rows of the layout, take no work of their own: their
/// values are computed once.
static double elementsPerThread(TensorType type, const Encoding *e) {
  auto &layout = e->layoutOf(type.shape());
  if (!layout.ok()) return double(type.numElements());
  double elements = 1;
  for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit) {
    bool isCopy = true;
    for (unsigned d = 0; d < type.rank(); ++d) isCopy &= !layout->basis(Dim::Register, bit, layouts::tensorDim(d));
    if (!isCopy) elements *= 2;
  }
  return elements;
}

/// What a scan takes in a layout: its elements, the shuffles of each run's total, and the exchange of those between
/// warps.
double LayoutCosts::scan(Operation *op, const Encoding *e) const {
  auto scan = op->cast<tt::ScanOp>();
  auto &layout = e->layoutOf(tensorOf(scan.srcs()[0]).shape());
  if (!layout.ok()) return kImpossible;
  int axis = scan.axis();
  auto shape = layouts::scanShape(*layout, axis);
  if (!shape.inOrder) return kImpossible;
  auto bitsAlongAxis = [&](Dim dim) {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < layout->inDimBits(dim); ++bit) bits += layout->basis(dim, bit)[axis] != 0;
    return bits;
  };
  double elements = layout->inDimSize(Dim::Register);
  double runs = elements / shape.chunk;
  double betweenWarps = bitsAlongAxis(Dim::Warp) ? tuning_.scanWarpsCost + tuning_.scanWarpsRunCost * runs : 0;
  return tuning_.scanElementCost * elements + runs * tuning_.scanShuffleCost * bitsAlongAxis(Dim::Lane) + betweenWarps;
}

double LayoutCosts::operation(Operation *op, const Encoding *e) {
  if (op->is<tt::ScanOp>()) return scan(op, e);
  auto cost = costOf(op, tuning_);
  if (cost.ofWholeTensor) return cost.time;
  double words = std::max(1.0, op->result(0).type().scalar().bitWidth() / 32.0);
  return cost.time * words * elementsPerThread(tensorOf(op->result(0)), e);
}

/// Combinations within the thread, a butterfly of shuffles for each of its results, and the exchange between warps.
double LayoutCosts::reduction(tt::ReduceOp op) {
  auto type = tensorOf(op.srcs()[0]);
  auto &layout = type.encoding()->layoutOf(type.shape());
  if (!layout.ok()) return kImpossible;
  unsigned laneBits = 0;
  double results = 1;
  for (unsigned bit = 0; bit < layout->inDimBits(Dim::Lane); ++bit)
    laneBits += layout->basis(Dim::Lane, bit)[op.axis()] != 0;
  for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit) {
    bool isOfResult = false;
    for (unsigned d = 0; d < type.rank(); ++d)
      isOfResult |= int(d) != op.axis() && layout->basis(Dim::Register, bit)[d] != 0;
    if (isOfResult) results *= 2;
  }
  double combination = 0;
  for (Operation &inner : *op.combine().front()) combination += costOf(&inner, tuning_).time;
  double operands = op->numOperands();
  double exchanged = results * laneBits * (operands * tuning_.scanShuffleCost + combination);
  unsigned warps = layouts::reduceShape(*layout, op.axis()).warps;
  if (warps > 1)
    exchanged += tuning_.scanWarpsCost + results * operands * tuning_.scanWarpsRunCost + results * combination;
  return (elementsPerThread(type, type.encoding()) - results) * combination + exchanged;
}

// ---- layout conversions ---------------------------------------------------------------------------------------------

double LayoutCosts::conversion(Value v, const Encoding *to) {
  const Encoding *from = encodingOf(v);
  if (from == to) return 0;
  auto type = tensorOf(v);
  if (layouts::sameLayout(from, to, type.shape())) return tuning_.conversionRenamingCost;
  double words = std::max(tuning_.narrowestElementWords, type.element().bitWidth() / 32.0);
  double elements = elementsPerThread(type, to) + elementsPerThread(type, from);
  return tuning_.conversionRoundTripCost + tuning_.conversionWordCost * words * elements;
}

double LayoutCosts::frequency(Block *b, Iterations known) const {
  constexpr double kMostIterations = 64; // so that what is outside of loops still counts
  double executions = 1;
  for (Operation *p = b->parentOp(); p; p = p->parentOp()) {
    auto loop = p->dyn<scf::ForOp>();
    if (!loop && !p->is<scf::WhileOp>()) continue;
    double iterations = tuning_.assumedIterations;
    if (auto trips = loop && known == Iterations::Known ? constantIterations(loop) : std::nullopt)
      iterations = std::min(double(*trips), kMostIterations);
    executions *= iterations;
  }
  return executions;
}

} // namespace tessera::transforms
