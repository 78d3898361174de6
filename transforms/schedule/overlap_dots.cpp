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
#include "transforms/schedule/overlap_dots.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/passes.h"
#include "transforms/schedule/automatic_warp_specialization.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr llvm::StringLiteral kOverlapAttr = "tessera.overlap_dots";

// ---- the decision ----

/// A dot that is issued an iteration later.
struct DelayedDot {
  ttng::WarpGroupDotOp dot;
  ttng::WarpGroupDotWaitOp wait; // its own, which goes; null: the dot is synchronous
  unsigned index;                // of the carried value that its result becomes
};

struct OverlapPlan {
  ttng::WarpGroupDotOp first;
  std::vector<DelayedDot> delayed;
  llvm::SetVector<Operation *> views;    // operations of the body that make the delayed dots' operands
  llvm::SetVector<Operation *> arrivals; // after delayed dots, and their views: they follow the wait for these
  llvm::SetVector<Value> needed;         // values of the body that all of these use, accumulators aside
  llvm::DenseSet<Operation *> last;      // what comes after the wait for the delayed dots
  bool isFilledInLoop = false;           // copies of the body write what delayed dots read
  bool sharesBuffers = false;            // other dots read what delayed dots read
  int64_t fewestBuffers = 0;             // of the multi-buffers that delayed dots read; 0: they read none
  // Of a multiprocessor, for one block: an iteration without overlap, and parts of it.
  double cycles = 0;
  double delayedCycles = 0, workCycles = 0;
  int64_t registers = 0; // of a thread, estimated
};

class OverlapPlanner {
public:
  OverlapPlanner(scf::ForOp loop, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), target_(target), warps_(numWarps(loop->module().op())) {}

  std::optional<OverlapPlan> run() {
    if (!isSuitable()) return std::nullopt;
    for (auto dot : dots_)
      if (auto d = asDelayed(dot)) plan_.delayed.push_back(*d);
    if (plan_.delayed.empty() || !findWriters() || !findArrivals()) return std::nullopt;
    orderBody();
    estimate();
    return std::move(plan_);
  }

private:
  // ---- legality ----

