// The verifier's hooks of functions, control flow and what ends its regions (see verifier.h).
#include "ir/attribute_names.h"
#include "ir/loops.h"
#include "ir/verify_hook.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::ir {

// ---- functions ------------------------------------------------------------------------------------------------------

HOOK(builtin_module) {
  for (auto [name, most] :
       {std::pair(kNumWarpsAttr, 64), std::pair(kNumCtasAttr, 32), std::pair(kThreadsPerWarpAttr, 64)})
    if (Attribute a = op->attr(name)) {
      auto v = a.dyn_cast<IntegerAttr>();
      if (!v || v.value().getSignificantBits() > 32 || v.sext() < 1 || v.sext() > most ||
          !llvm::isPowerOf2_64(v.sext()))
        return opError(op, diag, name + " must be a power of two from 1 to " + llvm::Twine(most) + ", not " + a.str());
    }
  for (auto name :
       {kSharedAttr, kMaxRegistersAttr, kGlobalScratchSizeAttr, kGlobalScratchAlignAttr, kTotalNumWarpsAttr})
    if (Attribute a = op->attr(name)) {
      auto v = a.dyn_cast<IntegerAttr>();
      if (!v || v.value().getSignificantBits() > 32 || v.sext() < 0)
        return opError(op, diag, name + " must be an integer that is at least 0, not " + a.str());
    }
  if (Attribute a = op->attr(kTargetAttr); a && !a.isa<StringAttr>())
    return opError(op, diag, kTargetAttr + " must be a string such as \"cuda:90\" or \"hip:gfx942\", not " + a.str());
  llvm::StringSet<> functions;
  bool ok = true;
  if (!op->region(0).empty())
    for (auto &f : *op->region(0).front())
      if (auto name = f.is<tt::FuncOp>() ? f.attr<StringAttr>("sym_name") : StringAttr();
          name && !functions.insert(name.value()).second)
        ok = opError(&f, diag, "defines function '@" + name.value() + "' a second time");
  return ok;
}
HOOK(tt_func) {
  auto f = op->cast<tt::FuncOp>();
  auto type = f.functionType().dyn_cast<FunctionType>();
  if (!type) return opError(op, diag, "needs a function type");
  if (Block *entry = f.body().front()) {
    if (entry->numArgs() != type.numInputs())
      return opError(op, diag,
                     "has " + llvm::Twine(entry->numArgs()) + " block arguments but " + llvm::Twine(type.numInputs()) +
                         " inputs in its type");
    for (unsigned i = 0; i < type.numInputs(); ++i)
      if (entry->arg(i).type() != type.input(i))
        return opError(op, diag, "argument " + llvm::Twine(i) + " differs from the function's type");
  }
  if (auto attrs = op->attr<ArrayAttr>("arg_attrs")) {
    if (attrs.size() != type.numInputs())
      return opError(op, diag,
                     "has attributes for " + counted(attrs.size(), "argument") + " but " +
                         llvm::Twine(type.numInputs()) + " inputs");
    for (unsigned i = 0; i < attrs.size(); ++i) {
      auto d = attrs[i].dyn_cast<DictionaryAttr>();
      if (!d) return opError(op, diag, "has argument attributes that are no dictionary");
      for (llvm::StringRef key : {kDivisibilityAttr, kContiguityAttr, kConstancyAttr})
        if (Attribute a = d.get(key)) {
          auto v = a.dyn_cast<IntegerAttr>();
          if (!v && !a.isa<DenseElementsAttr>())
            return opError(op, diag, key + " of argument " + llvm::Twine(i) + " must be an integer, not " + a.str());
          if (v && (v.sext() <= 0 || !llvm::isPowerOf2_64(v.sext())))
            return opError(op, diag,
                           key + " of argument " + llvm::Twine(i) + " must be a power of two, not " +
                               llvm::Twine(v.sext()));
        }
    }
  }
  return true;
}
HOOK(tt_return) {
  auto f = op->parentOfType<tt::FuncOp>();
  if (!f || op->parentOp() != f.op) return opError(op, diag, "must stand directly in a function");
  auto type = f.functionType().cast<FunctionType>();
  if (op->numOperands() != type.numResults())
    return opError(op, diag,
                   "returns " + counted(op->numOperands(), "value") + "; the function has " +
                       counted(type.numResults(), "result"));
  for (unsigned i = 0; i < type.numResults(); ++i)
    if (op->operand(i).type() != type.result(i))
      return opError(op, diag,
                     "returns " + op->operand(i).type().str() + " for result " + llvm::Twine(i) + " of type " +
                         type.result(i).str(),
                     i);
  return true;
}
bool checkCall(tt::CallOp call, Operation *callee, DiagnosticEngine &diag) {
  Operation *op = call.op;
  if (!callee || !callee->is<tt::FuncOp>())
    return opError(op, diag, "calls '@" + call.callee() + "', which the module does not have");
  auto type = callee->cast<tt::FuncOp>().functionType().cast<FunctionType>();
  if (type.numInputs() != op->numOperands() || type.numResults() != op->numResults())
    return opError(op, diag, "does not match the type of '@" + call.callee() + "'");
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (op->operand(i).type() != type.input(i))
      return opError(op, diag,
                     "passes " + op->operand(i).type().str() + " for an argument of type " + type.input(i).str(), i);
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (op->result(i).type() != type.result(i))
      return opError(op, diag, "result " + llvm::Twine(i) + " does not match the type of '@" + call.callee() + "'");
  return true;
}

