// Values of a program: constants, operations element by element, what is printed and asserted; and its faults (see
// program.h). Control flow is control_flow.cpp, what all operations are evaluated by dispatch.cpp.
#include "runtime/interpreter/program.h"
#include "ir/print_width.h"
#include "ir/printer.h"
#include "ir/tensor_queries.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {
using namespace ir;

// ---- faults ---------------------------------------------------------------------------------------------------------

bool Program::fail(Op op, const llvm::Twine &what) {
  if (!fault_) {
    fault_.emplace();
    fault_->op = op;
    fault_->message = what.str();
    if (at_.frame && at_.frame->caller) fault_->callers.push_back(at_.frame->caller);
  }
  return false;
}

bool Program::evaluate(Op op) {
  if (++steps_ > run_.options.maxSteps)
    return fail(op, "the program has run " + std::to_string(run_.options.maxSteps) + " operations without an end");
  if (run_.options.watch.isInterrupted()) return fail(op, "the launch was interrupted");
  if (!dispatch(op)) return false;
  if (auto *dead = run_.plan.dying(op))
    for (unsigned s : *dead) at_.frame->values[s] = Datum();
  return true;
}

// ---- values ---------------------------------------------------------------------------------------------------------

bool Program::setUndefined(Value v) {
  Type t = v.type();
  if (t.isa<AsyncTokenType>()) return set(v, Lanes());
  Type s = t.scalar();
  if (t.isa<MemDescType>() || t.isa<TensorDescType>() || isBlockPointer(t) || !laneBytes(s))
    return fail(v.definingOp() ? v.definingOp() : v.ownerBlock()->parentOp(),
                "an undefined value of type " + t.str() + " cannot be evaluated");
  return set(v, undefined(s, t.isTensor() ? t.cast<TensorType>().numElements() : 1));
}

bool Program::evaluateConstant(Op op) {
  Attribute a = op->attr("value");
  Value result = op->result();
  unsigned width = laneBytes(result.type().scalar());
  if (!width) return fail(op, "the interpreter cannot hold constants of type " + result.type().str());
  auto bitsAt = [&](Lanes &l, size_t i, const llvm::APInt &bits) {
    std::memcpy(l.bytes() + i * width, bits.getRawData(), std::min<size_t>(width, bits.getNumWords() * 8));
  };
  Lanes first = Lanes::one(width, 0);
  if (auto dense = a.dyn_cast<DenseElementsAttr>()) {
    if (dense.isSplat()) {
      bitsAt(first, 0, dense.splat());
      return set(result, repeat(pool_, first, dense.size()));
    }
    Lanes l(pool_, width, dense.size());
    for (size_t i = 0; i < dense.size(); ++i) bitsAt(l, i, dense.element(i));
    return set(result, std::move(l));
  }
  const llvm::APInt *bits = splatBits(a);
  if (!bits) return fail(op, "the interpreter does not know this constant");
  bitsAt(first, 0, *bits);
  return set(result, std::move(first));
}

bool Program::evaluateElementwiseOp(Op op) {
  // Whole objects can be chosen between, and pointers to blocks renamed.
  if (op->numOperands() && get(op->operands()[op->numOperands() - 1]).object) {
    if (auto s = op->dyn<arith::SelectOp>())
      return pass(flag(s.condition()) ? s.trueValue() : s.falseValue(), s.result());
    if (auto cast = op->dyn<tt::BitcastOp>()) return pass(cast.src(), cast.result());
  }
  for (auto v : op->results())
    if (isBlockPointer(v.type()))
      return fail(op, "the interpreter cannot make a block pointer with '" + op->name() + "'");
  llvm::SmallVector<const Lanes *, 4> in;
  for (auto v : op->operands()) {
    in.push_back(&lanes(v));
    if (in.back()->empty())
      return fail(op, "the interpreter cannot evaluate '" + op->name() + "' on a value of type " + v.type().str());
  }
  llvm::SmallVector<Lanes, 2> results;
  std::string reason;
  if (!evaluateElementwise(op, in, pool_, results, reason, uint64_t(steps_))) return fail(op, reason);
  if (run_.openValues && mayLeaveOpen(op)) run_.openValues->visit(op, in, results[0], id_);
  for (unsigned i = 0; i < results.size(); ++i) set(op->result(i), std::move(results[i]));
  return true;
}

static std::string printed(Type t, uint64_t bits, bool hex, bool isSigned) {
  if (t.isPointer()) return "0x" + llvm::utohexstr(bits, /*LowerCase=*/true);
  if (hex) return "0x" + llvm::utohexstr(bits, /*LowerCase=*/true, hexDigitsOf(t.bitWidth()));
  if (t.isFloat()) {
    char text[40];
    snprintf(text, sizeof text, "%f", decodeFloat(t.cast<FloatType>().floatKind(), bits));
    return text;
  }
  return isSigned ? std::to_string(signExtend(bits, t.bitWidth())) : std::to_string(bits);
}

bool Program::evaluatePrint(tt::PrintOp op) {
  if (!run_.print) return true;
  std::string program = llvm::formatv("pid ({0}, {1}, {2})", id_[0], id_[1], id_[2]).str();
  if (op.args().empty()) run_.print(program + op.prefix().str());
  for (unsigned k = 0; k < op.args().size(); ++k) {
    Value v = op.args()[k];
    Type t = v.type().scalar();
    const Lanes &l = lanes(v);
    bool isSigned = k < op.isSigned().size() && op.isSigned()[k];
    Shape shape = v.type().isTensor() ? Shape(v.type().cast<TensorType>().shape()) : Shape(),
          strides = rowMajorStrides(shape);
    for (size_t i = 0; i < l.size(); ++i) {
      std::string line = program + " idx (";
      for (unsigned d = 0; d < shape.size(); ++d) {
        std::string index = std::to_string(int64_t(i) / strides[d] % shape[d]);
        line += (d ? ", " : "") + std::string(digitsOfIndex(shape[d]) - index.size(), ' ') + index;
      }
      line += ")" + op.prefix().str();
      if (op.args().size() > 1) line += "(operand " + std::to_string(k) + ") ";
      run_.print(line + printed(t, l.word(i), op.hex(), isSigned));
    }
  }
  return true;
}

bool Program::evaluateAssert(Op op, Value condition, llvm::StringRef message) {
  const Lanes &l = lanes(condition);
  for (size_t i = 0; i < l.size(); ++i)
    if (!l.flag(i))
      return fail(op, "assertion failed: " + message +
                          (l.size() > 1 ? " (element " + llvm::Twine(i) + ")" : llvm::Twine()).str());
  return true;
}

} // namespace tessera::runtime
