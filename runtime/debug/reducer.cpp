// Reduction of IR (see reducer.h). A change is named by its kind and the number of the operation in a walk over the
// module, which a copy shares with its original; it is applied to a copy.
#include "runtime/debug/reducer.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/verifier.h"
#include "runtime/compiler/kernel_function.h"
#include "transforms/pass.h"
#include <array>
#include <cmath>
#include <set>

namespace tessera::runtime {
using namespace ir;

namespace {

bool isStructural(Operation *op) {
  return op->is<builtin::ModuleOp>() || op->is<tt::FuncOp>() || op->info().has(kTerminator);
}

std::vector<Operation *> operationsOf(Module &m) {
  std::vector<Operation *> out;
  m.op()->walk([&](Operation *op) { out.push_back(op); });
  return out;
}

void eraseDead(Module &m) {
  for (bool again = true; again;) {
    again = false;
    std::vector<Operation *> dead;
    m.op()->walkPostOrder([&](Operation *op) {
      if (op->block() && !isStructural(op) && isTriviallyDead(op)) dead.push_back(op);
    });
    for (auto it = dead.rbegin(); it != dead.rend(); ++it) {
      if (!(*it)->useEmpty()) continue;
      // One that lies inside another dead one goes with it.
      bool inside = false;
      for (auto *p = (*it)->parentOp(); p; p = p->parentOp()) inside |= llvm::is_contained(dead, p);
      if (inside) continue;
      (*it)->erase();
      again = true;
    }
  }
}

/// Values that may stand for this one, before `at`: operands of its type, zero, a pointer argument.
llvm::SmallVector<Value, 4> substitutes(Value v, Operation *at, bool zeroFirst) {
  llvm::SmallVector<Value, 4> out;
  for (auto o : at->operands())
    if (o.type() == v.type() && !llvm::is_contained(out, o)) out.push_back(o);
  Type t = v.type(), s = t.scalar();
  Builder b(at);
  if (!t.isa<MemDescType>() && !t.isa<TensorDescType>() && (s.isIntOrIndex() || s.isFloat())) {
    Value zero = s.isFloat() ? b.floatConstant(at->loc(), t, 0) : b.intConstant(at->loc(), t, 0);
    out.insert(zeroFirst ? out.begin() : out.end(), zero);
  } else if (s.isPointer()) {
    auto f = at->parentOfType<tt::FuncOp>();
    for (auto *a : f.body().front()->args()) {
      if (Value(a).type() != s) continue;
      Value p = a;
      if (t.isTensor()) {
        OperationState state(Opcode::tt_splat, at->loc());
        state.operands = {p};
        state.resultTypes = {t};
        p = b.create(state)->result();
      }
      if (!llvm::is_contained(out, p)) out.push_back(p);
      break;
    }
  }
  return out;
}

/// Takes the operation out, its results replaced by the n-th of their substitutes. False if there are not as many.
bool drop(Operation *op, unsigned n, bool zeroFirst) {
  llvm::SmallVector<Value, 4> by;
  for (auto r : op->results()) {
    if (r.useEmpty()) {
      by.push_back(r);
      continue;
    }
    auto s = substitutes(r, op, zeroFirst);
    if (n >= s.size()) return false;
    by.push_back(s[n]);
  }
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (by[i] != op->result(i)) op->result(i).replaceAllUsesWith(by[i]);
  op->dropAllReferences();
  op->erase();
  return true;
}

/// Moves a block's operations before `op`, which the values that its terminator passes on replace.
bool inlineBlock(Block *block, llvm::ArrayRef<Value> arguments, Operation *op) {
  if (block->numArgs() != arguments.size()) return false;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type() != block->arg(i).type()) return false;
    block->arg(i).replaceAllUsesWith(arguments[i]);
  }
  Operation *end = block->terminator();
  auto condition = end->dyn<scf::ConditionOp>();
  auto results = (condition ? condition.args() : end->operands()).vec();
  if (results.size() != op->numResults()) return false;
  for (auto &o : *block)
    if (&o != end) o.moveBefore(op);
  op->replaceAllUsesWith(results);
  op->dropAllReferences();
  op->erase();
  return true;
}