  bool isSuitable() {
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return false;
    for (auto &op : body_) {
      if (op.is<tt::DotOp>()) return false;
      auto wait = op.dyn<ttng::WarpGroupDotWaitOp>();
      if (wait && wait.pendings() != 0) return false; // its count is for the dots as they are
      if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) {
        if (!plan_.first)
          plan_.first = dot;
        else
          dots_.push_back(dot);
      }
      bool isFlat = true;
      op.walk([&](Operation *inner) {
        bool isDotOrWait = inner->is<ttng::WarpGroupDotOp>() || inner->is<ttng::WarpGroupDotWaitOp>();
        isFlat &= !isLoopOrCall(inner) && (!isDotOrWait || inner == &op);
      });
      if (!isFlat || synchronises(op)) return false;
    }
    return !dots_.empty() && !addsOutsideOfInstruction(plan_.first) && firstIsWaitedFor();
  }
  /// Whether the operation may signal to other agents that the block has read or written something, or wait for them,
  /// in a way that this pass does not know.
  static bool synchronises(Operation &op) {
    bool isWait = op.is<ttng::WarpGroupDotWaitOp>() || op.is<ttng::WaitBarrierOp>() || op.is<ttg::AsyncWaitOp>();
    bool isKnown = isWait || op.is<ttng::ArriveBarrierOp>() || isCopy(&op);
    return !isKnown && (effectsOf(&op) & kSynchronizes);
  }
  static bool isCopy(Operation *op) {
    bool isBulk = op->is<ttng::AsyncTmaCopyGlobalToLocalOp>() || op->is<ttng::BarrierExpectOp>();
    return isBulk || op->is<ttg::AsyncCopyGlobalToLocalOp>() || op->is<ttg::AsyncCommitGroupOp>();
  }
  /// Whether the first dot is done before the iteration ends: it is synchronous, or a wait has it as its only operand.
  bool firstIsWaitedFor() {
    if (!plan_.first.isAsync()) return true;
    return plan_.first.d().hasOneUse() && onlyWait(plan_.first.d());
  }
  static ttng::WarpGroupDotWaitOp onlyWait(Value dot) {
    auto wait = dot.users()[0]->dyn<ttng::WarpGroupDotWaitOp>();
    return wait && wait->numOperands() == 1 ? wait : ttng::WarpGroupDotWaitOp();
  }

  std::optional<DelayedDot> asDelayed(ttng::WarpGroupDotOp dot) {
    if (dot.useC() || addsOutsideOfInstruction(dot) || !dot.d().hasOneUse()) return std::nullopt;
    DelayedDot d{dot, {}, 0};
    Value result = dot.d();
    if (dot.isAsync()) {
      d.wait = onlyWait(result);
      if (!d.wait || !d.wait->result(0).hasOneUse()) return std::nullopt;
      result = d.wait->result(0);
    }
    OpOperand *use = result.firstUse();
    if (use->owner != body_.terminator()) return std::nullopt;
    d.index = use->index();
    if (neededByFirst(carried(loop_, d.index).argument)) return std::nullopt;
    OverlapPlan before = plan_;
    for (Value v : {dot.a(), dot.b()}) {
      bool inRegisters = !v.type().isa<MemDescType>();
      if (inRegisters && isOfBody(v)) plan_.needed.insert(v);
      if (inRegisters || collectViews(v)) continue;
      plan_ = before;
      return std::nullopt;
    }
    return d;
  }
  bool isOfBody(Value v) const {
    return v.isBlockArgument() ? v.ownerBlock() == &body_ : v.definingOp()->block() == &body_;
  }

  /// Whether an operation up to the first dot needs the value.
  bool neededByFirst(Value argument) {
    llvm::DenseSet<Operation *> dependent;
    for (auto &op : body_) {
      bool depends = false;
      op.walk([&](Operation *inner) {
        for (Value v : inner->operands())
          depends |= v == argument || (v.definingOp() && dependent.contains(v.definingOp()));
      });
      if (depends) dependent.insert(&op);
      if (&op == plan_.first.op) return !dependent.empty();
    }
    return true;
  }

  /// The operations of the body that make a view, in their order. What else of the body these use is noted as needed.
  llvm::SmallVector<Operation *, 4> viewsOf(Value memdesc) {
    llvm::SmallVector<Operation *, 4> views;
    for (Value v = memdesc; v.definingOp() && v.definingOp()->block() == &body_; v = viewedMemdesc(v)) {
      views.insert(views.begin(), v.definingOp());
      for (Value scalar : v.definingOp()->operands())
        if (!scalar.type().isa<MemDescType>() && isOfBody(scalar)) plan_.needed.insert(scalar);
    }
    return views;
  }
  /// Notes the views of the body that make an operand; false if its buffer is allocated in the body or not known.
  bool collectViews(Value memdesc) {
    auto alloc = allocationOf(memdesc);
    if (!alloc || alloc->block() == &body_) return false;
    for (auto *view : viewsOf(memdesc)) {
      plan_.views.insert(view);
      if (!view->is<ttg::MemdescIndexOp>()) continue;
      int64_t buffers = alloc.result().type().cast<MemDescType>().dim(0);
      plan_.fewestBuffers = plan_.fewestBuffers ? std::min(plan_.fewestBuffers, buffers) : buffers;
    }
    roots_.insert(alloc.op);
    return true;
  }

  /// Whether nothing but copies may write the buffers of delayed dots in the loop. Notes what does.
  bool findWriters() {
    return llvm::all_of(roots_, [&](Operation *root) { return findWriters(root->result()); });
  }
  bool findWriters(Value memdesc) {
    for (auto *user : memdesc.users()) {
      if (isMemdescView(user)) {
        if (!findWriters(user->result())) return false;
        continue;
      }
      bool isInLoop = false;
      for (Operation *p = user; p; p = p->parentOp()) isInLoop |= p->block() == &body_;
      if (!isInLoop) continue;
      auto copy = user->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
      bool isWrite = copy && copy.result() == memdesc;
      if (!isWrite && !user->is<ttng::WarpGroupDotOp>()) return false;
      auto isThis = [&](auto &d) { return d.dot.op == user; };
      plan_.sharesBuffers |= !isWrite && llvm::none_of(plan_.delayed, isThis);
      plan_.isFilledInLoop |= isWrite;
    }
    return true;
  }

  /// The arrivals of the body; false if one may stand for reads of a delayed dot that come later.
  bool findArrivals() {
    for (auto &op : body_) {
      auto arrival = op.dyn<ttng::ArriveBarrierOp>();
      if (!arrival) continue;
      if (arrival.pred() || !allocationOf(arrival.alloc())) return false;
      auto isBefore = [&](auto &d) { return arrival->isBeforeInBlock(d.dot.op); };
      if (llvm::any_of(plan_.delayed, isBefore)) {
        bool isOfThisIteration = arrival->hasAttr(kEachWarpArrivesAttr);
        if (!isOfThisIteration || !llvm::all_of(plan_.delayed, isBefore)) return false;
        continue;
      }
      for (auto *view : viewsOf(arrival.alloc())) plan_.arrivals.insert(view);
      plan_.arrivals.insert(&op);
    }
    return true;
  }

  // ---- order ----

  /// Fills plan_.last: what uses results of the delayed dots, and the rounding of their next operands, which then need
  /// no registers beside those of the dots in flight. Only operations whose results are needed nowhere else move; for
  /// others the wait comes earlier.
  void orderBody() {
    llvm::DenseSet<Value> dependent;
    for (auto &d : plan_.delayed) dependent.insert(carried(loop_, d.index).argument);
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : body_) {
      ops.push_back(&op);
      if (llvm::any_of(op.operands(), [&](Value v) { return dependent.contains(v); }))
        for (Value r : op.results()) dependent.insert(r);
    }
    for (auto *op : llvm::reverse(ops)) {
      if (op->numRegions() || !isPure(op) || !op->numResults()) continue;
      bool isRounding = op->is<arith::TruncfOp>() || op->is<tt::FpToFpOp>() || op->is<ttg::ConvertLayoutOp>();
      bool isLate = isRounding || dependent.contains(op->result());
      if (isLate && allUsersComeLast(op)) plan_.last.insert(op);
    }
  }
  bool allUsersComeLast(Operation *op) const {
    return llvm::all_of(op->results(),
                        [&](Value r) { return llvm::all_of(r.users(), [&](Operation *u) { return comesLast(u); }); });
  }
  bool comesLast(Operation *user) const {
    bool isDelayed = llvm::any_of(plan_.delayed, [&](auto &d) { return d.dot.op == user; });
    return isDelayed || user == body_.terminator() || plan_.last.contains(user);
  }

  // ---- worth ----

  /// Cycles of a multiprocessor's matrix units.
  double cyclesOf(ttng::WarpGroupDotOp dot) const {
    auto b = dot.b().type().cast<MemDescType>();
    auto d = tensorOf(dot.d());
    double macs = double(d.numElements()) * double(b.dim(0));
    return macs * b.element().bitWidth() / target_.tuning.overlapDotsMatrixBits;
  }
  /// Cycles of a multiprocessor's schedulers. Of branches the longer one counts.
  double cyclesOf(Operation *op) const {
    if (auto branch = op->dyn<scf::IfOp>()) {
      auto ofRegion = [&](Region &region) {
        double cycles = 0;
        for (auto *block = region.front(); block; block = block->next())
          for (auto &inner : *block) cycles += cyclesOf(&inner);
        return cycles;
      };
      return std::max(ofRegion(branch.thenRegion()), ofRegion(branch.elseRegion()));
    }
    if (!op->numResults() || !op->result(0).type().isTensor()) return 0;
    Value sized = op->is<tt::ReduceOp>() ? op->operand(0) : op->result(0);
    double instructions = op->is<tt::ReduceOp>() ? 1 : costOf(op, target_.tuning).time;
    if (costOf(op, target_.tuning).ofWholeTensor) return 0;
    double elements = double(elementsPerThread(sized.type()).value_or(0));
    return elements * instructions * double(warps_) / target_.schedulersPerMultiprocessor;
  }
  void estimate() {
    for (auto &d : plan_.delayed) plan_.delayedCycles += cyclesOf(d.dot);
    int64_t otherDots = 0; // registers of their results
    bool isAfterFirst = false;
    bool isAfterOtherDot = false; // which waits for all dots before it
    for (auto &op : body_) {
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      double cycles = dot ? cyclesOf(dot) : cyclesOf(&op);
      plan_.cycles += cycles;
      bool isDelayed = llvm::any_of(plan_.delayed, [&](auto &d) { return d.dot.op == &op; });
      bool isOtherDot = dot && &op != plan_.first.op && !isDelayed;
      if (isOtherDot) otherDots += registersOf(dot.d());
      isAfterFirst |= &op == plan_.first.op;
      isAfterOtherDot |= isOtherDot;
      bool isWork = !dot && isAfterFirst && !isAfterOtherDot && !plan_.last.contains(&op);
      if (isWork) plan_.workCycles += cycles;
    }
    // During the work: its operand, what is carried, and what the dots in flight hold; and the results of other dots.
    plan_.registers = registersOf(plan_.first.d()) + otherDots;
    for (auto *argument : carriedArguments(body_)) plan_.registers += registersOf(Value(argument));
    for (Value v : plan_.needed) plan_.registers += registersOf(v);
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  int64_t warps_;
  llvm::SmallVector<ttng::WarpGroupDotOp, 4> dots_; // of the body, but the first
  llvm::SetVector<Operation *> roots_;              // allocations that delayed dots read
  OverlapPlan plan_;
};

