// AxisInfo (see axis_info.h): a forward walk per function, callers before callees. Values that loops and branches carry
// start from what first reaches them and are joined with all else that does until nothing falls any more.
//
// Each rule below gives the claim for one operation from the claims for its operands. Two quantities recur: what divides
// the values at the starts of groups of a given size (divisibilityAt), and what divides every value (divisibilityOfAll);
// they differ from `divisibility` where the operand's own groups are larger than one.
#include "transforms/analyses/axis_info.h"
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera::transforms {
using namespace ir;

/// The largest divisor that is told apart: what divides zero. For ranges from zero it is bounded by their 32 bits.
static constexpr int64_t kMaxDivisor = int64_t(1) << 62, kMaxRangeDivisor = int64_t(1) << 30;

static int64_t powerOfTwoDivisor(int64_t v, int64_t most = kMaxDivisor) { return v == 0 ? most : std::min<int64_t>(most, int64_t(1) << std::min(62, llvm::countr_zero(uint64_t(v)))); }
static int64_t capped(int64_t a, int64_t b) { return a > kMaxDivisor / b ? kMaxDivisor : a * b; }
static int64_t minp(int64_t a, int64_t b) { return std::min(a, b); } // gcd of powers of two

static unsigned rankOf(Type t) { return t.isTensor() ? t.cast<TensorType>().rank() : 1; }
static int64_t dimOf(Type t, unsigned d) { return t.isTensor() ? t.cast<TensorType>().dim(d) : 1; }
/// What one step of contiguity adds in the unit of divisibility: bytes of the element for pointers.
static int64_t unitOf(Type t) {
  auto p = t.scalar().dyn_cast<PointerType>();
  return !p || p.pointee().isTensor() ? 1 : std::max<int64_t>(1, p.pointee().bitWidth() / 8);
}

static AxisInfo unknown(Type t) {
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

/// What divides an operand's values at the starts of groups of `group` elements, which may lie inside its own groups.
static int64_t divisibilityAt(const AxisInfo &i, unsigned d, int64_t group, int64_t unit = 1) { return i.contiguity[d] > group ? minp(i.divisibility[d], capped(group, unit)) : i.divisibility[d]; }
/// … every value, contiguous ones included.
static int64_t divisibilityOfAll(const AxisInfo &i, unsigned d, int64_t unit = 1) { return divisibilityAt(i, d, 1, unit); }
/// What divides every value, whichever dimension tells it.
static int64_t divisibilityOfAll(const AxisInfo &i) {
  int64_t all = 1;
  for (unsigned d = 0; d < i.rank(); ++d)
    if (i.contiguity[d] == 1) all = std::max(all, i.divisibility[d]);
  return all;
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
  Transfer(const AxisInfoAnalysis &analysis, Operation *op) : analysis_(analysis), op_(op), t_(op->result().type()), rank_(rankOf(t_)), r_(unknown(t_)) {}

  AxisInfo run() {
    apply();
    hints();
    // A group as large as half the type's values would contain the place where its sign changes.
    int64_t most = t_.scalar().isInteger() && t_.scalar().bitWidth() < 62 ? int64_t(1) << (std::max(1u, t_.scalar().bitWidth()) - 1) : kMaxDivisor;
    for (unsigned d = 0; d < rank_; ++d) {
      int64_t most1 = std::min(most, std::max<int64_t>(1, dimOf(t_, d)));
      if (r_.contiguity[d] > most1) r_.divisibility[d] = divisibilityAt(r_, d, most1, unitOf(t_)), r_.contiguity[d] = most1;
      r_.constancy[d] = std::min(r_.constancy[d], std::max<int64_t>(1, dimOf(t_, d)));
    }
    return r_;
  }

private:
  AxisInfo in(unsigned i) const { return analysis_.get(op_->operand(i)); }
  unsigned width() const { return t_.scalar().bitWidth(); }
  void constant(int64_t v) { r_ = constantInfo(t_, v); }

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
    case Opcode::tt_load:
      // Equal addresses hold equal values. A pointer to a block says nothing of its elements.
      if (op_->operand(0).type().isTensor() == t_.isTensor() && !op_->cast<tt::LoadOp>().isVolatile()) commonConstancy();
      return;
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
    // Nothing asks about floats.
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
    for (unsigned d = 0; d < rank_; ++d) r_.constancy[d] = dimOf(t_, d), r_.divisibility[d] = divisibilityOfAll(a, 0, unitOf(t_));
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
      if (dimOf(op_->operand(0).type(), d) == 1) r_.constancy[d] = dimOf(t_, d);
  }
  void transpose() {
    AxisInfo a = in(0);
    r_.constant = a.constant;
    for (auto [d, from] : llvm::enumerate(op_->cast<tt::TransOp>().order())) r_.contiguity[d] = a.contiguity[from], r_.divisibility[d] = a.divisibility[from], r_.constancy[d] = a.constancy[from];
  }
  /// In row-major order every dimension owns some bits of the element's number. A result dimension whose lowest bits are
  /// the lowest of a source dimension inherits its groups as far as they go; it is constant as far as each of its lowest
  /// bits is one in which its source dimension is.
  void reshape() {
    AxisInfo a = in(0);
    auto src = op_->operand(0).type().cast<TensorType>(), dst = t_.cast<TensorType>();
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
    bool scalars = !op_->operand(0).type().isTensor();
    for (unsigned d = 0; d + 1 < rank_ && !scalars; ++d) {
      r_.contiguity[d] = minp(a.contiguity[d], b.contiguity[d]);
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d], unit), divisibilityAt(b, d, r_.contiguity[d], unit));
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
      for (unsigned i = 0; i < op_->numOperands(); ++i) r_.constancy[d] = minp(r_.constancy[d], in(i).constancy[d < axis ? d : d + 1]);
    }
  }

  // ---- casts ----

  /// A group that starts at a multiple of its size stays one whether bits are added or dropped: it lies inside the
  /// narrower type's range. So does divisibility: what a large power of two divides is zero in fewer bits.
  void integerCast() {
    r_ = in(0);
    if (!r_.constant) return;
    unsigned from = op_->operand(0).type().scalar().bitWidth(), to = width();
    if (from > 64 || to > 64) {
      r_.constant.reset();
      return;
    }
    llvm::APInt v = llvm::APInt(64, uint64_t(*r_.constant)).trunc(from);
    bool zero = op_->is<arith::ExtuiOp>() || op_->is<arith::IndexCastuiOp>();
    v = zero ? v.zextOrTrunc(to) : v.sextOrTrunc(to);
    constant(v.getSExtValue());
  }
  void bitcast() {
    Type from = op_->operand(0).type().scalar(), to = t_.scalar();
    AxisInfo a = in(0);
    bool fromPtr = from.isPointer(), toPtr = to.isPointer();
    if (fromPtr && toPtr) {
      r_ = a;
      int64_t unit = unitOf(from);
      if (unit == unitOf(to)) return;
      for (unsigned d = 0; d < rank_; ++d) r_.divisibility[d] = divisibilityOfAll(a, d, unit), r_.contiguity[d] = 1;
    } else if (!fromPtr && !toPtr && from.bitWidth() == to.bitWidth()) r_ = a;
    else if (a.rank() == rank_) r_.constancy = a.constancy;
  }
  /// Between pointers and the integers that are their addresses; only steps of one byte are contiguous in both.
  void pointerCast() {
    AxisInfo a = in(0);
    r_ = a;
    int64_t unit = op_->is<tt::PtrToIntOp>() ? unitOf(op_->operand(0).type()) : 1;
    bool bytes = unit == 1 && unitOf(t_) == 1 && (op_->is<tt::IntToPtrOp>() || width() == 64);
    for (unsigned d = 0; d < rank_ && !bytes; ++d) r_.divisibility[d] = divisibilityOfAll(a, d, unit), r_.contiguity[d] = 1;
    r_.constant.reset();
  }

  // ---- arithmetic ----

  void addDim(const AxisInfo &a, const AxisInfo &b, unsigned d, int64_t unit) {
    r_.contiguity[d] = std::max(minp(a.contiguity[d], b.constancy[d]), minp(a.constancy[d], b.contiguity[d]));
    r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d], unit), capped(divisibilityAt(b, d, r_.contiguity[d]), unit));
    r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
  }
  void add() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) {
      addDim(a, b, d, 1);
      // Groups on both sides rise by two.
      if (r_.contiguity[d] == 1 && a.contiguity[d] > 1 && b.contiguity[d] > 1) r_.divisibility[d] = minp(2, minp(a.divisibility[d], b.divisibility[d]));
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
  /// The right operand of a shift by a constant as the factor that it stands for; nothing for other amounts.
  std::optional<AxisInfo> shiftFactor() const {
    AxisInfo b = in(1);
    if (!b.constant || *b.constant < 0 || *b.constant >= std::min(width(), 62u)) return std::nullopt;
    return constantInfo(op_->operand(1).type(), int64_t(1) << *b.constant);
  }
  void multiply() {
    AxisInfo a = in(0), b = in(1);
    if (op_->is<arith::ShliOp>()) {
      auto factor = shiftFactor();
      if (!factor) {
        // Some power of two: bits only move up.
        for (unsigned d = 0; d < rank_; ++d) r_.divisibility[d] = divisibilityOfAll(a, d), r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
        return;
      }
      b = *factor;
    }
    if (a.constant == 0 || b.constant == 0) return constant(0);
    for (unsigned d = 0; d < rank_; ++d) {
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      const AxisInfo *kept = b.constant == 1 ? &a : a.constant == 1 ? &b : nullptr;
      if (kept) r_.contiguity[d] = kept->contiguity[d], r_.divisibility[d] = kept->divisibility[d];
      else r_.divisibility[d] = capped(divisibilityOfAll(a, d), divisibilityOfAll(b, d));
    }
  }
  void divide() {
    AxisInfo a = in(0), b = in(1);
    bool shift = op_->is<arith::ShrsiOp>() || op_->is<arith::ShruiOp>();
    for (unsigned d = 0; d < rank_; ++d) r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    if (shift) {
      auto factor = shiftFactor();
      if (!factor) return;
      b = *factor;
    }
    if (b.constant == 1) {
      r_.contiguity = a.contiguity, r_.divisibility = a.divisibility, r_.constancy = a.constancy;
      return;
    }
    // Rounding down, consecutive numbers from a multiple of the divisor's power of two share their quotient. Signed
    // division rounds negative ones up; a shift rounds down always.
    bool down = !op_->is<arith::DivsiOp>() || analysis_.nonNegative(op_->operand(0));
    bool exact = b.constant && *b.constant > 0 && llvm::isPowerOf2_64(*b.constant);
    for (unsigned d = 0; d < rank_; ++d) {
      if (down && a.contiguity[d] > 1) r_.constancy[d] = std::max(r_.constancy[d], minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d])));
      if (exact) r_.divisibility[d] = std::max<int64_t>(1, divisibilityOfAll(a, d) / *b.constant);
    }
  }
  void remainder() {
    AxisInfo a = in(0), b = in(1);
    if (b.constant == 1) return constant(0);
    // A group from a multiple of the divisor's power of two does not reach its next multiple. A negative dividend's
    // remainder is negative, but for the group's first, which may be zero.
    bool inside = op_->is<arith::RemuiOp>() || analysis_.nonNegative(op_->operand(0));
    for (unsigned d = 0; d < rank_; ++d) {
      if (inside) r_.contiguity[d] = minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d]));
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
      int64_t group = minp(a.contiguity[d], a.divisibility[d]), zeros = powerOfTwoDivisor(*b.constant), ones = powerOfTwoDivisor(~*b.constant);
      r_.constancy[d] = std::max(r_.constancy[d], minp(group, zeros));
      r_.contiguity[d] = minp(group, ones);
      if (r_.contiguity[d] > 1) r_.divisibility[d] = divisibilityAt(a, d, r_.contiguity[d]);
    }
  }
  void minMax() {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank_; ++d) {
      // Of two groups the one with the larger first element is larger throughout.
      r_.contiguity[d] = minp(a.contiguity[d], b.contiguity[d]);
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d]), divisibilityAt(b, d, r_.contiguity[d]));
      r_.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
  }
  void compare() {
    AxisInfo a = in(0), b = in(1);
    auto p = op_->cast<arith::CmpiOp>().predicate();
    unsigned bits = op_->operand(0).type().scalar().bitWidth();
    if (a.constant && b.constant && bits <= 64) return constant(foldComparison(p, *a.constant, *b.constant, bits));
    bool low = p == CmpIPredicate::Slt || p == CmpIPredicate::Ult || p == CmpIPredicate::Sge || p == CmpIPredicate::Uge;
    bool high = p == CmpIPredicate::Sgt || p == CmpIPredicate::Ugt || p == CmpIPredicate::Sle || p == CmpIPredicate::Ule;
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
    bool scalar = !op_->operand(0).type().isTensor();
    int64_t unit = unitOf(t_);
    for (unsigned d = 0; d < rank_; ++d) {
      int64_t limit = scalar ? INT64_MAX : c.constancy[d];
      r_.contiguity[d] = minp(minp(a.contiguity[d], b.contiguity[d]), limit);
      r_.constancy[d] = minp(minp(a.constancy[d], b.constancy[d]), limit);
      r_.divisibility[d] = minp(divisibilityAt(a, d, r_.contiguity[d], unit), divisibilityAt(b, d, r_.contiguity[d], unit));
    }
  }

  /// What the frontend promised (tl.multiple_of and its kin).
  void hints();

  const AxisInfoAnalysis &analysis_;
  Operation *op_;
  Type t_;
  unsigned rank_;
  AxisInfo r_;
};

