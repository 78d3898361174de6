// AxisInfo (see axis_info.h): a forward walk per function, callers before callees. Values that loops and branches
// carry start from what first reaches them and are joined with all else that does until nothing falls any more. The
// rules for single operations are in axis_info_rules.cpp.
#include "transforms/analyses/axis_info.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info_rules.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;
using namespace axis_rules;

AxisInfo AxisInfoAnalysis::get(Value v) const {
  auto it = info_.find(v);
  return it != info_.end() ? it->second : unknown(v.type());
}

/// Weakens `i` to what holds for `n` too. Constancy stays where the constants differ: each reaches the whole tensor.
static void weaken(AxisInfo &i, const AxisInfo &n, int64_t unit) {
  for (unsigned d = 0; d < i.rank(); ++d) {
    int64_t c = minp(i.contiguity[d], n.contiguity[d]);
    i.divisibility[d] = minp(divisibilityAt(i, d, c, unit), divisibilityAt(n, d, c, unit));
    i.contiguity[d] = c;
    i.constancy[d] = minp(i.constancy[d], n.constancy[d]);
  }
  if (i.constant != n.constant) i.constant.reset();
}

bool AxisInfoAnalysis::join(Value v, const AxisInfo &n) {
  auto [it, fresh] = info_.try_emplace(v, n);
  if (fresh) return true;
  AxisInfo old = it->second;
  weaken(it->second, n, unitOf(v.type()));
  return !(it->second == old);
}

void AxisInfoAnalysis::visitFor(Operation *op) {
  auto loop = op->cast<scf::ForOp>();
  // The induction variable: what divides the lower bound and the step.
  AxisInfo counter = unknown(loop.lowerBound().type());
  counter.divisibility[0] = minp(get(loop.lowerBound()).divisibility[0], get(loop.step()).divisibility[0]);
  info_[inductionVariable(loop)] = counter;
  unsigned n = numCarried(loop);
  for (unsigned i = 0; i < n; ++i) info_[carried(loop, i).argument] = get(carried(loop, i).init);
  for (bool changed = true; changed;) {
    changed = false;
    block(loop.body().front());
    for (unsigned i = 0; i < n; ++i) changed |= join(carried(loop, i).argument, get(carried(loop, i).yielded));
  }
  for (unsigned i = 0; i < n; ++i) info_[carried(loop, i).result] = get(carried(loop, i).argument);
}

void AxisInfoAnalysis::visitWhile(Operation *op) {
  auto w = op->cast<scf::WhileOp>();
  Block *before = w.before().front(), *after = w.after().front();
  for (unsigned i = 0; i < w.inits().size(); ++i) info_[before->arg(i)] = get(w.inits()[i]);
  for (bool changed = true; changed;) {
    changed = false;
    block(before);
    auto args = before->terminator()->cast<scf::ConditionOp>().args();
    for (unsigned i = 0; i < args.size(); ++i) info_[after->arg(i)] = get(args[i]);
    block(after);
    for (unsigned i = 0; i < w.inits().size(); ++i)
      changed |= join(before->arg(i), get(after->terminator()->operand(i)));
  }
  for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(after->arg(i));
}

void AxisInfoAnalysis::visitIf(Operation *op) {
  for (auto &r : op->regions()) region(r);
  for (unsigned i = 0; i < op->numResults(); ++i) {
    info_.erase(op->result(i));
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        if (Operation *y = b->terminator(); y && y->is<scf::YieldOp>()) join(op->result(i), get(y->operand(i)));
  }
}

/// Partitions have the captured values as arguments.
void AxisInfoAnalysis::visitWarpSpecialize(Operation *op) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  region(w.defaultRegion());
  if (Operation *y = w.defaultRegion().empty() ? nullptr : w.defaultRegion().back()->terminator();
      y && y->numOperands() == op->numResults())
    for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(y->operand(i));
  if (w.partitionOpHolder().empty()) return;
  for (auto &holder : *w.partitionOpHolder().front())
    for (auto &r : holder.regions()) {
      auto captures = holder.numOperands() ? holder.operands() : w.explicitCaptures();
      if (r.empty()) continue;
      for (unsigned i = 0; i < std::min(captures.size(), r.front()->numArgs()); ++i)
        info_[r.front()->arg(i)] = get(captures[i]);
      region(r);
    }
}

/// Joins what the arguments of all calls of a function are.
void AxisInfoAnalysis::visitCall(Operation *op) {
  Operation *callee = symbols_.callee(op->cast<tt::CallOp>());
  if (!callee) return;
  auto &args = callArgs_[callee];
  args.resize(op->numOperands());
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    AxisInfo a = get(op->operand(i));
    if (args[i] && args[i]->rank() == a.rank())
      weaken(*args[i], a, unitOf(op->operand(i).type()));
    else
      args[i] = a;
  }
}

/// Every second element: the other dimensions are untouched.
void AxisInfoAnalysis::visitSplit(Operation *op) {
  for (auto r : op->results()) {
    AxisInfo a = get(op->cast<tt::SplitOp>().src());
    info_[r] = unknown(r.type());
    if (!r.type().isTensor()) {
      info_[r].divisibility[0] = divisibilityOfAll(a);
      info_[r].constant = a.constant;
      continue;
    }
    a.contiguity.pop_back();
    a.divisibility.pop_back();
    a.constancy.pop_back();
    info_[r] = a;
  }
}

