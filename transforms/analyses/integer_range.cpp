// Bounds of integers by their definitions (see integer_range.h). Sums and products are computed in 128 bits and given
// up where they leave the type.
#include "transforms/analyses/integer_range.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/APInt.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
using Wide = __int128;
#pragma clang diagnostic pop

constexpr int kDepth = 8;

IntegerRange typeRange(unsigned width) {
  return {llvm::APInt::getSignedMinValue(width).getSExtValue(), llvm::APInt::getSignedMaxValue(width).getSExtValue()};
}

IntegerRange bounds(Value v, int depth);

/// [low, high] where it is within the type, else all of it.
IntegerRange within(unsigned width, Wide low, Wide high) {
  IntegerRange all = typeRange(width);
  return low >= all.low && high <= all.high ? IntegerRange{int64_t(low), int64_t(high)} : all;
}

IntegerRange ofArgument(Value v, unsigned width, int depth) {
  Operation *op = v.ownerBlock()->parentOp();
  auto f = op ? op->dyn<scf::ForOp>() : scf::ForOp();
  if (!f || v.index() != 0 || f.unsignedCmp()) return typeRange(width);
  // A counter runs from the lower bound to below the upper one, where its start and step are known in whole steps.
  IntegerRange lo = bounds(f.lowerBound(), depth), hi = bounds(f.upperBound(), depth), step = bounds(f.step(), depth);
  if (step.low <= 0 || hi.high <= lo.low) return typeRange(width);
  Wide last = Wide(hi.high) - 1;
  if (lo.low == lo.high && step.low == step.high) last -= (last - lo.low) % step.low;
  return {lo.low, int64_t(last)};
}

IntegerRange bounds(Value v, int depth) {
  unsigned width = v.type().scalar().bitWidth();
  IntegerRange all = typeRange(width);
  if (depth == 0) return all;
  Operation *op = v.definingOp();
  if (!op) return ofArgument(v, width, depth - 1);
  auto in = [&](unsigned i) { return bounds(op->operand(i), depth - 1); };
  switch (op->opcode()) {
  case Opcode::arith_constant: {
    Attribute a = op->cast<arith::ConstantOp>().value();
    llvm::ArrayRef<llvm::APInt> values;
    if (auto d = a.dyn_cast<DenseElementsAttr>())
      values = d.storage()->elements;
    else if (a.isa<IntegerAttr>())
      values = a.storage()->bits;
    if (values.empty()) return all;
    IntegerRange r{all.high, all.low};
    for (auto &x : values) r = {std::min(r.low, x.getSExtValue()), std::max(r.high, x.getSExtValue())};
    return r;
  }
  case Opcode::tt_make_range: {
    auto r = op->cast<tt::MakeRangeOp>();
    return {r.start(), r.end() - 1};
  }
  case Opcode::tt_get_program_id: return {0, all.high - 1};
  case Opcode::tt_get_num_programs: return {1, all.high};
  case Opcode::tt_splat:
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_reshape:
  case Opcode::tt_trans:
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi: return in(0);
  case Opcode::arith_extui: {
    unsigned from = op->operand(0).type().scalar().bitWidth();
    IntegerRange r = in(0);
    if (r.low >= 0) return r;
    return {0, int64_t(llvm::APInt::getAllOnes(from).getZExtValue())};
  }
  case Opcode::arith_trunci:
  case Opcode::arith_index_cast: {
    IntegerRange r = in(0);
    return within(width, r.low, r.high);
  }
  case Opcode::arith_addi: {
    IntegerRange a = in(0), b = in(1);
    return within(width, Wide(a.low) + b.low, Wide(a.high) + b.high);
  }
  case Opcode::arith_subi: {
    IntegerRange a = in(0), b = in(1);
    return within(width, Wide(a.low) - b.high, Wide(a.high) - b.low);
  }
  case Opcode::arith_muli: {
    IntegerRange a = in(0), b = in(1);
    Wide p[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
    return within(width, *std::min_element(p, p + 4), *std::max_element(p, p + 4));
  }
  case Opcode::arith_divsi: {
    IntegerRange a = in(0), b = in(1);
    if (b.low <= 0) return all;
    return {std::min(a.low / b.low, a.low / b.high), std::max(a.high / b.low, a.high / b.high)};
  }
  case Opcode::arith_remsi: {
    IntegerRange a = in(0), b = in(1);
    if (b.low <= 0) return all;
    return {a.low >= 0 ? 0 : std::max(a.low, -(b.high - 1)), a.high <= 0 ? 0 : std::min(a.high, b.high - 1)};
  }
  case Opcode::arith_divui:
  case Opcode::arith_remui: {
    IntegerRange a = in(0), b = in(1);
    if (b.low <= 0 || a.low < 0) return all;
    return op->is<arith::DivuiOp>() ? IntegerRange{a.low / b.high, a.high / b.low}
                                    : IntegerRange{0, std::min(a.high, b.high - 1)};
  }
  case Opcode::arith_andi: {
    IntegerRange a = in(0), b = in(1);
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0 || b.low >= 0) return {0, a.low >= 0 ? a.high : b.high};
    return all;
  }
  case Opcode::arith_minsi: {
    IntegerRange a = in(0), b = in(1);
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  }
  case Opcode::arith_maxsi: {
    IntegerRange a = in(0), b = in(1);
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  case Opcode::arith_select: {
    IntegerRange a = in(1), b = in(2);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  default: return all;
  }
}

} // namespace

std::optional<IntegerRange> integerRange(Value v) {
  Type t = v.type().scalar();
  if (!t.isIntOrIndex() || t.bitWidth() == 0 || t.bitWidth() > 64) return {};
  return bounds(v, kDepth);
}

} // namespace tessera::transforms