/// Raises a field to what an attribute promises: one number for all dimensions (of a scalar attribute or a splat), or one
/// for each. Numbers count by their power of two.
void promise(Attribute a, llvm::SmallVectorImpl<int64_t> &field) {
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

void Transfer::hints() {
  promise(op_->attr("tt.contiguity"), r_.contiguity);
  promise(op_->attr("tt.divisibility"), r_.divisibility);
  promise(op_->attr("tt.constancy"), r_.constancy);
}

} // namespace

AxisInfo AxisInfoAnalysis::get(Value v) const {
  auto it = info_.find(v);
  return it != info_.end() ? it->second : unknown(v.type());
}

/// What holds for both. Constancy stays where the constants differ: each reaches the whole tensor.
static void meet(AxisInfo &i, const AxisInfo &n, int64_t unit) {
  for (unsigned d = 0; d < i.rank(); ++d) {
    int64_t c = minp(i.contiguity[d], n.contiguity[d]);
    i.divisibility[d] = minp(divisibilityAt(i, d, c, unit), divisibilityAt(n, d, c, unit));
    i.contiguity[d] = c;
    i.constancy[d] = minp(i.constancy[d], n.constancy[d]);
  }
  if (i.constant != n.constant) i.constant.reset();
}

bool AxisInfoAnalysis::join(Value v, const AxisInfo &n) {
  auto [it, fresh] = info_.try_emplace(v, n);
  if (fresh) return true;
  AxisInfo old = it->second;
  meet(it->second, n, unitOf(v.type()));
  return !(it->second == old);
}