bool inlineRegion(Operation *op, unsigned n) {
  if (auto f = op->dyn<scf::ForOp>()) {
    if (n) return false;
    llvm::SmallVector<Value, 4> arguments{f.lowerBound()};
    for (auto v : f.initArgs()) arguments.push_back(v);
    return inlineBlock(op->region(0).front(), arguments, op);
  }
  if (op->is<scf::IfOp>() || op->is<scf::ExecuteRegionOp>()) {
    if (n >= op->numRegions()) return false;
    if (op->region(n).empty()) {
      if (op->numResults()) return false;
      op->dropAllReferences();
      op->erase();
      return true;
    }
    return op->region(n).hasOneBlock() && inlineBlock(op->region(n).front(), {}, op);
  }
  if (auto w = op->dyn<scf::WhileOp>()) {
    if (n || !op->region(0).hasOneBlock()) return false;
    return inlineBlock(op->region(0).front(), op->operands().vec(), op);
  }
  if (op->is<cf::CondBrOp>() && n < 2) {
    OperationState state(Opcode::cf_br, op->loc());
    auto branch = op->cast<cf::CondBrOp>();
    for (auto v : n == 0 ? branch.trueArgs() : branch.falseArgs()) state.operands.push_back(v);
    state.successors = {op->successor(n)};
    Builder(op).create(state);
    op->erase();
    return true;
  }
  return false;
}

/// The same operation without its n-th operand or result (-1: with all of them), in its place; the regions go over.
/// The caller erases the old one, whose other results have been replaced.
Operation *without(Operation *op, int operand, int result) {
  OperationState state(op->opcode(), op->loc());
  for (int i = 0; i < int(op->numOperands()); ++i)
    if (i != operand) state.operands.push_back(op->operand(unsigned(i)));
  for (auto a : op->attrs()) state.attrs.push_back(a);
  llvm::SmallVector<Value, 4> others;
  for (int i = 0; i < int(op->numResults()); ++i)
    if (i != result)
      state.resultTypes.push_back(op->result(unsigned(i)).type()), others.push_back(op->result(unsigned(i)));
  state.numRegions = op->numRegions();
  Operation *made = Builder(op).create(state);
  for (unsigned i = 0; i < op->numRegions(); ++i) made->region(i).takeBody(op->region(i));
  for (auto [i, v] : llvm::enumerate(others)) v.replaceAllUsesWith(made->result(unsigned(i)));
  return made;
}

/// A zero of a type, before `at`; none of types that have none.
Value zeroOf(Type t, Operation *at) {
  Type s = t.scalar();
  if (t.isa<MemDescType>() || t.isa<TensorDescType>() || !(s.isIntOrIndex() || s.isFloat())) return {};
  Builder b(at);
  return s.isFloat() ? b.floatConstant(at->loc(), t, 0) : b.intConstant(at->loc(), t, 0);
}

/// A while loop carries two lists: what its first region starts from, and what that hands to the second one and to
/// what comes after. Even n: the first one's n/2-th value becomes what it starts as. Odd n: one of the second list
/// becomes the same value from outside, or a starting value of its type.
bool dropCarriedOfWhile(Operation *op, unsigned n) {
  if (!op->region(0).hasOneBlock() || !op->region(1).hasOneBlock()) return false;
  Block *before = op->region(0).front(), *body = op->region(1).front();
  unsigned k = n / 2;
  if (n % 2 == 0) {
    if (k >= op->numOperands()) return false;
    before->arg(k).replaceAllUsesWith(op->operand(k));
    before->eraseArg(k);
    body->terminator()->eraseOperand(k);
    without(op, int(k), -1);
    op->erase();
    return true;
  }
  if (k >= op->numResults()) return false;
  auto condition = before->terminator()->cast<scf::ConditionOp>();
  OpOperand &passed = condition.args().operand(k);
  Value by = passed.get();
  auto inside = [&](Value v) {
    Operation *at = v.isBlockArgument() ? v.ownerBlock()->parentOp() : v.definingOp()->parentOp();
    for (; at; at = at->parentOp())
      if (at == op) return true;
    return false;
  };
  if (inside(by)) {
    by = {};
    for (auto o : op->operands())
      if (o.type() == op->result(k).type()) by = o;
    if (!by) return false;
  }
  body->arg(k).replaceAllUsesWith(by);
  op->result(k).replaceAllUsesWith(by);
  body->eraseArg(k);
  condition->eraseOperand(passed.index());
  without(op, -1, int(k));
  op->erase();
  return true;
}

