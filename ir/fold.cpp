// Folding: constants and identities of single operations, as the rows' fold hooks (fold_DIALECT_NAME). A hook is
// given a constant per operand or null, and gives constants or existing values. Arithmetic is done on bit patterns
// with APInt and APFloat in the element type's own semantics, elementwise for dense constants; what traps or is
// undefined (division by zero, oversized shifts, out-of-range conversions) is left alone, and so is what gives NaN:
// which NaN comes out is the device's affair. Floats narrower than 32 bits are computed in f32 and rounded once, as
// the interpreter and the code generators do. No identity here changes a NaN or the sign of a zero.
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/APSInt.h"

namespace tessera::ir {
#define FOLD(name) bool fold_##name(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out)

using llvm::APFloat;
using llvm::APInt;

static bool give(llvm::SmallVectorImpl<FoldResult> &out, Value v) {
  out.push_back({{}, v});
  return true;
}
static bool give(llvm::SmallVectorImpl<FoldResult> &out, Attribute a) {
  out.push_back({a, {}});
  return true;
}

/// The operands of binary operations, and of unary ones and conversions, which the hooks share.
static Value lhs(Operation *op) { return BinaryOp(op).lhs(); }
static Value rhs(Operation *op) { return BinaryOp(op).rhs(); }
static Value other(Operation *op, unsigned i) { return BinaryOp(op).other(i); }
static Value input(Operation *op) { return UnaryOp(op).value(); }

/// An attribute of the type from its element patterns (one: a splat or a scalar).
static Attribute makeConstant(Type type, llvm::ArrayRef<APInt> bits) {
  if (auto t = type.dyn_cast<TensorType>()) return DenseElementsAttr::get(t, bits);
  if (auto f = type.dyn_cast<FloatType>()) return FloatAttr::get(type, APFloat(f.semantics(), bits[0]));
  return IntegerAttr::get(type, bits[0]);
}
static llvm::ArrayRef<APInt> patterns(Attribute a) {
  if (auto d = a.dyn_cast<DenseElementsAttr>()) return d.storage()->elements;
  return a.storage()->bits;
}

/// Applies f to each element's pattern; f gives nothing if it does not fold.
template <class F>
static bool mapElements(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out, F f) {
  size_t n = 1;
  for (auto a : c) {
    if (!a) return false;
    n = std::max(n, patterns(a).size());
  }
  std::vector<APInt> result;
  for (size_t i = 0; i < n; ++i) {
    llvm::SmallVector<APInt, 3> in;
    for (auto a : c) in.push_back(patterns(a)[patterns(a).size() == 1 ? 0 : i]);
    std::optional<APInt> r = f(in);
    if (!r) return false;
    result.push_back(*r);
  }
  return give(out, makeConstant(op->result().type(), result));
}
static bool isInt(Attribute a, int64_t v) {
  if (!a) return false;
  auto *b = splatBits(a);
  return b && *b == APInt(b->getBitWidth(), v, true, true);
}
static bool isFloat(Attribute a, Type t, double v) {
  if (!a) return false;
  auto *b = splatBits(a);
  if (!b) return false;
  APFloat f(t.scalar().cast<FloatType>().semantics(), *b), want(v);
  bool lost;
  want.convert(f.getSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return !lost && f.bitwiseIsEqual(want);
}

using Ints = llvm::ArrayRef<APInt>;
using MaybeInt = std::optional<APInt>;

// ---- integers -------------------------------------------------------------------------------------------------------

FOLD(arith_addi) {
  if (isInt(c[1], 0)) return give(out, lhs(op));
  if (isInt(c[0], 0)) return give(out, rhs(op));
  for (unsigned i = 0; i < 2; ++i) // (a - b) + b
    if (auto sub = op->operand(i).definedBy<arith::SubiOp>(); sub && sub.rhs() == other(op, i))
      return give(out, sub.lhs());
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] + v[1]; });
}
FOLD(arith_subi) {
  if (isInt(c[1], 0)) return give(out, lhs(op));
  if (lhs(op) == rhs(op))
    return give(out, makeConstant(op->result().type(), APInt(op->result().type().scalar().bitWidth(), 0)));
  if (auto add = lhs(op).definedBy<arith::AddiOp>()) { // (a + b) - b, (a + b) - a
    if (add.rhs() == rhs(op)) return give(out, add.lhs());
    if (add.lhs() == rhs(op)) return give(out, add.rhs());
  }
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] - v[1]; });
}
FOLD(arith_muli) {
  for (unsigned i = 0; i < 2; ++i) {
    if (isInt(c[i], 1)) return give(out, other(op, i));
    if (isInt(c[i], 0)) return give(out, op->operand(i));
  }
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] * v[1]; });
}
FOLD(arith_divsi) {
  if (isInt(c[1], 1)) return give(out, lhs(op));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero() || (v[1].isAllOnes() && v[0].isMinSignedValue())) return {};
    return v[0].sdiv(v[1]);
  });
}
FOLD(arith_divui) {
  if (isInt(c[1], 1)) return give(out, lhs(op));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero()) return {};
    return v[0].udiv(v[1]);
  });
}
FOLD(arith_remsi) {
  if (isInt(c[1], 1))
    return give(out, makeConstant(op->result().type(), APInt(op->result().type().scalar().bitWidth(), 0)));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero() || (v[1].isAllOnes() && v[0].isMinSignedValue())) return {};
    return v[0].srem(v[1]);
  });
}
FOLD(arith_remui) {
  if (isInt(c[1], 1))
    return give(out, makeConstant(op->result().type(), APInt(op->result().type().scalar().bitWidth(), 0)));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero()) return {};
    return v[0].urem(v[1]);
  });
}
FOLD(arith_ceildivsi) {
  if (isInt(c[1], 1)) return give(out, lhs(op));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero() || (v[1].isAllOnes() && v[0].isMinSignedValue())) return {};
    APInt q, r;
    APInt::sdivrem(v[0], v[1], q, r);
    return !r.isZero() && r.isNegative() == v[1].isNegative() ? q + 1 : q;
  });
}
FOLD(arith_floordivsi) {
  if (isInt(c[1], 1)) return give(out, lhs(op));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero() || (v[1].isAllOnes() && v[0].isMinSignedValue())) return {};
    APInt q, r;
    APInt::sdivrem(v[0], v[1], q, r);
    return !r.isZero() && r.isNegative() != v[1].isNegative() ? q - 1 : q;
  });
}
FOLD(arith_ceildivui) {
  if (isInt(c[1], 1)) return give(out, lhs(op));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt {
    if (v[1].isZero()) return {};
    APInt q, r;
    APInt::udivrem(v[0], v[1], q, r);
    return r.isZero() ? q : q + 1;
  });
}
template <class F>
static bool foldShift(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out, F f) {
  if (isInt(c[1], 0)) return give(out, lhs(op));
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    if (v[1].uge(v[0].getBitWidth())) return {};
    return f(v[0], unsigned(v[1].getZExtValue()));
  });
}
FOLD(arith_shli) {
  return foldShift(op, c, out, [](const APInt &a, unsigned n) { return a.shl(n); });
}
FOLD(arith_shrsi) {
  return foldShift(op, c, out, [](const APInt &a, unsigned n) { return a.ashr(n); });
}
FOLD(arith_shrui) {
  return foldShift(op, c, out, [](const APInt &a, unsigned n) { return a.lshr(n); });
}
/// x for an operand that is x ^ -1.
static Value complemented(Value v) {
  auto x = v.definedBy<arith::XoriOp>();
  if (!x) return {};
  return isInt(constantOf(x.rhs()), -1) ? x.lhs() : isInt(constantOf(x.lhs()), -1) ? x.rhs() : Value();
}
static bool complements(Operation *op) { return complemented(lhs(op)) == rhs(op) || complemented(rhs(op)) == lhs(op); }
static Attribute allBits(Operation *op, bool set) {
  unsigned w = op->result().type().scalar().bitWidth();
  return makeConstant(op->result().type(), set ? APInt::getAllOnes(w) : APInt(w, 0));
}
FOLD(arith_andi) {
  for (unsigned i = 0; i < 2; ++i) {
    if (isInt(c[i], 0)) return give(out, op->operand(i));
    if (isInt(c[i], -1)) return give(out, other(op, i));
  }
  if (lhs(op) == rhs(op)) return give(out, lhs(op));
  if (complements(op)) return give(out, allBits(op, false));
  for (unsigned i = 0; i < 2; ++i) // (a & b) & a
    if (auto inner = op->operand(i).definedBy<arith::AndiOp>();
        inner && (inner.lhs() == other(op, i) || inner.rhs() == other(op, i)))
      return give(out, op->operand(i));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] & v[1]; });
}
FOLD(arith_ori) {
  for (unsigned i = 0; i < 2; ++i) {
    if (isInt(c[i], 0)) return give(out, other(op, i));
    if (isInt(c[i], -1)) return give(out, op->operand(i));
  }
  if (lhs(op) == rhs(op)) return give(out, lhs(op));
  if (complements(op)) return give(out, allBits(op, true));
  for (unsigned i = 0; i < 2; ++i) // (a | b) | a
    if (auto inner = op->operand(i).definedBy<arith::OriOp>();
        inner && (inner.lhs() == other(op, i) || inner.rhs() == other(op, i)))
      return give(out, op->operand(i));
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] | v[1]; });
}
FOLD(arith_xori) {
  for (unsigned i = 0; i < 2; ++i)
    if (isInt(c[i], 0)) return give(out, other(op, i));
  if (lhs(op) == rhs(op)) return give(out, allBits(op, false));
  for (unsigned i = 0; i < 2; ++i) // (a ^ b) ^ b
    if (auto inner = op->operand(i).definedBy<arith::XoriOp>()) {
      if (inner.lhs() == other(op, i)) return give(out, inner.rhs());
      if (inner.rhs() == other(op, i)) return give(out, inner.lhs());
    }
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0] ^ v[1]; });
}
/// The type's least and greatest number swallow or leave everything.
#define MINMAX(name, pick, none, all)                                                                                  \
  FOLD(arith_##name) {                                                                                                 \
    if (lhs(op) == rhs(op)) return give(out, lhs(op));                                                                 \
    unsigned w = op->result().type().scalar().bitWidth();                                                              \
    for (unsigned i = 0; i < 2; ++i) {                                                                                 \
      auto *bits = c[i] ? splatBits(c[i]) : nullptr;                                                                   \
      if (bits && *bits == APInt::none(w)) return give(out, other(op, i));                                             \
      if (bits && *bits == APInt::all(w)) return give(out, op->operand(i));                                            \
    }                                                                                                                  \
    return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0].pick(v[1]) ? v[0] : v[1]; });                  \
  }