void AxisInfoAnalysis::visitFor(Operation *op) {
  auto f = op->cast<scf::ForOp>();
  Block *b = f.body().front();
  // The induction variable: what divides the lower bound and the step.
  AxisInfo lo = get(f.lowerBound()), st = get(f.step()), iv = unknown(f.lowerBound().type());
  iv.divisibility[0] = minp(lo.divisibility[0], st.divisibility[0]);
  info_[b->arg(0)] = iv;
  for (unsigned i = 0; i < f.initArgs().size(); ++i) info_[b->arg(i + 1)] = get(f.initArgs()[i]);
  for (bool changed = true; changed;) {
    changed = false;
    block(b);
    Operation *y = b->terminator();
    for (unsigned i = 0; i < f.initArgs().size(); ++i) changed |= join(b->arg(i + 1), get(y->operand(i)));
  }
  for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(b->arg(i + 1));
}

void AxisInfoAnalysis::visitWhile(Operation *op) {
  auto w = op->cast<scf::WhileOp>();
  Block *before = w.before().front(), *after = w.after().front();
  for (unsigned i = 0; i < w.inits().size(); ++i) info_[before->arg(i)] = get(w.inits()[i]);
  for (bool changed = true; changed;) {
    changed = false;
    block(before);
    auto args = before->terminator()->cast<scf::ConditionOp>().args();
    for (unsigned i = 0; i < args.size(); ++i) info_[after->arg(i)] = get(args[i]);
    block(after);
    for (unsigned i = 0; i < w.inits().size(); ++i) changed |= join(before->arg(i), get(after->terminator()->operand(i)));
  }
  for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(after->arg(i));
}

