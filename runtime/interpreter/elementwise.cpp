// Elementwise evaluation (see elementwise.h): which function evaluates which operation, and what is of no one kind of
// number: selects, sums of pointers, calls of device functions, atomics. The functions on integers and floats and the
// conversions are in files of their own (elementwise_functions.h).
#include "runtime/interpreter/elementwise.h"
#include "ir/device_function_name.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/device_math.h"
#include "runtime/interpreter/elementwise_functions.h"
#include "runtime/interpreter/lane_loops.h"

namespace tessera::runtime {
using namespace ir;
using namespace elementwise;

namespace {

Lanes select(LanePool &p, const Lanes &condition, const Lanes &a, const Lanes &b) {
  size_t n = std::max({condition.size(), a.size(), b.size()});
  if (condition.size() == 1) {
    const Lanes &chosen = condition.flag() ? a : b;
    return chosen.size() == n ? chosen : repeat(p, chosen, n);
  }
  const Lanes x = a.size() == n ? a : repeat(p, a, n), y = b.size() == n ? b : repeat(p, b, n);
  return withWord(a.width(), [&](auto zero) {
    using U = decltype(zero);
    Lanes out(p, sizeof(U), n);
    const uint8_t *c = condition.as<uint8_t>();
    const U *u = x.as<U>(), *v = y.as<U>();
    U *r = out.as<U>();
    for (size_t i = 0; i < n; ++i) r[i] = c[i] & 1 ? u[i] : v[i];
    return out;
  });
}

/// Every operand lane of an extern function as a double.
double asDouble(const Lanes &l, size_t i, Type t, bool isUnsigned) {
  uint64_t bits = l.word(l.size() == 1 ? 0 : i);
  if (t.isFloat()) return decodeFloat(t.cast<FloatType>().floatKind(), bits);
  return isUnsigned ? double(bits) : double(signExtend(bits, t.bitWidth()));
}

bool callDeviceFunction(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p, Lanes &out, std::string &reason) {
  auto external = op->cast<tt::ExternElementwiseOp>();
  std::string symbol = deviceFunctionName(external);
  auto f = findDeviceFunction(symbol);
  if (!f) {
    reason = hasOutputParameter(symbol) ? "the device function '" + symbol +
                                              "' has an output parameter, a pointer, which no kernel can give it"
                                        : "the interpreter does not know the device function '" + symbol + "'";
    return false;
  }
  Type resultType = op->result().type().scalar();
  bool fits = f->arity == in.size() && in.size() <= 4;
  size_t n = 1;
  for (unsigned k = 0; k < in.size(); ++k) {
    Type t = op->operand(k).type().scalar();
    n = std::max(n, in[k]->size());
    if (t.isPointer() || t.bitWidth() > 64 || (f->integer && !f->takesPatterns && !t.isInteger())) fits = false;
  }
  if (f->integer && !f->takesPatterns && !resultType.isInteger()) fits = false;
  if (f->rounded && !resultType.isFloat()) fits = false;
  if (resultType.bitWidth() > 64 || resultType.isPointer()) fits = false;
  if (!fits) {
    reason = "the device function '" + symbol + "' is not known with these operands";
    return false;
  }
  out = Lanes(p, laneBytes(resultType), n);
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits;
    if (f->integer) {
      uint64_t v[4] = {};
      unsigned w = external.srcs()[0].type().scalar().bitWidth();
      for (unsigned k = 0; k < in.size(); ++k) v[k] = in[k]->word(in[k]->size() == 1 ? 0 : i);
      bits = zeroExtend(f->integer(v, w), resultType.bitWidth());
    } else {
      double v[4] = {};
      for (unsigned k = 0; k < in.size(); ++k)
        v[k] = asDouble(*in[k], i, op->operand(k).type().scalar(), f->isUnsigned);
      if (f->predicate)
        bits = f->predicate(v[0]);
      else if (f->rounded) {
        uint64_t word = in[0]->word(in[0]->size() == 1 ? 0 : i);
        unsigned w = op->operand(0).type().scalar().bitWidth();
        uint64_t integer = f->isUnsigned ? zeroExtend(word, w) : uint64_t(signExtend(word, w));
        bits = encodeFloat(resultType.cast<FloatType>().floatKind(), f->rounded(v, integer, f->mode));
      } else if (resultType.isFloat())
        bits = encodeFloat(resultType.cast<FloatType>().floatKind(), f->real(v));
      else
        bits = uint64_t(toInteger(f->real(v), resultType.bitWidth(), !f->isUnsigned));
    }
    out.setWord(i, bits);
  }
  return true;
}

// ---- operations ----

/// The operations by the code that evaluates them. Each is a function below.
enum class Family {
  None, // not elementwise, or unknown
  IntegerArithmetic,
  ExtendedInteger, // with more than one result, or the high half of one
  IntegerCompare,
  IntegerAbsolute,
  CountBits,
  ZeroExtend, // truncation too
  SignExtend,
  Reinterpret,
  Select,
  AddPointer,
  FloatArithmetic,
  FloatCompare,
  SignBit,
  Clamp,
  Fma,
  MathUnary,
  MathBinary,
  PowerOfInteger,
  FloatConversion,
  FromE2m1,
  IntegerToFloat,
  FloatToInteger,
  DeviceFunction,
  InlineAssembly,
};

// Table: opcodes and their families.
Family familyOf(Opcode op) {
  switch (op) {
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui:
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui: return Family::IntegerArithmetic;
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
  case Opcode::arith_addui_extended:
  case Opcode::tt_mulhiui: return Family::ExtendedInteger;
  case Opcode::arith_cmpi: return Family::IntegerCompare;
  case Opcode::math_absi: return Family::IntegerAbsolute;
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop: return Family::CountBits;
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_index_castui: return Family::ZeroExtend;
  case Opcode::arith_extsi:
  case Opcode::arith_index_cast: return Family::SignExtend;
  case Opcode::arith_bitcast:
  case Opcode::tt_bitcast:
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int: return Family::Reinterpret;
  case Opcode::arith_select: return Family::Select;
  case Opcode::tt_addptr: return Family::AddPointer;
  case Opcode::arith_addf:
  case Opcode::arith_subf:
  case Opcode::arith_mulf:
  case Opcode::arith_divf:
  case Opcode::tt_precise_divf:
  case Opcode::tt_approx_divf:
  case Opcode::arith_remf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf: return Family::FloatArithmetic;
  case Opcode::arith_cmpf: return Family::FloatCompare;
  case Opcode::arith_negf:
  case Opcode::math_absf: return Family::SignBit;
  case Opcode::tt_clampf: return Family::Clamp;
  case Opcode::math_fma: return Family::Fma;
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence)                                                  \
  case Opcode::math_##name: return Family::MathBinary;
#include "ir/math_functions.def"
  case Opcode::math_fpowi: return Family::PowerOfInteger;
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::tt_fp_to_fp: return Family::FloatConversion;
  case Opcode::tt_e2m1_to_fp: return Family::FromE2m1;
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp: return Family::IntegerToFloat;
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui: return Family::FloatToInteger;
  case Opcode::tt_extern_elementwise: return Family::DeviceFunction;
  case Opcode::tt_elementwise_inline_asm: return Family::InlineAssembly;
  default: return mathFunction(op) ? Family::MathUnary : Family::None;
  }
}