MINMAX(maxsi, sgt, getSignedMinValue, getSignedMaxValue)
MINMAX(minsi, slt, getSignedMaxValue, getSignedMinValue)
MINMAX(maxui, ugt, getMinValue, getMaxValue)
MINMAX(minui, ult, getMaxValue, getMinValue)
#undef MINMAX

FOLD(arith_cmpi) {
  auto p = op->cast<arith::CmpiOp>().predicate();
  auto test = [p](const APInt &a, const APInt &b) {
    switch (p) {
    case CmpIPredicate::Eq: return a == b;
    case CmpIPredicate::Ne: return a != b;
    case CmpIPredicate::Slt: return a.slt(b);
    case CmpIPredicate::Sle: return a.sle(b);
    case CmpIPredicate::Sgt: return a.sgt(b);
    case CmpIPredicate::Sge: return a.sge(b);
    case CmpIPredicate::Ult: return a.ult(b);
    case CmpIPredicate::Ule: return a.ule(b);
    case CmpIPredicate::Ugt: return a.ugt(b);
    case CmpIPredicate::Uge: return a.uge(b);
    }
    return false;
  };
  if (lhs(op) == rhs(op)) return give(out, makeConstant(op->result().type(), APInt(1, test(APInt(8, 0), APInt(8, 0)))));
  auto *bits = c[1] ? splatBits(c[1]) : nullptr;
  if (bits) {
    // A truth value compared with a truth value.
    if (bits->getBitWidth() == 1 &&
        ((p == CmpIPredicate::Ne && bits->isZero()) || (p == CmpIPredicate::Eq && !bits->isZero())))
      return give(out, lhs(op));
    // Nothing is beyond the type's least and greatest number.
    bool never = (p == CmpIPredicate::Slt && bits->isMinSignedValue()) ||
                 (p == CmpIPredicate::Sgt && bits->isMaxSignedValue()) || (p == CmpIPredicate::Ult && bits->isZero()) ||
                 (p == CmpIPredicate::Ugt && bits->isAllOnes());
    bool always = (p == CmpIPredicate::Sge && bits->isMinSignedValue()) ||
                  (p == CmpIPredicate::Sle && bits->isMaxSignedValue()) ||
                  (p == CmpIPredicate::Uge && bits->isZero()) || (p == CmpIPredicate::Ule && bits->isAllOnes());
    if (never || always) return give(out, makeConstant(op->result().type(), APInt(1, always)));
  }
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt { return APInt(1, test(v[0], v[1])); });
}