void AxisInfoAnalysis::visit(Operation *op) {
  switch (op->opcode()) {
  case Opcode::scf_for: return visitFor(op);
  case Opcode::scf_while: return visitWhile(op);
  case Opcode::scf_if: return visitIf(op);
  case Opcode::ttg_warp_specialize: return visitWarpSpecialize(op);
  case Opcode::tt_call: return visitCall(op);
  case Opcode::tt_split: return visitSplit(op);
  default: break;
  }
  for (auto &r : op->regions()) region(r);
  if (op->numResults() == 1 && !op->result().type().isa<MemDescType>()) info_[op->result()] = resultInfo(*this, op);
}

void AxisInfoAnalysis::block(Block *b) {
  for (auto &op : *b) visit(&op);
}

/// Blocks with branches between them: arguments start from the first branch that reaches them.
void AxisInfoAnalysis::region(Region &r) {
  if (r.empty()) return;
  if (r.hasOneBlock()) return block(r.front());
  llvm::SetVector<Block *> reached;
  reached.insert(r.front());
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned n = 0; n < reached.size(); ++n) {
      Block *b = reached[n];
      block(b);
      Operation *end = b->terminator();
      if (!end) continue;
      auto carry = [&](Block *to, OperandRange values) {
        changed |= reached.insert(to);
        for (unsigned i = 0; i < to->numArgs(); ++i)
          changed |= join(to->arg(i), i < values.size() ? get(values[i]) : unknown(to->arg(i).type()));
      };
      if (auto br = end->dyn<cf::BrOp>())
        carry(end->successor(0), br.args());
      else if (auto cond = end->dyn<cf::CondBrOp>()) {
        carry(end->successor(0), cond.trueArgs());
        carry(end->successor(1), cond.falseArgs());
      } else
        for (Block *to : end->successors()) carry(to, {});
    }
  }
}

void AxisInfoAnalysis::function(Operation *op) {
  Block *entry = op->region(0).front();
  auto attrs = op->attr<ArrayAttr>("arg_attrs");
  auto visibility = op->attr<StringAttr>("sym_visibility");
  // Where all calls are known, arguments are what they pass.
  auto *calls = callArgs_.count(op) && !(visibility && visibility.value() == "public") ? &callArgs_[op] : nullptr;
  for (unsigned i = 0; i < entry->numArgs(); ++i) {
    AxisInfo info = unknown(entry->arg(i).type());
    if (calls && i < calls->size() && (*calls)[i] && (*calls)[i]->rank() == info.rank()) info = *(*calls)[i];
    if (auto d = attrs && i < attrs.size() ? attrs[i].dyn_cast<DictionaryAttr>() : DictionaryAttr())
      raise(info, stated_, [&](llvm::StringRef name) { return d.get(name); });
    if (auto assumed = assumed_.find(entry->arg(i)); assumed != assumed_.end()) {
      info.divisibility[0] = std::max(info.divisibility[0], assumed->second.divisor);
      if (assumed->second.isOne) info.constant = 1;
    }
    for (unsigned k = 0; k < info.rank(); ++k) {
      int64_t size = std::max<int64_t>(1, dimOf(entry->arg(i).type(), k));
      info.contiguity[k] = std::min(info.contiguity[k], size);
      info.constancy[k] = std::min(info.constancy[k], size);
    }
    info_[entry->arg(i)] = info;
  }
  region(op->region(0));
}

AxisInfoAnalysis::AxisInfoAnalysis(Module &m, const AssumedArguments &assumed, StatedContiguity stated)
    : assumed_(assumed), symbols_(m), signs_(m, Overflow::Assumed), stated_(stated) {
  // Callers first; what calls itself in a circle knows nothing of its arguments.
  llvm::DenseMap<Operation *, unsigned> callers;
  llvm::SmallVector<Operation *, 8> functions, ready;
  auto forCallees = [&](Operation *f, auto act) {
    f->walk([&](Operation *op) {
      if (auto call = op->dyn<tt::CallOp>())
        if (Operation *callee = symbols_.callee(call); callee && callee->is<tt::FuncOp>() && !callee->region(0).empty())
          act(callee);
    });
  };
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>() && !op.region(0).empty()) functions.push_back(&op);
  for (auto *f : functions) forCallees(f, [&](Operation *callee) { ++callers[callee]; });
  for (auto *f : functions)
    if (!callers[f]) ready.push_back(f);
  llvm::DenseSet<Operation *> done;
  for (unsigned n = 0; n < ready.size(); ++n) {
    function(ready[n]);
    done.insert(ready[n]);
    forCallees(ready[n], [&](Operation *callee) {
      if (!--callers[callee]) ready.push_back(callee);
    });
  }
  for (auto *f : functions)
    if (!done.contains(f)) {
      callArgs_.erase(f);
      function(f);
    }
}

int64_t AxisInfoAnalysis::alignment(Value ptr, unsigned dim) const { return get(ptr).divisibility[dim]; }
int64_t AxisInfoAnalysis::contiguousElements(Value ptr, unsigned dim) const {
  AxisInfo i = get(ptr);
  return std::max<int64_t>(1, minp(i.contiguity[dim], std::max<int64_t>(1, i.divisibility[dim] / unitOf(ptr.type()))));
}
int64_t AxisInfoAnalysis::maskConstancy(Value mask, unsigned dim) const { return get(mask).constancy[dim]; }

} // namespace tessera::transforms