/// A reduction or scan of several operands loses the n-th: in its region another value of the type stands for it, or
/// a zero.
bool dropReduced(Operation *op, unsigned n) {
  if (!op->is<tt::ReduceOp>() && !op->is<tt::ScanOp>()) return false;
  unsigned count = op->numOperands();
  if (count < 2 || n >= count || !op->region(0).hasOneBlock()) return false;
  Block *body = op->region(0).front();
  if (body->numArgs() != 2 * count || body->terminator()->numOperands() != count) return false;
  for (unsigned at : {n + count, n}) {
    if (!body->arg(at).useEmpty()) {
      Value by;
      for (unsigned i = at < count ? 0 : count; i < (at < count ? count : 2 * count) && !by; ++i)
        if (i != at && body->arg(i).type() == body->arg(at).type()) by = body->arg(i);
      if (!by) by = zeroOf(body->arg(at).type(), &*body->begin());
      if (!by) return false;
      body->arg(at).replaceAllUsesWith(by);
    }
    body->eraseArg(at);
    if (at >= count) body->terminator()->eraseOperand(n);
  }
  if (!op->result(n).useEmpty()) {
    Value by;
    for (auto r : op->results())
      if (r != op->result(n) && r.type() == op->result(n).type()) by = r;
    if (!by) by = zeroOf(op->result(n).type(), op);
    if (!by) return false;
    op->result(n).replaceAllUsesWith(by);
  }
  without(op, int(n), int(n));
  op->erase();
  return true;
}

/// The n-th value that the loop carries becomes what it starts as.
bool dropCarried(Operation *op, unsigned n) {
  if (op->is<scf::WhileOp>()) return dropCarriedOfWhile(op, n);
  auto f = op->dyn<scf::ForOp>();
  if (!f || n >= op->numResults()) return false;
  OpOperand &initUse = f.initArgs().operand(n);
  Value init = initUse.get();
  Block *body = op->region(0).front();
  carriedArgument(*body, n).replaceAllUsesWith(init);
  op->result(n).replaceAllUsesWith(init);
  if (!op->operandSegments().empty()) return false;
  body->terminator()->eraseOperand(n);
  eraseCarriedArgument(*body, n);
  without(op, int(initUse.index()), int(n));
  op->erase();
  return true;
}

/// An optional operand less.
bool dropOperand(Operation *op, unsigned n) {
  auto &row = op->info().operands;
  if (op->opcode() == Opcode::unregistered || n >= row.size() || row[n].arity != Arity::Optional ||
      op->operandGroup(n).empty())
    return false;
  op->setOperandGroup(n, {});
  return true;
}

/// A use takes a substitute of the value instead of it: 0 for a zero, or the operand of what makes it.
bool bypass(Operation *op, unsigned n) {
  if (n >= op->numOperands()) return false;
  auto *maker = op->operand(n).definingOp();
  if (!maker || maker->info().has(kConstantLike)) return false;
  for (auto v : maker->operands())
    if (v.type() == op->operand(n).type() && v != op->operand(n)) {
      op->setOperand(n, v);
      return true;
    }
  return false;
}

bool shrinkConstant(Operation *op, unsigned n) {
  if (!op->is<arith::ConstantOp>()) return false;
  auto v = intConstantOf(op->result());
  if (!v) return false;
  int64_t to = n == 0 ? 0 : n == 1 ? 1 : *v / 2;
  if (n > 2 || to == *v || (*v >= 0 && to > *v) || (n == 2 && (to == 0 || to == 1))) return false;
  Value by = Builder(op).intConstant(op->loc(), op->result().type(), to);
  op->result().replaceAllUsesWith(by);
  op->erase();
  return true;
}

bool dropAttribute(Operation *op, unsigned n) {
  if (n >= op->attrs().size() || op->is<builtin::ModuleOp>()) return false;
  auto name = op->attrs()[n].name;
  auto *spec = op->info().attr(name);
  // What the row requires stays; a function loses only what is about its arguments.
  if (spec && !spec->optional && !spec->hasDefault) return false;
  if (name == "sym_visibility") return false;
  op->removeAttr(name);
  return true;
}

