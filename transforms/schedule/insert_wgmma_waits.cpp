// Pass insert-wgmma-waits: waits for asynchronous wgmma results before their first use. An asynchronous dot
// (ttng.warp_group_dot with isAsync) owns its accumulator's registers until it is waited for; only further dots may use
// them. TTGIR from other compilers uses them all the same, foremost in flattened loops over tiles and K, where an
// accumulator restarts from zeros now and then.
// Runs: before lowering, on targets with wgmma.
//
//   %d = ttng.warp_group_dot %a, %b, %acc {isAsync}         %d = ttng.warp_group_dot %a, %b, %acc, %useC {isAsync}
//   %w:3 = ttng.warp_group_dot_wait %d, … {pendings = 1}    %w:3 = ttng.warp_group_dot_wait %d, … {pendings = 1}
//   %n = arith.select %last, %zeros, %w#0              →    %keep = arith.xori %last, %true
//   scf.yield %n                                            scf.yield %w#0, %keep
//
// Step 1: restarts become flags. A loop that restarts an accumulator by a select carries instead whether the next dot
// adds to its accumulator (wgmma's scale-d operand), so that nothing but dots uses the accumulator.
//
// Step 2: waits. Any other use of an accumulator in flight gets a wait of its own before it. A wait that leaves n dots
// pending is a wait for a value if n other dots follow the value's own dot in the wait's block. For loop-carried values
// only the dots of the iteration are counted. Waits that are not needed cost speed, not correctness.
//
// Step 3: left operands in registers. A dot reads them until it is over, but ptxas does not surely keep them beyond the
// iteration (dot_slices.h). A loop whose iterations end with such dots in flight gets a wait at the end. (What an
// scf.while yields is waited for by step 2.)
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

// ---- step 1: restarts become flags ----

/// The asynchronous dot that is the only user of an iteration's argument, as its accumulator.
ttng::WarpGroupDotOp onlyDotOf(Value argument) {
  if (!argument.hasOneUse()) return {};
  auto dot = argument.firstUse()->owner->dyn<ttng::WarpGroupDotOp>();
  bool accumulates = dot && dot.isAsync() && dot.c() == argument && !dot.useC();
  return accumulates ? dot : ttng::WarpGroupDotOp();
}

/// Whether the value has no users, or only waits whose corresponding results have none.
bool isUnused(Value v) {
  for (auto *use : v.uses()) {
    if (!use->owner->is<ttng::WarpGroupDotWaitOp>()) return false;
    for (unsigned k = 0; k < use->owner->numOperands(); ++k)
      if (use->owner->operand(k) == v && !use->owner->result(k).useEmpty()) return false;
  }
  return true;
}

/// An accumulator that a loop restarts: `select` yields zeros or the accumulator.
struct Restart {
  CarriedValue accumulator;
  ttng::WarpGroupDotOp dot;
  arith::SelectOp select;
  Value kept;          // the accumulator, if it does not restart
  bool restartsIfTrue; // the select's condition
};

llvm::SmallVector<Restart, 2> findRestarts(scf::ForOp loop) {
  llvm::SmallVector<Restart, 2> found;
  Block *body = loop.body().front();
  for (unsigned i = 0; i < numCarried(loop); ++i) {
    CarriedValue c = carried(loop, i);
    auto select = c.yielded.definedBy<arith::SelectOp>();
    bool isScalarSelect = select && select->block() == body && !select.condition().type().isTensor();
    if (!isScalarSelect || !c.yielded.hasOneUse()) continue;
    bool zeroIfTrue = isZero(select.trueValue());
    bool zeroIfFalse = isZero(select.falseValue());
    auto dot = onlyDotOf(c.argument);
    if (zeroIfTrue == zeroIfFalse || !dot || !isUnused(c.result)) continue;
    Value kept = zeroIfTrue ? select.falseValue() : select.trueValue();
    found.push_back({c, dot, select, kept, zeroIfTrue});
  }
  return found;
}

bool turnRestartsIntoFlags(scf::ForOp loop) {
  auto restarts = findRestarts(loop);
  if (restarts.empty()) return false;
  Operation *yield = loop.body().front()->terminator();
  Builder before(loop.op);
  Builder atEnd(yield);
  Type i1 = IntegerType::get(before.context(), 1);
  llvm::SmallVector<Value, 16> inits(loop.initArgs().begin(), loop.initArgs().end());
  llvm::SmallVector<Value, 16> yields(yield->operands().begin(), yield->operands().end());
  for (auto &r : restarts) {
    unsigned i = r.accumulator.index;
    yields[i] = r.kept;
    Value adds = r.select.condition();
    if (r.restartsIfTrue)
      adds = arith::XoriOp::create(atEnd, yield->loc(), adds, atEnd.intConstant(yield->loc(), i1, 1)).op->result();
    yields.push_back(adds);
    inits.push_back(before.intConstant(loop->loc(), i1, !isZero(inits[i])));
  }
  scf::YieldOp::create(atEnd, yield->loc(), yields);
  yield->erase();
  for (auto &r : restarts) r.select->erase(); // without users; it would be a use of an accumulator in flight

  llvm::SmallVector<Type, 16> types;
  for (auto v : inits) types.push_back(v.type());
  auto newLoop = scf::ForOp::create(before, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(),
                                    inits, loop->attrs());
  unsigned numOld = loop->numResults();
  newLoop.body().takeBody(loop.body());
  for (auto &r : restarts) {
    Value flag = newLoop.body().front()->addArg(i1, r.dot->loc());
    Builder at(r.dot.op);
    auto dot = ttng::WarpGroupDotOp::create(at, r.dot->loc(), r.dot.a(), r.dot.b(), r.dot.c(), flag, r.dot->attrs());
    r.dot.d().replaceAllUsesWith(dot.d());
    r.dot->erase();
  }
  for (unsigned i = 0; i < numOld; ++i) loop->result(i).replaceAllUsesWith(newLoop->result(i));
  loop->erase();
  return true;
}

