// How integers grow with the program's number (see growth.h), by their definitions.
#include "transforms/analyses/growth.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

static constexpr Growth kZero = {Growth::Exact, 0};
static constexpr unsigned kMaxDepth = 100; // of definitions that one query follows

static Growth negated(Growth a) {
  switch (a.kind) {
  case Growth::Unknown: return a;
  case Growth::Exact: return a.step == std::numeric_limits<int64_t>::min() ? Growth() : Growth{Growth::Exact, -a.step};
  case Growth::Increasing: return {Growth::Decreasing};
  case Growth::Decreasing: return {Growth::Increasing};
  }
  llvm_unreachable("a kind of growth");
}

Growth direction(Growth a) {
  if (a.isPositive()) return {Growth::Increasing};
  if (a.isNegative()) return {Growth::Decreasing};
  return a;
}

Growth operator+(Growth a, Growth b) {
  if (a.isZero()) return b;
  if (b.isZero()) return a;
  if (a.kind == Growth::Exact && b.kind == Growth::Exact) {
    int64_t step;
    return llvm::AddOverflow(a.step, b.step, step) ? Growth() : Growth{Growth::Exact, step};
  }
  Growth x = direction(a), y = direction(b);
  return x.kind == y.kind ? x : Growth();
}
Growth operator-(Growth a, Growth b) { return a + negated(b); }

/// Of a · n for a size n.
static Growth scaled(Growth a, std::optional<int64_t> n) {
  if (!n) return direction(a); // a size
  if (*n == 0) return kZero;
  int64_t step;
  if (a.kind == Growth::Exact) return llvm::MulOverflow(a.step, *n, step) ? Growth() : Growth{Growth::Exact, step};
  return *n > 0 ? a : negated(a);
}

/// Of the lesser or the greater of two, or of one of two: either may be it.
static Growth either(Growth a, Growth b) {
  if (a.kind == Growth::Exact && b.kind == Growth::Exact && a.step == b.step) return a;
  if (a.isZero()) return direction(b);
  if (b.isZero()) return direction(a);
  Growth x = direction(a), y = direction(b);
  return x.kind == y.kind ? x : Growth();
}

Growth GrowthAnalysis::of(Value v) {
  if (auto it = known_.find(v); it != known_.end()) return it->second;
  if (depth_ == kMaxDepth) return {};
  ++depth_;
  Growth g = compute(v);
  --depth_;
  known_[v] = g;
  return g;
}

Growth GrowthAnalysis::compute(Value v) {
  Operation *op = v.definingOp();
  if (!op) return v.ownerBlock()->parentOp()->is<tt::FuncOp>() ? kZero : Growth();
  if (op->numRegions()) return {};
  if (auto id = op->dyn<tt::GetProgramIdOp>()) return {Growth::Exact, id.axis() == axis_ ? 1 : 0};
  bool allZero = llvm::all_of(op->operands(), [&](Value operand) { return of(operand).isZero(); });
  if (allZero) return kZero;
  auto in = [&](unsigned k) { return of(op->operand(k)); };
  auto constant = [&](unsigned k) { return intConstantOf(op->operand(k)); };
  switch (op->opcode()) {
  case Opcode::arith_addi: return in(0) + in(1);
  case Opcode::arith_subi: return in(0) - in(1);
  case Opcode::arith_muli:
    if (in(1).isZero()) return scaled(in(0), constant(1));
    return in(0).isZero() ? scaled(in(1), constant(0)) : Growth();
  case Opcode::arith_shli: {
    auto bits = constant(1);
    bool isShort = bits && *bits >= 0 && *bits < 32;
    return isShort ? scaled(in(0), int64_t(1) << *bits) : in(1).isZero() ? direction(in(0)) : Growth();
  }
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi: {
    bool isBySize = in(1).isZero() && constant(1).value_or(1) > 0;
    return isBySize ? direction(in(0)) : Growth();
  }
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui: return in(1).isZero() ? direction(in(0)) : Growth();
  case Opcode::arith_minsi:
  case Opcode::arith_minui:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui: return either(in(0), in(1));
  case Opcode::arith_select: return in(0).isZero() ? either(in(1), in(2)) : Growth();
  case Opcode::arith_extsi:
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui: return in(0);
  default: return {};
  }
}

} // namespace tessera::transforms
