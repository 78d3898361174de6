// The changes of reductions.h.
#include "runtime/debug/reductions.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include <set>

namespace tessera::runtime {
using namespace ir;

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
static llvm::SmallVector<Value, 4> substitutes(Value v, Operation *at, bool zeroFirst) {
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

bool dropOperation(Operation *op, unsigned n, bool zeroFirst) {
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
static bool inlineBlock(Block *block, llvm::ArrayRef<Value> arguments, Operation *op) {
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

static bool inlineRegion(Operation *op, unsigned n) {
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
static Operation *without(Operation *op, int operand, int result) {
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
static Value zeroOf(Type t, Operation *at) {
  Type s = t.scalar();
  if (t.isa<MemDescType>() || t.isa<TensorDescType>() || !(s.isIntOrIndex() || s.isFloat())) return {};
  Builder b(at);
  return s.isFloat() ? b.floatConstant(at->loc(), t, 0) : b.intConstant(at->loc(), t, 0);
}

/// A while loop carries two lists: what its first region starts from, and what that hands to the second one and to
/// what comes after. Even n: the first one's n/2-th value becomes what it starts as. Odd n: one of the second list
/// becomes the same value from outside, or a starting value of its type.
static bool dropCarriedOfWhile(Operation *op, unsigned n) {
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
static bool dropReduced(Operation *op, unsigned n) {
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
static bool dropCarried(Operation *op, unsigned n) {
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
static bool dropOperand(Operation *op, unsigned n) {
  auto &row = op->info().operands;
  if (op->opcode() == Opcode::unregistered || n >= row.size() || row[n].arity != Arity::Optional ||
      op->operandGroup(n).empty())
    return false;
  op->setOperandGroup(n, {});
  return true;
}

/// A use takes a substitute of the value instead of it: 0 for a zero, or the operand of what makes it.
static bool bypass(Operation *op, unsigned n) {
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

static bool shrinkConstant(Operation *op, unsigned n) {
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

static bool dropAttribute(Operation *op, unsigned n) {
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

llvm::ArrayRef<OperationChange> operationChanges() {
  static constexpr OperationChange kChanges[] = {
      {inlineRegion, 2},
      {[](Operation *op, unsigned n) { return !isStructural(op) && dropOperation(op, n, true); }, 4},
      {dropCarried, 16},
      {dropReduced, 8},
      {dropOperand, 8},
      {bypass, 8},
      {shrinkConstant, 3},
      {dropAttribute, 8},
  };
  return kChanges;
}

} // namespace tessera::runtime