static unsigned resultWidth(Operation *op) { return op->result().type().scalar().bitWidth(); }
FOLD(arith_extsi) {
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [w](Ints v) -> MaybeInt { return v[0].sext(w); });
}
FOLD(arith_extui) {
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [w](Ints v) -> MaybeInt { return v[0].zext(w); });
}
FOLD(arith_trunci) {
  // trunc(ext(x)) of the same width is x.
  Operation *def = input(op).definingOp();
  if (def && (def->is<arith::ExtsiOp>() || def->is<arith::ExtuiOp>()) && input(def).type() == op->result().type())
    return give(out, input(def));
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [w](Ints v) -> MaybeInt { return v[0].trunc(w); });
}
FOLD(arith_index_cast) {
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [w](Ints v) -> MaybeInt { return v[0].sextOrTrunc(w); });
}
FOLD(arith_index_castui) {
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [w](Ints v) -> MaybeInt { return v[0].zextOrTrunc(w); });
}

// ---- floats ---------------------------------------------------------------------------------------------------------

using MaybeFloat = std::optional<APFloat>;

/// Arithmetic on the 8-bit kinds saturates in ways of their own, infinities too, so that not even x + -0 is always x.
static bool isF8(Operation *op) { return lhs(op).type().scalar().cast<FloatType>().isF8(); }

