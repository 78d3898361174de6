// Which dots of a loop can be delayed, and whether that is worth it (see overlap_plan.h).
#include "transforms/schedule/overlap_plan.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/warp_groups.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class OverlapPlanner {
public:
  OverlapPlanner(scf::ForOp loop, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), target_(target), warps_(numWarps(loop->module().op())) {}

  std::optional<OverlapPlan> run() {
    if (!isSuitable()) return std::nullopt;
    for (auto dot : dots_)
      if (auto d = asDelayed(dot)) plan_.delayed.push_back(*d);
    if (plan_.delayed.empty() || !findWriters() || !findArrivals()) return std::nullopt;
    if (loop_->hasAttr(kKeepsLastBuffersAttr) && !gather()) return std::nullopt;
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
    return !dots_.empty() && !addsOutsideOfInstruction(plan_.first) && firstIsWaitedFor() && mayWaitLater(plan_.first);
  }
  /// Whether no thread writes in the body what the dot reads from shared memory: it may then be in flight for longer.
  bool mayWaitLater(ttng::WarpGroupDotOp dot) const {
    auto isRead = [&](Value v) { return !v.type().isa<MemDescType>() || !isWrittenInBody(memdescRoot(v)); };
    return isRead(dot.a()) && isRead(dot.b());
  }
  bool isWrittenInBody(Value memdesc) const {
    return llvm::any_of(memdesc.users(), [&](Operation *user) {
      if (isMemdescView(user)) return isWrittenInBody(user->result());
      return loop_->isAncestorOf(user) && !isCopy(user) && (effectsOf(user) & kWritesShared);
    });
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

  /// The operations of the body that make a view, in their order. `use` is called with what else of the body these use.
  llvm::SmallVector<Operation *, 4> viewsOf(Value memdesc, llvm::function_ref<void(Value)> use) {
    llvm::SmallVector<Operation *, 4> views;
    for (Value v = memdesc; v.definingOp() && v.definingOp()->block() == &body_; v = viewedMemdesc(v)) {
      views.insert(views.begin(), v.definingOp());
      for (Value scalar : v.definingOp()->operands())
        if (!scalar.type().isa<MemDescType>() && isOfBody(scalar)) use(scalar);
    }
    return views;
  }
  /// The same; what else of the body they use is noted as needed.
  llvm::SmallVector<Operation *, 4> viewsOf(Value memdesc) {
    return viewsOf(memdesc, [&](Value v) { plan_.needed.insert(v); });
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

  /// Notes the dots that are not delayed, and what makes their operands: views and their indices. False if one needs
  /// more of the body than these, or is in flight already.
  bool gather() {
    for (auto dot : dots_) {
      if (llvm::any_of(plan_.delayed, [&](auto &d) { return d.dot == dot; })) continue;
      if (dot.isAsync() || addsOutsideOfInstruction(dot) || !mayWaitLater(dot)) return false;
      for (Value v : dot->operands()) {
        if (!v.type().isa<MemDescType>()) {
          if (isOfBody(v)) return false;
          continue;
        }
        for (auto *view : viewsOf(v, [](Value) {})) {
          bool isIndexed = llvm::any_of(view->operands(), [&](Value index) {
            return !index.type().isa<MemDescType>() && isOfBody(index) && !index.isBlockArgument();
          });
          if (isIndexed) return false;
          plan_.viewsOfBesideFirst.insert(view);
        }
      }
      plan_.besideFirst.push_back(dot);
    }
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
      if (user->is<ttg::AsyncCopyGlobalToLocalOp>() && loop_->hasAttr(kKeepsLastBuffersAttr)) continue;
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
    return macs * b.element().bitWidth() / target_.tuning.wgmmaBitsPerCycle;
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
    plan_.firstCycles = cyclesOf(plan_.first);
    for (auto &d : plan_.delayed) plan_.delayedCycles += cyclesOf(d.dot);
    int64_t otherDots = 0; // registers of their results
    bool isAfterFirst = false;
    bool isAfterOtherDot = false; // which waits for all dots before it
    for (auto &op : body_) {
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      double cycles = dot ? cyclesOf(dot) : cyclesOf(&op);
      plan_.cycles += cycles;
      if (dot) plan_.cyclesOfDots += cycles;
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

} // namespace

std::optional<OverlapPlan> planOverlap(scf::ForOp loop, const TargetInfo &target) {
  return OverlapPlanner(loop, target).run();
}

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

bool shouldTakeTurns(const OverlapPlan &p, const TargetInfo &target, int64_t warps) {
  int64_t groups = warps / kWarpGroup;
  double turn = (p.firstCycles + p.delayedCycles) / double(std::max<int64_t>(groups, 1));
  return groups >= 2 && turn >= double(target.tuning.dotTurnsLeastCycles) &&
         p.workCycles * 100 >= p.delayedCycles * double(target.tuning.dotTurnsLeastWork);
}

std::string whyNoOverlapOfDots(scf::ForOp loop, const TargetInfo &target, int64_t registers) {
  auto plan = planOverlap(loop, target);
  return plan ? whyNotWorth(*plan, target.tuning, registers)
              : "no dot of an iteration can run under the next one's work";
}

} // namespace tessera::transforms
