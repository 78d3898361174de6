// tt.elementwise_inline_asm: inline PTX, evaluated on the packed groups of elements that one thread's text would run on
// (codegen/lowering/inline_assembly.cpp packs them). Which elements share a thread is the layout's; here a group is
// `packed_element` elements that follow each other in row-major order, and the last one is repeated.
//
//   tt.elementwise_inline_asm "mul.bf16x2 $0, $1, $2;" {packed_element = 2} %x, %y       32 bits from two elements each
//
// Arithmetic, moves, predicates and declarations are evaluated (runtime/ptx_arithmetic.h). Barriers, fences and hints
// have no effect where all elements of an operation are done before the next; other instructions are refused by name,
// and so is AMD assembly. Clocks count the operations that the program has evaluated. Registers that differ between the
// threads of a block (%tid.x, %laneid) are not known, since elements have no threads.
#include "ir/ops.h"
#include "runtime/interpreter/elementwise_functions.h"
#include "runtime/ptx_text.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace tessera::runtime {
using namespace ir;
using inline_ptx::TextOperand;
using inline_ptx::TextStatement;

namespace {

/// How the elements of one operand or result fill registers.
struct Packing {
  unsigned bits = 0; // of an element in a register; i1 takes 8
  unsigned perRegister = 1, registers = 1;
  Packing(Type element, unsigned pack) {
    bits = element.isPointer() ? 64 : std::max<unsigned>(8, element.bitWidth());
    perRegister = bits < 32 ? std::min(pack, 32 / bits) : 1;
    registers = (pack + perRegister - 1) / perRegister;
  }
};

/// A statement that is ready to run: an operation of the table, or a move to or from parts.
struct Step {
  const TextStatement *statement;
  std::optional<inline_ptx::Operation> operation;
  unsigned moveBits = 0; // of a vector move
  bool traps = false;
};

/// The registers of one thread: those of the text, then its arguments.
struct Registers {
  llvm::SmallVector<uint64_t, 16> declared, arguments;
  bool carry = false;
  uint64_t time = 0; // what clocks read
};

/// The value of a special register that all threads of a block read alike; nothing for others. All blocks run on one
/// multiprocessor.
std::optional<uint64_t> specialRegister(llvm::StringRef name, uint64_t time) {
  return llvm::StringSwitch<std::optional<uint64_t>>(name)
      .Cases({"clock", "clock64", "globaltimer", "globaltimer_lo"}, time)
      .Case("smid", 0)
      .Case("nsmid", 1)
      .Default(std::nullopt);
}

class Assembly {
public:
  /// False: `reason` says what is not known.
  bool prepare(tt::ElementwiseInlineAsmOp op, std::string &reason) {
    auto constraints = inline_ptx::parseConstraints(op.constraints());
    if (!constraints) {
      reason =
          llvm::formatv("the interpreter does not know the constraints '{0}' of inline assembly", op.constraints());
      return false;
    }
    constraints_ = std::move(*constraints);
    // VGPRs, SGPRs and accumulation registers; none of PTX's letters.
    auto isOfAmd = [](const inline_ptx::Constraint &c) { return c.registers && strchr("vsa", c.registers); };
    if (llvm::any_of(constraints_, isOfAmd)) {
      reason = llvm::formatv("the interpreter knows inline PTX only, not the AMD assembly '{0}'", op.asmString());
      return false;
    }
    std::string problem;
    bool known = inline_ptx::parseText(op.asmString(), text_, problem);
    for (size_t k = 0; known && k < text_.statements.size(); ++k) known = addStep(*text_.statements[k], problem);
    if (!known) reason = "the interpreter does not know " + problem;
    return known;
  }
  llvm::ArrayRef<inline_ptx::Constraint> constraints() const { return constraints_; }

  /// False: the thread reached a trap.
  bool run(Registers &r) const {
    r.declared.assign(text_.registers.size(), 0);
    r.carry = false;
    for (const Step &step : steps_) {
      auto &guard = step.statement->guard;
      if (guard && !(read(*guard, r, {}) & 1)) continue;
      if (step.traps) return false;
      step.operation ? compute(step, r) : move(step, r);
    }
    return true;
  }
  unsigned indexOf(unsigned argument) const { return constraints_[argument].sameAs.value_or(argument); }

private:
  static bool hasNoEffect(const TextStatement &s) {
    static const llvm::StringSet<> kNames = {"bar",       "barrier", "fence",          "membar",     "nanosleep",
                                             "prefetch",  "discard", "griddepcontrol", "setmaxnreg", "applypriority",
                                             "prefetchu", "pragma",  "createpolicy"};
    return kNames.contains(s.opcode);
  }