// ---- regions and branches -------------------------------------------------------------------------------------------

static bool yields(Operation *op, Region &r, ResultRange results, DiagnosticEngine &diag) {
  for (auto *b = r.front(); b; b = b->next()) {
    Operation *t = b->terminator();
    if (!t || !t->is<scf::YieldOp>()) {
      if (r.hasOneBlock()) return opError(op, diag, "must end its regions in scf.yield");
      continue;
    }
    if (t->numOperands() != results.size())
      return opError(t, diag,
                     "yields " + counted(t->numOperands(), "value") + "; " + llvm::Twine(results.size()) +
                         " are expected");
    for (unsigned i = 0; i < results.size(); ++i)
      if (t->operand(i).type() != results[i].type())
        return opError(t, diag,
                       "yields " + t->operand(i).type().str() + " for a result of type " + results[i].type().str(), i);
  }
  return true;
}
HOOK(scf_for) {
  auto f = op->cast<scf::ForOp>();
  if (f.body().empty()) return opError(op, diag, "needs a body");
  Type t = f.lowerBound().type();
  if (f.upperBound().type() != t || f.step().type() != t)
    return opError(op, diag, "bounds and step must have one type");
  Block *b = f.body().front();
  unsigned n = numCarried(f);
  if (b->numArgs() != n + 1 || op->numResults() != n)
    return opError(op, diag,
                   "carries " + counted(n, "value") + "; its body has " + counted(b->numArgs(), "argument") +
                       " and it has " + counted(op->numResults(), "result"));
  if (inductionVariable(f).type() != t) return opError(op, diag, "the induction variable must have the bounds' type");
  if (Attribute stages = op->attr(kNumStagesAttr); stages && !stages.isa<IntegerAttr>())
    return opError(op, diag, kNumStagesAttr + " must be an integer, not " + stages.str());
  for (unsigned i = 0; i < n; ++i) {
    OpOperand &init = f.initArgs().operand(i);
    Type type = init.get().type();
    if (type != carriedArgument(*b, i).type() || type != op->result(i).type())
      return opError(op, diag, "carried value " + llvm::Twine(i) + " changes its type", init.index());
  }
  return yields(op, f.body(), op->results(), diag);
}
HOOK(scf_if) {
  auto i = op->cast<scf::IfOp>();
  if (i.thenRegion().empty()) return opError(op, diag, "needs a region");
  if (i.elseRegion().empty() && op->numResults()) return opError(op, diag, "has results, so it needs an else region");
  return yields(op, i.thenRegion(), op->results(), diag) && yields(op, i.elseRegion(), op->results(), diag);
}
HOOK(scf_while) {
  auto w = op->cast<scf::WhileOp>();
  if (w.before().empty() || w.after().empty()) return opError(op, diag, "needs two regions");
  Block *before = w.before().front(), *after = w.after().front();
  auto *cond = before->terminator();
  if (!cond || !cond->is<scf::ConditionOp>()) return opError(op, diag, "must end its first region in scf.condition");
  if (before->numArgs() != w.inits().size())
    return opError(op, diag,
                   "carries " + counted(w.inits().size(), "value") + " but its first region has " +
                       counted(before->numArgs(), "argument"));
  for (unsigned k = 0; k < w.inits().size(); ++k)
    if (w.inits()[k].type() != before->arg(k).type())
      return opError(op, diag, "carried value " + llvm::Twine(k) + " changes its type", k);
  auto args = cond->cast<scf::ConditionOp>().args();
  if (args.size() != op->numResults() || args.size() != after->numArgs())
    return opError(cond, diag,
                   "passes " + counted(args.size(), "value") + "; " + llvm::Twine(op->numResults()) + " are expected");
  for (unsigned k = 0; k < args.size(); ++k)
    if (args[k].type() != op->result(k).type() || args[k].type() != after->arg(k).type())
      return opError(cond, diag, "passes a value of another type", k + 1);
  auto *y = after->terminator();
  if (!y || !y->is<scf::YieldOp>() || y->numOperands() != w.inits().size())
    return opError(op, diag, "must end its second region in scf.yield of the carried values");
  for (unsigned k = 0; k < w.inits().size(); ++k)
    if (y->operand(k).type() != w.inits()[k].type()) return opError(y, diag, "yields a value of another type", k);
  return true;
}
static bool branchArgs(Operation *op, Block *to, OperandRange args, DiagnosticEngine &diag) {
  if (args.size() != to->numArgs())
    return opError(
        op, diag, "passes " + counted(args.size(), "value") + " to a block with " + counted(to->numArgs(), "argument"));
  for (unsigned i = 0; i < args.size(); ++i)
    if (args[i].type() != to->arg(i).type())
      return opError(op, diag,
                     "passes " + args[i].type().str() + " for a block argument of type " + to->arg(i).type().str());
  return true;
}
HOOK(cf_br) { return branchArgs(op, op->successor(0), op->operands(), diag); }
HOOK(cf_cond_br) {
  auto c = op->cast<cf::CondBrOp>();
  return branchArgs(op, op->successor(0), c.trueArgs(), diag) && branchArgs(op, op->successor(1), c.falseArgs(), diag);
}
HOOK(scf_execute_region) {
  if (op->region(0).empty()) return opError(op, diag, "needs a body");
  return yields(op, op->region(0), op->results(), diag);
}
HOOK(ttg_warp_specialize) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  Block *holder = op->region(1).front(), *main = op->region(0).front();
  Operation *partitions = holder ? holder->front() : nullptr;
  if (!main) return opError(op, diag, "needs a default region");
  if (!partitions || !partitions->is<ttg::WarpSpecializePartitionsOp>() || partitions->next())
    return opError(op, diag, "must hold its partitions in ttg.warp_specialize.partitions alone");
  unsigned n = partitions->numRegions();
  if (w.partitionNumWarps().size() != n)
    return opError(op, diag,
                   "has " + llvm::Twine(n) + " partitions but numbers of warps for " +
                       llvm::Twine(w.partitionNumWarps().size()));
  for (auto k : w.partitionNumWarps())
    if (k < 1 || k > 64 || !llvm::isPowerOf2_64(k))
      return opError(op, diag, "a partition's number of warps must be a power of two, not " + llvm::Twine(k));
  for (auto [list, size] :
       {std::pair("warpGroupStartIds", n), std::pair("requestedRegisters", n), std::pair("actualRegisters", n + 1)})
    if (auto a = op->attr<DenseArrayAttr>(list); a && a.values().size() != size)
      return opError(op, diag,
                     "has " + llvm::Twine(list) + " of " + llvm::Twine(a.values().size()) + " numbers; there must be " +
                         llvm::Twine(size));
  // The captures are this operation's operands, or (in the generic form) the holder's.
  auto captures = op->numOperands() ? op->operands() : partitions->operands();
  for (auto &r : partitions->regions()) {
    if (r.empty()) return opError(op, diag, "has an empty partition");
    if (r.front()->numArgs() != captures.size())
      return opError(op, diag,
                     "captures " + counted(captures.size(), "value") + "; a partition has " +
                         counted(r.front()->numArgs(), "argument"));
    for (unsigned i = 0; i < captures.size(); ++i)
      if (r.front()->arg(i).type() != captures[i].type())
        return opError(op, diag,
                       "captures " + captures[i].type().str() + " for a partition's argument of type " +
                           r.front()->arg(i).type().str());
  }
  for (auto *b = main; b; b = b->next()) {
    Operation *t = b->terminator();
    if (!t || !t->is<ttg::WarpYieldOp>()) continue;
    if (t->numOperands() != op->numResults())
      return opError(t, diag,
                     "yields " + counted(t->numOperands(), "value") + "; " + llvm::Twine(op->numResults()) +
                         " are expected");
    for (unsigned i = 0; i < op->numResults(); ++i)
      if (t->operand(i).type() != op->result(i).type())
        return opError(
            t, diag, "yields " + t->operand(i).type().str() + " for a result of type " + op->result(i).type().str(), i);
  }
  return true;
}

