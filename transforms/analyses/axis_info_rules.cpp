// The rules of AxisInfo: each gives the claim for one operation from the claims for its operands (see
// axis_info_rules.h).
#include "transforms/analyses/axis_info_rules.h"
#include "ir/attribute_names.h"
#include "ir/op_table.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera::transforms::axis_rules {
using namespace ir;

AxisInfo unknown(Type t) {
  unsigned r = rankOf(t);
  AxisInfo i;
  i.contiguity.assign(r, 1);
  i.divisibility.assign(r, 1);
  i.constancy.assign(r, 1);
  return i;
}
static AxisInfo constantInfo(Type t, int64_t v) {
  AxisInfo i = unknown(t);
  for (unsigned d = 0; d < i.rank(); ++d) {
    i.constancy[d] = dimOf(t, d);
    i.divisibility[d] = powerOfTwoDivisor(v);
  }
  i.constant = v;
  return i;
}

/// Raises a field to what an attribute promises: one number for all dimensions (of a scalar attribute or a splat), or
/// one for each. Numbers count by their power of two.
static void promise(Attribute a, llvm::SmallVectorImpl<int64_t> &field) {
  auto raise = [&](unsigned d, int64_t v) {
    if (v > 0) field[d] = std::max(field[d], powerOfTwoDivisor(v));
  };
  if (!a) return;
  if (auto i = a.dyn_cast<IntegerAttr>()) {
    for (unsigned d = 0; d < field.size(); ++d) raise(d, i.sext());
  } else if (auto dense = a.dyn_cast<DenseElementsAttr>()) {
    if (!dense.type().element().isIntOrIndex() || (!dense.isSplat() && dense.size() != field.size())) return;
    for (unsigned d = 0; d < field.size(); ++d) raise(d, dense.element(d).getSExtValue());
  }
}

void raise(AxisInfo &i, StatedContiguity stated, llvm::function_ref<Attribute(llvm::StringRef)> promised) {
  Attribute contiguity = promised(kContiguityAttr);
  if (!contiguity || stated == StatedContiguity::Counts) {
    promise(contiguity, i.contiguity);
    promise(promised(kDivisibilityAttr), i.divisibility);
  }
  promise(promised(kConstancyAttr), i.constancy);
}

/// The operation on two constants in `width` bits; nothing where it is not defined.
static std::optional<int64_t> foldConstants(Opcode opcode, int64_t a, int64_t b, unsigned width) {
  if (!width || width > 64) return std::nullopt;
  llvm::APInt x = llvm::APInt(64, uint64_t(a)).trunc(width), y = llvm::APInt(64, uint64_t(b)).trunc(width);
  auto shift = [&](auto f) -> std::optional<int64_t> {
    if (y.uge(width)) return std::nullopt;
    return f(unsigned(y.getZExtValue())).getSExtValue();
  };
  bool divides = !y.isZero(), signedDivides = divides && !(x.isMinSignedValue() && y.isAllOnes());
  switch (opcode) {
  case Opcode::arith_addi: return (x + y).getSExtValue();
  case Opcode::arith_subi: return (x - y).getSExtValue();
  case Opcode::arith_muli: return (x * y).getSExtValue();
  case Opcode::arith_andi: return (x & y).getSExtValue();
  case Opcode::arith_ori: return (x | y).getSExtValue();
  case Opcode::arith_xori: return (x ^ y).getSExtValue();
  case Opcode::arith_maxsi: return llvm::APIntOps::smax(x, y).getSExtValue();
  case Opcode::arith_maxui: return llvm::APIntOps::umax(x, y).getSExtValue();
  case Opcode::arith_minsi: return llvm::APIntOps::smin(x, y).getSExtValue();
  case Opcode::arith_minui: return llvm::APIntOps::umin(x, y).getSExtValue();
  case Opcode::arith_shli: return shift([&](unsigned n) { return x.shl(n); });
  case Opcode::arith_shrsi: return shift([&](unsigned n) { return x.ashr(n); });
  case Opcode::arith_shrui: return shift([&](unsigned n) { return x.lshr(n); });
  case Opcode::arith_divsi: return signedDivides ? std::optional(x.sdiv(y).getSExtValue()) : std::nullopt;
  case Opcode::arith_remsi: return signedDivides ? std::optional(x.srem(y).getSExtValue()) : std::nullopt;
  case Opcode::arith_divui: return divides ? std::optional(x.udiv(y).getSExtValue()) : std::nullopt;
  case Opcode::arith_remui: return divides ? std::optional(x.urem(y).getSExtValue()) : std::nullopt;
  default: return std::nullopt;
  }
}
static bool foldComparison(CmpIPredicate p, int64_t a, int64_t b, unsigned width) {
  llvm::APInt x = llvm::APInt(64, uint64_t(a)).trunc(width), y = llvm::APInt(64, uint64_t(b)).trunc(width);
  switch (p) {
  case CmpIPredicate::Eq: return x == y;
  case CmpIPredicate::Ne: return x != y;
  case CmpIPredicate::Slt: return x.slt(y);
  case CmpIPredicate::Sle: return x.sle(y);
  case CmpIPredicate::Sgt: return x.sgt(y);
  case CmpIPredicate::Sge: return x.sge(y);
  case CmpIPredicate::Ult: return x.ult(y);
  case CmpIPredicate::Ule: return x.ule(y);
  case CmpIPredicate::Ugt: return x.ugt(y);
  case CmpIPredicate::Uge: return x.uge(y);
  }
  return false;
}