  /// Registers, arguments of the text, numbers and some special registers can be read.
  bool isReadable(const TextOperand &o) const {
    if (o.kind == TextOperand::Argument) return o.index < constraints_.size();
    if (o.kind == TextOperand::Special) return specialRegister(o.name, 0).has_value();
    return o.kind == TextOperand::Register || o.kind == TextOperand::Integer || o.kind == TextOperand::Real;
  }
  bool isWritable(const TextOperand &o) const {
    return o.kind == TextOperand::Sink ||
           (isReadable(o) && (o.kind == TextOperand::Register || o.kind == TextOperand::Argument));
  }

  bool addStep(const TextStatement &s, std::string &problem) {
    if (hasNoEffect(s)) return true;
    if (s.opcode == "trap" && s.operands.empty() && s.modifiers.empty()) {
      Step step{&s, std::nullopt};
      step.traps = true;
      steps_.push_back(step);
      return true;
    }
    std::string why;
    if (addKnownStep(s, why)) return true;
    problem = "the inline PTX '" + s.text + "'" + (why.empty() ? "" : " (" + why + ")");
    return false;
  }
  bool addKnownStep(const TextStatement &s, std::string &why) {
    bool isVectorMove = s.opcode == "mov" && s.operands.size() == 2 &&
                        (s.operands[0].kind == TextOperand::Vector || s.operands[1].kind == TextOperand::Vector);
    Step step{&s, std::nullopt};
    if (isVectorMove) {
      inline_ptx::Type t = s.modifiers.size() == 1 ? inline_ptx::typeOf(s.modifiers[0]) : inline_ptx::Type();
      if (!t) return false;
      step.moveBits = t.bytes() * 8;
    } else {
      if (s.operands.empty() || s.operands.size() > 5) return why = "instruction '" + s.opcode.str() + "'", false;
      step.operation = inline_ptx::operationOf(s.opcode, s.modifiers, s.operands.size() - 1, why);
      if (!step.operation) return false;
    }
    for (size_t k = 0; k < s.operands.size(); ++k) {
      const TextOperand &o = s.operands[k];
      bool mayBeVector = isVectorMove || (k == 0 && step.operation->hasSecond && o.parts.size() == 2);
      llvm::ArrayRef<TextOperand> each =
          o.kind == TextOperand::Vector && mayBeVector ? llvm::ArrayRef(o.parts) : llvm::ArrayRef(o);
      for (const TextOperand &part : each)
        if (k == 0 ? !isWritable(part) : !isReadable(part))
          return why = o.kind == TextOperand::Special ? "register '%" + o.name + "'" : "operands", false;
    }
    steps_.push_back(step);
    return true;
  }

  uint64_t read(const TextOperand &o, const Registers &r, inline_ptx::Type literal) const {
    switch (o.kind) {
    case TextOperand::Register: return r.declared[o.index] ^ uint64_t(o.negated);
    case TextOperand::Argument: return r.arguments[indexOf(o.index)] ^ uint64_t(o.negated);
    case TextOperand::Special: return *specialRegister(o.name, r.time); // addKnownStep has tested it
    case TextOperand::Real: return inline_ptx::encodeLiteral(literal, o.real);
    default: return o.bits;
    }
  }
  void write(const TextOperand &o, Registers &r, uint64_t v) const {
    if (o.kind == TextOperand::Argument) r.arguments[indexOf(o.index)] = v;
    if (o.kind == TextOperand::Register) r.declared[o.index] = zeroExtend(v, text_.registers[o.index].bytes() * 8);
  }

  void compute(const Step &step, Registers &r) const {
    auto &operands = step.statement->operands;
    const inline_ptx::Operation &op = *step.operation;
    uint64_t in[4] = {};
    for (size_t k = 1; k < operands.size(); ++k) in[k - 1] = read(operands[k], r, op.literalType());
    if (operands[0].kind == TextOperand::Vector) {
      write(operands[0].parts[0], r, op.run(in));
      write(operands[0].parts[1], r, op.runSecond(in));
    } else {
      write(operands[0], r, op.run(in, &r.carry));
    }
  }
  /// mov.b32 {a, b}, c and mov.b32 c, {a, b}: the first part is lowest.
  void move(const Step &step, Registers &r) const {
    const TextOperand &to = step.statement->operands[0], &from = step.statement->operands[1];
    auto partsOf = [](const TextOperand &o) {
      return o.kind == TextOperand::Vector ? llvm::ArrayRef(o.parts) : llvm::ArrayRef(o);
    };
    auto sources = partsOf(from), results = partsOf(to);
    uint64_t whole = 0;
    unsigned sourceBits = step.moveBits / unsigned(sources.size());
    unsigned resultBits = step.moveBits / unsigned(results.size());
    for (size_t k = 0; k < sources.size(); ++k)
      whole |= zeroExtend(read(sources[k], r, {}), sourceBits) << (k * sourceBits);
    for (size_t k = 0; k < results.size(); ++k) write(results[k], r, zeroExtend(whole >> (k * resultBits), resultBits));
  }