void AxisInfoAnalysis::visitIf(Operation *op) {
  for (auto &r : op->regions()) region(r);
  for (unsigned i = 0; i < op->numResults(); ++i) {
    info_.erase(op->result(i));
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        if (Operation *y = b->terminator(); y && y->is<scf::YieldOp>()) join(op->result(i), get(y->operand(i)));
  }
}

/// The partitions see the captured values through arguments.
void AxisInfoAnalysis::visitWarpSpecialize(Operation *op) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  region(w.defaultRegion());
  if (Operation *y = w.defaultRegion().empty() ? nullptr : w.defaultRegion().back()->terminator(); y && y->numOperands() == op->numResults())
    for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(y->operand(i));
  if (w.partitionOpHolder().empty()) return;
  for (auto &holder : *w.partitionOpHolder().front())
    for (auto &r : holder.regions()) {
      auto captures = holder.numOperands() ? holder.operands() : w.explicitCaptures();
      if (r.empty()) continue;
      for (unsigned i = 0; i < std::min(captures.size(), r.front()->numArgs()); ++i) info_[r.front()->arg(i)] = get(captures[i]);
      region(r);
    }
}

void AxisInfoAnalysis::visit(Operation *op) {
  switch (op->opcode()) {
  case Opcode::scf_for: return visitFor(op);
  case Opcode::scf_while: return visitWhile(op);
  case Opcode::scf_if: return visitIf(op);
  case Opcode::ttg_warp_specialize: return visitWarpSpecialize(op);
  case Opcode::tt_call: {
    Operation *callee = op->module().lookupSymbol(op->cast<tt::CallOp>().callee());
    if (!callee) return;
    auto &args = callArgs_[callee];
    args.resize(op->numOperands());
    for (unsigned i = 0; i < op->numOperands(); ++i) {
      AxisInfo a = get(op->operand(i));
      if (args[i] && args[i]->rank() == a.rank()) meet(*args[i], a, unitOf(op->operand(i).type()));
      else args[i] = a;
    }
    return;
  }
  case Opcode::tt_split:
    // Every second element: the other dimensions are untouched.
    for (auto r : op->results()) {
      AxisInfo a = get(op->operand(0));
      info_[r] = unknown(r.type());
      if (!r.type().isTensor()) {
        info_[r].divisibility[0] = divisibilityOfAll(a), info_[r].constant = a.constant;
        continue;
      }
      a.contiguity.pop_back(), a.divisibility.pop_back(), a.constancy.pop_back();
      info_[r] = a;
    }
    return;
  default: break;
  }
  for (auto &r : op->regions()) region(r);
  if (op->numResults() == 1 && !op->result().type().isa<MemDescType>()) info_[op->result()] = Transfer(*this, op).run();
}