namespace {

/// The rules. One object per operation with one result; `run` dispatches.
class Transfer {
public:
  Transfer(const AxisInfoAnalysis &analysis, Operation *op)
      : analysis_(analysis), op_(op), t_(op->result().type()), rank_(rankOf(t_)), r_(unknown(t_)) {}

  AxisInfo run() {
    apply();
    // Numbers of 8 and 16 bits wrap around in ordinary programs.
    bool isNarrow = t_.scalar().isInteger() && width() < kNarrowestIndex;
    if (isNarrow) alignGroups();
    raise(r_, analysis_.statedContiguity(), [&](llvm::StringRef name) { return op_->attr(name); });
    // A group as large as half the type's values would contain the place where its sign changes.
    int64_t most = t_.scalar().isInteger() && t_.scalar().bitWidth() < 62
                       ? int64_t(1) << (std::max(1u, t_.scalar().bitWidth()) - 1)
                       : kMaxDivisor;
    for (unsigned d = 0; d < rank_; ++d) {
      int64_t most1 = std::min(most, std::max<int64_t>(1, dimOf(t_, d)));
      if (r_.contiguity[d] > most1) {
        r_.divisibility[d] = divisibilityAt(r_, d, most1, unitOf(t_));
        r_.contiguity[d] = most1;
      }
      r_.constancy[d] = std::min(r_.constancy[d], std::max<int64_t>(1, dimOf(t_, d)));
    }
    return r_;
  }

private:
  AxisInfo in(unsigned i) const { return analysis_.get(op_->operand(i)); }
  /// The operands of unary and binary operations.
  Value value() const { return UnaryOp(op_).value(); }
  Value lhs() const { return BinaryOp(op_).lhs(); }
  Value rhs() const { return BinaryOp(op_).rhs(); }
  unsigned width() const { return t_.scalar().bitWidth(); }
  void constant(int64_t v) { r_ = constantInfo(t_, v); }
  /// Keeps groups of integers that start at a multiple of their size. No wrap-around and no change of sign falls inside
  /// one, whatever the numbers are.
  void alignGroups() {
    for (unsigned d = 0; d < rank_; ++d) r_.contiguity[d] = minp(r_.contiguity[d], r_.divisibility[d]);
  }
  bool hasUnalignedGroups() const {
    for (unsigned d = 0; d < rank_; ++d)
      if (r_.contiguity[d] > r_.divisibility[d]) return true;
    return false;
  }