/// One evaluation of one operation.
class Evaluation {
public:
  Evaluation(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p, llvm::SmallVectorImpl<Lanes> &results,
             std::string &reason, uint64_t time)
      : op_(op), opcode_(op->opcode()), in_(in), p_(p), results_(results), reason_(reason), time_(time) {
    if (op->numOperands()) type_ = op->operands()[0].type().scalar();
    if (op->numResults()) resultType_ = op->result(0).type().scalar();
    if (type_) width_ = type_.bitWidth();
  }

  bool run() {
    for (auto v : op_->operands())
      if (!laneBytes(v.type().scalar())) return unsupported(v.type());
    switch (familyOf(opcode_)) {
    case Family::None: return unsupported(op_->numResults() ? op_->result().type() : Type());
    case Family::IntegerArithmetic: return done(integerArithmetic(p_, opcode_, width_, in(0), in(1)));
    case Family::ExtendedInteger: return extendedInteger();
    case Family::IntegerCompare:
      return done(integerCompare(p_, op_->cast<arith::CmpiOp>().predicate(), width_, in(0), in(1)));
    case Family::IntegerAbsolute: return done(integerAbsolute(p_, width_, in(0)));
    case Family::CountBits: return width_ > 64 ? unsupported(type_) : done(countBits(p_, opcode_, width_, in(0)));
    case Family::ZeroExtend: return done(zeroExtendLanes(p_, in(0), resultType_.bitWidth()));
    case Family::SignExtend: return done(signExtendLanes(p_, in(0), width_, resultType_.bitWidth()));
    case Family::Reinterpret:
      if (laneBytes(resultType_) == in(0).width()) return done(in(0));
      return done(zeroExtendLanes(p_, in(0), resultType_.bitWidth()));
    case Family::Select: return done(select(p_, in(0), in(1), in(2)));
    case Family::AddPointer: return addPointer();
    case Family::FloatArithmetic: return done(floatArithmetic(p_, opcode_, kind(), in(0), in(1)));
    case Family::FloatCompare:
      return done(floatCompare(p_, op_->cast<arith::CmpfOp>().predicate(), kind(), in(0), in(1)));
    case Family::SignBit: return done(changeSign(p_, kind(), opcode_ == Opcode::arith_negf, in(0)));
    case Family::Clamp: {
      bool propagateNan = op_->cast<tt::ClampfOp>().propagateNan() == PropagateNan::All;
      return done(clamp(p_, kind(), propagateNan, in(0), in(1), in(2)));
    }
    case Family::Fma: return done(fusedMultiplyAdd(p_, kind(), in(0), in(1), in(2)));
    case Family::MathUnary: return done(mathUnary(p_, mathFunction(opcode_), kind(), in(0)));
    case Family::MathBinary: return done(mathBinary(p_, opcode_, kind(), in(0), in(1)));
    case Family::PowerOfInteger: return power();
    case Family::FloatConversion: return done(convertFloat(p_, in(0), kind(), resultKind(), rounding()));
    case Family::FromE2m1: return done(fromE2m1(p_, in(0), op_->cast<tt::E2m1ToFpOp>().high(), resultKind()));
    case Family::IntegerToFloat:
      return done(integerToFloat(p_, in(0), width_, opcode_ == Opcode::arith_sitofp, resultKind()));
    case Family::FloatToInteger:
      return done(floatToInteger(p_, in(0), kind(), resultType_.bitWidth(), opcode_ == Opcode::arith_fptosi));
    case Family::InlineAssembly: return evaluateInlineAssembly(op_, in_, p_, results_, reason_, time_);
    case Family::DeviceFunction: {
      Lanes out;
      return callDeviceFunction(op_, in_, p_, out, reason_) && done(std::move(out));
    }
    }
    return false;
  }

private:
  const Lanes &in(unsigned i) const { return *in_[i]; }
  FloatKind kind() const { return type_.cast<FloatType>().floatKind(); }
  FloatKind resultKind() const { return resultType_.cast<FloatType>().floatKind(); }
  bool done(Lanes l) {
    results_.push_back(std::move(l));
    return true;
  }
  bool unsupported(Type x) {
    reason_ = (llvm::Twine("the interpreter cannot evaluate '") + op_->name() + "' on " + x.str()).str();
    return false;
  }

