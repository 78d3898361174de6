// Pass overlap-dots: the last dots of an iteration are issued in the next one, after its first dot, and run while the
// threads work on that one's result. Attention is the foremost loop of this form:
//
//   scf.for %i = %lb to %ub iter_args(%o = %o0, …)         if %lb < %ub
//     wait for the copies of K[i] and V[i]                   wait for the copies of K[lb] and V[lb]
//     %s = dot %q, K[i]                                      %s = dot %q, K[lb]
//     %p, %c = softmax %s, %o                                %p0, %c0 = softmax %s, %o0
//     %n = dot %p, V[i], %c                            →     scf.for %i = %lb + 1 to %ub iter_args(%p = %p0, %c = %c0)
//     arrive: K[i] and V[i] are read                           wait for the copies of K[i] and V[i]
//     scf.yield %n, …                                          %s = dot %q, K[i]            {isAsync}
//                                                              %n = dot %p, V[i - 1], %c    {isAsync}
//                                                              wait {pendings = 1} for %s
//                                                              the part of softmax that does not need %n
//                                                              wait {pendings = 0} for %n
//                                                              arrive: K[i - 1] and V[i - 1] are read
//                                                              the rest of softmax: scales %n, rounds the next %p
//                                                              scf.yield …
//                                                            dot %p, V[ub - 1], %c ; wait ; arrive
//
// The matrix unit computes P·V of one iteration while the threads compute the exponentials of the next one. Without
// that, dots and softmax of a warp group alternate.
//
// Runs: NVIDIA pipeline, after tritongpu-automatic-warp-specialization, which takes the copies out of the loop. In a
// loop that copies for itself, all warps synchronise once an iteration, and the same overlap does not pay: attention is
// then 4 to 15 % slower than without (NVIDIA H200, 2026-11), and 25 % faster with both
// (benchmarks/results/2026-11-23-h200-warp-specialisation.md, table 1).
//
// Gathered dots. It does pay where all dots of an iteration are issued together: two or more need nothing of its work,
// and those of the iteration before only accumulate what that one's work computed. The loop over dQ in the backward
// pass of attention is of this kind, S and dP beside dQ of the iteration before:
//
//   wait for the copies of K[i] and V[i]
//   %s = dot %q, K[i] ; %dp = dot %do, V[i] ; %n = dot %ds, K[i - 1], %dq    {isAsync}
//   wait for %s ; %p = exp %s ; wait for %dp
//   copy K[i + 3] and V[i + 3] ; wait for %n
//   %next = %p * (%dp - %delta)
//
// tritongpu-pipeline decides on it (PipelinePlan::keepsLastBuffers) where no second block fits, since it chooses the
// buffers: K[i - 1] is still read while copies are issued. (Measured: NVIDIA H200, 2026-11-30, the backward kernel of
// Triton's tutorial with heads of 128, million cycles without and with it: 5.50 and 5.26, causal 3.00 and 2.96. Heads
// of 64, of which two blocks fit: 5.54 and 5.42, causal 3.10 and 3.20; they stay as they are.)
//
// Terms. The *first dot* is the first of the body. A *delayed dot* is a later one whose result is only needed by the
// next iteration. The *work* is what threads do between the wait for the first dot and the first use of the delayed
// dots' results.
//
// A dot can be delayed if
//   - its result is carried to the next iteration, and nothing else of its own iteration uses it;
//   - neither the first dot nor what precedes it needs the carried value;
//   - its operands in shared memory are views of buffers from outside of the loop that nothing in the loop writes.
//     Other warps may fill them again after an arrival (ttng.arrive_barrier). Arrivals after all delayed dots move
//     with them; one before them may only speak of other dots of the same iteration, as those of
//     tritongpu-automatic-warp-specialization do. Its operands in registers become loop-carried;
//   - sums of limited precision are not added to its accumulator after the instruction (8-bit floats).
// The first iteration is peeled, and the last delayed dots come after the loop; all of it is in an scf.if unless the
// loop is known to iterate.
//
// It is worth it if the time of the delayed dots or of the work, the lesser of the two, is a considerable part of an
// iteration; if the operands that live on in registers fit; and if there are buffers for three iterations: two are
// being read. Two are enough where only delayed dots read the buffers: these have mbarriers of their own, and the first
// dot's are filled meanwhile. A loop's attribute `tessera.overlap_dots` (bool) overrides this decision, but not the
// conditions before.
//
// Ping-pong (turns). Warp groups may come to run in step: the dots of all of them, then the work of all of them. If the
// work is long, they take turns at the first and the delayed dots (`tessera.takes_dot_turns` on the loop;
// codegen/lowering/warp_groups.cpp): one group's dots run under the others' work. A loop's attribute
// `tessera.dot_turns` (bool) overrides the decision, if there are named barriers enough. Figures: dotTurnsLeastWork in
// ir/tuning.def.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/partitions.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/schedule/automatic_warp_specialization.h"
#include "transforms/schedule/overlap_plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class OverlappedLoop {
public:
  OverlappedLoop(scf::ForOp loop, const OverlapPlan &plan)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), c_(loop->context()), loc_(loop->loc()), b_(loop.op) {}

  void build() {
    openGuard();
    emitFirstIteration();
    emitLoop();
    emitLastDots();
    closeGuard();
    for (auto [i, v] : llvm::zip(usedResults_, finals_)) loop_->result(i).replaceAllUsesWith(v);
    loop_->dropAllReferences();
    loop_->erase();
    dropUnneededCarriedValues(newLoop_);
  }