  void apply() {
    switch (op_->opcode()) {
    case Opcode::arith_constant: return literal();
    case Opcode::tt_make_range: return range();
    case Opcode::tt_splat: return splat();
    case Opcode::tt_unsplat: {
      AxisInfo a = in(0);
      r_.divisibility[0] = divisibilityOfAll(a);
      r_.constant = a.constant;
      return;
    }
    case Opcode::tt_expand_dims: return expandDims();
    case Opcode::tt_broadcast: return broadcast();
    case Opcode::tt_trans: return transpose();
    case Opcode::tt_reshape: return reshape();
    case Opcode::tt_join: return joinOperands();
    case Opcode::ttg_convert_layout: r_ = in(0); return;
    case Opcode::builtin_unrealized_conversion_cast:
      if (op_->numOperands() == 1 && in(0).rank() == rank_) r_ = in(0);
      return;
    case Opcode::arith_extsi:
    case Opcode::arith_extui:
    case Opcode::arith_trunci:
    case Opcode::arith_index_cast:
    case Opcode::arith_index_castui: return integerCast();
    case Opcode::tt_bitcast:
    case Opcode::arith_bitcast: return bitcast();
    case Opcode::tt_ptr_to_int:
    case Opcode::tt_int_to_ptr: return pointerCast();
    case Opcode::arith_addi: return foldOr(&Transfer::add);
    case Opcode::tt_addptr: return addPointer();
    case Opcode::arith_subi: return foldOr(&Transfer::subtract);
    case Opcode::arith_muli:
    case Opcode::arith_shli: return foldOr(&Transfer::multiply);
    case Opcode::arith_divsi:
    case Opcode::arith_divui:
    case Opcode::arith_shrsi:
    case Opcode::arith_shrui: return foldOr(&Transfer::divide);
    case Opcode::arith_remsi:
    case Opcode::arith_remui: return foldOr(&Transfer::remainder);
    case Opcode::arith_andi:
    case Opcode::arith_ori:
    case Opcode::arith_xori: return foldOr(&Transfer::logic);
    case Opcode::arith_maxsi:
    case Opcode::arith_maxui:
    case Opcode::arith_minsi:
    case Opcode::arith_minui: return foldOr(&Transfer::minMax);
    case Opcode::arith_cmpi: return compare();
    case Opcode::arith_select: return select();
    case Opcode::tt_load: {
      // Equal addresses hold equal values. A pointer to a block says nothing of its elements.
      auto load = op_->cast<tt::LoadOp>();
      if (load.ptr().type().isTensor() == t_.isTensor() && !load.isVolatile()) commonConstancy();
      return;
    }
    case Opcode::tt_reduce: return reduce();
    default:
      // Elementwise work keeps what is constant in all operands.
      if (op_->info().has(kElementwise) && op_->numOperands() && isPure(op_)) commonConstancy();
    }
  }

  /// Constants are computed; the rule covers the rest.
  void foldOr(void (Transfer::*rule)()) {
    AxisInfo a = in(0), b = in(1);
    if (a.constant && b.constant)
      if (auto v = foldConstants(op_->opcode(), *a.constant, *b.constant, width())) return constant(*v);
    (this->*rule)();
  }

  // ---- making and moving elements ----