  bool extendedInteger() {
    if (opcode_ == Opcode::arith_addui_extended) {
      Lanes sum = integerArithmetic(p_, Opcode::arith_addi, width_, in(0), in(1));
      results_.push_back(sum);
      return done(hasWrapped(p_, sum, in(0)));
    }
    if (width_ > 64) return unsupported(type_);
    if (opcode_ != Opcode::tt_mulhiui)
      results_.push_back(integerArithmetic(p_, Opcode::arith_muli, width_, in(0), in(1)));
    return done(highHalf(p_, opcode_ == Opcode::arith_mulsi_extended, width_, in(0), in(1)));
  }

  bool addPointer() {
    int64_t bytes = pointeeBytes(type_);
    Type offsetType = op_->cast<tt::AddptrOp>().offset().type();
    unsigned offsetWidth = offsetType.scalar().bitWidth();
    if (offsetWidth > 64) return unsupported(offsetType);
    Lanes scaled = withWord(in(1).width(), [&](auto zero) {
      using U = decltype(zero);
      return map<U>(p_, in(1),
                    [=](U x) -> uint64_t { return uint64_t(signExtend(uint64_t(x), offsetWidth)) * uint64_t(bytes); });
    });
    return done(map<uint64_t>(p_, in(0), scaled, [](uint64_t x, uint64_t y) { return x + y; }));
  }

