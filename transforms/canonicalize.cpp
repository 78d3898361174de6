// Canonical forms: folding, dead code, and the patterns below, until nothing changes.
//
//   scf.for with results nobody uses, or that it carries unchanged  →  without them
//   scf.for that cannot run (lower >= upper)                        →  its initial values
//   scf.if on a constant                                            →  the region taken
//   scf.if whose regions yield the same value                       →  that value
//   tt.load with a mask of all true / all false                     →  without mask / the other value
//   tt.store with a mask of all true / all false                    →  without mask / nothing
//   cf.cond_br on a constant; blocks with one predecessor           →  merged
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/rewriter.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

static std::optional<bool> constantBool(Value v) {
  auto a = constantOf(v);
  auto *bits = a ? splatBits(a) : nullptr;
  if (bits && bits->getBitWidth() == 1) return !bits->isZero();
  if (auto s = v.definedBy<tt::SplatOp>()) return constantBool(s.src());
  return std::nullopt;
}

/// Moves the operations of a one-block region before `op` and gives what its terminator yields.
static llvm::SmallVector<Value, 4> spliceBefore(Operation *op, Region &r, llvm::ArrayRef<Value> args) {
  Block *b = r.front();
  for (unsigned i = 0; i < b->numArgs(); ++i) b->arg(i).replaceAllUsesWith(args[i]);
  Operation *t = b->terminator();
  auto values = t->operands().vec();
  for (auto &inner : *b)
    if (&inner != t) inner.moveBefore(op);
  return values;
}

static bool simplifyFor(Operation *op, Rewriter &rw) {
  auto f = op->cast<scf::ForOp>();
  auto lo = intConstantOf(f.lowerBound()), hi = intConstantOf(f.upperBound()), st = intConstantOf(f.step());
  if (lo && hi && !f.unsignedCmp()) {
    if (*lo >= *hi) {
      rw.replaceOp(op, f.initArgs().vec());
      return true;
    }
    if (st && *st > 0 && *hi - *lo <= *st && f.body().hasOneBlock()) { // runs once
      llvm::SmallVector<Value, 8> args{f.lowerBound()};
      for (auto v : f.initArgs()) args.push_back(v);
      rw.replaceOp(op, spliceBefore(op, f.body(), args));
      return true;
    }
  }
  // Carried values that never change, or that only feed themselves and whose result is unused.
  Block *b = f.body().front();
  Operation *yield = b->terminator();
  unsigned n = f.initArgs().size();
  llvm::SmallVector<bool, 8> drop(n, false);
  bool any = false;
  for (unsigned i = 0; i < n; ++i) {
    Value arg = b->arg(i + 1), init = f.initArgs()[i], out = yield->operand(i), result = op->result(i);
    if (out == arg || out == init) {
      if (!arg.useEmpty() && !(arg.hasOneUse() && out == arg)) { arg.replaceUsesIf(init, [&](OpOperand &u) { return u.owner != yield; }); any = true; }
      if (!result.useEmpty()) { result.replaceAllUsesWith(init); any = true; }
      drop[i] = true;
    } else if (result.useEmpty()) {
      // Dead if the argument's only way out is through itself: pure operations used by this slot's yield alone.
      if (arg.useEmpty()) drop[i] = true;
      else if (arg.hasOneUse()) {
        Operation *user = arg.firstUse()->owner;
        if (user->block() == b && isPure(user) && user->numResults() == 1 && user->result().hasOneUse() && out == user->result()) drop[i] = true;
      }
    }
    any |= drop[i];
  }
  if (!any || llvm::none_of(drop, [](bool d) { return d; })) return any && (rw.updated(op), true);
  llvm::SmallVector<Value, 8> inits, yields;
  llvm::SmallVector<Type, 8> types;
  for (unsigned i = 0; i < n; ++i)
    if (!drop[i]) {
      inits.push_back(f.initArgs()[i]);
      yields.push_back(yield->operand(i));
      types.push_back(op->result(i).type());
    }
  auto nf = scf::ForOp::create(rw, op->loc(), types, f.lowerBound(), f.upperBound(), f.step(), inits, op->attrs());
  nf.body().takeBody(f.body());
  yield->setOperands(yields);
  for (unsigned i = n; i-- > 0;)
    if (drop[i]) {
      Value arg = b->arg(i + 1);
      if (!arg.useEmpty()) arg.replaceAllUsesWith(f.initArgs()[i]); // in dead code, or unchanged
      b->eraseArg(i + 1);
    }
  llvm::SmallVector<Value, 8> values;
  unsigned k = 0;
  for (unsigned i = 0; i < n; ++i) values.push_back(drop[i] ? f.initArgs()[i] : nf->result(k++));
  rw.replaceOp(op, values);
  for (auto &inner : *b) rw.updated(&inner);
  return true;
}

