// Functions, regions, loops and branches of a program (see program.h).
#include "ir/loops.h"
#include "ir/op_table.h"
#include "runtime/interpreter/program.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {
using namespace ir;

bool Program::run(Op kernel, llvm::ArrayRef<InterpreterArg> args) {
  llvm::SmallVector<Datum, 16> in;
  Block *entry = kernel->region(0).front();
  for (unsigned i = 0; i < args.size(); ++i) {
    Type t = entry->arg(i).type();
    uint64_t bits = args[i].buffer >= 0 ? GlobalMemory::baseOf(args[i].buffer) + args[i].bits : args[i].bits;
    if (t.isa<TensorDescType>()) {
      auto shapeOf = [](const std::vector<int64_t> &v) { return Shape(v.begin(), v.end()); };
      TensorDescriptor d{bits, shapeOf(args[i].shape), shapeOf(args[i].strides), args[i].nanPadding};
      in.push_back({{}, std::make_shared<const Object>(std::move(d))});
      continue;
    }
    in.push_back({Lanes::one(laneBytes(t), zeroExtend(bits, t.bitWidth())), nullptr});
  }
  llvm::SmallVector<Datum, 2> results;
  return call(kernel, in, results, nullptr);
}

bool Program::call(Op func, llvm::ArrayRef<Datum> args, llvm::SmallVectorImpl<Datum> &results, Op caller) {
  Region &body = func->region(0);
  if (body.empty())
    return fail(caller ? caller : func, "the function '" + func->cast<tt::FuncOp>().symName() + "' has no body");
  if (at_.depth >= 128) return fail(caller ? caller : func, "calls nest more than 128 deep");
  Frame frame{std::vector<Datum>(run_.plan.numValues(func)), caller}, *outer = at_.frame;
  ++at_.depth;
  at_.frame = &frame;
  for (unsigned i = 0; i < args.size(); ++i) datum(body.front()->arg(i)) = args[i];
  Op end = runRegion(body);
  if (end)
    for (auto v : end->operands()) results.push_back(get(v));
  at_.frame = outer;
  --at_.depth;
  if (!end && fault_ && at_.frame && at_.frame->caller) fault_->callers.push_back(at_.frame->caller);
  return end;
}

Operation *Program::runRegion(Region &r) {
  if (at_.nesting >= 400) {
    fail(r.parentOp(), "regions nest more than 400 deep");
    return nullptr;
  }
  ++at_.nesting;
  Block *b = r.front();
  Op end = nullptr;
  for (int64_t branches = 0;; ++branches) {
    Op t = nullptr;
    for (auto &op : *b) {
      if (op.info().has(kTerminator)) {
        t = &op;
        break;
      }
      if (!evaluate(&op)) break;
    }
    if (!t) break;
    OperandRange values;
    if (t->is<cf::BrOp>()) {
      b = t->successor(0);
      values = t->operands();
    } else if (auto c = t->dyn<cf::CondBrOp>()) {
      bool taken = flag(c.condition());
      b = t->successor(taken ? 0 : 1);
      values = taken ? c.trueArgs() : c.falseArgs();
    } else {
      if (whyNotInterpreted(t->opcode()))
        notInterpreted(t);
      else
        end = t;
      break;
    }
    if (!loopBack(t, branches)) break;
    llvm::SmallVector<Datum, 8> passed;
    for (auto v : values) passed.push_back(get(v));
    for (unsigned i = 0; i < passed.size(); ++i) datum(b->arg(i)) = std::move(passed[i]);
  }
  --at_.nesting;
  return end;
}

bool Program::loopBack(Op loop, int64_t iteration, bool *waitsInVain) {
  if (iteration >= run_.options.maxIterations)
    return fail(loop, llvm::formatv("'{0}' has run {1} times without an end: a loop that does not terminate",
                                    loop->name(), iteration)
                          .str());
  if (iteration % 64 != 63) return true;
  uint64_t writes = run_.writes.load(std::memory_order_relaxed);
  bool endsByItself = loop->is<scf::ForOp>();
  idle_ = writes != idleWrites_ ? 0 : endsByItself ? idle_ : idle_ + 64;
  idleWrites_ = writes;
  if (idle_ >= run_.options.maxIdle)
    return fail(loop, llvm::formatv("the loop does not end: '{0}' has run {1} times, and nothing in memory changed",
                                    loop->name(), idle_)
                          .str());
  if (run_.stop.load(std::memory_order_relaxed)) return false;
  // Atomics that change nothing, again and again: it waits for another program.
  bool spins = waited_ && !wrote_;
  waited_ = wrote_ = false;
  if (spins) letOthersRun(/*waits=*/false); // or for another partition
  if (!spins || spin_()) return true;
  if (run_.stop) return false;
  if (!waitsInVain)
    return fail(
        loop,
        llvm::formatv("deadlock: '{0}' waits for another program, and no program can continue", loop->name()).str());
  return *waitsInVain = true;
}