  void literal() {
    // Constants are kept for integers alone.
    auto *bits = splatBits(op_->attr("value"));
    if (bits && t_.scalar().isIntOrIndex() && bits->getSignificantBits() <= 64) constant(bits->getSExtValue());
  }
  void range() {
    auto m = op_->cast<tt::MakeRangeOp>();
    r_.contiguity[0] = int64_t(m.end()) - m.start();
    r_.divisibility[0] = powerOfTwoDivisor(m.start(), kMaxRangeDivisor);
  }
  void splat() {
    AxisInfo a = in(0);
    int64_t divisibility = a.rank() ? divisibilityOfAll(a, 0, unitOf(t_)) : 1; // of a tensor without dimensions: none
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = dimOf(t_, d);
      r_.divisibility[d] = divisibility;
    }
    r_.constant = a.constant;
  }
  void expandDims() {
    AxisInfo a = in(0);
    unsigned axis = op_->cast<tt::ExpandDimsOp>().axis();
    r_ = a;
    r_.contiguity.insert(r_.contiguity.begin() + axis, 1);
    r_.divisibility.insert(r_.divisibility.begin() + axis, divisibilityOfAll(a));
    r_.constancy.insert(r_.constancy.begin() + axis, 1);
  }
  void broadcast() {
    r_ = in(0);
    for (unsigned d = 0; d < rank_; ++d)
      if (dimOf(value().type(), d) == 1) r_.constancy[d] = dimOf(t_, d);
  }
  void transpose() {
    AxisInfo a = in(0);
    r_.constant = a.constant;
    for (auto [d, from] : llvm::enumerate(op_->cast<tt::TransOp>().order())) {
      r_.contiguity[d] = a.contiguity[from];
      r_.divisibility[d] = a.divisibility[from];
      r_.constancy[d] = a.constancy[from];
    }
  }
  /// In row-major order every dimension owns some bits of the element's number. A result dimension whose lowest bits
  /// are the lowest of a source dimension inherits its groups as far as they go; it is constant as far as each of its
  /// lowest bits is one in which its source dimension is.
  void reshape() {
    AxisInfo a = in(0);
    auto src = value().type().cast<TensorType>(), dst = t_.cast<TensorType>();
    if (a.constant) return constant(*a.constant);
    if (op_->cast<tt::ReshapeOp>().allowReorder()) {
      // In any order: only what holds for every element.
      std::fill(r_.divisibility.begin(), r_.divisibility.end(), divisibilityOfAll(a));
      return;
    }
    llvm::SmallVector<std::pair<unsigned, unsigned>, 16> owner; // bit of the number → source dimension, bit in it
    for (unsigned d = src.rank(); d-- > 0;)
      for (unsigned b = 0; b < llvm::Log2_64(src.dim(d)); ++b) owner.push_back({d, b});
    unsigned low = 0;
    for (unsigned d = rank_; d-- > 0;) {
      unsigned bits = llvm::Log2_64(dst.dim(d));
      while (r_.constancy[d] < dst.dim(d)) {
        auto [from, bit] = owner[low + llvm::Log2_64(r_.constancy[d])];
        if ((int64_t(1) << bit) >= a.constancy[from]) break;
        r_.constancy[d] *= 2;
      }
      if (bits && owner[low].second == 0) {
        auto from = owner[low].first;
        unsigned shared = std::min<unsigned>(bits, llvm::Log2_64(src.dim(from)));
        r_.contiguity[d] = std::min<int64_t>(a.contiguity[from], int64_t(1) << shared);
        if (r_.contiguity[d] > 1) r_.divisibility[d] = divisibilityAt(a, from, r_.contiguity[d], unitOf(t_));
      }
      if (r_.contiguity[d] == 1) r_.divisibility[d] = divisibilityOfAll(a);
      low += bits;
    }
  }
  void joinOperands() {
    AxisInfo a = in(0), b = in(1);
    if (a.constant && a.constant == b.constant) return constant(*a.constant);
    int64_t unit = unitOf(t_);
    bool scalars = !lhs().type().isTensor();
    for (unsigned d = 0; d + 1 < rank_ && !scalars; ++d) {
      r_.contiguity[d] = minp(a.contiguity[d], b.contiguity[d]);
      r_.divisibility[d] =
          minp(divisibilityAt(a, d, r_.contiguity[d], unit), divisibilityAt(b, d, r_.contiguity[d], unit));
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
    r_.divisibility[rank_ - 1] = minp(divisibilityOfAll(a), divisibilityOfAll(b));
  }
  /// Equal operands give equal results.
  void commonConstancy() {
    for (unsigned d = 0; d < rank_; ++d) r_.constancy[d] = dimOf(t_, d);
    for (unsigned i = 0; i < op_->numOperands(); ++i) {
      if (op_->operand(i).type().isTensor() != t_.isTensor()) continue; // a scalar is the same for all
      AxisInfo a = in(i);
      for (unsigned d = 0; d < rank_; ++d) r_.constancy[d] = minp(r_.constancy[d], a.constancy[d]);
    }
  }
  void reduce() {
    if (!t_.isTensor()) return;
    unsigned axis = op_->cast<tt::ReduceOp>().axis();
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = dimOf(t_, d);
      for (unsigned i = 0; i < op_->numOperands(); ++i)
        r_.constancy[d] = minp(r_.constancy[d], in(i).constancy[d < axis ? d : d + 1]);
    }
  }