/// Why the plan is not worth it; empty: it is. `registers`: what a thread has.
std::string whyNotWorth(const OverlapPlan &p, const Tuning &tuning, int64_t registers) {
  double saved = std::min(p.delayedCycles, p.workCycles);
  int64_t usable = registers * tuning.overlapDotsRegistersPercent / 100;
  int64_t leastBuffers = tuning.overlapDotsLeastBuffers - (p.sharesBuffers ? 0 : 1);
  if (p.fewestBuffers && p.fewestBuffers < leastBuffers)
    return llvm::formatv("{0} buffers are too few: two iterations' would be read at a time", p.fewestBuffers);
  if (p.registers > usable)
    return llvm::formatv("about {0} registers of a thread would be needed, and {1} are usable", p.registers, usable);
  if (saved * 100 < p.cycles * double(tuning.overlapDotsLeastGain))
    return llvm::formatv("about {0} of {1} cycles of an iteration would be saved", int64_t(saved), int64_t(p.cycles));
  return "";
}

// ---- the transformation ----

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
    Value firstResult = plan_.first.d();
    bool firstIsPending = false;
    bool delayedArePending = false;
    auto needs = [](Operation *op, llvm::function_ref<bool(Value)> holds) {
      bool found = false;
      op->walk([&](Operation *inner) { found |= llvm::any_of(inner->operands(), holds); });
      return found;
    };
    auto isOfDelayed = [&](Value v) {
      return llvm::any_of(plan_.delayed, [&](auto &d) { return v == carried(loop_, d.index).argument; });
    };
    for (auto *op : orderedBody(/*late=*/false)) {
      bool needsFirst = needs(op, [&](Value v) { return v == firstResult; }) || op->is<ttng::ArriveBarrierOp>();
      if (firstIsPending && needsFirst) {
        map.map(firstResult, waitFor(b, {map.lookupOrSelf(firstResult)}, pending)[0]);
        firstIsPending = false;
        if (auto wait = op->dyn<ttng::WarpGroupDotWaitOp>()) {
          map.map(wait->result(0), map.lookupOrSelf(firstResult));
          continue;
        }
      }
      if (delayedArePending && needs(op, isOfDelayed)) {
        await();
        delayedArePending = false;
      }
      Operation *copy = b.clone(op, map);
      if (op != plan_.first.op) continue;
      copy->setAttr(kIsAsyncAttr, IntegerAttr::getBool(c_, true));
      firstIsPending = true;
      issue();
      delayedArePending = true;
    }
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
    auto issue = [&] { issued = emitDelayed(in, before, argumentAt); };
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