bool Program::evaluateCall(tt::CallOp op) {
  Op callee = run_.plan.function(op.callee());
  if (!callee) return fail(op, "the function '" + op.callee() + "' is not in the module");
  llvm::SmallVector<Datum, 8> args, results;
  for (auto v : op.operands()) args.push_back(get(v));
  if (!call(callee, args, results, op)) return false;
  for (unsigned i = 0; i < results.size(); ++i) datum(op->result(i)) = std::move(results[i]);
  return true;
}

bool Program::evaluateFor(scf::ForOp op) {
  Type t = op.lowerBound().type();
  bool isUnsigned = op.unsignedCmp();
  auto value = [&](Value v) -> Int128 { return isUnsigned ? Int128(word(v)) : Int128(integer(v)); };
  Int128 upper = value(op.upperBound()), step = value(op.step());
  if (step <= 0) return fail(op, "the loop's step is " + std::to_string(int64_t(step)) + ", and must be positive");
  unsigned n = numCarried(op);
  llvm::SmallVector<Datum, 8> carried;
  for (auto v : op.initArgs()) carried.push_back(get(v));
  Block *body = op.body().front();
  unsigned bits = t.bitWidth();
  Int128 most = (Int128(1) << (isUnsigned ? bits : bits - 1)) - 1;
  int64_t iteration = 0;
  for (Int128 i = value(op.lowerBound()); i < upper; i += step) {
    set(inductionVariable(op), Lanes::one(laneBytes(t), zeroExtend(uint64_t(i), t.bitWidth())));
    for (unsigned k = 0; k < n; ++k) datum(carriedArgument(*body, k)) = std::move(carried[k]);
    Op end = runRegion(op.body());
    if (!end) return false;
    for (unsigned k = 0; k < n; ++k) carried[k] = get(end->operand(k));
    if (!loopBack(op, iteration++)) return false;
    // Compiled code compares the sum in the variable's type, and need not end.
    if (i + step > most)
      return fail(op, llvm::formatv("the loop's induction variable overflows: {0} + {1} is no {2}", int64_t(i),
                                    int64_t(step), t.str())
                          .str());
  }
  for (unsigned k = 0; k < n; ++k) datum(op->result(k)) = std::move(carried[k]);
  return true;
}

bool Program::evaluateWhile(scf::WhileOp op) {
  llvm::SmallVector<Datum, 8> carried;
  for (auto v : op.inits()) carried.push_back(get(v));
  for (int64_t iteration = 0;; ++iteration) {
    for (unsigned k = 0; k < carried.size(); ++k) datum(op.before().front()->arg(k)) = std::move(carried[k]);
    Op end = runRegion(op.before());
    if (!end) return false;
    auto condition = end->cast<scf::ConditionOp>();
    llvm::SmallVector<Datum, 8> passed;
    for (auto v : condition.args()) passed.push_back(get(v));
    if (!flag(condition.condition())) {
      for (unsigned k = 0; k < passed.size(); ++k) datum(op->result(k)) = std::move(passed[k]);
      return true;
    }
    for (unsigned k = 0; k < passed.size(); ++k) datum(op.after().front()->arg(k)) = std::move(passed[k]);
    end = runRegion(op.after());
    if (!end) return false;
    carried.clear();
    for (auto v : end->operands()) carried.push_back(get(v));
    if (!loopBack(op, iteration)) return false;
  }
}

bool Program::yieldFrom(Op op, Region &r) {
  if (r.empty()) return true;
  Op end = runRegion(r);
  if (!end) return false;
  llvm::SmallVector<Datum, 4> values;
  for (auto v : end->operands()) values.push_back(get(v));
  for (unsigned i = 0; i < op->numResults(); ++i) datum(op->result(i)) = std::move(values[i]);
  return true;
}

bool Program::evaluateIf(scf::IfOp op) {
  return yieldFrom(op, flag(op.condition()) ? op.thenRegion() : op.elseRegion());
}

} // namespace tessera::runtime
