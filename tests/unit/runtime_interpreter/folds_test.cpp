// Every fold hook against the interpreter. For each operation that folds, over all its types and over edge values of
// each: operands are constants, unknown values, or twice the same unknown value, in every combination; what the hook
// gives must be what the interpreter computes, whatever the unknown values are. NaNs are compared as NaNs, everything
// else bit by bit.
//
// Also stated: what must fold (defined operations on constants) and what must not (division by zero, the least number
// divided by -1, shifts by the width or more). A row that gains a fold hook without a case here fails too.
#include "evaluation.h"
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "runtime/interpreter/elementwise.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

namespace tessera {
namespace {
using namespace ir;
using llvm::APFloat;
using llvm::APInt;

std::vector<APInt> integerEdges(unsigned w) {
  std::vector<APInt> out;
  std::set<std::string> seen;
  auto add = [&](APInt v) {
    if (seen.insert(llvm::toString(v, 16, false)).second) out.push_back(v);
  };
  for (int64_t v : {0, 1, 2, 3, 7, 10, -1, -2, -3, -7, 100}) add(APInt(w, v, true, true));
  for (int64_t v : {int64_t(w) - 1, int64_t(w), int64_t(w) + 1}) add(APInt(w, v, true, true));
  APInt low = APInt::getSignedMinValue(w), high = APInt::getSignedMaxValue(w);
  for (auto v : {low, low + 1, high, high - 1, APInt::getOneBitSet(w, w / 2)}) add(v);
  return out;
}

std::vector<APInt> floatEdges(FloatType t) {
  auto &sem = t.semantics();
  std::vector<APInt> out;
  std::set<std::string> seen;
  auto add = [&](const APFloat &f) {
    APInt v = f.bitcastToAPInt();
    if (seen.insert(llvm::toString(v, 16, false)).second) out.push_back(v);
  };
  for (bool negative : {false, true}) {
    add(APFloat::getZero(sem, negative));
    add(APFloat::getSmallest(sem, negative));
    add(APFloat::getSmallestNormalized(sem, negative));
    auto denormal = APFloat::getSmallestNormalized(sem, negative);
    denormal.next(!negative); // the greatest denormal
    add(denormal);
    add(APFloat::getLargest(sem, negative));
    if (APFloat::semanticsHasInf(sem)) add(APFloat::getInf(sem, negative));
    if (APFloat::semanticsHasNaN(sem)) add(APFloat::getQNaN(sem, negative));
    for (double v :
         {1.0,     1.5,     2.0,     3.0,          0.1,          1.0 / 3,      127.0,  128.0,  200.5, 255.5, 256.0,
          32767.5, 65504.0, 65536.0, 2147483647.0, 2147483648.0, 4294967296.0, 9.2e18, 1.9e19, 1e-8,  1e-40, 1e300}) {
      APFloat f(negative ? -v : v);
      bool lost;
      f.convert(sem, APFloat::rmNearestTiesToEven, &lost);
      add(f);
    }
  }
  return out;
}

std::vector<APInt> edges(Type t) { return t.isFloat() ? floatEdges(t.cast<FloatType>()) : integerEdges(t.bitWidth()); }

bool isNan(Type t, uint64_t bits) {
  return t.isFloat() && APFloat(t.cast<FloatType>().semantics(), APInt(t.bitWidth(), bits)).isNaN();
}

/// One way to apply an operation.
struct Signature {
  llvm::SmallVector<Type, 3> operands;
  Type result;
  llvm::SmallVector<NamedAttribute, 2> attrs;
};

class Folds {
public:
  Folds() : m_(context_), block_(m_.createBlock()) {
    ints_ = {context_.i1(), context_.i8(), context_.i16(), context_.i32(), context_.i64(), context_.index()};
    floats_ = {context_.f16(), context_.bf16(), context_.f32(), context_.f64()};
    for (auto k : {FloatKind::F8E4M3FN, FloatKind::F8E5M2, FloatKind::F8E4M3FNUZ, FloatKind::F8E4M3B11FNUZ,
                   FloatKind::F8E5M2FNUZ})
      narrow_.push_back(FloatType::get(context_, k));
  }