void AxisInfoAnalysis::block(Block *b) {
  for (auto &op : *b) visit(&op);
}

/// Blocks with branches between them: arguments start from the first branch that reaches them.
void AxisInfoAnalysis::region(Region &r) {
  if (r.empty()) return;
  if (r.hasOneBlock()) return block(r.front());
  llvm::SetVector<Block *> reached;
  reached.insert(r.front());
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned n = 0; n < reached.size(); ++n) {
      Block *b = reached[n];
      block(b);
      Operation *end = b->terminator();
      if (!end) continue;
      auto carry = [&](Block *to, OperandRange values) {
        changed |= reached.insert(to);
        for (unsigned i = 0; i < to->numArgs(); ++i) changed |= join(to->arg(i), i < values.size() ? get(values[i]) : unknown(to->arg(i).type()));
      };
      if (auto br = end->dyn<cf::BrOp>()) carry(end->successor(0), br.args());
      else if (auto cond = end->dyn<cf::CondBrOp>()) {
        carry(end->successor(0), cond.trueArgs());
        carry(end->successor(1), cond.falseArgs());
      } else
        for (Block *to : end->successors()) carry(to, {});
    }
  }
}

void AxisInfoAnalysis::function(Operation *op) {
  Block *entry = op->region(0).front();
  auto attrs = op->attr<ArrayAttr>("arg_attrs");
  auto visibility = op->attr<StringAttr>("sym_visibility");
  // Where all calls are known, arguments are what they pass.
  auto *calls = callArgs_.count(op) && !(visibility && visibility.value() == "public") ? &callArgs_[op] : nullptr;
  for (unsigned i = 0; i < entry->numArgs(); ++i) {
    AxisInfo info = unknown(entry->arg(i).type());
    if (calls && i < calls->size() && (*calls)[i] && (*calls)[i]->rank() == info.rank()) info = *(*calls)[i];
    if (auto d = attrs && i < attrs.size() ? attrs[i].dyn_cast<DictionaryAttr>() : DictionaryAttr()) {
      promise(d.get("tt.contiguity"), info.contiguity);
      promise(d.get("tt.divisibility"), info.divisibility);
      promise(d.get("tt.constancy"), info.constancy);
    }
    for (unsigned k = 0; k < info.rank(); ++k) {
      int64_t size = std::max<int64_t>(1, dimOf(entry->arg(i).type(), k));
      info.contiguity[k] = std::min(info.contiguity[k], size), info.constancy[k] = std::min(info.constancy[k], size);
    }
    info_[entry->arg(i)] = info;
  }
  region(op->region(0));
}