static bool simplifyIf(Operation *op, Rewriter &rw) {
  auto f = op->cast<scf::IfOp>();
  if (!f.thenRegion().hasOneBlock()) return false;
  if (auto c = constantBool(f.condition())) {
    Region &r = *c ? f.thenRegion() : f.elseRegion();
    if (r.empty()) rw.eraseOp(op);
    else rw.replaceOp(op, spliceBefore(op, r, {}));
    return true;
  }
  if (f.elseRegion().empty()) return false;
  Operation *a = f.thenRegion().front()->terminator(), *b = f.elseRegion().front()->terminator();
  bool changed = false;
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (a->operand(i) == b->operand(i) && !op->result(i).useEmpty()) {
      op->result(i).replaceAllUsesWith(a->operand(i));
      changed = true;
    }
  // Results that nobody uses go.
  llvm::SmallVector<unsigned, 4> keep;
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (!op->result(i).useEmpty()) keep.push_back(i);
  if (keep.size() == op->numResults()) return changed && (rw.updated(op), true);
  llvm::SmallVector<Type, 4> types;
  for (auto i : keep) types.push_back(op->result(i).type());
  for (auto *t : {a, b}) {
    llvm::SmallVector<Value, 4> vs;
    for (auto i : keep) vs.push_back(t->operand(i));
    t->setOperands(vs);
  }
  auto nf = scf::IfOp::create(rw, op->loc(), types, f.condition(), op->attrs());
  nf.thenRegion().takeBody(f.thenRegion());
  nf.elseRegion().takeBody(f.elseRegion());
  for (unsigned k = 0; k < keep.size(); ++k) op->result(keep[k]).replaceAllUsesWith(nf->result(k));
  rw.eraseOp(op);
  rw.updated(nf);
  return true;
}

static bool simplifyLoad(Operation *op, Rewriter &rw) {
  auto l = op->cast<tt::LoadOp>();
  if (!l.mask() || l.isVolatile()) return false;
  auto c = constantBool(l.mask());
  if (!c) return false;
  if (*c) rw.replaceOp(op, tt::LoadOp::create(rw, op->loc(), l.ptr(), {}, {}, op->attrs()).op);
  else if (l.other()) rw.replaceOp(op, {l.other()});
  else return false;
  return true;
}

static bool simplifyStore(Operation *op, Rewriter &rw) {
  auto s = op->cast<tt::StoreOp>();
  if (!s.mask()) return false;
  auto c = constantBool(s.mask());
  if (!c) return false;
  if (*c) tt::StoreOp::create(rw, op->loc(), s.ptr(), s.value(), {}, op->attrs());
  rw.eraseOp(op);
  return true;
}

static bool simplifyCondBr(Operation *op, Rewriter &rw) {
  auto c = op->cast<cf::CondBrOp>();
  auto v = constantBool(c.condition());
  if (!v) return false;
  auto args = (*v ? c.trueArgs() : c.falseArgs()).vec();
  Block *to = op->successor(*v ? 0 : 1);
  cf::BrOp::create(rw, op->loc(), args, to);
  rw.eraseOp(op);
  return true;
}