  // ---- casts ----

  /// A group that starts at a multiple of its size stays one whether bits are added or dropped: it lies inside the
  /// narrower type's range. So does divisibility: what a large power of two divides is zero in fewer bits. Other groups
  /// stay as long as nothing wraps; but a group that passes from -1 to 0 is torn apart by zero extension.
  void integerCast() {
    r_ = in(0);
    bool zeroExtends = op_->is<arith::ExtuiOp>() || op_->is<arith::IndexCastuiOp>();
    if (zeroExtends && hasUnalignedGroups() && !analysis_.nonNegative(value())) alignGroups();
    if (!r_.constant) return;
    unsigned from = value().type().scalar().bitWidth(), to = width();
    if (from > 64 || to > 64) {
      r_.constant.reset();
      return;
    }
    llvm::APInt v = llvm::APInt(64, uint64_t(*r_.constant)).trunc(from);
    v = zeroExtends ? v.zextOrTrunc(to) : v.sextOrTrunc(to);
    constant(v.getSExtValue());
  }
  /// Groups of one element, each of which keeps what divides it; `unit` is the operand's.
  void singleElements(const AxisInfo &operand, int64_t unit) {
    for (unsigned d = 0; d < rank_; ++d) {
      r_.divisibility[d] = divisibilityOfAll(operand, d, unit);
      r_.contiguity[d] = 1;
    }
  }
  void bitcast() {
    Type from = value().type().scalar(), to = t_.scalar();
    AxisInfo a = in(0);
    bool fromPtr = from.isPointer(), toPtr = to.isPointer();
    if (fromPtr && toPtr) {
      r_ = a;
      int64_t unit = unitOf(from);
      if (unit == unitOf(to)) return;
      singleElements(a, unit);
    } else if (!fromPtr && !toPtr && from.bitWidth() == to.bitWidth())
      r_ = a;
    else if (a.rank() == rank_)
      r_.constancy = a.constancy;
  }
  /// Between pointers and the integers that are their addresses; only steps of one byte are contiguous in both.
  void pointerCast() {
    AxisInfo a = in(0);
    r_ = a;
    int64_t unit = op_->is<tt::PtrToIntOp>() ? unitOf(value().type()) : 1;
    bool bytes = unit == 1 && unitOf(t_) == 1 && (op_->is<tt::IntToPtrOp>() || width() == 64);
    if (!bytes) singleElements(a, unit);
    r_.constant.reset();
  }

  // ---- arithmetic ----

