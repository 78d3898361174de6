// Patterns of canonicalize on arithmetic, where folding (ir/fold.cpp) needs new operations:
//
//   (x op c1) op c2                            →  x op (c1 op c2)     for +, *, &, |, ^, min, max on integers
//   (x - c1) + c2, (x + c1) - c2, …            →  x + c
//   c < x                                      →  x > c               constants stand on the right
//   ext x < ext y                              →  x < y               both extended alike
//   a comparison decided by the bounds of its operands  →  true or false
//   not (x < y)                                →  x >= y              integers
//   select not c, x, y                         →  select c, y, x
//   select c, (select c, x, _), y              →  select c, x, y
//   select c, false, true                      →  not c
//   select c, 1, 0                             →  extui c
//   extsi extsi, extui extui, extsi extui, trunci trunci, trunci ext  →  one conversion or none
//   truncf extf, index_cast index_cast, bitcast bitcast               →  one conversion or none
//
// Signed division and remainder by powers of two stay what they are: the analyses of layouts read them better than the
// shifts and masks that LLVM makes of them later.
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/cleanup/canonicalize_patterns.h"

namespace tessera::transforms {
using namespace ir;

/// The operation, or its result where both operands are constant, so that the patterns of its users see a constant.
static Value binary(Rewriter &rw, Opcode o, Location loc, Value a, Value b) {
  OperationState s(o, loc);
  s.operands = {a, b};
  s.resultTypes.push_back(a.type());
  Operation *op = rw.create(s);
  auto x = constantOf(a), y = constantOf(b);
  llvm::SmallVector<FoldResult, 1> out;
  if (!x || !y || !op->info().fold || !op->info().fold(op, {x, y}, out)) return op->result();
  Value v = out[0].value ? out[0].value : rw.constant(loc, op->result().type(), out[0].constant);
  op->erase();
  return v;
}

/// (x op c1) op c2; the operation of the two constants folds.
static bool chainOfConstants(Operation *op, Rewriter &rw) {
  BinaryOp outer(op), inner(outer.lhs().definingOp());
  if (!inner || inner->opcode() != op->opcode()) return false;
  bool hasTwoConstants = constantOf(outer.rhs()) && constantOf(inner.rhs());
  if (!hasTwoConstants || constantOf(inner.lhs())) return false;
  Value c = binary(rw, op->opcode(), op->loc(), inner.rhs(), outer.rhs());
  rw.replaceOp(op, {binary(rw, op->opcode(), op->loc(), inner.lhs(), c)});
  return true;
}

/// A sum or difference of a constant and something else.
struct SumWithConstant {
  Value value, constant;
  bool subtractsValue, subtractsConstant;
};

/// Nothing where neither side is a constant. If both are, the right one counts as the constant.
static std::optional<SumWithConstant> sumWithConstant(Operation *op) {
  BinaryOp sum(op);
  bool subtracts = op->is<arith::SubiOp>();
  if (constantOf(sum.rhs())) return SumWithConstant{sum.lhs(), sum.rhs(), false, subtracts};
  if (constantOf(sum.lhs())) return SumWithConstant{sum.rhs(), sum.lhs(), subtracts, false};
  return std::nullopt;
}

/// Sums and differences of one value and two constants.
static bool sumOfConstants(Operation *op, Rewriter &rw) {
  auto outer = sumWithConstant(op);
  Operation *def = outer ? outer->value.definingOp() : nullptr;
  if (!def || !(def->is<arith::AddiOp>() || def->is<arith::SubiOp>())) return false;
  if (op->is<arith::AddiOp>() && def->is<arith::AddiOp>()) return false; // chainOfConstants
  auto inner = sumWithConstant(def);
  if (!inner || constantOf(inner->value)) return false;
  Value x = inner->value, c1 = inner->constant, c2 = outer->constant;
  // The signs in the sum of the three.
  bool xMinus = inner->subtractsValue != outer->subtractsValue;
  bool c1Minus = inner->subtractsConstant != outer->subtractsValue;
  bool c2Minus = outer->subtractsConstant;
  Location loc = op->loc();
  Value zero = rw.intConstant(loc, x.type(), 0);
  Value c = binary(rw, c1Minus ? Opcode::arith_subi : Opcode::arith_addi, loc, zero, c1);
  c = binary(rw, c2Minus ? Opcode::arith_subi : Opcode::arith_addi, loc, c, c2);
  rw.replaceOp(op, {xMinus ? binary(rw, Opcode::arith_subi, loc, c, x) : binary(rw, Opcode::arith_addi, loc, x, c)});
  return true;
}

// ---- comparisons ----------------------------------------------------------------------------------------------------

static CmpIPredicate swapped(CmpIPredicate p) {
  switch (p) {
  case CmpIPredicate::Eq:
  case CmpIPredicate::Ne: return p;
  case CmpIPredicate::Slt: return CmpIPredicate::Sgt;
  case CmpIPredicate::Sle: return CmpIPredicate::Sge;
  case CmpIPredicate::Sgt: return CmpIPredicate::Slt;
  case CmpIPredicate::Sge: return CmpIPredicate::Sle;
  case CmpIPredicate::Ult: return CmpIPredicate::Ugt;
  case CmpIPredicate::Ule: return CmpIPredicate::Uge;
  case CmpIPredicate::Ugt: return CmpIPredicate::Ult;
  case CmpIPredicate::Uge: return CmpIPredicate::Ule;
  }
  return p;
}
static CmpIPredicate inverted(CmpIPredicate p) {
  switch (p) {
  case CmpIPredicate::Eq: return CmpIPredicate::Ne;
  case CmpIPredicate::Ne: return CmpIPredicate::Eq;
  case CmpIPredicate::Slt: return CmpIPredicate::Sge;
  case CmpIPredicate::Sle: return CmpIPredicate::Sgt;
  case CmpIPredicate::Sgt: return CmpIPredicate::Sle;
  case CmpIPredicate::Sge: return CmpIPredicate::Slt;
  case CmpIPredicate::Ult: return CmpIPredicate::Uge;
  case CmpIPredicate::Ule: return CmpIPredicate::Ugt;
  case CmpIPredicate::Ugt: return CmpIPredicate::Ule;
  case CmpIPredicate::Uge: return CmpIPredicate::Ult;
  }
  return p;
}
static CmpIPredicate asUnsigned(CmpIPredicate p) {
  switch (p) {
  case CmpIPredicate::Slt: return CmpIPredicate::Ult;
  case CmpIPredicate::Sle: return CmpIPredicate::Ule;
  case CmpIPredicate::Sgt: return CmpIPredicate::Ugt;
  case CmpIPredicate::Sge: return CmpIPredicate::Uge;
  case CmpIPredicate::Eq:
  case CmpIPredicate::Ne:
  case CmpIPredicate::Ult:
  case CmpIPredicate::Ule:
  case CmpIPredicate::Ugt:
  case CmpIPredicate::Uge: return p;
  }
  return p;
}

static bool constantToTheRight(Operation *op, Rewriter &rw) {
  auto c = op->cast<arith::CmpiOp>();
  if (!constantOf(c.lhs()) || constantOf(c.rhs())) return false;
  rw.replaceOp(op, {compare(rw, op->loc(), swapped(c.predicate()), c.rhs(), c.lhs())});
  return true;
}

static bool compareExtended(Operation *op, Rewriter &rw) {
  auto c = op->cast<arith::CmpiOp>();
  UnaryOp a(c.lhs().definingOp()), b(c.rhs().definingOp());
  if (!a || !b || a->opcode() != b->opcode()) return false;
  bool isExtension = a->is<arith::ExtsiOp>() || a->is<arith::ExtuiOp>();
  if (!isExtension || a.value().type() != b.value().type()) return false;
  // Zero-extended numbers compare as unsigned ones; sign extension keeps both orders.
  auto p = a->is<arith::ExtuiOp>() ? asUnsigned(c.predicate()) : c.predicate();
  rw.replaceOp(op, {compare(rw, op->loc(), p, a.value(), b.value())});
  return true;
}

static bool decidedByBounds(Operation *op, Rewriter &rw) {
  auto c = op->cast<arith::CmpiOp>();
  auto a = integerRange(c.lhs()), b = integerRange(c.rhs());
  if (!a || !b || c.lhs().type().scalar().isInteger(1)) return false;
  auto p = c.predicate();
  bool isUnsigned =
      p == CmpIPredicate::Ult || p == CmpIPredicate::Ule || p == CmpIPredicate::Ugt || p == CmpIPredicate::Uge;
  // Numbers that are not negative compare alike as unsigned ones.
  if (isUnsigned && (a->low < 0 || b->low < 0)) return false;
  std::optional<bool> r;
  switch (p) {
  case CmpIPredicate::Slt:
  case CmpIPredicate::Ult:
    if (a->high < b->low)
      r = true;
    else if (a->low >= b->high)
      r = false;
    break;
  case CmpIPredicate::Sle:
  case CmpIPredicate::Ule:
    if (a->high <= b->low)
      r = true;
    else if (a->low > b->high)
      r = false;
    break;
  case CmpIPredicate::Sgt:
  case CmpIPredicate::Ugt:
    if (a->low > b->high)
      r = true;
    else if (a->high <= b->low)
      r = false;
    break;
  case CmpIPredicate::Sge:
  case CmpIPredicate::Uge:
    if (a->low >= b->high)
      r = true;
    else if (a->high < b->low)
      r = false;
    break;
  case CmpIPredicate::Eq:
  case CmpIPredicate::Ne:
    if (a->high < b->low || b->high < a->low) r = p == CmpIPredicate::Ne;
    break;
  }
  if (!r) return false;
  rw.replaceOp(op, {rw.intConstant(op->loc(), op->result().type(), *r)});
  return true;
}

// ---- truth values and selects ---------------------------------------------------------------------------------------

/// x where the value is x ^ true.
static Value negated(Value v) {
  auto x = v.definedBy<arith::XoriOp>();
  if (!x || !v.type().scalar().isInteger(1)) return {};
  auto t = constantTruth(x.rhs());
  return t && *t ? x.lhs() : Value();
}

static bool notOfComparison(Operation *op, Rewriter &rw) {
  Value v = negated(op->result());
  auto c = v ? v.definedBy<arith::CmpiOp>() : arith::CmpiOp();
  if (!c) return false;
  rw.replaceOp(op, {compare(rw, op->loc(), inverted(c.predicate()), c.lhs(), c.rhs())});
  return true;
}

static bool simplifySelect(Operation *op, Rewriter &rw) {
  auto s = op->cast<arith::SelectOp>();
  Value c = s.condition(), a = s.trueValue(), b = s.falseValue();
  Type t = op->result().type();
  if (Value n = negated(c)) {
    rw.replaceOp(op, arith::SelectOp::create(rw, op->loc(), n, b, a).op);
    return true;
  }
  if (auto inner = a.definedBy<arith::SelectOp>(); inner && inner.condition() == c) {
    rw.replaceOp(op, arith::SelectOp::create(rw, op->loc(), c, inner.trueValue(), b).op);
    return true;
  }
  if (auto inner = b.definedBy<arith::SelectOp>(); inner && inner.condition() == c) {
    rw.replaceOp(op, arith::SelectOp::create(rw, op->loc(), c, a, inner.falseValue()).op);
    return true;
  }
  if (!t.scalar().isInteger() || t.isTensor() != c.type().isTensor()) return false;
  auto constant = [](Value v) -> std::optional<uint64_t> {
    auto *bits = constantBits(v);
    return bits && bits->getActiveBits() <= 64 ? std::optional(bits->getZExtValue()) : std::nullopt;
  };
  auto x = constant(a), y = constant(b);
  if (!x || !y) return false;
  if (t == c.type() && *x == 0 && *y == 1) {
    rw.replaceOp(op, {binary(rw, Opcode::arith_xori, op->loc(), c, rw.intConstant(op->loc(), t, 1))});
    return true;
  }
  if (t.scalar().bitWidth() > 1 && *x == 1 && *y == 0) {
    rw.replaceOp(op, arith::ExtuiOp::create(rw, op->loc(), t, c).op);
    return true;
  }
  return false;
}

// ---- conversions ----------------------------------------------------------------------------------------------------

static Operation *convert(Rewriter &rw, Opcode o, Location loc, Type to, Value v) {
  OperationState s(o, loc);
  s.operands.push_back(v);
  s.resultTypes.push_back(to);
  return rw.create(s);
}

static bool extensionOfExtension(Operation *op, Rewriter &rw) {
  UnaryOp inner(UnaryOp(op).value().definingOp());
  if (!inner) return false;
  // A zero-extended number is not negative: extending its sign adds zeros.
  bool ok = inner->opcode() == op->opcode() || (op->is<arith::ExtsiOp>() && inner->is<arith::ExtuiOp>());
  if (!ok) return false;
  rw.replaceOp(op, convert(rw, inner->opcode(), op->loc(), op->result().type(), inner.value()));
  return true;
}

static bool truncationOf(Operation *op, Rewriter &rw) {
  UnaryOp inner(UnaryOp(op).value().definingOp());
  if (!inner) return false;
  Type to = op->result().type();
  if (inner->is<arith::TrunciOp>()) {
    rw.replaceOp(op, convert(rw, Opcode::arith_trunci, op->loc(), to, inner.value()));
    return true;
  }
  if (!inner->is<arith::ExtsiOp>() && !inner->is<arith::ExtuiOp>()) return false;
  unsigned from = inner.value().type().scalar().bitWidth(), width = to.scalar().bitWidth();
  if (from == width)
    rw.replaceOp(op, {inner.value()});
  else
    rw.replaceOp(op, convert(rw, from > width ? Opcode::arith_trunci : inner->opcode(), op->loc(), to, inner.value()));
  return true;
}

/// Narrowing what was widened from the type itself loses nothing.
static bool truncationOfFloat(Operation *op, Rewriter &rw) {
  auto inner = op->cast<arith::TruncfOp>().in().definedBy<arith::ExtfOp>();
  if (!inner || inner.in().type() != op->result().type()) return false;
  rw.replaceOp(op, {inner.in()});
  return true;
}

/// To index and back, where the index is the wider one.
static bool indexAndBack(Operation *op, Rewriter &rw) {
  UnaryOp outer(op), inner(outer.value().definingOp());
  if (!inner || inner->opcode() != op->opcode()) return false;
  bool backToSameType = inner.value().type() == outer.result().type();
  if (!backToSameType || !outer.value().type().scalar().isIndex()) return false;
  rw.replaceOp(op, {inner.value()});
  return true;
}

static bool bitcastOfBitcast(Operation *op, Rewriter &rw) {
  UnaryOp inner(UnaryOp(op).value().definingOp());
  if (!inner || inner->opcode() != op->opcode()) return false;
  if (inner.value().type() == op->result().type())
    rw.replaceOp(op, {inner.value()});
  else
    rw.replaceOp(op, convert(rw, op->opcode(), op->loc(), op->result().type(), inner.value()));
  return true;
}

llvm::ArrayRef<Pattern> arithmeticPatterns() {
  static const Pattern patterns[] = {
      {Opcode::arith_addi, chainOfConstants, "constants combine"},
      {Opcode::arith_muli, chainOfConstants, "constants combine"},
      {Opcode::arith_andi, chainOfConstants, "constants combine"},
      {Opcode::arith_ori, chainOfConstants, "constants combine"},
      {Opcode::arith_xori, chainOfConstants, "constants combine"},
      {Opcode::arith_minsi, chainOfConstants, "constants combine"},
      {Opcode::arith_maxsi, chainOfConstants, "constants combine"},
      {Opcode::arith_minui, chainOfConstants, "constants combine"},
      {Opcode::arith_maxui, chainOfConstants, "constants combine"},
      {Opcode::arith_addi, sumOfConstants, "constants combine"},
      {Opcode::arith_subi, sumOfConstants, "constants combine"},
      {Opcode::arith_cmpi, constantToTheRight, "constant to the right"},
      {Opcode::arith_cmpi, compareExtended, "of extended numbers"},
      {Opcode::arith_cmpi, decidedByBounds, "decided by bounds"},
      {Opcode::arith_xori, notOfComparison, "not of comparison"},
      {Opcode::arith_select, simplifySelect, "select"},
      {Opcode::arith_extsi, extensionOfExtension, "of extension"},
      {Opcode::arith_extui, extensionOfExtension, "of extension"},
      {Opcode::arith_trunci, truncationOf, "of extension or truncation"},
      {Opcode::arith_truncf, truncationOfFloat, "of extf"},
      {Opcode::arith_index_cast, indexAndBack, "there and back"},
      {Opcode::arith_index_castui, indexAndBack, "there and back"},
      {Opcode::arith_bitcast, bitcastOfBitcast, "of bitcast"},
      {Opcode::tt_bitcast, bitcastOfBitcast, "of bitcast"},
  };
  return patterns;
}

} // namespace tessera::transforms