/// A function of two numbers; NaN operands reach f only if it says that it takes them.
template <class F>
static bool foldFloat(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out, F f,
                      bool takesNan = false) {
  auto &sem = lhs(op).type().scalar().cast<FloatType>().semantics();
  bool narrow = APFloat::getSizeInBits(sem) < 32, lost;
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    APFloat a(sem, v[0]), b(sem, v[1]);
    if (!takesNan && (a.isNaN() || b.isNaN())) return {};
    if (narrow) {
      a.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
      b.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    }
    MaybeFloat r = f(a, b);
    if (!r || r->isNaN()) return {};
    if (narrow) r->convert(sem, APFloat::rmNearestTiesToEven, &lost);
    return r->bitcastToAPInt();
  });
}
/// An infinity of the sign, or a NaN, as a splat.
static bool isInfinity(Attribute a, Type t, bool negative) {
  auto *b = a ? splatBits(a) : nullptr;
  if (!b) return false;
  APFloat f(t.scalar().cast<FloatType>().semantics(), *b);
  return f.isInfinity() && f.isNegative() == negative;
}
static bool isNan(Attribute a, Type t) {
  auto *b = a ? splatBits(a) : nullptr;
  return b && APFloat(t.scalar().cast<FloatType>().semantics(), *b).isNaN();
}
FOLD(arith_addf) {
  if (isF8(op)) return false;
  if (isFloat(c[1], op->result().type(), -0.0)) return give(out, lhs(op));
  return foldFloat(op, c, out, [](APFloat a, const APFloat &b) -> MaybeFloat {
    a.add(b, APFloat::rmNearestTiesToEven);
    return a;
  });
}
FOLD(arith_subf) {
  if (isF8(op)) return false;
  if (isFloat(c[1], op->result().type(), 0.0)) return give(out, lhs(op));
  return foldFloat(op, c, out, [](APFloat a, const APFloat &b) -> MaybeFloat {
    a.subtract(b, APFloat::rmNearestTiesToEven);
    return a;
  });
}
FOLD(arith_mulf) {
  if (isF8(op)) return false;
  for (unsigned i = 0; i < 2; ++i)
    if (isFloat(c[i], op->result().type(), 1.0)) return give(out, other(op, i));
  return foldFloat(op, c, out, [](APFloat a, const APFloat &b) -> MaybeFloat {
    a.multiply(b, APFloat::rmNearestTiesToEven);
    return a;
  });
}
FOLD(arith_divf) {
  if (isF8(op)) return false;
  if (isFloat(c[1], op->result().type(), 1.0)) return give(out, lhs(op));
  return foldFloat(op, c, out, [](APFloat a, const APFloat &b) -> MaybeFloat {
    if (b.isZero()) return {};
    a.divide(b, APFloat::rmNearestTiesToEven);
    return a;
  });
}
FOLD(arith_remf) {
  if (isF8(op)) return false;
  return foldFloat(op, c, out, [](APFloat a, const APFloat &b) -> MaybeFloat {
    if (b.isZero() || a.isInfinity()) return {};
    a.mod(b);
    return a;
  });
}
// maximumf and minimumf give NaN for NaN, maxnumf and minnumf the other operand; -0 is less than +0 for all of them.
template <class F>
static bool foldExtremum(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out, bool isMax,
                         bool propagatesNan, F f) {
  if (isF8(op)) return false;
  if (lhs(op) == rhs(op)) return give(out, lhs(op));
  for (unsigned i = 0; i < 2; ++i)
    if (propagatesNan ? isInfinity(c[i], op->result().type(), isMax) : isNan(c[i], op->result().type()))
      return give(out, other(op, i));
  return foldFloat(op, c, out, [&](const APFloat &a, const APFloat &b) -> MaybeFloat { return f(a, b); }, true);
}
FOLD(arith_maximumf) { return foldExtremum(op, c, out, true, true, llvm::maximum); }
FOLD(arith_minimumf) { return foldExtremum(op, c, out, false, true, llvm::minimum); }
FOLD(arith_maxnumf) { return foldExtremum(op, c, out, true, false, llvm::maximumnum); }
FOLD(arith_minnumf) { return foldExtremum(op, c, out, false, false, llvm::minimumnum); }
FOLD(arith_negf) {
  if (auto inner = input(op).definedBy<arith::NegfOp>()) return give(out, inner.operand());
  auto &sem = input(op).type().scalar().cast<FloatType>().semantics();
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt { return neg(APFloat(sem, v[0])).bitcastToAPInt(); });
}
static bool holds(CmpFPredicate p, APFloat::cmpResult r) {
  bool less = r == APFloat::cmpLessThan, equal = r == APFloat::cmpEqual, greater = r == APFloat::cmpGreaterThan,
       unordered = r == APFloat::cmpUnordered;
  switch (p) {
  case CmpFPredicate::False: return false;
  case CmpFPredicate::Oeq: return equal;
  case CmpFPredicate::Ogt: return greater;
  case CmpFPredicate::Oge: return greater || equal;
  case CmpFPredicate::Olt: return less;
  case CmpFPredicate::Ole: return less || equal;
  case CmpFPredicate::One: return less || greater;
  case CmpFPredicate::Ord: return !unordered;
  case CmpFPredicate::Ueq: return equal || unordered;
  case CmpFPredicate::Ugt: return greater || unordered;
  case CmpFPredicate::Uge: return greater || equal || unordered;
  case CmpFPredicate::Ult: return less || unordered;
  case CmpFPredicate::Ule: return less || equal || unordered;
  case CmpFPredicate::Une: return !equal;
  case CmpFPredicate::Uno: return unordered;
  case CmpFPredicate::True: return true;
  }
  return false;
}
FOLD(arith_cmpf) {
  auto p = op->cast<arith::CmpfOp>().predicate();
  if (p == CmpFPredicate::False || p == CmpFPredicate::True)
    return give(out, makeConstant(op->result().type(), APInt(1, p == CmpFPredicate::True)));
  auto &sem = lhs(op).type().scalar().cast<FloatType>().semantics();
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    return APInt(1, holds(p, APFloat(sem, v[0]).compare(APFloat(sem, v[1]))));
  });
}