  /// The ways to apply the row's operation; none if this test does not know it.
  std::vector<Signature> signatures(const OpInfo &row) {
    std::vector<Signature> out;
    Builder b(m_);
    auto rule = row.operands.empty() ? TypeRule::Any : row.operands[0].rule;
    switch (row.opcode) {
    case Opcode::arith_cmpi:
      for (Type t : ints_)
        for (int p = 0; p < 10; ++p)
          out.push_back({{t, t}, context_.i1(), {b.named("predicate", IntegerAttr::get(context_.i64(), p))}});
      return out;
    case Opcode::arith_cmpf:
      for (Type t : {context_.f16(), context_.bf16(), context_.f32(), context_.f64(), narrow_[0]})
        for (int p = 0; p < 16; ++p)
          out.push_back({{t, t}, context_.i1(), {b.named("predicate", IntegerAttr::get(context_.i64(), p))}});
      return out;
    case Opcode::arith_select:
      for (Type t : {context_.i1(), context_.i32(), context_.f32()}) out.push_back({{context_.i1(), t, t}, t, {}});
      return out;
    case Opcode::tt_addptr:
      for (Type t : {context_.i32(), context_.i64()})
        out.push_back({{PointerType::get(context_.f32()), t}, PointerType::get(context_.f32()), {}});
      return out;
    default: break;
    }
    if (auto converted = conversions(row); !converted.empty()) return converted;
    // The rest works on values of one type.
    if (!row.has(kElementwise) || !row.has(kSameTypes)) return out;
    if (rule == TypeRule::FloatLike) {
      for (Type t : allFloats()) out.push_back({llvm::SmallVector<Type, 3>(row.operands.size(), t), t, {}});
    } else if (rule == TypeRule::SignlessIntLike || rule == TypeRule::IntLike) {
      for (Type t : ints_) out.push_back({llvm::SmallVector<Type, 3>(row.operands.size(), t), t, {}});
    }
    return out;
  }

  std::vector<Type> allFloats() const {
    std::vector<Type> out = floats_;
    out.insert(out.end(), narrow_.begin(), narrow_.end());
    return out;
  }

  /// The signatures of a conversion; none for other operations.
  std::vector<Signature> conversions(const OpInfo &row) {
    std::vector<Signature> out;
    Builder b(m_);
    const std::vector<Type> allFloats = this->allFloats();
    const std::vector<Type> noIndex(ints_.begin(), ints_.end() - 1);
    switch (row.opcode) {
    case Opcode::arith_extsi:
    case Opcode::arith_extui:
      for (Type f : noIndex)
        for (Type t : noIndex)
          if (f.bitWidth() < t.bitWidth()) out.push_back({{f}, t, {}});
      return out;
    case Opcode::arith_trunci:
      for (Type f : noIndex)
        for (Type t : noIndex)
          if (f.bitWidth() > t.bitWidth()) out.push_back({{f}, t, {}});
      return out;
    case Opcode::arith_index_cast:
    case Opcode::arith_index_castui:
      for (Type t : noIndex) out.push_back({{t}, context_.index(), {}}), out.push_back({{context_.index()}, t, {}});
      return out;
    case Opcode::arith_sitofp:
    case Opcode::arith_uitofp:
      for (Type f : noIndex)
        for (Type t : floats_) out.push_back({{f}, t, {}});
      return out;
    case Opcode::arith_fptosi:
    case Opcode::arith_fptoui:
      for (Type f : allFloats)
        for (Type t : noIndex) out.push_back({{f}, t, {}});
      return out;
    case Opcode::arith_extf:
    case Opcode::arith_truncf:
      for (Type f : allFloats)
        for (Type t : allFloats)
          if (row.opcode == Opcode::arith_extf ? f.bitWidth() < t.bitWidth() : f.bitWidth() > t.bitWidth())
            out.push_back({{f}, t, {}});
      return out;
    case Opcode::tt_fp_to_fp:
      for (Type f : allFloats)
        for (Type t : allFloats)
          for (int rounding : {0, 1}) out.push_back({{f}, t, {b.i32Attr("rounding", rounding)}});
      return out;
    case Opcode::arith_bitcast:
    case Opcode::tt_bitcast: {
      std::vector<Type> all = noIndex;
      all.insert(all.end(), allFloats.begin(), allFloats.end());
      for (Type f : all)
        for (Type t : all)
          if (f.bitWidth() == t.bitWidth()) out.push_back({{f}, t, {}});
      return out;
    }
    default: return out;
    }
  }

