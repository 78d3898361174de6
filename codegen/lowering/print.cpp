// Lowering of assertions and prints (see print.h).
//
// A print is one printf per element, as Triton has it: "pid (0, 0, 0) idx ( 3) x: 1.5", the indices as wide as the
// largest one of the tensor. One thread of those that hold an element prints it; every thread prints a scalar.
#include "codegen/lowering/print.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "ir/print_width.h"

namespace tessera::codegen {
using namespace ir;

namespace {

std::string quoted(llvm::StringRef text) { // for a printf format
  std::string out;
  for (char c : text) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

class PrintLowering {
public:
  PrintLowering(tt::PrintOp op, FunctionLowering &fl) : op_(op), fl_(fl), b_(fl.b), prefix_(quoted(op.prefix())) {
    for (int axis = 0; axis < 3; ++axis) pid_.push_back(fl.target.programId(b_, axis, fl.numCtas() > 1));
  }

  /// False: the target cannot print.
  bool run() {
    if (op_.args().empty()) print(prefix_, {});
    for (unsigned i = 0; i < op_.args().size(); ++i) printOperand(i);
    return printed_;
  }

private:
  void print(const std::string &format, llvm::ArrayRef<llvm::Value *> rest) {
    llvm::SmallVector<llvm::Value *, 8> args(pid_);
    args.append(rest.begin(), rest.end());
    printed_ &= fl_.target.print(b_, "pid (%u, %u, %u)" + format + "\n", args);
  }

  void printOperand(unsigned i) {
    Value v = op_.args()[i];
    if (!v.type().isTensor()) {
      printElement(i, fl_.scalar(v), {});
      return;
    }
    auto index = fl_.indices(v.type());
    unsigned copies = fl_.freeRegisters(v.type());
    fl_.inBranch(fl_.isRepresentative(fl_.layout(v.type())), [&] {
      for (unsigned r = 0; r < index.size(); ++r)
        if (!(r & copies)) printElement(i, fl_.get(v)[r], index[r]);
    });
  }

  /// Prints an element of operand `i`; `index` has its place, none for scalars.
  void printElement(unsigned i, llvm::Value *e, llvm::ArrayRef<llvm::Value *> index) {
    Type type = op_.args()[i].type();
    std::string format = " idx (";
    llvm::SmallVector<llvm::Value *, 8> args;
    for (auto [d, x] : llvm::enumerate(index)) {
      format += (d ? ", %" : "%") + std::to_string(digitsOfIndex(type.cast<TensorType>().shape()[d])) + "u";
      args.push_back(x);
    }
    format += ")" + prefix_;
    if (op_.args().size() > 1) format += "(operand " + std::to_string(i) + ") ";
    format += conversionOf(i, type.scalar(), e);
    args.push_back(e);
    print(format, args);
  }

  /// The printf conversion of an element, which is converted to what printf takes.
  std::string conversionOf(unsigned i, Type type, llvm::Value *&e) {
    if (e->getType()->isPointerTy()) return "%p";
    if (auto ft = type.dyn_cast<FloatType>(); ft && !op_.hex()) {
      Elements wide;
      convertFloats(fl_, ft.floatKind(), FloatKind::F64, RoundingMode::Rtne, {e}, wide);
      e = wide[0];
      return "%f";
    }
    if (e->getType()->isFloatingPointTy())
      e = b_.CreateBitCast(e, b_.getIntNTy(e->getType()->getPrimitiveSizeInBits()));
    bool isSigned = i < op_.isSigned().size() && op_.isSigned()[i];
    unsigned width = e->getType()->getIntegerBitWidth();
    llvm::Type *t = b_.getIntNTy(width <= 32 ? 32 : 64);
    e = isSigned && !op_.hex() ? b_.CreateSExtOrTrunc(e, t) : b_.CreateZExtOrTrunc(e, t);
    if (op_.hex()) return "0x%0" + std::to_string(hexDigitsOf(width)) + (width > 32 ? "llx" : "x");
    return std::string(width > 32 ? "%ll" : "%") + (isSigned ? "d" : "u");
  }

  tt::PrintOp op_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  std::string prefix_;
  llvm::SmallVector<llvm::Value *, 8> pid_;
  bool printed_ = true;
};

} // namespace

void lowerAssert(Operation *op, FunctionLowering &fl) {
  auto ofTriton = op->dyn<tt::AssertOp>();
  Value condition = ofTriton ? ofTriton.condition() : op->cast<cf::AssertOp>().condition();
  llvm::StringRef message = ofTriton ? ofTriton.message() : op->cast<cf::AssertOp>().msg();
  auto &b = fl.b;
  Elements conditions = fl.get(condition);
  llvm::Value *all = conditions[0];
  for (llvm::Value *c : llvm::drop_begin(conditions)) all = b.CreateAnd(all, c);
  if (!all->getType()->isIntegerTy(1)) all = b.CreateIsNotNull(all);
  Location at = op->loc().source();
  fl.inBranch(b.CreateNot(all), [&] {
    fl.target.assertFail(b, message, at.isUnknown() ? "unknown" : at.file(), at.isUnknown() ? 0 : at.line(),
                         fl.function()->getName());
  });
}

void lowerPrint(tt::PrintOp op, FunctionLowering &fl) {
  if (PrintLowering(op, fl).run()) return;
  Diagnostic d;
  d.severity = Severity::Warning;
  d.message = ("'tt.print' does nothing on " + fl.target.info().name).str();
  d.loc = op.loc();
  fl.diag.report(std::move(d));
}

} // namespace tessera::codegen