static bool convertFloats(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out) {
  if (input(op).type() == op->result().type()) return give(out, input(op));
  auto &from = input(op).type().scalar().cast<FloatType>().semantics();
  auto &to = op->result().type().scalar().cast<FloatType>().semantics();
  auto kind = op->result().type().scalar().cast<FloatType>().floatKind();
  bool lacksNegativeZero =
      kind == FloatKind::F8E4M3FNUZ || kind == FloatKind::F8E4M3B11FNUZ || kind == FloatKind::F8E5M2FNUZ;
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    APFloat f(from, v[0]);
    bool lost;
    if (f.isNaN() || f.isInfinity()) return {};
    if (f.isZero() && lacksNegativeZero) return APInt(APFloat::getSizeInBits(to), 0);
    auto status = f.convert(to, APFloat::rmNearestTiesToEven, &lost);
    if (lost || status != APFloat::opOK) return {}; // rounding is left to the device
    return f.bitcastToAPInt();
  });
}
FOLD(arith_extf) { return convertFloats(op, c, out); }
FOLD(arith_truncf) { return convertFloats(op, c, out); }
FOLD(tt_fp_to_fp) { return convertFloats(op, c, out); }
static bool intToFloat(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out,
                       bool isSigned) {
  auto type = op->result().type().scalar().cast<FloatType>();
  auto &sem = type.semantics();
  // The narrow kinds take the way through f32, as in compiled code: wide integers are rounded twice.
  bool isNarrow = type.floatKind() != FloatKind::F32 && type.floatKind() != FloatKind::F64;
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    APFloat f(isNarrow ? APFloat::IEEEsingle() : sem);
    f.convertFromAPInt(v[0], isSigned, APFloat::rmNearestTiesToEven);
    if (isNarrow) {
      bool lost;
      f.convert(sem, APFloat::rmNearestTiesToEven, &lost);
      if (lost && APFloat::getSizeInBits(sem) < 16) return {}; // the device saturates
    }
    return f.bitcastToAPInt();
  });
}
FOLD(arith_sitofp) { return intToFloat(op, c, out, true); }
FOLD(arith_uitofp) { return intToFloat(op, c, out, false); }
static bool floatToInt(Operation *op, llvm::ArrayRef<Attribute> c, llvm::SmallVectorImpl<FoldResult> &out,
                       bool isSigned) {
  auto &sem = input(op).type().scalar().cast<FloatType>().semantics();
  unsigned w = resultWidth(op);
  return mapElements(op, c, out, [&](Ints v) -> MaybeInt {
    llvm::APSInt r(w, !isSigned);
    bool exact;
    if (APFloat(sem, v[0]).convertToInteger(r, APFloat::rmTowardZero, &exact) == APFloat::opInvalidOp) return {};
    return APInt(r);
  });
}
FOLD(arith_fptosi) { return floatToInt(op, c, out, true); }
FOLD(arith_fptoui) { return floatToInt(op, c, out, false); }