  /// Checks all combinations of constants and unknown values. Counts what folded.
  void check(const OpInfo &row, const Signature &s) {
    unsigned n = s.operands.size();
    llvm::SmallVector<std::vector<APInt>, 3> values;
    for (Type t : s.operands) values.push_back(t.isPointer() ? integerEdges(64) : edges(t));
    llvm::SmallVector<size_t, 3> at(n, 0);
    // For each assignment of edge values: every subset of the operands is known, the others are not.
    while (true) {
      for (unsigned known = 0; known < (1u << n); ++known) {
        bool pointers = false;
        for (unsigned i = 0; i < n; ++i) pointers |= s.operands[i].isPointer() && (known >> i & 1);
        // The unknown operands' values range below; here only their first value stands for all.
        bool first = true;
        for (unsigned i = 0; i < n; ++i) first &= (known >> i & 1) || at[i] == 0;
        if (!pointers && first) one(row, s, values, at, known, false);
        if (!pointers && first && n >= 2 && s.operands[n - 1] == s.operands[n - 2] && !(known >> (n - 2)))
          one(row, s, values, at, known, true);
      }
      unsigned i = 0;
      while (i < n && ++at[i] == values[i].size()) at[i++] = 0;
      if (i == n) break;
    }
  }

  size_t folded = 0, tried = 0;

private:
  Attribute attribute(Type t, const APInt &v) {
    if (t.isFloat()) return FloatAttr::get(t, APFloat(t.cast<FloatType>().semantics(), v));
    return IntegerAttr::get(t, v);
  }

  static bool undefined(Opcode o, llvm::ArrayRef<APInt> v) {
    bool divides = false, isSigned = false;
    switch (o) {
    case Opcode::arith_shli:
    case Opcode::arith_shrsi:
    case Opcode::arith_shrui: return v[1].uge(v[0].getBitWidth());
    case Opcode::arith_divsi:
    case Opcode::arith_remsi:
    case Opcode::arith_ceildivsi:
    case Opcode::arith_floordivsi: isSigned = true; [[fallthrough]];
    case Opcode::arith_divui:
    case Opcode::arith_remui:
    case Opcode::arith_ceildivui: divides = true; break;
    default: break;
    }
    return divides &&
           (v[1].isZero() || (isSigned && v[0].isMinSignedValue() && v[1].isAllOnes() && v[0].getBitWidth() > 1));
  }

  /// `same`: the last two operands are one unknown value.
  void one(const OpInfo &row, const Signature &s, llvm::ArrayRef<std::vector<APInt>> values, llvm::ArrayRef<size_t> at,
           unsigned known, bool same) {
    unsigned n = s.operands.size();
    Builder b = Builder::atEnd(block_);
    OperationState state(row.opcode, {});
    llvm::SmallVector<Attribute, 3> constants(n);
    std::string what = row.name.str() + " " + s.operands[0].str() + " -> " + s.result.str();
    for (auto &a : s.attrs) what += " " + a.name.str() + "=" + a.value.str();
    for (unsigned i = 0; i < n; ++i) {
      if (same && i == n - 1)
        state.operands.push_back(state.operands.back());
      else if (known >> i & 1) {
        constants[i] = attribute(s.operands[i], values[i][at[i]]);
        state.operands.push_back(b.constant({}, s.operands[i], constants[i]));
      } else
        state.operands.push_back(block_->addArg(s.operands[i]));
      what += ", " + (constants[i] ? constants[i].str() : same ? std::string("x") : "x" + std::to_string(i));
    }
    state.attrs.assign(s.attrs.begin(), s.attrs.end());
    state.resultTypes.push_back(s.result);
    Operation *op = b.create(state);
    llvm::SmallVector<FoldResult, 1> out;
    bool did = row.fold(op, constants, out);
    ++tried;
    folded += did;
    bool all = known + 1 == 1u << n;
    llvm::SmallVector<APInt, 3> fixed;
    for (unsigned i = 0; i < n; ++i) fixed.push_back(values[i][at[i]]);
    if (all && undefined(row.opcode, fixed)) EXPECT_FALSE(did) << what;
    bool exact = !s.operands[0].isFloat() && !s.result.isFloat();
    if (all && exact && !undefined(row.opcode, fixed)) EXPECT_TRUE(did) << what;
    if (!did) return clear();
    ASSERT_EQ(out.size(), 1u) << what;
    if (out[0].value) ASSERT_EQ(out[0].value.type(), s.result) << what;

    // Whatever the unknown operands are.
    llvm::SmallVector<size_t, 3> x(at.begin(), at.end());
    while (true) {
      llvm::SmallVector<uint64_t, 3> bits;
      for (unsigned i = 0; i < n; ++i)
        bits.push_back(same && i == n - 1 ? bits.back() : values[i][x[i]].getZExtValue());
      compare(op, s, out[0], bits, what);
      unsigned i = 0;
      for (; i < n; ++i) {
        if ((known >> i & 1) || (same && i == n - 1)) continue;
        if (++x[i] < values[i].size()) break;
        x[i] = 0;
      }
      if (i == n) break;
    }
    clear();
  }