std::string summary(const OverlapPlan &p) {
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

std::string whyNoOverlapOfDots(scf::ForOp loop, const TargetInfo &target, int64_t registers) {
  auto plan = OverlapPlanner(loop, target).run();
  return plan ? whyNotWorth(*plan, target.tuning, registers)
              : "no dot of an iteration can run under the next one's work";
}

absl::StatusOr<bool> overlapDots(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  bool changed = false;
  for (auto f : collect<scf::ForOp>(m.op())) {
    auto requested = f->attr<IntegerAttr>(kOverlapAttr);
    if (partitionOf(f.op).hasOwnWarps() || (requested && !requested.sext())) continue;
    auto plan = OverlapPlanner(f, *c.target).run();
    if (!plan || plan->isFilledInLoop) continue;
    std::string whyNot = requested ? "" : whyNotWorth(*plan, c.target->tuning, registersOfConsumers(f.op, *c.target));
    if (!whyNot.empty()) {
      c.remark({Remark::Missed, "", "DotsOverlapped", f->loc(),
                "dots of an iteration do not run under the work of the next one: " + whyNot, facts(*plan)});
      continue;
    }
    c.remark({Remark::Applied, "", "DotsOverlapped", f->loc(), summary(*plan), facts(*plan)});
    OverlappedLoop(f, *plan).build();
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