  void addDim(const AxisInfo &a, const AxisInfo &b, unsigned d, int64_t unit) {
    r_.contiguity[d] = std::max(minp(a.contiguity[d], b.constancy[d]), minp(a.constancy[d], b.contiguity[d]));
    r_.divisibility[d] =
        minp(divisibilityAt(a, d, r_.contiguity[d], unit), capped(divisibilityAt(b, d, r_.contiguity[d]), unit));
    r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
  }
  void add() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) {
      addDim(a, b, d, 1);
      // Groups on both sides rise by two.
      if (r_.contiguity[d] == 1 && a.contiguity[d] > 1 && b.contiguity[d] > 1)
        r_.divisibility[d] = minp(2, minp(a.divisibility[d], b.divisibility[d]));
    }
  }
  /// Pointers: contiguity in elements, divisibility in bytes. A narrow offset is sign-extended.
  void addPointer() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) addDim(a, b, d, unitOf(t_));
  }
  void subtract() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) {
      r_.contiguity[d] = minp(a.contiguity[d], b.constancy[d]);
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d]), divisibilityOfAll(b, d));
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      if (r_.contiguity[d] > 1 || a.contiguity[d] == 1 || b.contiguity[d] == 1) continue;
      // Groups of one size cancel out; of others, both rise by one from even values.
      int64_t both = minp(a.divisibility[d], b.divisibility[d]);
      r_.divisibility[d] = a.contiguity[d] == b.contiguity[d] ? both : minp(2, both);
    }
  }
  /// The power of two that a shift by a constant multiplies or divides by; none for other amounts.
  std::optional<AxisInfo> powerOfShift() const {
    AxisInfo b = in(1);
    if (!b.constant || *b.constant < 0 || *b.constant >= std::min(width(), 62u)) return std::nullopt;
    return constantInfo(rhs().type(), int64_t(1) << *b.constant);
  }
  void multiply() {
    AxisInfo a = in(0), b = in(1);
    if (op_->is<arith::ShliOp>()) {
      auto power = powerOfShift();
      if (!power) {
        // Some power of two: bits only move up.
        for (unsigned d = 0; d < rank_; ++d) {
          r_.divisibility[d] = divisibilityOfAll(a, d);
          r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
        }
        return;
      }
      b = *power;
    }
    if (a.constant == 0 || b.constant == 0) return constant(0);
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      const AxisInfo *kept = b.constant == 1 ? &a : a.constant == 1 ? &b : nullptr;
      if (kept) {
        r_.contiguity[d] = kept->contiguity[d];
        r_.divisibility[d] = kept->divisibility[d];
      } else
        r_.divisibility[d] = capped(divisibilityOfAll(a, d), divisibilityOfAll(b, d));
    }
  }
  void divide() {
    AxisInfo a = in(0), b = in(1);
    bool shift = op_->is<arith::ShrsiOp>() || op_->is<arith::ShruiOp>();
    for (unsigned d = 0; d < rank_; ++d) r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    if (shift) {
      auto power = powerOfShift();
      if (!power) return;
      b = *power;
    }
    if (b.constant == 1) {
      r_.contiguity = a.contiguity;
      r_.divisibility = a.divisibility;
      r_.constancy = a.constancy;
      return;
    }
    // Rounding down, consecutive numbers from a multiple of the divisor's power of two share their quotient. Signed
    // division rounds negative ones up; a shift rounds down always.
    bool down = !op_->is<arith::DivsiOp>() || analysis_.nonNegative(lhs());
    bool exact = b.constant && *b.constant > 0 && llvm::isPowerOf2_64(*b.constant);
    for (unsigned d = 0; d < rank_; ++d) {
      if (down && a.contiguity[d] > 1)
        r_.constancy[d] = std::max(
            r_.constancy[d], minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d])));
      if (exact) r_.divisibility[d] = std::max<int64_t>(1, divisibilityOfAll(a, d) / *b.constant);
    }
  }
  void remainder() {
    AxisInfo a = in(0), b = in(1);
    if (b.constant == 1) return constant(0);
    // A group from a multiple of the divisor's power of two does not reach its next multiple. A negative dividend's
    // remainder is negative, but for the group's first, which may be zero.
    bool inside = op_->is<arith::RemuiOp>() || analysis_.nonNegative(lhs());
    for (unsigned d = 0; d < rank_; ++d) {
      if (inside)
        r_.contiguity[d] = minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d]));
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d]), divisibilityOfAll(b, d));
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
  }
  void logic() {
    AxisInfo a = in(0), b = in(1);
    bool conjunction = op_->is<arith::AndiOp>();
    if (conjunction && a.constant) std::swap(a, b);
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      int64_t da = divisibilityOfAll(a, d), db = divisibilityOfAll(b, d);
      r_.divisibility[d] = conjunction ? std::max(da, db) : minp(da, db);
      if (!conjunction || !b.constant || a.contiguity[d] == 1) continue;
      // Consecutive numbers differ in their low bits: a mask that drops those makes them equal, one that keeps them
      // leaves them consecutive.
      int64_t group = minp(a.contiguity[d], a.divisibility[d]), zeros = powerOfTwoDivisor(*b.constant),
              ones = powerOfTwoDivisor(~*b.constant);
      r_.constancy[d] = std::max(r_.constancy[d], minp(group, zeros));
      r_.contiguity[d] = minp(group, ones);
      if (r_.contiguity[d] > 1) r_.divisibility[d] = divisibilityAt(a, d, r_.contiguity[d]);
    }
  }
  void minMax() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) {
      // Of two groups the one with the larger first element is larger throughout. (Read as unsigned numbers, only if
      // neither passes from -1 to 0.)
      r_.contiguity[d] = minp(a.contiguity[d], b.contiguity[d]);
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d]), divisibilityAt(b, d, r_.contiguity[d]));
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
    bool isUnsigned = op_->is<arith::MinuiOp>() || op_->is<arith::MaxuiOp>();
    auto signsKnown = [&] { return analysis_.nonNegative(lhs()) && analysis_.nonNegative(rhs()); };
    if (isUnsigned && hasUnalignedGroups() && !signsKnown()) alignGroups();
  }
  void compare() {
    AxisInfo a = in(0), b = in(1);
    auto p = op_->cast<arith::CmpiOp>().predicate();
    unsigned bits = lhs().type().scalar().bitWidth();
    if (a.constant && b.constant && bits <= 64) return constant(foldComparison(p, *a.constant, *b.constant, bits));
    bool low = p == CmpIPredicate::Slt || p == CmpIPredicate::Ult || p == CmpIPredicate::Sge || p == CmpIPredicate::Uge;
    bool high =
        p == CmpIPredicate::Sgt || p == CmpIPredicate::Ugt || p == CmpIPredicate::Sle || p == CmpIPredicate::Ule;
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      // x + i < n, i below a power of two that divides both, is one answer for all i.
      int64_t common = minp(a.divisibility[d], b.divisibility[d]);
      if (low) r_.constancy[d] = std::max(r_.constancy[d], minp(minp(a.contiguity[d], b.constancy[d]), common));
      if (high) r_.constancy[d] = std::max(r_.constancy[d], minp(minp(b.contiguity[d], a.constancy[d]), common));
    }
  }
  void select() {
    AxisInfo c = in(0), a = in(1), b = in(2);
    if (c.constant) {
      r_ = *c.constant ? a : b;
      return;
    }
    if (a.constant && a.constant == b.constant) return constant(*a.constant);
    bool scalar = !op_->cast<arith::SelectOp>().condition().type().isTensor();
    int64_t unit = unitOf(t_);
    for (unsigned d = 0; d < rank_; ++d) {
      int64_t limit = scalar ? INT64_MAX : c.constancy[d];
      r_.contiguity[d] = minp(minp(a.contiguity[d], b.contiguity[d]), limit);
      r_.constancy[d] = minp(minp(a.constancy[d], b.constancy[d]), limit);
      r_.divisibility[d] =
          minp(divisibilityAt(a, d, r_.contiguity[d], unit), divisibilityAt(b, d, r_.contiguity[d], unit));
    }
  }

  const AxisInfoAnalysis &analysis_;
  Operation *op_;
  Type t_;
  unsigned rank_;
  AxisInfo r_;
};

} // namespace

AxisInfo resultInfo(const AxisInfoAnalysis &analysis, Operation *op) { return Transfer(analysis, op).run(); }

} // namespace tessera::transforms::axis_rules