  void compare(Operation *op, const Signature &s, const FoldResult &r, llvm::ArrayRef<uint64_t> bits,
               const std::string &what) {
    llvm::SmallVector<runtime::Lanes, 3> in;
    llvm::SmallVector<const runtime::Lanes *, 3> pointers;
    for (unsigned i = 0; i < bits.size(); ++i)
      in.push_back(runtime::Lanes::one(runtime::laneBytes(s.operands[i]), bits[i]));
    for (auto &l : in) pointers.push_back(&l);
    llvm::SmallVector<runtime::Lanes, 1> results;
    std::string reason;
    ASSERT_TRUE(runtime::evaluateElementwise(op, pointers, pool_, results, reason)) << what << ": " << reason;
    uint64_t got = 0, want = results[0].word();
    if (r.value) {
      unsigned i = 0;
      while (i < bits.size() && op->operand(i) != r.value) ++i;
      ASSERT_LT(i, bits.size()) << what << " gives a value that is no operand";
      got = bits[i];
    } else {
      auto *c = splatBits(r.constant);
      ASSERT_TRUE(c) << what;
      ASSERT_EQ(c->getBitWidth(), s.result.bitWidth()) << what;
      got = c->getZExtValue();
    }
    if (isNan(s.result, got) && isNan(s.result, want)) return;
    EXPECT_EQ(got, want) << what << " with " << (bits.size() > 0 ? bits[0] : 0) << ", "
                         << (bits.size() > 1 ? bits[1] : 0);
  }

  void clear() {
    while (!block_->empty()) block_->back()->erase();
    while (block_->numArgs()) block_->eraseArg(block_->numArgs() - 1);
  }