/// Every tensor dimension of this size is halved, ranges and constants with them.
bool halveShapes(Module &m, int64_t size) {
  auto change = [&](Type t) -> Type {
    if (auto p = t.dyn_cast<PointerType>(); p && p.pointee().isTensor()) return t; // block pointers keep their blocks
    auto tensor = t.dyn_cast<TensorType>();
    if (!tensor || !llvm::is_contained(tensor.shape(), size)) return t;
    llvm::SmallVector<int64_t, 4> shape(tensor.shape().begin(), tensor.shape().end());
    for (auto &d : shape)
      if (d == size) d /= 2;
    return tensor.withShape(shape);
  };
  bool changed = false;
  for (auto *op : operationsOf(m)) {
    for (auto r : op->results())
      if (Type t = change(r.type()); t != r.type()) {
        if (auto c = op->dyn<arith::ConstantOp>()) {
          // A splat again; others keep what they were, and the verifier refuses them.
          auto e = constantOf(r).dyn_cast<DenseElementsAttr>();
          if (!e || !e.isSplat()) return false;
          op->setAttr("value", DenseElementsAttr::get(t.cast<TensorType>(), {e.splat()}));
        }
        if (auto range = op->dyn<tt::MakeRangeOp>())
          op->setAttr("end", IntegerAttr::getI32(m.context(), int64_t(range.start()) + t.cast<TensorType>().dim(0)));
        r.setType(t);
        changed = true;
      }
    for (auto &region : op->regions())
      for (auto *b : region.blocks())
        for (auto *a : b->args())
          if (Type t = change(Value(a).type()); t != Value(a).type()) Value(a).setType(t), changed = true;
    if (auto f = op->dyn<tt::FuncOp>()) {
      auto type = f.functionType().cast<FunctionType>();
      llvm::SmallVector<Type, 8> inputs, results;
      for (unsigned i = 0; i < type.numInputs(); ++i) inputs.push_back(change(type.input(i)));
      for (unsigned i = 0; i < type.numResults(); ++i) results.push_back(change(type.result(i)));
      op->setAttr("function_type", TypeAttr::get(FunctionType::get(m.context(), inputs, results)));
    }
  }
  return changed;
}

bool dropArgument(Failing &f, unsigned n) {
  auto kernel = selectKernel(*f.module, f.launch ? f.launch->kernel : "");
  if (!kernel.ok()) return false;
  Block *entry = (*kernel)->region(0).front();
  if (n >= entry->numArgs() || !entry->arg(n).useEmpty()) return false;
  auto func = (*kernel)->cast<tt::FuncOp>();
  auto type = func.functionType().cast<FunctionType>();
  llvm::SmallVector<Type, 8> inputs, results;
  for (unsigned i = 0; i < type.numInputs(); ++i)
    if (i != n) inputs.push_back(type.input(i));
  for (unsigned i = 0; i < type.numResults(); ++i) results.push_back(type.result(i));
  entry->eraseArg(n);
  (*kernel)->setAttr("function_type", TypeAttr::get(FunctionType::get(f.module->context(), inputs, results)));
  if (auto a = (*kernel)->attr<ArrayAttr>("arg_attrs")) {
    llvm::SmallVector<Attribute, 8> kept;
    for (unsigned i = 0; i < a.size(); ++i)
      if (i != n) kept.push_back(a[i]);
    (*kernel)->setAttr("arg_attrs", ArrayAttr::get(f.module->context(), kept));
  }
  if (f.launch) {
    auto &l = *f.launch;
    l.args.erase(l.args.begin() + n);
    llvm::erase_if(l.expected, [&](auto &e) { return e.arg == n; });
    for (auto &e : l.expected) e.arg -= e.arg > n;
  }
  return true;
}

/// Functions that nobody calls any more.
void dropFunctions(Failing &f) {
  auto kernel = selectKernel(*f.module, f.launch ? f.launch->kernel : "");
  if (!kernel.ok()) return;
  for (bool again = true; again;) {
    again = false;
    std::set<std::string> called;
    f.module->op()->walk([&](Operation *op) {
      if (auto c = op->dyn<tt::CallOp>()) called.insert(c.callee().str());
    });
    for (auto &op : *f.module->body()) {
      auto func = op.dyn<tt::FuncOp>();
      if (!func || &op == *kernel || called.count(func.symName().str())) continue;
      op.dropAllReferences();
      op.erase();
      again = true;
    }
  }
}

