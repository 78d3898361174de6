// Pass insert-wgmma-waits: a multiplication in the background (ttng.warp_group_dot with isAsync) owns its
// accumulator's registers until it is waited for; nothing but further multiplications may touch them. TTGIR that
// comes from elsewhere does so all the same, foremost in loops that were two nested ones, where an accumulator starts
// anew now and then:
//
//   %d = ttng.warp_group_dot %a, %b, %acc {isAsync}         %d = ttng.warp_group_dot %a, %b, %acc, %goesOn {isAsync}
//   %w:3 = ttng.warp_group_dot_wait %d, … {pendings = 1}    %w:3 = ttng.warp_group_dot_wait %d, … {pendings = 1}
//   %n = arith.select %last, %zeros, %w#0              →    %not = arith.xori %last, %true
//   scf.yield %n                                            scf.yield %w#0, %not
//
// There the loop carries instead whether the next multiplication adds to the accumulator. Any other use of an
// accumulator under way gets a wait of its own before it.
//
// A wait that leaves n multiplications under way settles those that n others of its block follow; whether values that
// loops carry are settled is judged by the multiplications of the iteration alone. More waits than needed do no harm
// but to speed.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The multiplication that alone uses an iteration's argument, as its accumulator.
ttng::WarpGroupDotOp onlyDot(Value arg) {
  if (!arg.hasOneUse()) return {};
  auto dot = arg.firstUse()->owner->dyn<ttng::WarpGroupDotOp>();
  return dot && dot.isAsync() && dot.c() == arg && !dot.useC() ? dot : ttng::WarpGroupDotOp();
}

/// Whether nobody looks at the value: waits pass it on to nobody.
bool unseen(Value v) {
  for (auto *use : v.uses()) {
    if (!use->owner->is<ttng::WarpGroupDotWaitOp>()) return false;
    for (unsigned k = 0; k < use->owner->numOperands(); ++k)
      if (use->owner->operand(k) == v && !use->owner->result(k).useEmpty()) return false;
  }
  return true;
}

/// Restarts of the loop's accumulators become flags (see above).
bool carryFlags(scf::ForOp loop) {
  struct Restart {
    unsigned index; // of the carried value
    ttng::WarpGroupDotOp dot;
    Value restarts, goesOn; // condition; what it is carried on as
    bool whenTrue;
  };
  Block &body = *loop.body().front();
  Operation *yield = body.terminator();
  llvm::SmallVector<Restart, 2> found;
  for (unsigned i = 0; i < yield->numOperands(); ++i) {
    auto *def = yield->operand(i).definingOp();
    auto select = def && def->block() == &body ? def->dyn<arith::SelectOp>() : arith::SelectOp();
    if (!select || select.condition().type().isTensor() || !yield->operand(i).hasOneUse()) continue;
    bool first = isZero(select.trueValue()), second = isZero(select.falseValue());
    Value goesOn = first ? select.falseValue() : select.trueValue();
    auto dot = onlyDot(body.arg(i + 1));
    if (first == second || !dot || !unseen(loop->result(i))) continue;
    found.push_back({i, dot, select.condition(), goesOn, first});
  }
  if (found.empty()) return false;
  Builder b(loop.op);
  Type i1 = IntegerType::get(b.context(), 1);
  llvm::SmallVector<Value, 16> inits(loop.initArgs().begin(), loop.initArgs().end()),
      yields(yield->operands().begin(), yield->operands().end());
  Builder last(yield);
  llvm::SmallVector<Operation *, 2> selects;
  for (auto &r : found) {
    Value begins = r.restarts;
    selects.push_back(yield->operand(r.index).definingOp());
    yields[r.index] = r.goesOn;
    if (r.whenTrue)
      begins =
          arith::XoriOp::create(last, yield->loc(), r.restarts, last.intConstant(yield->loc(), i1, 1)).op->result();
    yields.push_back(begins);
    inits.push_back(b.intConstant(loop->loc(), i1, !isZero(inits[r.index])));
  }
  scf::YieldOp::create(last, yield->loc(), yields);
  yield->erase();
  for (auto *select : selects) select->erase(); // it had no other use, and would be one of a sum under way
  llvm::SmallVector<Type, 16> types;
  for (auto v : inits) types.push_back(v.type());
  auto now = scf::ForOp::create(b, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), inits,
                                llvm::SmallVector<NamedAttribute, 4>(loop->attrs().begin(), loop->attrs().end()));
  unsigned carried = loop->numResults();
  now.body().takeBody(loop.body());
  for (auto [k, r] : llvm::enumerate(found)) {
    Value flag = now.body().front()->addArg(i1, r.dot->loc());
    Builder at(r.dot.op);
    auto dot = ttng::WarpGroupDotOp::create(
        at, r.dot->loc(), r.dot.a(), r.dot.b(), r.dot.c(), flag,
        llvm::SmallVector<NamedAttribute, 4>(r.dot->attrs().begin(), r.dot->attrs().end()));
    r.dot.d().replaceAllUsesWith(dot.d());
    r.dot->erase();
  }
  for (unsigned i = 0; i < carried; ++i) loop->result(i).replaceAllUsesWith(now->result(i));
  loop->erase();
  return true;
}

