// Patterns of canonicalize on structured control flow, and the clean-up of blocks.
//
//   scf.for    that cannot run → its initial values; that runs once → its body
//              loop-carried values that never change → the initial value inside and after; without uses → dropped
//              values that the body transposes at its start and back at its end → carried transposed
//   scf.if     on a constant → the region taken; the condition is known inside the regions
//              the same value from both regions → that value; scalars from outside → a select; unused results → gone
//   scf.while  whose condition is false → its first region once; in its second region the condition is true
//              loop-carried values that never change, results and arguments without uses → dropped
//   scf.execute_region of one block → its contents
//   cf.cond_br on a constant, or twice to one block with the same values → cf.br
//
// simplifyBlocks: unreachable blocks are dropped; a jump to a block that only jumps on goes there; a block whose only
// predecessor jumps only to it joins it; block arguments that are the same value from everywhere become that value, and
// unused ones are dropped.
//
// Loops are not assumed to end: a loop without effects whose results are unused goes only if it is a counted one.
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/cleanup/canonicalize_patterns.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

/// Moves the operations of a one-block region before `op` and gives what its terminator yields.
static llvm::SmallVector<Value, 4> spliceBefore(Operation *op, Region &r, llvm::ArrayRef<Value> args, Rewriter &rw) {
  Block *b = r.front();
  for (unsigned i = 0; i < b->numArgs(); ++i) rw.replaceValue(b->arg(i), args[i]);
  Operation *t = b->terminator();
  auto values = t->operands().vec();
  for (auto &inner : *b)
    if (&inner != t) inner.moveBefore(op);
  return values;
}

/// Erases arguments of a block from the i-th on where drop says so; remaining uses are in dead code and get `instead`.
static void dropArguments(Block *b, unsigned first, llvm::ArrayRef<bool> drop, llvm::ArrayRef<Value> instead,
                          Rewriter &rw) {
  for (unsigned i = drop.size(); i-- > 0;) {
    if (!drop[i]) continue;
    if (!b->arg(first + i).useEmpty()) rw.replaceValue(b->arg(first + i), instead[i]);
    b->eraseArg(first + i);
  }
}
static llvm::SmallVector<Value, 8> kept(OperandRange values, llvm::ArrayRef<bool> drop) {
  llvm::SmallVector<Value, 8> out;
  for (unsigned i = 0; i < values.size(); ++i)
    if (!drop[i]) out.push_back(values[i]);
  return out;
}
static llvm::SmallVector<Type, 8> keptTypes(Operation *op, llvm::ArrayRef<bool> drop) {
  llvm::SmallVector<Type, 8> out;
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (!drop[i]) out.push_back(op->result(i).type());
  return out;
}
/// Replaces an operation by one that lacks some results. @pre those that it lacks have no uses
static void replaceKept(Operation *op, Operation *by, llvm::ArrayRef<bool> drop, Rewriter &rw) {
  unsigned k = 0;
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (!drop[i]) rw.replaceValue(op->result(i), by->result(k++));
  rw.eraseOp(op);
  rw.updated(by);
}

// ---- scf.for

/// Whether the i-th loop-carried value is only used to compute itself or others of `drop`.
static bool feedsOnlyDropped(scf::ForOp loop, unsigned i, llvm::ArrayRef<bool> drop) {
  Block *body = loop.body().front();
  Operation *yield = body->terminator();
  llvm::SmallVector<Value, 8> work{carried(loop, i).argument};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    for (auto *use : work.pop_back_val().uses()) {
      Operation *user = use->owner;
      if (user == yield) {
        if (!drop[use->index()]) return false;
        continue;
      }
      if (user->block() != body || !isPure(user)) return false;
      if (seen.insert(user).second) work.append(user->results().begin(), user->results().end());
    }
  }
  return true;
}