bool dividesByZero(Module &m) {
  bool found = false;
  m.op()->walk([&](Operation *op) {
    bool division = false;
    for (llvm::StringRef n : {"divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"})
      division |= op->name() == ("arith." + n).str();
    if (division && intConstantOf(BinaryOp(op).rhs()) == 0) found = true;
  });
  return found;
}

/// What a candidate must have less of, the first things first: so that no two changes undo each other without an end.
using Cost = std::array<double, 8>;
Cost costOf(Failing &f) {
  Cost c{};
  std::vector<Operation *> ops = operationsOf(*f.module);
  llvm::DenseMap<Operation *, size_t> position;
  for (size_t i = 0; i < ops.size(); ++i) position[ops[i]] = i;
  for (auto *op : ops) {
    bool constant = op->info().has(kConstantLike);
    c[0] += !isStructural(op) && !constant;
    c[1] += constant;
    c[2] += op->numOperands() + op->numResults() + op->numRegions() + op->numSuccessors();
    c[3] += op->attrs().size();
    for (auto r : op->results())
      if (auto t = r.type().dyn_cast<ShapedType>()) c[4] += double(t.numElements());
    if (constant && op->numResults() == 1)
      if (auto v = intConstantOf(op->result())) c[5] += *v == 0 ? 0 : 1 + std::log2(std::abs(double(*v)));
    for (auto v : op->operands())
      if (v.definingOp()) c[6] += 1 + double(position[v.definingOp()]);
    for (auto &r : op->regions())
      for (auto *b : r.blocks()) c[2] += b->numArgs();
  }
  if (f.launch)
    c[7] = double(f.launch->args.size()) + double(f.launch->grid[0] + f.launch->grid[1] + f.launch->grid[2]) +
           f.launch->numWarps + f.launch->numStages;
  return c;
}

class Reducer {
public:
  Reducer(Failing &f, const ReduceOptions &o) : best_(f), o_(o) {}

  ReduceResult run() {
    r_.operationsBefore = countOperations(*best_.module);
    for (bool again = true; again && !stop();) {
      again = false;
      again |= passes();
      again |= launch();
      again |= chunks();
      for (auto &kind : kKinds) again |= each(kind);
      again |= shapes();
      again |= arguments();
    }
    r_.finished = !stop();
    r_.operationsAfter = countOperations(*best_.module);
    return r_;
  }

private:
  using Change = bool (*)(Operation *, unsigned);
  struct Kind {
    Change apply;
    unsigned variants;
  };
  // In the order in which much goes first.
  static constexpr Kind kKinds[] = {
      {inlineRegion, 2},   {[](Operation *op, unsigned n) { return !isStructural(op) && drop(op, n, true); }, 4},
      {dropCarried, 16},   {dropReduced, 8},
      {dropOperand, 8},    {bypass, 8},
      {shrinkConstant, 3}, {dropAttribute, 8},
  };

  bool stop() { return o_.stop && o_.stop(); }

  /// Keeps the candidate if it is sound and fails.
  bool accept(Failing &&candidate) {
    eraseDead(*candidate.module);
    DiagnosticEngine quiet;
    if (!verify(*candidate.module, quiet) || dividesByZero(*candidate.module)) return false;
    if (!(costOf(candidate) < costOf(best_))) return false;
    Failing tried = candidate.copy();
    ++r_.checks;
    bool fails = o_.fails(tried);
    if (fails) best_ = std::move(candidate);
    if (o_.progress) o_.progress(countOperations(*best_.module), r_.checks);
    return fails;
  }

  bool passes() {
    bool any = false;
    for (llvm::StringRef name : {"inline", "canonicalize", "cse"}) {
      if (stop()) return any;
      Failing c = best_.copy();
      size_t before = countOperations(*c.module);
      transforms::RunOptions run;
      DiagnosticEngine quiet;
      if (!transforms::runPipeline(*c.module, {{transforms::findPass(name), {}}}, run, quiet).ok()) continue;
      dropFunctions(c);
      eraseDead(*c.module);
      size_t after = countOperations(*c.module);
      if (name == "inline" ? operationsOf(*c.module).size() != operationsOf(*best_.module).size() : after < before)
        any |= accept(std::move(c));
    }
    return any;
  }