  Context context_;
  Module m_;
  Block *block_;
  runtime::LanePool pool_;
  std::vector<Type> ints_, floats_, narrow_;
};

/// Hooks of operations that are not elementwise; ShapesOfConstants and the passes' golden tests have them.
const std::set<Opcode> kElsewhere = {Opcode::arith_constant, Opcode::tt_advance,        Opcode::tt_splat,
                                     Opcode::tt_expand_dims, Opcode::tt_broadcast,      Opcode::tt_reshape,
                                     Opcode::tt_trans,       Opcode::ttg_convert_layout};

std::vector<const OpInfo *> foldingRows() {
  std::vector<const OpInfo *> out;
  for (auto &row : allOps())
    if (row.fold && !kElsewhere.count(row.opcode)) out.push_back(&row);
  return out;
}

class FoldsOf : public testing::TestWithParam<const OpInfo *> {};
TEST_P(FoldsOf, AgreeWithTheInterpreter) {
  Folds f;
  auto signatures = f.signatures(*GetParam());
  ASSERT_FALSE(signatures.empty()) << GetParam()->name.str()
                                   << " has a fold hook, but this test does not know how to apply it";
  for (auto &s : signatures) {
    f.check(*GetParam(), s);
    if (HasFailure()) break;
  }
  EXPECT_GT(f.folded, 0u);
  RecordProperty("tried", int(f.tried));
  RecordProperty("folded", int(f.folded));
}
INSTANTIATE_TEST_SUITE_P(All, FoldsOf, testing::ValuesIn(foldingRows()), [](auto &p) {
  std::string s = p.param->name.str();
  std::replace(s.begin(), s.end(), '.', '_');
  return s;
});

/// What floats must fold: numbers whose result is a number.
TEST(FoldsOfFloats, FoldNumbers) {
  Context c;
  Module m(c);
  Block *block = m.createBlock();
  auto fold = [&](Opcode o, double a, double b, llvm::SmallVector<NamedAttribute, 1> attrs = {},
                  Type result = {}) -> std::optional<APInt> {
    Builder build = Builder::atEnd(block);
    OperationState s(o, {});
    s.operands = {build.floatConstant({}, c.f32(), a), build.floatConstant({}, c.f32(), b)};
    s.resultTypes = {result ? result : c.f32()};
    s.attrs.assign(attrs.begin(), attrs.end());
    Operation *op = build.create(s);
    llvm::SmallVector<FoldResult, 1> out;
    if (!op->info().fold(op, {constantOf(BinaryOp(op).lhs()), constantOf(BinaryOp(op).rhs())}, out)) return {};
    return *splatBits(out[0].constant ? out[0].constant : constantOf(out[0].value));
  };
  auto bits = [](float f) { return APFloat(f).bitcastToAPInt(); };
  double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fold(Opcode::arith_addf, 1.5, 2.25), bits(3.75f));
  EXPECT_EQ(fold(Opcode::arith_subf, 0.0, 0.0), bits(0.0f));
  EXPECT_EQ(fold(Opcode::arith_mulf, -0.0, 5), bits(-0.0f));
  EXPECT_EQ(fold(Opcode::arith_divf, 1, 3), bits(1.0f / 3.0f));
  EXPECT_EQ(fold(Opcode::arith_subf, inf, inf), std::nullopt);
  EXPECT_EQ(fold(Opcode::arith_maxnumf, nan, 2), bits(2));
  EXPECT_EQ(fold(Opcode::arith_maxnumf, 2, nan), bits(2));
  EXPECT_EQ(fold(Opcode::arith_minnumf, nan, 2), bits(2));
  EXPECT_EQ(fold(Opcode::arith_maximumf, nan, 2), std::nullopt);
  EXPECT_EQ(fold(Opcode::arith_maxnumf, -0.0, 0.0), bits(0.0f));
  EXPECT_EQ(fold(Opcode::arith_minnumf, 0.0, -0.0), bits(-0.0f));
  EXPECT_EQ(fold(Opcode::arith_maximumf, -0.0, 0.0), bits(0.0f));
  EXPECT_EQ(fold(Opcode::arith_minimumf, 0.0, -0.0), bits(-0.0f));
  // predicates by MLIR's numbers, on (less, equal, greater, unordered)
  const char *table[16] = {"....", ".e..", "..g.", ".eg.", "l...", "le..", "l.g.", "leg.",
                           ".e.u", "..gu", ".egu", "l..u", "le.u", "l.gu", "...u", "legu"};
  for (int p = 0; p < 16; ++p) {
    Builder b(m);
    const double pairs[4][2] = {{1, 2}, {2, 2}, {3, 2}, {nan, 2}};
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(fold(Opcode::arith_cmpf, pairs[k][0], pairs[k][1], {b.named("predicate", IntegerAttr::get(c.i64(), p))},
                     c.i1()),
                APInt(1, table[p][k] != '.'))
          << p << " " << k;
  }
}

/// Shape operations on constants that are not splats are left alone or agree with the interpreter, and on splats fold.
TEST(FoldsOfShapes, Splats) {
  Context c;
  Module m(c);
  Block *block = m.createBlock();
  Builder b = Builder::atEnd(block);
  auto t = [&](llvm::ArrayRef<int64_t> shape) { return TensorType::get(shape, c.i32()); };
  auto fold = [&](Operation *op) -> Attribute {
    llvm::SmallVector<FoldResult, 1> out;
    llvm::SmallVector<Attribute, 2> constants;
    for (auto v : op->operands()) constants.push_back(constantOf(v));
    if (!op->info().fold(op, constants, out)) return {};
    return out[0].constant ? out[0].constant : constantOf(out[0].value);
  };
  auto expectSplat = [&](Attribute a, TensorType type, int64_t v) {
    auto d = a.dyn_cast<DenseElementsAttr>();
    ASSERT_TRUE(d);
    EXPECT_EQ(d.type(), type);
    EXPECT_TRUE(d.isSplat());
    EXPECT_EQ(d.splat().getSExtValue(), v);
  };
  Value seven = b.intConstant({}, c.i32(), 7), vec = b.intConstant({}, t({4}), 7),
        row = b.intConstant({}, t({1, 4}), 7);
  expectSplat(fold(tt::SplatOp::create(b, {}, t({4}), seven)), t({4}), 7);
  expectSplat(fold(tt::ExpandDimsOp::create(b, {}, t({1, 4}), vec, b.i32Attr("axis", 0))), t({1, 4}), 7);
  expectSplat(fold(tt::BroadcastOp::create(b, {}, t({2, 4}), row)), t({2, 4}), 7);
  expectSplat(fold(tt::ReshapeOp::create(b, {}, t({2, 2}), vec)), t({2, 2}), 7);
  expectSplat(fold(tt::TransOp::create(b, {}, t({4, 1}), row, b.denseI32Attr("order", {1, 0}))), t({4, 1}), 7);
  llvm::SmallVector<APInt, 4> counting;
  for (int i = 0; i < 4; ++i) counting.push_back(APInt(32, i));
  Value dense = b.constant({}, t({1, 4}), DenseElementsAttr::get(t({1, 4}), counting));
  EXPECT_FALSE(fold(tt::BroadcastOp::create(b, {}, t({2, 4}), dense)));
  EXPECT_FALSE(fold(tt::ReshapeOp::create(b, {}, t({2, 2}), dense)));
  EXPECT_FALSE(fold(tt::TransOp::create(b, {}, t({4, 1}), dense, b.denseI32Attr("order", {1, 0}))));
  EXPECT_EQ(fold(tt::TransOp::create(b, {}, t({1, 4}), dense, b.denseI32Attr("order", {0, 1}))), constantOf(dense));
}

/// Constants with an element each fold element by element.
TEST(FoldsOfIntegers, ElementByElement) {
  Context c;
  Module m(c);
  Builder b = Builder::atEnd(m.createBlock());
  auto type = TensorType::get({4}, c.i32());
  auto dense = [&](std::initializer_list<int> v) {
    llvm::SmallVector<APInt, 4> e;
    for (int x : v) e.push_back(APInt(32, x, true, true));
    return b.constant({}, type, DenseElementsAttr::get(type, e));
  };
  auto fold = [&](Operation *op) -> Attribute {
    llvm::SmallVector<FoldResult, 1> out;
    return op->info().fold(op, {constantOf(BinaryOp(op).lhs()), constantOf(BinaryOp(op).rhs())}, out) ? out[0].constant
                                                                                                      : Attribute();
  };
  Value x = dense({1, -2, 3, INT32_MIN}), y = dense({3, 3, -4, 2}), zero = dense({1, 2, 0, 4}),
        splat = b.intConstant({}, type, 2);
  EXPECT_EQ(fold(arith::AddiOp::create(b, {}, x, y)), constantOf(dense({4, 1, -1, INT32_MIN + 2})));
  EXPECT_EQ(fold(arith::MuliOp::create(b, {}, x, splat)), constantOf(dense({2, -4, 6, 0})));
  EXPECT_EQ(fold(arith::DivsiOp::create(b, {}, x, y)), constantOf(dense({0, 0, 0, INT32_MIN / 2})));
  EXPECT_FALSE(fold(arith::DivsiOp::create(b, {}, x, zero)));
}

} // namespace
} // namespace tessera