/// A loop that cannot run becomes its initial values, one that runs once its body.
static bool replaceShortLoop(scf::ForOp f, Rewriter &rw) {
  auto lower = intConstantOf(f.lowerBound()), upper = intConstantOf(f.upperBound()), step = intConstantOf(f.step());
  if (!lower || !upper || f.unsignedCmp()) return false;
  if (*lower >= *upper) {
    rw.replaceOp(f.op, f.initArgs().vec());
    return true;
  }
  bool runsOnce = step && *step > 0 && uint64_t(*upper) - uint64_t(*lower) <= uint64_t(*step);
  if (!runsOnce || !f.body().hasOneBlock()) return false;
  llvm::SmallVector<Value, 8> args{f.lowerBound()};
  for (auto v : f.initArgs()) args.push_back(v);
  rw.replaceOp(f.op, spliceBefore(f.op, f.body(), args, rw));
  return true;
}

static bool isAny(llvm::ArrayRef<bool> flags) { return llvm::is_contained(flags, true); }

/// Says that an operation was rewritten in place, if it was.
static bool updatedIf(bool changed, Operation *op, Rewriter &rw) {
  if (changed) rw.updated(op);
  return changed;
}

static bool simplifyFor(Operation *op, Rewriter &rw) {
  auto f = op->cast<scf::ForOp>();
  if (replaceShortLoop(f, rw)) return true;
  Block *b = f.body().front();
  Operation *yield = b->terminator();
  unsigned n = numCarried(f);
  llvm::SmallVector<bool, 8> drop(n, false);
  bool changed = false;
  for (unsigned i = 0; i < n; ++i) {
    CarriedValue value = carried(f, i);
    Value arg = value.argument;
    bool neverChanges = value.yielded == arg || value.yielded == value.init;
    if (!neverChanges) {
      drop[i] = value.result.useEmpty();
      continue;
    }
    // (The yield's own use is dropped with the loop-carried value.)
    for (auto *u : arg.uses())
      if (u->owner != yield) changed = true;
    arg.replaceUsesIf(value.init, [&](OpOperand &u) { return u.owner != yield; });
    if (!value.result.useEmpty()) {
      rw.replaceValue(value.result, value.init);
      changed = true;
    }
    drop[i] = !llvm::any_of(arg.uses(), [&](OpOperand *u) { return u->owner == yield && u->index() != i; });
  }
  // Of those whose results are unused, what something else needs stays; the greatest set is found by taking out.
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < n; ++i)
      if (drop[i] && !feedsOnlyDropped(f, i, drop)) {
        drop[i] = false;
        again = true;
      }
  }
  if (!isAny(drop)) return updatedIf(changed, op, rw);
  auto nf = scf::ForOp::create(rw, op->loc(), keptTypes(op, drop), f.lowerBound(), f.upperBound(), f.step(),
                               kept(f.initArgs(), drop), op->attrs());
  auto inits = f.initArgs().vec();
  nf.body().takeBody(f.body());
  yield->setOperands(kept(yield->operands(), drop));
  dropArguments(b, kFirstCarriedArgument, drop, inits, rw);
  replaceKept(op, nf, drop, rw);
  for (auto &inner : *b) rw.updated(&inner);
  return true;
}