private:
  // ---- guard ----

  bool surelyIterates() {
    auto *lower = constantBits(loop_.lowerBound());
    auto *upper = constantBits(loop_.upperBound());
    return lower && upper && lower->slt(*upper);
  }
  void openGuard() {
    for (unsigned i = 0; i < loop_->numResults(); ++i)
      if (!loop_->result(i).useEmpty()) usedResults_.push_back(i);
    if (surelyIterates()) return;
    llvm::SmallVector<Type, 8> types;
    for (unsigned i : usedResults_) types.push_back(loop_->result(i).type());
    Value iterates = compare(b_, loc_, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound());
    guard_ = scf::IfOp::create(b_, loc_, types, iterates);
    b_.setInsertionPointToEnd(guard_.thenRegion().addBlock());
  }
  void closeGuard() {
    if (!guard_) return;
    scf::YieldOp::create(b_, loc_, finals_);
    Builder other = Builder::atEnd(guard_.elseRegion().addBlock());
    llvm::SmallVector<Value, 8> inits;
    for (unsigned i : usedResults_) inits.push_back(loop_.initArgs()[i]);
    scf::YieldOp::create(other, loc_, inits);
    finals_.assign(guard_->results().begin(), guard_->results().end());
  }

  // ---- iterations ----

  const DelayedDot *delayedAt(Operation *op) const {
    auto it = llvm::find_if(plan_.delayed, [&](auto &d) { return d.dot.op == op || (d.wait && d.wait.op == op); });
    return it == plan_.delayed.end() ? nullptr : &*it;
  }
  /// The operations of the body in their new order, without those that move to the next iteration.
  llvm::SmallVector<Operation *, 64> orderedBody(bool late) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : body_) {
      bool isLateArrival = op.is<ttng::ArriveBarrierOp>() && plan_.arrivals.contains(&op);
      bool moves = delayedAt(&op) || isLateArrival || &op == body_.terminator();
      if (!moves && plan_.last.contains(&op) == late) ops.push_back(&op);
    }
    return ops;
  }

  /// Dots of an earlier iteration that are in flight, with the values of that iteration.
  struct Issued {
    ValueMap map;
    llvm::SmallVector<Value, 4> dots;
  };
  /// The delayed dots, on values of the iteration that they belong to. `needed` replaces OverlapPlan::needed,
  /// `valueAt` gives the new loop's carried value that became a dot's accumulator.
  Issued emitDelayed(Builder &b, llvm::ArrayRef<Value> needed, llvm::function_ref<Value(unsigned)> valueAt) {
    Issued issued;
    for (auto [from, to] : llvm::zip_equal(plan_.needed, needed)) issued.map.map(from, to);
    for (auto *op : plan_.views) b.clone(op, issued.map);
    for (auto &d : plan_.delayed) {
      issued.map.map(d.dot.c(), valueAt(d.index));
      Operation *dot = b.clone(d.dot.op, issued.map);
      dot->setAttr(kIsAsyncAttr, IntegerAttr::getBool(c_, true));
      issued.dots.push_back(dot->result());
    }
    return issued;
  }
  /// Waits for all dots, and arrives: others may fill their buffers.
  llvm::SmallVector<Value, 2> awaitDelayed(Builder &b, Issued &issued) {
    auto done = waitFor(b, issued.dots, 0);
    for (auto *op : plan_.arrivals) b.clone(op, issued.map);
    return done;
  }
  llvm::SmallVector<Value, 2> waitFor(Builder &b, llvm::ArrayRef<Value> dots, unsigned pending) {
    llvm::SmallVector<Type, 2> types;
    for (auto v : dots) types.push_back(v.type());
    auto wait = ttng::WarpGroupDotWaitOp::create(b, loc_, types, dots, {b.i32Attr("pendings", pending)});
    return llvm::SmallVector<Value, 2>(wait->results().begin(), wait->results().end());
  }

  /// An iteration's operations; `issue` issues the delayed dots of the iteration before, `await` waits for them.
  void emitIteration(Builder &b, ValueMap &map, unsigned pending, llvm::function_ref<void()> issue,
                     llvm::function_ref<void()> await) {
    llvm::SmallVector<Value, 4> atStart = {plan_.first.d()}; // results of dots that are issued together, in this order
    for (auto dot : plan_.besideFirst) atStart.push_back(dot.d());
    size_t waitedFor = atStart.size();
    bool delayedArePending = false;
    auto needs = [](Operation *op, llvm::function_ref<bool(Value)> holds) {
      bool found = false;
      op->walk([&](Operation *inner) { found |= llvm::any_of(inner->operands(), holds); });
      return found;
    };
    auto isOfDelayed = [&](Value v) {
      return llvm::any_of(plan_.delayed, [&](auto &d) { return v == carried(loop_, d.index).argument; });
    };
    auto isIssuedWithFirst = [&](Operation *op) {
      return plan_.viewsOfBesideFirst.contains(op) ||
             llvm::any_of(plan_.besideFirst, [&](auto &dot) { return dot.op == op; });
    };
    auto issueDot = [&](Operation *dot) { b.clone(dot, map)->setAttr(kIsAsyncAttr, IntegerAttr::getBool(c_, true)); };
    auto awaitFirst = [&](size_t count) {
      for (; waitedFor < count; ++waitedFor) {
        unsigned behind = atStart.size() - 1 - waitedFor + (delayedArePending ? pending : 0);
        map.map(atStart[waitedFor], waitFor(b, {map.lookupOrSelf(atStart[waitedFor])}, behind)[0]);
      }
    };
    bool isAfterFirst = false;
    for (auto *op : orderedBody(/*late=*/false)) {
      if (isAfterFirst && isIssuedWithFirst(op)) continue;
      size_t needed = waitedFor;
      for (size_t k = waitedFor; k < atStart.size(); ++k)
        if (needs(op, [&](Value v) { return v == atStart[k]; }) || op->is<ttng::ArriveBarrierOp>()) needed = k + 1;
      bool isWaitForFirst = needed > waitedFor && op->is<ttng::WarpGroupDotWaitOp>();
      awaitFirst(needed);
      if (isWaitForFirst) {
        map.map(op->result(0), map.lookupOrSelf(op->operand(0)));
        continue;
      }
      if (delayedArePending && needs(op, isOfDelayed)) {
        await();
        delayedArePending = false;
      }
      if (op != plan_.first.op) {
        b.clone(op, map);
        continue;
      }
      issueDot(op);
      for (auto *view : plan_.viewsOfBesideFirst)
        if (op->isBeforeInBlock(view)) b.clone(view, map);
      for (auto dot : plan_.besideFirst) issueDot(dot.op);
      isAfterFirst = true;
      waitedFor = 0;
      issue();
      delayedArePending = true;
    }
    awaitFirst(atStart.size()); // what comes last may need them
    if (delayedArePending) await();
    for (auto *op : orderedBody(/*late=*/true)) b.clone(op, map);
  }

  void emitFirstIteration() {
    ValueMap map;
    map.map(inductionVariable(loop_), loop_.lowerBound());
    for (unsigned i = 0; i < numCarried(loop_); ++i) map.map(carried(loop_, i).argument, carried(loop_, i).init);
    emitIteration(b_, map, 0, [] {}, [] {});
    inits_ = carriedAfter(map);
    for (Value v : plan_.needed) inits_.push_back(map.lookupOrSelf(v));
  }
  /// The old carried values after an iteration; for the results of delayed dots, their accumulators.
  llvm::SmallVector<Value, 16> carriedAfter(ValueMap &map) {
    llvm::SmallVector<Value, 16> values;
    for (Value v : body_.terminator()->operands()) values.push_back(map.lookupOrSelf(v));
    for (auto &d : plan_.delayed) values[d.index] = map.lookupOrSelf(d.dot.c());
    return values;
  }
  /// What delayed dots need, from the values that follow the old loop's carried values.
  llvm::SmallVector<Value, 8> neededValues(llvm::function_ref<Value(unsigned)> valueAt) {
    llvm::SmallVector<Value, 8> values;
    for (unsigned k = 0; k < plan_.needed.size(); ++k) values.push_back(valueAt(numCarried(loop_) + k));
    return values;
  }

  void emitLoop() {
    llvm::SmallVector<Type, 16> types;
    for (Value v : inits_) types.push_back(v.type());
    Value second = arith::AddiOp::create(b_, loc_, loop_.lowerBound(), loop_.step()).op->result();
    llvm::SmallVector<NamedAttribute, 4> attrs(loop_->attrs().begin(), loop_->attrs().end());
    newLoop_ = scf::ForOp::create(b_, loc_, types, second, loop_.upperBound(), loop_.step(), inits_, attrs);
    Block *block = newLoop_.body().addBlock();
    block->addArg(inductionVariable(loop_).type(), inductionVariable(loop_).loc());
    for (auto [i, t] : llvm::enumerate(types))
      block->addArg(t, i < numCarried(loop_) ? carried(loop_, i).argument.loc() : loc_);
    Builder in = Builder::atEnd(block);
    ValueMap map;
    map.map(inductionVariable(loop_), inductionVariable(*block));
    for (unsigned i = 0; i < numCarried(loop_); ++i) map.map(carried(loop_, i).argument, carriedArgument(*block, i));
    auto argumentAt = [&](unsigned i) -> Value { return carriedArgument(*block, i); };
    auto before = neededValues(argumentAt);
    Issued issued;
    auto issue = [&] {
      Operation *first = block->back();
      issued = emitDelayed(in, before, argumentAt);
      if (!newLoop_->hasAttr(kTakesDotTurnsAttr)) return;
      first->setAttr(kBeginsDotTurnAttr, UnitAttr::get(c_));
      issued.dots.back().definingOp()->setAttr(kEndsDotTurnAttr, UnitAttr::get(c_));
    };
    auto await = [&] {
      for (auto [d, v] : llvm::zip_equal(plan_.delayed, awaitDelayed(in, issued)))
        map.map(carried(loop_, d.index).argument, v);
    };
    emitIteration(in, map, plan_.delayed.size(), issue, await);
    auto yields = carriedAfter(map);
    for (Value v : plan_.needed) yields.push_back(map.lookupOrSelf(v));
    scf::YieldOp::create(in, loc_, yields);
  }
  void emitLastDots() {
    auto resultAt = [&](unsigned i) -> Value { return newLoop_->result(i); };
    auto issued = emitDelayed(b_, neededValues(resultAt), resultAt);
    auto done = awaitDelayed(b_, issued);
    llvm::SmallVector<Value, 16> results(newLoop_->results().begin(), newLoop_->results().end());
    for (auto [d, v] : llvm::zip(plan_.delayed, done)) results[d.index] = v;
    for (unsigned i : usedResults_) finals_.push_back(results[i]);
  }

  scf::ForOp loop_;
  Block &body_;
  const OverlapPlan &plan_;
  Context &c_;
  Location loc_;
  Builder b_; // around the loop
  scf::IfOp guard_;
  scf::ForOp newLoop_;
  llvm::SmallVector<Value, 16> inits_; // of the new loop: the old one's carried values, then what delayed dots need
  llvm::SmallVector<unsigned, 8> usedResults_; // indices of the old loop's results that have uses
  llvm::SmallVector<Value, 8> finals_;         // what replaces these
};