// ---- step 2: waits ----

class WaitInsertion {
public:
  explicit WaitInsertion(Operation *func) : func_(func) {}

  bool run() {
    func_->walk([&](Operation *op) {
      if (auto dot = op->dyn<ttng::WarpGroupDotOp>(); dot && dot.isAsync()) markInFlight(dot.d());
    });
    while (!work_.empty()) {
      Value v = work_.pop_back_val();
      for (auto *use : v.uses()) follow(v, use);
    }
    // In the order of the text, so that a wait serves the uses after it.
    func_->walk([&](Operation *op) {
      for (unsigned k = 0; k < op->numOperands(); ++k)
        if (usesInFlight_.contains({op, k})) insertWait(op, k);
    });
    return !usesInFlight_.empty();
  }

private:
  void markInFlight(Value v) {
    if (inFlight_.insert(v).second) work_.push_back(v);
  }

  /// What a use of a value in flight means: further values in flight, or a use that needs a wait.
  void follow(Value v, OpOperand *use) {
    Operation *op = use->owner;
    unsigned k = use->index();
    if (auto dot = op->dyn<ttng::WarpGroupDotOp>()) {
      bool accumulatesAsync = dot.c() == v && dot.isAsync();
      if (!accumulatesAsync) usesInFlight_.insert({op, k});
      return;
    }
    if (auto wait = op->dyn<ttng::WarpGroupDotWaitOp>()) {
      if (!isWaitFor(wait, v)) markInFlight(op->result(k));
      return;
    }
    if (auto value = carriedByInit(*use)) return markInFlight(value->argument);
    if (op->is<scf::YieldOp>()) {
      Operation *parent = op->parentOp();
      if (auto loop = parent->dyn<scf::ForOp>()) {
        markInFlight(carried(loop, k).argument);
        markInFlight(carried(loop, k).result);
        return;
      }
      if (parent->is<scf::IfOp>()) return markInFlight(parent->result(k));
    }
    usesInFlight_.insert({op, k});
  }

  /// Whether at least as many dots as the wait leaves pending follow the value's own.
  static bool isWaitFor(ttng::WarpGroupDotWaitOp wait, Value v) {
    int64_t pending = wait.pendings();
    Operation *ownDot = v.definingOp();
    for (Operation *op = wait->prev(); op && pending > 0; op = op->prev()) {
      auto dot = op->dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (op == ownDot) return false;
      if (!dot.isAsync()) return true; // a synchronous dot waits for all before it
      --pending;
    }
    return pending <= 0;
  }

  void insertWait(Operation *user, unsigned operand) {
    Value v = user->operand(operand);
    if (!inFlight_.contains(v)) return; // replaced by the result of an earlier use's wait
    Builder b(user);
    auto wait = ttng::WarpGroupDotWaitOp::create(b, user->loc(), {v.type()}, {v}, {b.i32Attr("pendings", 0)});
    Block *block = user->block();
    v.replaceUsesIf(wait->result(0), [&](OpOperand &use) {
      Operation *at = use.owner;
      while (at && at->block() != block) at = at->parentOp();
      bool comesAfterWait = at && (at == user || user->isBeforeInBlock(at));
      return comesAfterWait && at != wait.op;
    });
  }

  Operation *func_;
  llvm::DenseSet<Value> inFlight_;
  llvm::SmallVector<Value, 16> work_;
  llvm::DenseSet<std::pair<Operation *, unsigned>> usesInFlight_; // operations with the operand's number
};

// ---- step 3: left operands in registers ----

bool readsRegisters(ttng::WarpGroupDotOp dot) { return dot.isAsync() && dot.a().type().isTensor(); }

/// Dots of branches count as not issued, and waits there as none.
bool waitForLeftOperands(scf::ForOp loop) {
  Block *body = loop.body().front();
  int64_t issued = 0;
  std::optional<int64_t> last; // how many dots had been issued with the last one that may still read registers
  for (Operation &op : *body) {
    if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) {
      ++issued;
      if (!dot.isAsync())
        last.reset(); // it waits for all before it
      else if (readsRegisters(dot))
        last = issued;
    } else if (auto wait = op.dyn<ttng::WarpGroupDotWaitOp>()) {
      if (last && issued - *last >= wait.pendings()) last.reset();
    } else if (!isLoop(&op)) {
      op.walk([&](Operation *inner) {
        if (auto dot = inner->dyn<ttng::WarpGroupDotOp>(); dot && readsRegisters(dot)) last = issued;
      });
    }
  }
  if (!last) return false;
  Builder b(body->terminator());
  ttng::WarpGroupDotWaitOp::create(b, loop->loc(), {}, {}, {b.i32Attr("pendings", issued - *last)});
  return true;
}

} // namespace

absl::StatusOr<bool> insertWgmmaWaits(Module &m, PassContext &) {
  bool changed = false;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.body().empty()) continue;
    for (auto loop : collect<scf::ForOp>(&op)) changed |= turnRestartsIntoFlags(loop);
    changed |= WaitInsertion(&op).run();
    for (auto loop : collect<scf::ForOp>(&op)) changed |= waitForLeftOperands(loop);
  }
  return changed;
}

} // namespace tessera::transforms
