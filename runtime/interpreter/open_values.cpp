// Which elements the IR leaves open, and what is said of them (open_values.h says why).
#include "runtime/interpreter/open_values.h"
#include "ir/ops.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdio>

namespace tessera::runtime {
using namespace ir;

namespace {

enum class Kind { None, Division, Remainder, Shift, ToSigned, ToUnsigned };

Kind kindOf(Opcode op) {
  switch (op) {
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi: return Kind::Division;
  case Opcode::arith_remsi:
  case Opcode::arith_remui: return Kind::Remainder;
  case Opcode::arith_shli:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui: return Kind::Shift;
  case Opcode::arith_fptosi: return Kind::ToSigned;
  case Opcode::arith_fptoui: return Kind::ToUnsigned;
  default: return Kind::None;
  }
}

/// The divisor, the number of bits of a shift, or what is converted.
Value lastOperand(Operation *op) { return op->operands()[op->numOperands() - 1]; }

/// The bits of a value that is the same constant in all elements.
const llvm::APInt *splatOf(Value v) {
  while (Operation *op = v.definingOp()) {
    if (auto splat = op->dyn<tt::SplatOp>())
      v = splat.src();
    else
      return op->is<arith::ConstantOp>() ? splatBits(op->attr("value")) : nullptr;
  }
  return nullptr;
}

/// Whether an integer of `width` bits holds the number without its fraction.
bool holds(double v, unsigned width, bool isSigned) {
  double whole = std::trunc(v);
  if (isSigned) return whole >= -std::ldexp(1.0, int(width) - 1) && whole < std::ldexp(1.0, int(width) - 1);
  return whole >= 0 && whole < std::ldexp(1.0, int(width)); // -0.5 becomes -0
}

std::string numberText(double v) {
  char text[32];
  snprintf(text, sizeof text, "%g", v);
  return std::isnan(v) ? "nan" : text;
}

/// The elements of one operation that are left open.
class Elements {
public:
  Elements(Operation *op, llvm::ArrayRef<const Lanes *> in)
      : kind_(kindOf(op->opcode())), in_(*in.back()), type_(lastOperand(op).type().scalar()),
        result_(op->result().type().scalar()) {}

  bool isOpen(size_t i) const {
    switch (kind_) {
    case Kind::None: return false;
    case Kind::Division:
    case Kind::Remainder: return isZero(i);
    case Kind::Shift: return in_.word(i) >= type_.bitWidth();
    case Kind::ToSigned:
    case Kind::ToUnsigned: return !holds(number(i), result_.bitWidth(), kind_ == Kind::ToSigned);
    }
    return false;
  }
  std::string text(size_t i) const {
    switch (kind_) {
    case Kind::None: break;
    case Kind::Division: return "division by zero";
    case Kind::Remainder: return "remainder of a division by zero";
    case Kind::Shift:
      return llvm::formatv("shift of {0} bits by {1}", type_.bitWidth(), signExtend(in_.word(i), type_.bitWidth()));
    case Kind::ToSigned:
    case Kind::ToUnsigned:
      return llvm::formatv("conversion of {0} to {1} integer of {2} bits, which cannot hold it", numberText(number(i)),
                           kind_ == Kind::ToSigned ? "a signed" : "an unsigned", result_.bitWidth());
    }
    return "";
  }

private:
  bool isZero(size_t i) const {
    static constexpr unsigned char kZeros[16] = {};
    return !std::memcmp(in_.bytes() + i * in_.width(), kZeros, in_.width());
  }
  double number(size_t i) const { return decodeFloat(type_.cast<FloatType>().floatKind(), in_.word(i)); }

  Kind kind_;
  const Lanes &in_; // of the last operand
  Type type_;       // of its elements
  Type result_;
};

} // namespace

bool mayLeaveOpen(Operation *op) {
  Kind kind = kindOf(op->opcode());
  if (kind == Kind::None || op->result().type().scalar().bitWidth() > 64) return false;
  if (kind == Kind::ToSigned || kind == Kind::ToUnsigned) return true;
  const llvm::APInt *constant = splatOf(lastOperand(op));
  if (!constant) return true;
  return kind == Kind::Shift ? constant->uge(op->result().type().scalar().bitWidth()) : constant->isZero();
}

void OpenValues::visit(Operation *op, llvm::ArrayRef<const Lanes *> operands, Lanes &result,
                       std::array<int64_t, 3> program) {
  Elements elements(op, operands);
  size_t examined = operands.back()->size(); // one for all elements, or one for each
  auto placeOf = [&](size_t i) {
    std::string what = elements.text(i);
    if (result.size() > 1) what += llvm::formatv(" (element {0})", i).str();
    return Place{op, std::move(what), program};
  };
  std::scoped_lock lock(mutex_);
  if (replaced_) {
    if (!llvm::is_contained(*replaced_, op)) return;
    unsigned bits = op->result().type().scalar().bitWidth();
    for (size_t i = 0; i < result.size(); ++i) {
      size_t from = examined == 1 ? 0 : i;
      if (!elements.isOpen(from) || ++numFound_ > mostReplaced_) continue;
      result.setWord(i, zeroExtend(~result.word(i), bits));
      if (numFound_ == mostReplaced_) places_.assign(1, placeOf(from));
    }
    return;
  }
  if (llvm::any_of(places_, [&](const Place &p) { return p.op == op; })) return;
  for (size_t i = 0; i < examined; ++i)
    if (elements.isOpen(i)) {
      places_.push_back(placeOf(i));
      return;
    }
}

} // namespace tessera::runtime