AxisInfoAnalysis::AxisInfoAnalysis(Module &m) : signs_(m) {
  // Callers first; what calls itself in a circle knows nothing of its arguments.
  llvm::DenseMap<Operation *, unsigned> callers;
  llvm::SmallVector<Operation *, 8> functions, ready;
  auto forCallees = [&](Operation *f, auto act) {
    f->walk([&](Operation *op) {
      if (auto call = op->dyn<tt::CallOp>())
        if (Operation *callee = m.lookupSymbol(call.callee()); callee && callee->is<tt::FuncOp>() && !callee->region(0).empty()) act(callee);
    });
  };
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>() && !op.region(0).empty()) functions.push_back(&op);
  for (auto *f : functions) forCallees(f, [&](Operation *callee) { ++callers[callee]; });
  for (auto *f : functions)
    if (!callers[f]) ready.push_back(f);
  llvm::DenseSet<Operation *> done;
  for (unsigned n = 0; n < ready.size(); ++n) {
    function(ready[n]);
    done.insert(ready[n]);
    forCallees(ready[n], [&](Operation *callee) {
      if (!--callers[callee]) ready.push_back(callee);
    });
  }
  for (auto *f : functions)
    if (!done.contains(f)) {
      callArgs_.erase(f);
      function(f);
    }
}

int64_t AxisInfoAnalysis::alignment(Value ptr, unsigned dim) const { return get(ptr).divisibility[dim]; }
int64_t AxisInfoAnalysis::contiguousElements(Value ptr, unsigned dim) const {
  AxisInfo i = get(ptr);
  return std::max<int64_t>(1, minp(i.contiguity[dim], std::max<int64_t>(1, i.divisibility[dim] / unitOf(ptr.type()))));
}
int64_t AxisInfoAnalysis::maskConstancy(Value mask, unsigned dim) const { return get(mask).constancy[dim]; }

} // namespace tessera::transforms
