// What is found out once about a module before its programs run: where each value is kept and after which operation
// it is not needed any more (see program.h).
#include "ir/op_table.h"
#include "runtime/interpreter/elementwise.h"
#include "runtime/interpreter/program.h"

namespace tessera::runtime {
using namespace ir;

/// More elements than any tensor of a real kernel, few enough to hold.
static constexpr int64_t kMaxElements = int64_t(1) << 26;

/// The operation of the block in which `op` is nested, or null.
static Operation *ancestorIn(Operation *op, Block *block) {
  while (op && op->block() != block) op = op->parentOp();
  return op;
}

static std::string unusable(Type t) {
  if (!t.isa<ShapedType>()) return "";
  int64_t n = 1;
  for (int64_t d : t.cast<ShapedType>().shape()) {
    if (d <= 0) return "has a dimension of " + std::to_string(d);
    if (d > kMaxElements || n * d > kMaxElements) return "has more than " + std::to_string(kMaxElements) + " elements";
    n *= d;
  }
  if (!t.isa<TensorDescType>() && !laneBytes(t.scalar())) {
    Type e = t.cast<ShapedType>().element();
    if (!laneBytes(e)) return "has elements that the interpreter cannot hold";
  }
  return "";
}

bool Plan::visit(Operation *func, DiagnosticEngine &diag) {
  unsigned next = 0;
  bool ok = true;
  auto define = [&](Value v, Operation *at) {
    places_[v.impl()] = next++;
    if (auto why = unusable(v.type()); !why.empty() && ok) {
      ok = false;
      diag.error(at->loc(), "the type " + v.type().str() + " " + why);
    }
    // The last operation of the value's block that uses it, itself or through what is nested in it.
    Block *block = v.parentBlock();
    Operation *last = nullptr;
    for (auto *use = v.firstUse(); use; use = use->nextUse) {
      Operation *user = ancestorIn(use->owner, block);
      if (!user || user->info().has(kTerminator)) return; // lives on in other blocks, or leaves this one
      if (!last || last->isBeforeInBlock(user)) last = user;
    }
    if (!last) last = v.definingOp();
    if (last) dying_[last].push_back(places_[v.impl()]);
  };
  func->walk([&](Operation *op) {
    for (auto v : op->results()) define(v, op);
    for (auto &r : op->regions())
      for (auto *b : r.blocks())
        for (auto *a : b->args()) define(Value(a), op);
  });
  numValues_[func] = next;
  return ok;
}

bool Plan::computeLanewise(Region &r) {
  if (auto it = lanewise_.find(&r); it != lanewise_.end()) return it->second;
  lanewise_[&r] = false; // while it is being computed: recursive functions are not
  bool ok = r.hasOneBlock();
  if (ok)
    for (auto &op : *r.front()) {
      if (op.info().has(kTerminator) ? op.numSuccessors() == 0 : isElementwise(&op)) continue;
      if (op.is<arith::ConstantOp>() || op.is<ub::PoisonOp>()) continue;
      if (auto c = op.dyn<tt::CallOp>()) {
        Operation *callee = function(c.callee());
        if (callee && !callee->region(0).empty() && computeLanewise(callee->region(0))) continue;
      }
      ok = false;
      break;
    }
  return lanewise_[&r] = ok;
}

bool Plan::build(Module &m, DiagnosticEngine &diag) {
  bool ok = true;
  for (auto &op : *m.body())
    if (auto f = op.dyn<tt::FuncOp>()) functions_[f.symName()] = &op;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::FuncOp>()) ok &= visit(op, diag);
  });
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>() || op->is<tt::MapElementwiseOp>())
      computeLanewise(op->region(0));
  });
  return ok;
}

} // namespace tessera::runtime