// ---- what ends a region ---------------------------------------------------------------------------------------------

static bool standsIn(Operation *op, llvm::ArrayRef<Opcode> parents, DiagnosticEngine &diag) {
  Operation *p = op->parentOp();
  // An operation of an unknown dialect may hold anything.
  if (p && (llvm::is_contained(parents, p->opcode()) || p->opcode() == Opcode::unregistered)) return true;
  std::string list;
  for (auto o : parents) list += (list.empty() ? "'" : " or '") + opInfo(o).name.str() + "'";
  return opError(op, diag, "must stand directly in " + list);
}
HOOK(scf_condition) { return standsIn(op, {Opcode::scf_while}, diag); }
HOOK(scf_yield) {
  return standsIn(op, {Opcode::scf_for, Opcode::scf_if, Opcode::scf_while, Opcode::scf_execute_region}, diag);
}
HOOK(tt_reduce_return) { return standsIn(op, {Opcode::tt_reduce}, diag); }
HOOK(tt_scan_return) { return standsIn(op, {Opcode::tt_scan}, diag); }
HOOK(ttg_warp_yield) { return standsIn(op, {Opcode::ttg_warp_specialize}, diag); }
HOOK(ttg_warp_return) { return standsIn(op, {Opcode::ttg_warp_specialize_partitions}, diag); }

} // namespace tessera::ir