class Settling {
public:
  explicit Settling(Operation *func) : func_(func) {}

  bool run() {
    func_->walk([&](Operation *op) {
      if (auto dot = op->dyn<ttng::WarpGroupDotOp>(); dot && dot.isAsync()) mark(dot.d());
    });
    while (!work_.empty()) {
      Value v = work_.pop_back_val();
      for (auto *use : v.uses()) follow(v, use);
    }
    for (auto [op, k] : uses_) settle(op, k);
    return !uses_.empty();
  }

private:
  void mark(Value v) {
    if (v.type().isTensor() && underWay_.insert(v).second) work_.push_back(v);
  }

  void follow(Value v, OpOperand *use) {
    Operation *op = use->owner;
    unsigned k = 0;
    while (&op->opOperand(k) != use) ++k;
    if (auto dot = op->dyn<ttng::WarpGroupDotOp>()) {
      if (dot.c() != v || !dot.isAsync()) uses_.push_back({op, k});
      return;
    }
    if (auto wait = op->dyn<ttng::WarpGroupDotWaitOp>()) {
      if (!settles(wait, v)) mark(op->result(k));
      return;
    }
    if (auto loop = op->dyn<scf::ForOp>(); loop && k >= 3) return mark(loop.body().front()->arg(k - 2));
    if (op->is<scf::YieldOp>()) {
      Operation *parent = op->parentOp();
      if (parent->is<scf::ForOp>())
        mark(parent->cast<scf::ForOp>().body().front()->arg(k + 1)), mark(parent->result(k));
      else if (parent->is<scf::IfOp>())
        mark(parent->result(k));
      else
        uses_.push_back({op, k});
      return;
    }
    uses_.push_back({op, k});
  }

  /// Whether as many multiplications as the wait leaves under way follow the value's own.
  static bool settles(ttng::WarpGroupDotWaitOp wait, Value v) {
    int64_t left = wait.pendings();
    Operation *own = v.definingOp();
    for (Operation *op = wait->prev(); op && left > 0; op = op->prev()) {
      if (op == own && op->is<ttng::WarpGroupDotOp>()) return false;
      auto dot = op->dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (!dot.isAsync()) return true; // it waited for all
      --left;
    }
    return left <= 0;
  }

  void settle(Operation *user, unsigned k) {
    Value v = user->operand(k);
    if (!underWay_.contains(v)) return; // an earlier use's wait is behind it now
    Builder b(user);
    auto wait = ttng::WarpGroupDotWaitOp::create(b, user->loc(), {v.type()}, {v}, {b.i32Attr("pendings", 0)});
    Block *block = user->block();
    v.replaceUsesIf(wait->result(0), [&](OpOperand &use) {
      Operation *at = use.owner;
      while (at && at->block() != block) at = at->parentOp();
      return at && at != wait.op && (at == user || user->isBeforeInBlock(at));
    });
  }

  Operation *func_;
  llvm::DenseSet<Value> underWay_;
  llvm::SmallVector<Value, 16> work_;
  llvm::SmallVector<std::pair<Operation *, unsigned>, 8> uses_;
};

} // namespace

absl::StatusOr<bool> insertWgmmaWaits(Module &m, PassContext &) {
  bool changed = false;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.body().empty()) continue;
    llvm::SmallVector<scf::ForOp, 8> loops;
    op.walk([&](Operation *inner) {
      if (auto loop = inner->dyn<scf::ForOp>()) loops.push_back(loop);
    });
    for (auto loop : loops) changed |= carryFlags(loop);
    changed |= Settling(&op).run();
  }
  return changed;
}

} // namespace tessera::transforms