// ---- the rest -------------------------------------------------------------------------------------------------------

FOLD(arith_constant) { return false; } // a constant is what folding gives, not what it works on
FOLD(arith_select) {
  auto s = op->cast<arith::SelectOp>();
  if (s.trueValue() == s.falseValue()) return give(out, s.trueValue());
  if (isInt(c[0], -1)) return give(out, s.trueValue());
  if (isInt(c[0], 0)) return give(out, s.falseValue());
  // The truth value itself.
  if (s.condition().type() == op->result().type() && isInt(c[1], -1) && isInt(c[2], 0)) return give(out, s.condition());
  // a == b ? a : b is b, a != b ? a : b is a.
  if (auto cmp = s.condition().definedBy<arith::CmpiOp>();
      cmp && (cmp.predicate() == CmpIPredicate::Eq || cmp.predicate() == CmpIPredicate::Ne))
    if ((cmp.lhs() == s.trueValue() && cmp.rhs() == s.falseValue()) ||
        (cmp.rhs() == s.trueValue() && cmp.lhs() == s.falseValue()))
      return give(out, cmp.predicate() == CmpIPredicate::Eq ? s.falseValue() : s.trueValue());
  if (op->result().type().scalar().isPointer()) return false;
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0].isZero() ? v[2] : v[1]; });
}
static bool sameType(Operation *op, llvm::SmallVectorImpl<FoldResult> &out) {
  return input(op).type() == op->result().type() && give(out, input(op));
}
FOLD(arith_bitcast) {
  if (sameType(op, out)) return true;
  if (op->result().type().scalar().isPointer() || input(op).type().scalar().isPointer()) return false;
  return mapElements(op, c, out, [](Ints v) -> MaybeInt { return v[0]; });
}
FOLD(tt_bitcast) { return fold_arith_bitcast(op, c, out); }
FOLD(tt_addptr) { return isInt(c[1], 0) && give(out, op->cast<tt::AddptrOp>().ptr()); }
FOLD(tt_advance) {
  for (unsigned i = 1; i < op->numOperands(); ++i)
    if (!isInt(c[i], 0)) return false;
  return give(out, op->cast<tt::AdvanceOp>().ptr());
}
static bool resplat(Operation *op, Attribute a, llvm::SmallVectorImpl<FoldResult> &out) {
  auto *bits = a ? splatBits(a) : nullptr;
  return bits && !op->result().type().scalar().isPointer() && give(out, makeConstant(op->result().type(), *bits));
}
FOLD(tt_splat) { return resplat(op, c[0], out); }
FOLD(tt_expand_dims) { return resplat(op, c[0], out); }
FOLD(tt_broadcast) { return sameType(op, out) || resplat(op, c[0], out); }
FOLD(tt_reshape) { return (sameType(op, out) || resplat(op, c[0], out)); }
FOLD(tt_trans) {
  auto t = op->cast<tt::TransOp>();
  bool identity = true;
  for (unsigned i = 0; i < t.order().size(); ++i) identity &= t.order()[i] == i;
  if (identity && sameType(op, out)) return true;
  return resplat(op, c[0], out);
}
FOLD(ttg_convert_layout) {
  if (sameType(op, out)) return true;
  if (auto inner = op->cast<ttg::ConvertLayoutOp>().src().definedBy<ttg::ConvertLayoutOp>();
      inner && inner.src().type() == op->result().type())
    return give(out, inner.src());
  return resplat(op, c[0], out);
}
#undef FOLD

} // namespace tessera::ir