  bool power() {
    Type exponent = op_->cast<math::FpowiOp>().rhs().type().scalar();
    if (exponent.bitWidth() > 64) return unsupported(exponent);
    return done(powerOfInteger(p_, kind(), in(0), in(1), exponent));
  }

  Rounding rounding() const {
    auto conversion = op_->dyn<tt::FpToFpOp>();
    if (!conversion) return Rounding::NearestEven;
    auto mode = conversion.rounding();
    return mode && *mode == RoundingMode::Rtz ? Rounding::TowardZero : Rounding::NearestEven;
  }

  Operation *op_;
  Opcode opcode_;
  llvm::ArrayRef<const Lanes *> in_;
  LanePool &p_;
  llvm::SmallVectorImpl<Lanes> &results_;
  std::string &reason_;
  const uint64_t time_;
  Type type_;       // of the first operand's elements
  Type resultType_; // of the first result's elements
  unsigned width_ = 0;
};

} // namespace

bool isElementwise(const Operation *op) { return op->info().has(kElementwise) || op->opcode() == Opcode::arith_select; }

bool isEvaluatedElementwise(Opcode op) { return familyOf(op) != Family::None; }

bool evaluateElementwise(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p,
                         llvm::SmallVectorImpl<Lanes> &results, std::string &reason, uint64_t time) {
  return Evaluation(op, in, p, results, reason, time).run();
}

void toDoubles(const Lanes &l, FloatKind k, double *out) {
  withFloat(k, [&](auto format) {
    using B = typename decltype(format)::Bits;
    const B *x = l.as<B>();
    for (size_t i = 0; i < l.size(); ++i) out[i] = format.get(x[i]);
  });
}
Lanes fromDoubles(LanePool &p, FloatKind k, const double *v, size_t n) {
  return withFloat(k, [&](auto format) {
    using B = typename decltype(format)::Bits;
    Lanes out(p, sizeof(B), n);
    B *r = out.as<B>();
    for (size_t i = 0; i < n; ++i) r[i] = B(encodeFloat(k, v[i]));
    return out;
  });
}

uint64_t combineAtomic(RmwOp op, Type t, uint64_t old, uint64_t value) {
  unsigned w = t.bitWidth();
  if (t.isFloat() && (op == RmwOp::Fadd || op == RmwOp::Add || op == RmwOp::Max || op == RmwOp::Min)) {
    FloatKind k = t.cast<FloatType>().floatKind();
    if (k == FloatKind::F32 && op != RmwOp::Max && op != RmwOp::Min)
      return F32::put(F32::get(uint32_t(old)) + F32::get(uint32_t(value)));
    double a = decodeFloat(k, old), b = decodeFloat(k, value);
    // Two numbers of a narrow format have an exact sum in double, or one that double and the format round alike.
    return encodeFloat(k, op == RmwOp::Max ? maxnum(a, b) : op == RmwOp::Min ? minnum(a, b) : a + b);
  }
  switch (op) {
  case RmwOp::And: return old & value;
  case RmwOp::Or: return old | value;
  case RmwOp::Xor: return old ^ value;
  case RmwOp::Add:
  case RmwOp::Fadd: return zeroExtend(old + value, w);
  case RmwOp::Max: return signExtend(old, w) > signExtend(value, w) ? old : value;
  case RmwOp::Min: return signExtend(old, w) < signExtend(value, w) ? old : value;
  case RmwOp::Umax: return std::max(old, value);
  case RmwOp::Umin: return std::min(old, value);
  case RmwOp::Exch: return value;
  }
  return value;
}

Lanes undefinedLanes(LanePool &p, Type t, size_t count, bool zero) {
  unsigned width = laneBytes(t), bits = t.bitWidth();
  Lanes one = Lanes::one(width, zero ? 0 : zeroExtend(~uint64_t(0), bits));
  if (width == 16 && !zero) std::memset(one.bytes() + 8, 0xFF, bits / 8 - 8);
  return repeat(p, one, count);
}

} // namespace tessera::runtime