/// A value of which the body uses the transpose alone, and that it yields as a transpose back, is carried transposed:
///   iter_args(%a = %i) { %t = tt.trans %a; … %n; %b = tt.trans %n; yield %b }
///   → iter_args(%t = tt.trans %i) { … %n; yield %n }, and a tt.trans of the result
/// So the accumulator of a dot that is written as the transpose of another one is the dot's own.
static bool carryTransposed(Operation *op, Rewriter &rw) {
  auto f = op->cast<scf::ForOp>();
  if (!f.body().hasOneBlock()) return false;
  bool changed = false;
  for (unsigned i = 0; i < numCarried(f); ++i) {
    CarriedValue value = carried(f, i);
    if (!value.argument.hasOneUse()) continue;
    auto at = value.argument.users()[0]->dyn<tt::TransOp>();
    auto back = value.yielded.definedBy<tt::TransOp>();
    if (!at || !back || at->block() != f.body().front() || back->block() != at->block()) continue;
    if (at.op == back.op) continue; // yields the transpose of what it carries: another value each time
    if (at.result().type() != back.src().type() || value.argument.type() != value.yielded.type()) continue;
    auto order = at.order(), orderBack = back.order();
    bool areInverse = true;
    for (unsigned d = 0; d < order.size(); ++d) areInverse &= order[orderBack[d]] == int64_t(d);
    if (!areInverse) continue;
    Type type = at.result().type();
    rw.setInsertionPoint(op);
    value.setInit(tt::TransOp::create(rw, at->loc(), type, value.init, at->attrs()).result());
    rw.setInsertionPointAfter(op);
    auto after = tt::TransOp::create(rw, back->loc(), value.result.type(), value.init, back->attrs());
    rw.replaceValue(value.result, after.result());
    after->setOperand(0, value.result);
    for (Value v : {value.argument, value.result}) v.setType(type);
    value.setYielded(back.src());
    rw.replaceOp(at.op, {value.argument});
    rw.updated(back.op);
    changed = true;
  }
  if (changed) rw.updated(op);
  return changed;
}

// ---- scf.if ---------------------------------------------------------------------------------------------------------

/// In each region the condition is known.
static bool useKnownCondition(scf::IfOp f, Rewriter &rw) {
  bool changed = false;
  for (bool taken : {true, false}) {
    Region &r = taken ? f.thenRegion() : f.elseRegion();
    if (r.empty()) continue;
    auto inside = [&](OpOperand &u) {
      for (auto *b = u.owner->block(); b; b = b->parentOp() ? b->parentOp()->block() : nullptr)
        if (b->parent() == &r) return true;
      return false;
    };
    if (llvm::none_of(f.condition().uses(), [&](OpOperand *u) { return inside(*u); })) continue;
    Builder start = Builder::atStart(r.front());
    Value known = start.intConstant(f->loc(), f.condition().type(), taken);
    f.condition().replaceUsesIf(known, inside);
    for (auto *u : known.users()) rw.updated(u);
    rw.updated(known.definingOp());
    changed = true;
  }
  return changed;
}

/// The same value from both regions is that value; two scalars from outside are a select.
static bool replaceResults(scf::IfOp f, Rewriter &rw) {
  bool changed = false;
  Operation *a = f.thenRegion().front()->terminator(), *b = f.elseRegion().front()->terminator();
  for (unsigned i = 0; i < f->numResults(); ++i) {
    Value x = a->operand(i), y = b->operand(i), result = f->result(i);
    if (result.useEmpty()) continue;
    bool isScalar = !x.type().isTensor() && (x.type().isIntOrIndex() || x.type().isFloat());
    if (x == y)
      rw.replaceValue(result, x);
    else if (isScalar && isDefinedOutside(x, f.op) && isDefinedOutside(y, f.op))
      rw.replaceValue(result, arith::SelectOp::create(rw, f->loc(), f.condition(), x, y).result());
    else
      continue;
    changed = true;
  }
  return changed;
}

static bool simplifyIf(Operation *op, Rewriter &rw) {
  auto f = op->cast<scf::IfOp>();
  if (!f.thenRegion().hasOneBlock() || (!f.elseRegion().empty() && !f.elseRegion().hasOneBlock())) return false;
  if (auto c = constantTruth(f.condition())) {
    Region &r = *c ? f.thenRegion() : f.elseRegion();
    if (r.empty())
      rw.eraseOp(op);
    else
      rw.replaceOp(op, spliceBefore(op, r, {}, rw));
    return true;
  }
  bool changed = useKnownCondition(f, rw);
  if (f.elseRegion().empty()) return changed;
  changed |= replaceResults(f, rw);

  llvm::SmallVector<bool, 8> drop;
  for (auto r : op->results()) drop.push_back(r.useEmpty());
  if (!isAny(drop)) return updatedIf(changed, op, rw);
  for (Region *r : {&f.thenRegion(), &f.elseRegion()}) {
    Operation *yield = r->front()->terminator();
    yield->setOperands(kept(yield->operands(), drop));
  }
  auto nf = scf::IfOp::create(rw, op->loc(), keptTypes(op, drop), f.condition(), op->attrs());
  nf.thenRegion().takeBody(f.thenRegion());
  // Without results an empty else region says nothing.
  bool hasElse = nf->numResults() || f.elseRegion().front()->front() != f.elseRegion().front()->terminator();
  if (hasElse)
    nf.elseRegion().takeBody(f.elseRegion());
  else
    f.elseRegion().front()->erase();
  for (auto &r : nf->regions())
    if (!r.empty())
      for (auto &inner : *r.front()) rw.updated(&inner);
  replaceKept(op, nf, drop, rw);
  return true;
}