  inline_ptx::Text text_;
  std::vector<inline_ptx::Constraint> constraints_;
  std::vector<Step> steps_;
};

/// One evaluation of one operation.
class InlineAssembly {
public:
  InlineAssembly(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<const Lanes *> in, LanePool &pool,
                 llvm::SmallVectorImpl<Lanes> &results, uint64_t time)
      : op_(op), in_(in), results_(results), pack_(unsigned(std::max<int64_t>(1, op.packedElement()))) {
    registers_.time = time;
    for (Value v : op->operands()) ins_.emplace_back(v.type().scalar(), pack_);
    for (Value v : op->results()) outs_.emplace_back(v.type().scalar(), pack_);
    for (const Lanes *l : in) count_ = std::max(count_, l->size());
    for (Value v : op->results())
      if (v.type().isTensor()) count_ = std::max<size_t>(count_, v.type().cast<TensorType>().numElements());
    for (Value v : op->results()) results.emplace_back(pool, laneBytes(v.type().scalar()), count_);
    // Scalars are groups of their own, in a reduction's region many of them at once.
    bool isTensor = op->numResults() ? op->result(0).type().isTensor() : op->operands()[0].type().isTensor();
    step_ = isTensor ? pack_ : 1;
  }

  bool run(std::string &reason) {
    if (!assembly_.prepare(op_, reason) || !fits(reason)) return false;
    for (size_t first = 0; first < count_; first += step_) {
      gather(first);
      if (!assembly_.run(registers_)) return reason = "the kernel traps (inline PTX 'trap')", false;
      scatter(first);
    }
    return true;
  }

private:
  bool fits(std::string &reason) const {
    size_t results = 0, operands = 0, given = 0, taken = 0;
    for (auto &p : outs_) results += p.registers;
    for (auto &p : ins_) operands += p.registers;
    for (auto &c : assembly_.constraints()) (c.isResult ? given : taken) += 1;
    if (results == given && operands == taken) return true;
    reason =
        llvm::formatv("the constraints '{0}' do not fit the {1} results and {2} operands of the inline assembly, as "
                      "registers",
                      op_.constraints(), results, operands);
    return false;
  }

  size_t elementAt(size_t first, unsigned k, size_t size) const {
    return size == 1 ? 0 : step_ == 1 ? first : std::min(first + k, size - 1);
  }
  void gather(size_t first) {
    auto constraints = assembly_.constraints();
    registers_.arguments.assign(constraints.size(), 0);
    unsigned argument = 0;
    while (argument < constraints.size() && constraints[argument].isResult) ++argument;
    for (size_t i = 0; i < ins_.size(); ++i)
      for (unsigned k = 0; k < ins_[i].registers; ++k, ++argument) {
        uint64_t bits = 0;
        for (unsigned e = 0; e < ins_[i].perRegister; ++e)
          bits |= in_[i]->word(elementAt(first, k * ins_[i].perRegister + e, in_[i]->size())) << (e * ins_[i].bits);
        registers_.arguments[assembly_.indexOf(argument)] = bits;
      }
  }
  void scatter(size_t first) {
    unsigned argument = 0;
    for (size_t i = 0; i < outs_.size(); ++i) {
      unsigned width = op_->result(unsigned(i)).type().scalar().isPointer()
                           ? 64
                           : op_->result(unsigned(i)).type().scalar().bitWidth();
      for (unsigned k = 0; k < outs_[i].registers; ++k, ++argument)
        for (unsigned e = 0; e < outs_[i].perRegister; ++e) {
          unsigned at = k * outs_[i].perRegister + e;
          if (at >= step_ || first + at >= count_) continue;
          results_[i].setWord(first + at, zeroExtend(registers_.arguments[argument] >> (e * outs_[i].bits), width));
        }
    }
  }

  tt::ElementwiseInlineAsmOp op_;
  llvm::ArrayRef<const Lanes *> in_;
  llvm::SmallVectorImpl<Lanes> &results_;
  unsigned pack_;
  size_t step_ = 1, count_ = 1;
  llvm::SmallVector<Packing, 4> ins_, outs_;
  Assembly assembly_;
  Registers registers_;
};

} // namespace

bool elementwise::evaluateInlineAssembly(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &pool,
                                         llvm::SmallVectorImpl<Lanes> &results, std::string &reason, uint64_t time) {
  return InlineAssembly(op->cast<tt::ElementwiseInlineAsmOp>(), in, pool, results, time).run(reason);
}

} // namespace tessera::runtime