/// Whether the kernel's own warps, beside the partitions of `f`, have named barriers for turns.
bool hasBarriersForTurns(scf::ForOp f, const TargetInfo &target) {
  Partition own = partitionOf(f.op);
  int64_t warps = numWarps(f->module().op());
  if (!own || warps % kWarpGroup) return false;
  // Each group has one by itself, and one for its turns.
  int64_t taken = kReservedBarriers + int64_t(partitionRegions(own.op).size()) + 2 * warps / kWarpGroup;
  return taken <= target.namedBarriers;
}
/// Whether turns are worth it in all loops of a function whose dots could overlap. Short loops, such as those
/// along the diagonal of a causal mask, do not have them alone.
bool areTurnsWorthIt(Operation *func, const TargetInfo &target) {
  int64_t warps = numWarps(func->module().op());
  return llvm::all_of(collect<scf::ForOp>(func), [&](scf::ForOp f) {
    auto plan = partitionOf(f.op).hasOwnWarps() ? std::nullopt : planOverlap(f, target);
    bool hasTurns = plan && !plan->isFilledInLoop && plan->besideFirst.empty();
    return !hasTurns || shouldTakeTurns(*plan, target, warps);
  });
}

std::string summary(const OverlapPlan &p) {
  if (!p.besideFirst.empty())
    return llvm::formatv("{0} dot{1} of an iteration {2} issued behind the first {3} dots of the next one: about {4} "
                         "cycles of dots at a time; about {5} registers of a thread",
                         p.delayed.size(), p.delayed.size() == 1 ? "" : "s", p.delayed.size() == 1 ? "is" : "are",
                         p.besideFirst.size() + 1, int64_t(p.cyclesOfDots), p.registers);
  std::string s =
      llvm::formatv("{0} dot{1} of an iteration run{2} under the work on the result of the next one's first "
                    "dot: about {3} cycles of dots beside {4} of work, after {5} of the first dot; about "
                    "{6} registers of a thread",
                    p.delayed.size(), p.delayed.size() == 1 ? "" : "s", p.delayed.size() == 1 ? "s" : "",
                    int64_t(p.delayedCycles), int64_t(p.workCycles), int64_t(p.cycles), p.registers)
          .str();
  return s;
}
llvm::json::Object facts(const OverlapPlan &p) {
  return llvm::json::Object{{"delayed", int64_t(p.delayed.size())},
                            {"cycles", int64_t(p.cycles)},
                            {"delayedCycles", int64_t(p.delayedCycles)},
                            {"workCycles", int64_t(p.workCycles)},
                            {"registers", p.registers}};
}

} // namespace