// ---- scf.while ------------------------------------------------------------------------------------------------------

/// What the first region of a loop passes on, to the second region and as results: a value from outside is that value,
/// the second of two equal ones is the first, and the condition is true in the second region. What the second region
/// passes back: a value that never changes is its initial one.
static bool replacePassedValues(scf::WhileOp w, scf::ConditionOp condition, Rewriter &rw) {
  Block *before = w.before().front(), *after = w.after().front();
  bool changed = false;
  auto replace = [&](Value from, Value to) {
    if (from.useEmpty()) return;
    rw.replaceValue(from, to);
    changed = true;
  };
  for (unsigned k = 0; k < condition.args().size(); ++k) {
    Value v = condition.args()[k];
    if (isDefinedOutside(v, w.op)) {
      replace(after->arg(k), v);
      replace(w->result(k), v);
      continue;
    }
    for (unsigned j = 0; j < k; ++j)
      if (condition.args()[j] == v) {
        replace(after->arg(k), after->arg(j));
        replace(w->result(k), w->result(j));
        break;
      }
    if (v == condition.condition() && !after->arg(k).useEmpty()) {
      Builder start = Builder::atStart(after);
      replace(after->arg(k), start.intConstant(w->loc(), v.type(), 1));
    }
  }
  for (unsigned i = 0; i < w.inits().size(); ++i) {
    Value back = after->terminator()->operand(i), init = w.inits()[i];
    bool isUnchanged = back == init;
    if (back.isBlockArgument() && back.ownerBlock() == after)
      isUnchanged |= condition.args()[back.index()] == before->arg(i);
    if (isUnchanged) replace(before->arg(i), init);
  }
  return changed;
}

static bool simplifyWhile(Operation *op, Rewriter &rw) {
  auto w = op->cast<scf::WhileOp>();
  if (!w.before().hasOneBlock() || !w.after().hasOneBlock()) return false;
  Block *before = w.before().front(), *after = w.after().front();
  auto *condition = before->terminator();
  auto *yield = after->terminator();
  if (!condition || !condition->is<scf::ConditionOp>() || !yield || !yield->is<scf::YieldOp>()) return false;
  auto c = condition->cast<scf::ConditionOp>();
  if (auto t = constantTruth(c.condition()); t && !*t) {
    auto values = spliceBefore(op, w.before(), w.inits().vec(), rw);
    values.erase(values.begin());
    rw.replaceOp(op, values);
    return true;
  }
  bool changed = replacePassedValues(w, c, rw);

  llvm::SmallVector<bool, 8> dropInits, dropResults;
  for (auto *a : before->args()) dropInits.push_back(Value(a).useEmpty());
  for (unsigned k = 0; k < op->numResults(); ++k)
    dropResults.push_back(op->result(k).useEmpty() && after->arg(k).useEmpty());
  if (!isAny(dropInits) && !isAny(dropResults)) return updatedIf(changed, op, rw);
  auto nw = scf::WhileOp::create(rw, op->loc(), keptTypes(op, dropResults), kept(w.inits(), dropInits), op->attrs());
  nw.before().takeBody(w.before());
  nw.after().takeBody(w.after());
  llvm::SmallVector<Value, 8> passed{c.condition()};
  for (auto v : kept(c.args(), dropResults)) passed.push_back(v);
  condition->setOperands(passed);
  yield->setOperands(kept(yield->operands(), dropInits));
  dropArguments(before, 0, dropInits, {}, rw);
  dropArguments(after, 0, dropResults, {}, rw);
  replaceKept(op, nw, dropResults, rw);
  for (auto *b : {before, after})
    for (auto &inner : *b) rw.updated(&inner);
  return true;
}

