// The rules of integer facts (see integer_rules.h). Bounds are computed in 128 bits, in which no add, mul or shift
// of 64-bit numbers overflows; what leaves the type is then given up or cut off, as the mode says (`fitted`).
#include "transforms/analyses/integer_rules.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::transforms::integer_rules {
using namespace ir;

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
using Wide = __int128;
#pragma clang diagnostic pop

/// Program ids are i32; a grid has at most 2^31 - 1 programs along a dimension.
static constexpr int64_t kMaxPrograms = INT32_MAX;

unsigned widthOf(Type t, unsigned indexBits) {
  Type s = t.scalar();
  return s.isIndex() ? indexBits : s.isInteger() ? s.bitWidth() : 0;
}

IntegerRange allOf(unsigned width) {
  return {llvm::APInt::getSignedMinValue(width).getSExtValue(), llvm::APInt::getSignedMaxValue(width).getSExtValue()};
}

static IntegerRange unionOf(IntegerRange a, IntegerRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

static std::optional<IntegerRange> rangeOfConstant(Attribute a) {
  llvm::ArrayRef<llvm::APInt> values;
  if (auto dense = a.dyn_cast<DenseElementsAttr>())
    values = dense.storage()->elements;
  else if (a.isa<IntegerAttr>())
    values = a.storage()->bits;
  if (values.empty()) return {};
  IntegerRange r{values[0].getSExtValue(), values[0].getSExtValue()};
  for (auto &x : values) r = unionOf(r, {x.getSExtValue(), x.getSExtValue()});
  return r;
}

namespace {

/// The rule for one operation.
class Rule {
public:
  Rule(Operation *op, llvm::function_ref<IntegerRange(unsigned)> operand, Overflow overflow, unsigned indexBits)
      : op_(op), operand_(operand), indexBits_(indexBits), width_(widthOf(op->result(0).type(), indexBits)),
        all_(allOf(width_)), assumed_(overflow == Overflow::Assumed && width_ >= kNarrowestIndex) {}

  IntegerRange run() const;

private:
  IntegerRange in(unsigned i) const { return operand_(i); }
  /// Of a conversion's operand.
  unsigned operandWidth() const { return widthOf(UnaryOp(op_).value().type(), indexBits_); }
  /// The greatest number of the width read as unsigned.
  Wide maxUnsigned() const { return (Wide(1) << width_) - 1; }

  /// [low, high] if it lies within the type.
  IntegerRange within(Wide low, Wide high) const {
    return low >= all_.low && high <= all_.high ? IntegerRange{int64_t(low), int64_t(high)} : all_;
  }
  /// The same for results that may wrap. If they are assumed not to, the part inside the type.
  IntegerRange fitted(Wide low, Wide high) const {
    if (!assumed_ || high < all_.low || low > all_.high) return within(low, high);
    return {int64_t(std::max<Wide>(low, all_.low)), int64_t(std::min<Wide>(high, all_.high))};
  }

  IntegerRange constant() const {
    auto r = rangeOfConstant(op_->attr("value"));
    return r ? within(r->low, r->high) : all_;
  }
  IntegerRange zeroExtension() const;
  IntegerRange truncation() const;
  IntegerRange add() const;
  IntegerRange subtract() const;
  IntegerRange multiply() const;
  IntegerRange shift() const;
  IntegerRange divisor() const;
  IntegerRange divideSigned() const;
  IntegerRange remainderSigned() const;
  IntegerRange divideUnsigned() const;
  IntegerRange remainderUnsigned() const;
  IntegerRange bitwise() const;
  IntegerRange minMax() const;

  Operation *op_;
  llvm::function_ref<IntegerRange(unsigned)> operand_;
  unsigned indexBits_, width_;
  IntegerRange all_;
  bool assumed_;
};

IntegerRange Rule::zeroExtension() const {
  unsigned from = operandWidth();
  if (from > 64) return all_; // a cast to index, which cuts off
  IntegerRange r = in(0);
  if (r.low >= 0) return within(r.low, r.high);
  return from < width_ ? within(0, (Wide(1) << from) - 1) : all_;
}

IntegerRange Rule::truncation() const {
  if (operandWidth() > 64) return all_;
  IntegerRange r = in(0);
  return within(r.low, r.high);
}

IntegerRange Rule::add() const {
  IntegerRange a = in(0), b = in(1);
  return fitted(Wide(a.low) + b.low, Wide(a.high) + b.high);
}

IntegerRange Rule::subtract() const {
  IntegerRange a = in(0), b = in(1);
  return fitted(Wide(a.low) - b.high, Wide(a.high) - b.low);
}

IntegerRange Rule::multiply() const {
  IntegerRange a = in(0), b = in(1);
  Wide corners[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
  return fitted(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

IntegerRange Rule::shift() const {
  IntegerRange a = in(0), by = in(1);
  int64_t least = std::max<int64_t>(by.low, 0), most = std::min<int64_t>(by.high, width_ - 1);
  if (least > most) return all_; // undefined
  if (op_->is<arith::ShliOp>()) {
    // Away from zero: numbers of either sign grow with the amount.
    Wide few = Wide(1) << least, many = Wide(1) << most;
    return fitted(a.low * (a.low < 0 ? many : few), a.high * (a.high < 0 ? few : many));
  }
  if (a.low >= 0 || op_->is<arith::ShrsiOp>())
    return {a.low >> (a.low < 0 ? least : most), a.high >> (a.high < 0 ? most : least)};
  // A logical shift of numbers that may be negative, which read as unsigned are up to the greatest.
  return within(0, maxUnsigned() >> least);
}

/// Bounds of the divisor. One that is no constant is assumed to be positive under Overflow::Assumed.
IntegerRange Rule::divisor() const {
  IntegerRange d = in(1);
  if (assumed_ && d.low <= 0 && d.high > 0 && !constantOf(BinaryOp(op_).rhs())) d.low = 1;
  return d;
}

IntegerRange Rule::divideSigned() const {
  IntegerRange a = in(0), d = divisor();
  if (d.low <= 0) return all_;
  return {std::min(a.low / d.low, a.low / d.high), std::max(a.high / d.low, a.high / d.high)};
}

IntegerRange Rule::remainderSigned() const {
  // It has the dividend's sign, is no farther from zero, and nearer to zero than the divisor is.
  IntegerRange a = in(0), d = divisor();
  IntegerRange r{std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, 0)};
  if (d.low <= 0) return r;
  return {std::max(r.low, -(d.high - 1)), std::min(r.high, d.high - 1)};
}

IntegerRange Rule::divideUnsigned() const {
  IntegerRange a = in(0), d = in(1);
  // A divisor that may be negative may be any large number: quotients down to zero.
  if (a.low >= 0 && d.low > 0) return {a.low / d.high, a.high / d.low};
  if (a.low >= 0) return {0, a.high};
  return d.low > 0 ? within(0, maxUnsigned() / d.low) : all_;
}

IntegerRange Rule::remainderUnsigned() const {
  // No larger than the dividend, smaller than the divisor.
  IntegerRange a = in(0), d = in(1);
  if (a.low >= 0 && d.low > 0) return {0, std::min(a.high, d.high - 1)};
  if (a.low >= 0) return {0, a.high};
  return d.low > 0 ? IntegerRange{0, d.high - 1} : all_;
}

IntegerRange Rule::bitwise() const {
  IntegerRange a = in(0), b = in(1);
  if (op_->is<arith::AndiOp>()) {
    // Nothing exceeds an operand that is not negative.
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0) return {0, a.high};
    return b.low >= 0 ? IntegerRange{0, b.high} : all_;
  }
  if (a.low < 0 || b.low < 0) return all_;
  // No bit above the highest of either operand. An or has all bits of both.
  int64_t bits = int64_t(llvm::maskTrailingOnes<uint64_t>(llvm::bit_width(uint64_t(a.high | b.high))));
  return {op_->is<arith::OriOp>() ? std::max(a.low, b.low) : 0, bits};
}

IntegerRange Rule::minMax() const {
  IntegerRange a = in(0), b = in(1);
  IntegerRange least{std::min(a.low, b.low), std::min(a.high, b.high)},
      greatest{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op_->is<arith::MinsiOp>()) return least;
  if (op_->is<arith::MaxsiOp>()) return greatest;
  // Unsigned: negative numbers are larger than all others.
  bool smaller = op_->is<arith::MinuiOp>();
  if (a.low >= 0 && b.low >= 0) return smaller ? least : greatest;
  if (!smaller) return all_;
  if (a.low >= 0) return {0, a.high};
  return b.low >= 0 ? IntegerRange{0, b.high} : all_;
}

IntegerRange Rule::run() const {
  switch (op_->opcode()) {
  case Opcode::arith_constant: return constant();
  case Opcode::tt_make_range: {
    auto r = op_->cast<tt::MakeRangeOp>();
    return within(r.start(), int64_t(r.end()) - 1);
  }
  case Opcode::tt_get_program_id: return within(0, kMaxPrograms - 1);
  case Opcode::tt_get_num_programs: return within(1, kMaxPrograms);
  case Opcode::tt_splat:
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_reshape:
  case Opcode::tt_trans:
  case Opcode::tt_split:
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi: return in(0);
  case Opcode::tt_join:
  case Opcode::tt_cat: return unionOf(in(0), in(1));
  case Opcode::arith_select: return unionOf(in(1), in(2));
  case Opcode::arith_extui:
  case Opcode::arith_index_castui: return zeroExtension();
  case Opcode::arith_trunci:
  case Opcode::arith_index_cast: return truncation();
  case Opcode::arith_addi: return add();
  case Opcode::arith_subi: return subtract();
  case Opcode::arith_muli: return multiply();
  case Opcode::arith_shli:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui: return shift();
  case Opcode::arith_divsi: return divideSigned();
  case Opcode::arith_remsi: return remainderSigned();
  case Opcode::arith_divui: return divideUnsigned();
  case Opcode::arith_remui: return remainderUnsigned();
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori: return bitwise();
  case Opcode::arith_minsi:
  case Opcode::arith_maxsi:
  case Opcode::arith_minui:
  case Opcode::arith_maxui: return minMax();
  default: return all_;
  }
}

} // namespace

IntegerRange rangeOfResult(Operation *op, llvm::function_ref<IntegerRange(unsigned)> operand, Overflow overflow,
                           unsigned indexBits) {
  return Rule(op, operand, overflow, indexBits).run();
}

// ---- numbers known at compile time ----------------------------------------------------------------------------------

using Ends = std::pair<Wide, Wide>;
/// Definitions that are followed. A query visits up to 2^kKnownDepth of them: operands may be the same value.
static constexpr int kKnownDepth = 8;
static std::optional<Ends> exactEnds(Operation *, int depth);

/// Bounds that some elements have in every run; none for values that are not known at compile time or that wrap.
static std::optional<Ends> attainedEnds(Value v, int depth) {
  unsigned width = widthOf(v.type(), 64);
  if (depth == 0 || !v.definingOp() || width == 0 || width > 64) return {};
  auto ends = exactEnds(v.definingOp(), depth - 1);
  IntegerRange all = allOf(width);
  bool fits = ends && ends->first >= all.low && ends->second <= all.high;
  return fits ? ends : std::nullopt;
}

/// The same for an operation's only result before it wraps: of constants and ranges, and of those moved, scaled or
/// shifted by one number.
static std::optional<Ends> exactEnds(Operation *op, int depth) {
  switch (op->opcode()) {
  case Opcode::arith_constant:
  case Opcode::tt_make_range: {
    IntegerRange r = rangeOfResult(op, [](unsigned) { return IntegerRange{0, 0}; }, Overflow::MayWrap);
    return Ends{r.low, r.high};
  }
  case Opcode::tt_splat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_reshape:
  case Opcode::tt_trans:
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi: return attainedEnds(UnaryOp(op).value(), depth);
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli: {
    auto a = attainedEnds(BinaryOp(op).lhs(), depth);
    if (!a) return {};
    auto b = attainedEnds(BinaryOp(op).rhs(), depth);
    if (!b) return {};
    // Ends of two tensors may be in different elements; one number is in all of them.
    bool oneNumber = a->first == a->second || b->first == b->second;
    if (!oneNumber) return {};
    if (op->is<arith::AddiOp>()) return Ends{a->first + b->first, a->second + b->second};
    if (op->is<arith::SubiOp>()) return Ends{a->first - b->second, a->second - b->first};
    Wide corners[] = {a->first * b->first, a->first * b->second, a->second * b->first, a->second * b->second};
    return Ends{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  case Opcode::arith_shli: {
    auto a = attainedEnds(BinaryOp(op).lhs(), depth);
    if (!a) return {};
    auto by = attainedEnds(BinaryOp(op).rhs(), depth);
    bool oneNumber = by && by->first == by->second;
    bool defined = oneNumber && by->first >= 0 && by->first < widthOf(op->result(0).type(), 64);
    if (!defined) return {};
    Wide scale = Wide(1) << int(by->first);
    return Ends{a->first * scale, a->second * scale};
  }
  default: return {};
  }
}

bool certainlyWraps(Operation *op) {
  bool mayWrap =
      op->is<arith::AddiOp>() || op->is<arith::SubiOp>() || op->is<arith::MuliOp>() || op->is<arith::ShliOp>();
  if (!mayWrap) return false;
  auto ends = exactEnds(op, kKnownDepth);
  if (!ends) return false;
  IntegerRange all = allOf(widthOf(op->result(0).type(), 64));
  return ends->first < all.low || ends->second > all.high;
}

} // namespace tessera::transforms::integer_rules