absl::StatusOr<bool> overlapDots(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  bool changed = false;
  llvm::DenseMap<Operation *, bool> worthTurns; // by function, before its first loop changes
  for (auto f : collect<scf::ForOp>(m.op())) {
    auto requested = f->attr<IntegerAttr>(kOverlapAttr);
    if (partitionOf(f.op).hasOwnWarps() || (requested && !requested.sext())) continue;
    auto plan = planOverlap(f, *c.target);
    if (!plan || plan->isFilledInLoop) continue;
    bool isDecided = requested || f->hasAttr(kKeepsLastBuffersAttr);
    std::string whyNot = isDecided ? "" : whyNotWorth(*plan, c.target->tuning, registersOfConsumers(f.op, *c.target));
    if (!whyNot.empty()) {
      c.remark({Remark::Missed, "", "DotsOverlapped", f.op,
                "dots of an iteration do not run under the work of the next one: " + whyNot, facts(*plan)});
      continue;
    }
    Operation *func = f->parentOfType<tt::FuncOp>().op;
    if (!worthTurns.contains(func)) worthTurns[func] = areTurnsWorthIt(func, *c.target);
    auto requestedTurns = f->attr<IntegerAttr>(kDotTurnsAttr);
    bool turns =
        hasBarriersForTurns(f, *c.target) && (requestedTurns ? requestedTurns.sext() != 0 : worthTurns.lookup(func));
    c.remark({Remark::Applied, "", "DotsOverlapped", f.op,
              summary(*plan) + (turns ? "; warp groups take turns at the dots" : ""), facts(*plan)});
    if (turns) f->setAttr(kTakesDotTurnsAttr, UnitAttr::get(m.context()));
    OverlappedLoop(f, *plan).build();
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