static bool simplifyExecuteRegion(Operation *op, Rewriter &rw) {
  if (!op->region(0).hasOneBlock() || !op->region(0).front()->terminator()->is<scf::YieldOp>()) return false;
  rw.replaceOp(op, spliceBefore(op, op->region(0), {}, rw));
  return true;
}

static bool simplifyCondBr(Operation *op, Rewriter &rw) {
  auto c = op->cast<cf::CondBrOp>();
  auto v = constantTruth(c.condition());
  if (!v && op->successor(0) == op->successor(1) && c.trueArgs().vec() == c.falseArgs().vec()) v = true;
  if (!v) return false;
  cf::BrOp::create(rw, op->loc(), (*v ? c.trueArgs() : c.falseArgs()).vec(), op->successor(*v ? 0 : 1));
  rw.eraseOp(op);
  return true;
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

namespace {

/// An edge: a branch, and which of its successors.
struct Edge {
  Operation *branch;
  unsigned successor;

  /// The values that the branch hands to that successor.
  OperandRange values() const {
    if (branch->is<cf::BrOp>()) return branch->operands();
    auto c = branch->cast<cf::CondBrOp>();
    return successor == 0 ? c.trueArgs() : c.falseArgs();
  }
  void setValues(llvm::ArrayRef<Value> values) const {
    branch->setOperandGroup(branch->is<cf::BrOp>() ? 0 : 1 + successor, values);
  }
};

/// The edges into each block of a region, found in one walk over it: a search for those of each block would take
/// quadratic time in all.
class EdgesByBlock {
public:
  explicit EdgesByBlock(Region &r) {
    for (auto *from : r.blocks()) {
      auto successors = from->successors();
      Operation *last = from->back(); // of any kind: unregistered operations may have successors, too
      bool isBranch = last && (last->is<cf::BrOp>() || last->is<cf::CondBrOp>());
      for (unsigned i = 0; i < successors.size(); ++i) {
        Incoming &in = into_[successors[i]];
        in.edges.push_back({last, i});
        in.areBranches &= isBranch;
      }
    }
  }

  /// Empty if an edge is of another kind of operation. Valid until `redirect`.
  llvm::ArrayRef<Edge> into(Block *b) const {
    auto found = into_.find(b);
    bool areKnown = found != into_.end() && found->second.areBranches;
    return areKnown ? llvm::ArrayRef(found->second.edges) : llvm::ArrayRef<Edge>();
  }
  /// All edges into a block lead to another one from now on.
  void redirect(Block *from, Block *to) {
    auto edges = llvm::to_vector(into(from));
    into_.erase(from);
    for (Edge e : edges) e.branch->setSuccessor(e.successor, to);
    into_[to].edges.append(edges.begin(), edges.end());
  }

private:
  struct Incoming {
    llvm::SmallVector<Edge, 2> edges;
    bool areBranches = true;
  };
  llvm::DenseMap<Block *, Incoming> into_;
};

/// The branches of a region of several blocks.
class Blocks {
public:
  explicit Blocks(Region &r) : r_(r) {}

  bool run() {
    bool changed = false;
    while (dropUnreached() || forwardArguments() || skipJumps() || merge()) changed = true;
    return changed;
  }

private:
  bool dropUnreached() {
    llvm::SmallPtrSet<Block *, 8> reached;
    llvm::SmallVector<Block *, 8> work{r_.front()};
    while (!work.empty()) {
      Block *b = work.pop_back_val();
      if (reached.insert(b).second) work.append(b->successors().begin(), b->successors().end());
    }
    bool changed = false;
    for (auto *b : r_.blocks())
      if (!reached.contains(b)) {
        for (auto &op : *b) op.dropAllReferences();
        b->erase();
        changed = true;
      }
    return changed;
  }

  bool forwardArguments() {
    bool changed = false;
    EdgesByBlock edges(r_);
    for (auto *b : r_.blocks()) {
      auto in = edges.into(b);
      if (b == r_.front() || in.empty()) continue;
      for (unsigned k = b->numArgs(); k-- > 0;) {
        Value arg = b->arg(k), same;
        bool one = true;
        for (Edge e : in) {
          Value v = e.values()[k];
          if (v == arg) continue; // round the loop
          one &= !same || same == v;
          same = v;
        }
        if (!arg.useEmpty() && (!one || !same)) continue;
        if (!arg.useEmpty()) arg.replaceAllUsesWith(same);
        for (Edge e : in) {
          auto values = e.values().vec();
          values.erase(values.begin() + k);
          e.setValues(values);
        }
        b->eraseArg(k);
        changed = true;
      }
    }
    return changed;
  }

  /// To a block that only jumps on: jump there.
  bool skipJumps() {
    bool changed = false;
    EdgesByBlock edges(r_);
    for (auto *b : r_.blocks()) {
      auto *jump = b->front();
      if (b == r_.front() || !jump->is<cf::BrOp>() || jump->successor(0) == b) continue;
      // Its arguments may be used by the jump alone.
      bool local = true;
      for (auto *a : b->args())
        for (auto *u : Value(a).users()) local &= u == jump;
      if (!local || edges.into(b).empty()) continue;
      for (Edge e : edges.into(b)) {
        auto in = e.values().vec();
        llvm::SmallVector<Value, 4> on;
        for (auto v : jump->operands()) on.push_back(v.isBlockArgument() && v.ownerBlock() == b ? in[v.index()] : v);
        e.setValues(on);
      }
      edges.redirect(b, jump->successor(0));
      changed = true;
    }
    return changed;
  }

  /// A block joins its only predecessor, which only jumps to it.
  bool merge() {
    bool changed = false;
    // They stay true: what a merged block's terminator leads to comes from the same operation, now at the end of its
    // predecessor.
    EdgesByBlock edges(r_);
    for (auto *b : r_.blocks()) {
      auto in = edges.into(b);
      Operation *t = in.size() == 1 ? in[0].branch : nullptr;
      if (!t || !t->is<cf::BrOp>() || t->block() == b || b == r_.front()) continue;
      for (unsigned i = 0; i < b->numArgs(); ++i) b->arg(i).replaceAllUsesWith(t->operand(i));
      Block *into = t->block();
      t->erase();
      for (auto &op : *b) {
        op.remove();
        into->append(&op);
      }
      b->erase();
      changed = true;
    }
    return changed;
  }

  Region &r_;
};

} // namespace

bool simplifyBlocks(Module &m) {
  std::vector<Region *> regions;
  m.op()->walk([&](Operation *op) {
    for (auto &r : op->regions())
      if (!r.empty() && !r.hasOneBlock()) regions.push_back(&r);
  });
  bool changed = false;
  for (auto *r : regions) changed |= Blocks(*r).run();
  return changed;
}

llvm::ArrayRef<Pattern> controlFlowPatterns() {
  static const Pattern patterns[] = {
      {Opcode::scf_for, simplifyFor, "loop simplification"},
      {Opcode::scf_for, carryTransposed, "values carried transposed"},
      {Opcode::scf_if, simplifyIf, "if simplification"},
      {Opcode::scf_while, simplifyWhile, "while simplification"},
      {Opcode::scf_execute_region, simplifyExecuteRegion, "of one block"},
      {Opcode::cf_cond_br, simplifyCondBr, "constant branch"},
  };
  return patterns;
}

} // namespace tessera::transforms