  /// Halves, quarters, … of all operations at once.
  bool chunks() {
    bool any = false;
    for (size_t size = std::max<size_t>(1, operationsOf(*best_.module).size() / 2); size > 1; size /= 2) {
      // From the end: what is there is used by less.
      for (size_t last = operationsOf(*best_.module).size(); last > 0 && !stop();) {
        Failing c = best_.copy();
        auto ops = operationsOf(*c.module);
        last = std::min(last, ops.size());
        size_t first = last > size ? last - size : 0;
        std::set<Operation *> chosen;
        for (size_t i = first; i < last; ++i)
          if (!isStructural(ops[i])) chosen.insert(ops[i]);
        bool changed = false;
        for (size_t i = last; i-- > first;) {
          bool inside = false; // goes with an operation around it
          for (auto *p = isStructural(ops[i]) ? nullptr : ops[i]->parentOp(); p; p = p->parentOp())
            inside |= chosen.count(p);
          if (chosen.count(ops[i]) && !inside) changed |= drop(ops[i], 0, false) || drop(ops[i], 0, true);
        }
        if (changed && accept(std::move(c))) any = true;
        last = first;
      }
    }
    return any;
  }

  bool each(const Kind &kind) {
    bool any = false;
    for (size_t i = operationsOf(*best_.module).size(); i-- > 0;)
      for (unsigned n = 0; n < kind.variants; ++n) {
        if (stop()) return any;
        Failing c = best_.copy();
        auto ops = operationsOf(*c.module);
        if (i >= ops.size()) break;
        if (!kind.apply(ops[i], n)) continue;
        if (accept(std::move(c))) {
          any = true;
          n = unsigned(-1); // what stands there now
        }
      }
    return any;
  }

  bool shapes() {
    bool any = false;
    std::set<int64_t> sizes;
    for (auto *op : operationsOf(*best_.module))
      for (auto r : op->results())
        if (auto t = r.type().dyn_cast<TensorType>()) sizes.insert(t.shape().begin(), t.shape().end());
    for (auto it = sizes.rbegin(); it != sizes.rend(); ++it)
      for (int64_t size = *it; size > 1 && !stop(); size /= 2) {
        Failing c = best_.copy();
        if (!halveShapes(*c.module, size) || !accept(std::move(c))) break;
        any = true;
      }
    return any;
  }

  bool arguments() {
    bool any = false;
    for (unsigned n = 64; n-- > 0 && !stop();) {
      Failing c = best_.copy();
      if (dropArgument(c, n)) any |= accept(std::move(c));
    }
    return any;
  }

  bool launch() {
    bool any = false;
    if (!best_.launch) return false;
    auto attempt = [&](auto change) {
      if (stop()) return false;
      Failing c = best_.copy();
      return change(*c.launch) && accept(std::move(c)) && (any = true);
    };
    for (int d = 0; d < 3; ++d) {
      auto to = [&](int64_t n) {
        return attempt([&](LaunchDescription &l) {
          bool less = n >= 1 && n < l.grid[d];
          if (less) l.grid[d] = n;
          return less;
        });
      };
      if (!to(1))
        while (to(best_.launch->grid[d] / 2));
    }
    bool layouts = hasLayouts(best_.module->op());
    for (int LaunchDescription::*what : {&LaunchDescription::numWarps, &LaunchDescription::numStages}) {
      if (layouts) continue;
      auto to = [&](int n) {
        return attempt([&](LaunchDescription &l) {
          bool less = n >= 1 && n < l.*what;
          if (less) l.*what = n;
          return less;
        });
      };
      if (!to(1))
        while (to((*best_.launch).*what / 2));
    }
    return any;
  }

  Failing &best_;
  const ReduceOptions &o_;
  ReduceResult r_;
};

} // namespace

size_t countOperations(Module &m) {
  size_t n = 0;
  m.op()->walk([&](Operation *op) { n += !isStructural(op); });
  return n;
}

ReduceResult reduce(Failing &f, const ReduceOptions &o) { return Reducer(f, o).run(); }

} // namespace tessera::runtime