/// trans(trans(x)) and broadcast(broadcast(x)), splat of splat through expand_dims.
static bool simplifyTrans(Operation *op, Rewriter &rw) {
  auto outer = op->cast<tt::TransOp>();
  auto inner = outer.src().definedBy<tt::TransOp>();
  if (!inner || op->result().type().cast<TensorType>().encoding()) return false;
  llvm::SmallVector<int64_t, 4> order;
  for (auto o : outer.order()) order.push_back(inner.order()[o]);
  rw.replaceOp(op, tt::TransOp::create(rw, op->loc(), op->result().type(), inner.src(), rw.denseI32Attr("order", order)).op);
  return true;
}
static bool splatThrough(Operation *op, Rewriter &rw) {
  auto s = op->operand(0).definedBy<tt::SplatOp>();
  if (!s) return false;
  rw.replaceOp(op, tt::SplatOp::create(rw, op->loc(), op->result().type(), s.src()).op);
  return true;
}
static bool convertOfConvert(Operation *op, Rewriter &rw) {
  auto inner = op->operand(0).definedBy<ttg::ConvertLayoutOp>();
  if (!inner) return false;
  rw.replaceOp(op, ttg::ConvertLayoutOp::create(rw, op->loc(), op->result().type(), inner.src()).op);
  return true;
}
static bool convertOfSource(Operation *op, Rewriter &rw) {
  // What costs nothing to make in any layout is made in the one wanted.
  Operation *def = op->operand(0).definingOp();
  if (!def || !(def->is<tt::SplatOp>() || def->is<tt::MakeRangeOp>())) return false;
  OperationState s(def->opcode(), def->loc());
  for (auto v : def->operands()) s.operands.push_back(v);
  s.attrs.assign(def->attrs().begin(), def->attrs().end());
  s.resultTypes.push_back(op->result().type());
  rw.replaceOp(op, rw.create(s));
  return true;
}

/// Blocks that nothing reaches are dropped, and a block whose only predecessor jumps only to it joins it.
static bool mergeBlocks(Module &m) {
  bool changed = false;
  std::vector<Region *> regions;
  m.op()->walk([&](Operation *op) {
    for (auto &r : op->regions())
      if (!r.empty() && !r.hasOneBlock()) regions.push_back(&r);
  });
  for (auto *r : regions) {
    for (bool again = true; again;) {
      again = false;
      llvm::SmallPtrSet<Block *, 8> reached;
      llvm::SmallVector<Block *, 8> work{r->front()};
      while (!work.empty()) {
        Block *b = work.pop_back_val();
        if (reached.insert(b).second) work.append(b->successors().begin(), b->successors().end());
      }
      for (auto *b : r->blocks()) {
        if (!reached.contains(b)) {
          b->erase();
          changed = again = true;
          continue;
        }
        auto preds = b->predecessors();
        Operation *t = preds.size() == 1 ? preds[0]->terminator() : nullptr;
        if (!t || !t->is<cf::BrOp>() || preds[0] == b || b == r->front()) continue;
        for (unsigned i = 0; i < b->numArgs(); ++i) b->arg(i).replaceAllUsesWith(t->operand(i));
        t->erase();
        for (auto &op : *b) {
          op.remove();
          preds[0]->append(&op);
        }
        b->erase();
        changed = again = true;
        break;
      }
    }
  }
  return changed;
}

absl::StatusOr<bool> canonicalize(Module &m, PassContext &) {
  static const Pattern patterns[] = {
      {Opcode::scf_for, simplifyFor, "loop simplification"},     {Opcode::scf_if, simplifyIf, "if simplification"},           {Opcode::tt_load, simplifyLoad, "constant mask"},
      {Opcode::tt_store, simplifyStore, "constant mask"},        {Opcode::cf_cond_br, simplifyCondBr, "constant branch"},     {Opcode::tt_trans, simplifyTrans, "trans of trans"},
      {Opcode::tt_expand_dims, splatThrough, "of splat"},        {Opcode::tt_broadcast, splatThrough, "of splat"},            {Opcode::tt_reshape, splatThrough, "of splat"},
      {Opcode::ttg_convert_layout, convertOfConvert, "of convert"}, {Opcode::ttg_convert_layout, convertOfSource, "of splat"},
  };
  bool changed = applyPatterns(m.op(), patterns);
  if (mergeBlocks(m)) {
    changed = true;
    applyPatterns(m.op(), patterns);
  }
  return changed;
}

} // namespace tessera::transforms
