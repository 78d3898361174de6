// Pass overlap-dots: the first dot of an iteration is issued in the iteration before, ahead of the costly part of its
// work, and runs meanwhile. Attention is the foremost loop of this form:
//
//   scf.for %i = %lb to %ub iter_args(%o = %o0)        if %lb < %ub
//     wait for the copies of K[i] and V[i]               wait for the copies of K[lb] and V[lb]
//     %s = dot %q, K[i]                                  %s0 = dot %q, K[lb]
//     %x = differences from the maximum of %s            scf.for %i = %lb to %ub - 1 iter_args(%o = %o0, %s = %s0)
//     %p = exponentials of %x                      →       %x = differences from the maximum of %s
//     %n = dot %p, V[i], %o                                wait for the copies of K[i + 1] and V[i + 1]
//     scf.yield %n                                         %t = dot %q, K[i + 1]        {isAsync}
//                                                          %p = exponentials of %x
//                                                          %n = dot %p, V[i], %o
//                                                          wait for %t
//                                                          scf.yield %n, %t
//                                                        the last iteration, without a first dot
//
// Dots and work of a warp group alternate in the loop as it was: the matrix unit is idle during the work, unless
// another warp group happens to be at another place.
//
// The place of the first dot is behind the last use of its predecessor's result, so that both take the same registers,
// and before the first operation of the work with a high cost, such as an exponential.
//
// Why not the last dot, in the next iteration? Its operand A is the work's result, in registers, and instructions that
// read A from registers seem to hold their warps. (Measured: NVIDIA H200, 2026-11: P·V issued under the next softmax
// made attention 4 to 15 % slower, and with one warp group per multiprocessor 3 % faster.)
//
// Runs: NVIDIA pipeline, after tritongpu-pipeline.
//
// Conditions:
//   - The first dot, and what its operands are computed from, depend on nothing but values from before the loop, the
//     induction variable, and carried scalars whose next value is computed from the same: indices of buffers and phases
//     of mbarriers. Its accumulator is from before the loop. Its operands are in shared memory.
//   - Its buffers are filled by asynchronous copies alone, at least two iterations ahead: those of the next iteration
//     are in flight, or done, at any place of this one. What the loop waits for before the dot moves with it.
//   - Nothing but waits synchronises, and nothing waits for a number of dots or copies that would change.
// The last iteration is peeled; all of it is in an scf.if unless the loop is known to iterate.
//
// Done only in loops with the attribute `tessera.overlap_dots = true`. Measured (NVIDIA H200, 2026-11, `tessera bench`,
// attention forward with heads of 64 and 128, four configurations): 1 to 14 % slower than without. The remark says of
// other loops what is estimated: the time of the first dot or of the work behind its place, the lesser of the two,
// against that of an iteration, and the registers.
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr llvm::StringLiteral kOverlapAttr = "tessera.overlap_dots";

// ---- the decision ----

struct OverlapPlan {
  ttng::WarpGroupDotOp first;
  ttng::WarpGroupDotWaitOp wait;     // of the first dot; null: it is synchronous
  llvm::DenseSet<Operation *> ahead; // operations of the body that the dot and its waits for copies are computed by
  llvm::SetVector<Operation *> copyWaits; // waits for copies
  int64_t groupsBehind = 0;               // groups of copies of an iteration that are issued behind the dot's new place
  Operation *place = nullptr;             // the dot is issued before this operation
  // Of a multiprocessor, for one block: an iteration without overlap, and parts of it.
  double cycles = 0;
  double firstCycles = 0, workCycles = 0;
  int64_t registers = 0; // of a thread, estimated
};

class OverlapPlanner {
public:
  OverlapPlanner(scf::ForOp loop, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), target_(target), warps_(numWarps(loop->module().op())) {}

  std::optional<OverlapPlan> run() {
    if (!isSuitable() || !firstIsSuitable()) return std::nullopt;
    if (!findAhead() || !buffersAreFilledAhead() || !findPlace() || !countGroups()) return std::nullopt;
    estimate();
    return std::move(plan_);
  }

private:
  // ---- the loop and its first dot ----

  bool isSuitable() {
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return false;
    for (Operation *p = loop_->parentOp(); p; p = p->parentOp())
      if (p->is<ttg::WarpSpecializeOp>()) return false; // numbers of warps and barriers are those of a partition
    bool hasOtherDots = false;
    for (auto &op : body_) {
      auto wait = op.dyn<ttng::WarpGroupDotWaitOp>();
      if (op.is<tt::DotOp>() || (wait && wait.pendings() != 0) || synchronises(op)) return false;
      bool hasInner = false;
      op.walk([&](Operation *inner) {
        bool isLoopOrCall = inner->is<scf::ForOp>() || inner->is<scf::WhileOp>() || inner->is<tt::CallOp>();
        bool isDotOrWait = inner->is<ttng::WarpGroupDotOp>() || inner->is<ttng::WarpGroupDotWaitOp>();
        hasInner |= isLoopOrCall || (isDotOrWait && inner != &op);
      });
      if (hasInner) return false;
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      hasOtherDots |= dot && plan_.first;
      if (dot && !plan_.first) plan_.first = dot;
    }
    return hasOtherDots;
  }
  /// Whether the operation may signal to other agents that the block has read or written something, or wait for them.
  static bool synchronises(Operation &op) {
    bool isWait = op.is<ttng::WarpGroupDotWaitOp>() || op.is<ttng::WaitBarrierOp>() || op.is<ttg::AsyncWaitOp>();
    return !isWait && (effectsOf(&op) & kSynchronizes);
  }
  /// Whether sums of limited precision are added to the accumulator after the instruction, so that the dot cannot be
  /// asynchronous.
  static bool addsAfterwards(ttng::WarpGroupDotOp dot) {
    auto b = dot.b().type().cast<MemDescType>();
    bool isFloat8 = b.element().bitWidth() == 8 && dot.d().type().scalar().isFloat();
    return isFloat8 && dot.maxNumImpreciseAcc() <= b.dim(0);
  }
  bool firstIsSuitable() {
    auto dot = plan_.first;
    if (dot.useC() || isOfBody(dot.c()) || !dot.a().type().isa<MemDescType>() || addsAfterwards(dot)) return false;
    if (!dot.isAsync()) return true;
    if (!dot.d().hasOneUse()) return false;
    plan_.wait = dot.d().users()[0]->dyn<ttng::WarpGroupDotWaitOp>();
    return plan_.wait && plan_.wait->numOperands() == 1 && plan_.wait->block() == &body_;
  }
  Value result() const { return plan_.wait ? plan_.wait->result(0) : plan_.first.d(); }
  bool isOfBody(Value v) const {
    return v.isBlockArgument() ? v.ownerBlock() == &body_ : v.definingOp()->block() == &body_;
  }

  // ---- what is executed an iteration ahead ----

  bool findAhead() {
    for (Operation *op = body_.front(); op != plan_.first.op; op = op->next()) {
      bool isWait = op->is<ttng::WaitBarrierOp>() || op->is<ttg::AsyncWaitOp>();
      if (!isWait) continue;
      bool hasUsers = op->numResults() && !op->result().useEmpty();
      if (hasUsers || !isKnownAhead(op)) return false;
      plan_.copyWaits.insert(op);
    }
    return isKnownAhead(plan_.first.op);
  }
  /// Whether the operation's operands for the next iteration are known in this one. Collects what they are computed by.
  bool isKnownAhead(Operation *op) {
    if (!plan_.ahead.insert(op).second) return true;
    return llvm::all_of(op->operands(), [&](Value v) { return isKnownAhead(v); });
  }
  bool isKnownAhead(Value v) {
    if (!isOfBody(v)) return true;
    if (v.isBlockArgument()) {
      auto value = carriedByArgument(v);
      if (!value) return true; // the induction variable
      return !v.type().isTensor() && (!carried_.insert(v) || isComputable(value->yielded));
    }
    Operation *def = v.definingOp();
    bool isScalar = !v.type().isTensor() && isPure(def) && !def->numRegions();
    return (isMemdescView(def) || isScalar) && isKnownAhead(def);
  }
  /// Whether the next value of a loop-carried scalar is computed from such scalars alone.
  bool isComputable(Value v) {
    if (!isOfBody(v) || v.isBlockArgument()) return isKnownAhead(v);
    Operation *def = v.definingOp();
    if (v.type().isTensor() || !isPure(def) || def->numRegions()) return false;
    return llvm::all_of(def->operands(), [&](Value o) { return isComputable(o); });
  }

  // ---- buffers ----

  /// By how many buffers `later` is ahead of `earlier`, both of which count through one multi-buffer; 0: not known.
  static int64_t buffersAhead(Value later, Value earlier) {
    auto x = carriedByArgument(later);
    auto y = carriedByArgument(earlier);
    if (!x || !y || x->loop.op != y->loop.op) return 0;
    auto stepX = multiBufferStep(x->yielded);
    auto stepY = multiBufferStep(y->yielded);
    auto startX = intConstantOf(x->init);
    auto startY = intConstantOf(y->init);
    bool isKnown = stepX && stepY && startX && startY && stepX->index == later && stepY->index == earlier &&
                   stepX->buffers == stepY->buffers && stepX->buffers > 0;
    if (!isKnown) return 0;
    return ((*startX - *startY) % stepX->buffers + stepX->buffers) % stepX->buffers;
  }
  /// The index of a buffer in its multi-buffer; null if it is none.
  static Value indexOf(Value memdesc) {
    while (memdesc && !memdesc.definedBy<ttg::MemdescIndexOp>()) memdesc = viewedMemdesc(memdesc);
    return memdesc ? memdesc.definedBy<ttg::MemdescIndexOp>().index() : Value();
  }
  bool isInLoop(Operation *op) const {
    for (; op; op = op->parentOp())
      if (op->block() == &body_) return true;
    return false;
  }
  static void usersBehindViews(Value memdesc, llvm::SmallVectorImpl<std::pair<Operation *, Value>> &users) {
    for (auto *user : memdesc.users()) {
      if (isMemdescView(user))
        usersBehindViews(user->result(), users);
      else
        users.push_back({user, memdesc});
    }
  }
  /// Whether, of all that the dot reads and the waits are for, the next iteration's copies were issued before this one.
  bool buffersAreFilledAhead() {
    llvm::SmallVector<Value, 4> reads = {plan_.first.a(), plan_.first.b()};
    for (auto *op : plan_.copyWaits)
      if (auto wait = op->dyn<ttng::WaitBarrierOp>()) {
        if (wait->numOperands() != 2) return false;
        reads.push_back(wait.alloc());
      }
    return llvm::all_of(reads, [&](Value v) { return isFilledAhead(v); });
  }
  bool isFilledAhead(Value memdesc) {
    auto alloc = allocationOf(memdesc);
    if (!alloc || alloc->block() == &body_) return false;
    llvm::SmallVector<std::pair<Operation *, Value>, 8> users;
    usersBehindViews(alloc.result(), users);
    return llvm::all_of(users, [&](auto &user) {
      auto [op, view] = user;
      if (!isInLoop(op)) return true;
      bool reads = op->template is<ttng::WarpGroupDotOp>() || op->template is<ttg::LocalLoadOp>() ||
                   op->template is<ttng::WaitBarrierOp>();
      if (reads) return true;
      bool isCopy = op->template is<ttng::AsyncTmaCopyGlobalToLocalOp>() ||
                    op->template is<ttg::AsyncCopyGlobalToLocalOp>() || op->template is<ttng::BarrierExpectOp>();
      Value filled = indexOf(view);
      Value read = indexOf(memdesc);
      return isCopy && op->block() == &body_ && filled && read &&
             buffersAhead(filled, read) >= target_.tuning.overlapDotsLeastBuffers - 1;
    });
  }
  /// Waits for all but a number of groups of copies count those that are issued before them.
  bool countGroups() {
    bool isBehind = false;
    for (auto &op : body_) {
      isBehind |= &op == plan_.place;
      if (!op.is<ttg::AsyncCommitGroupOp>()) continue;
      for (auto *wait : plan_.copyWaits)
        if (wait->is<ttg::AsyncWaitOp>() && op.isBeforeInBlock(wait)) return false;
      plan_.groupsBehind += isBehind;
    }
    return llvm::all_of(plan_.copyWaits, [&](Operation *op) {
      auto wait = op->dyn<ttg::AsyncWaitOp>();
      return !wait || int64_t(wait.num()) >= plan_.groupsBehind;
    });
  }

  // ---- the new place ----

  bool findPlace() {
    constexpr double kCostly = 4; // instructions of a thread for each element
    llvm::DenseSet<Operation *> dependent;
    Operation *lastUse = nullptr;
    Operation *costly = nullptr;
    for (auto &op : body_) {
      bool depends = false;
      op.walk([&](Operation *inner) {
        for (Value v : inner->operands()) {
          if (v == result()) lastUse = &op;
          depends |= v == result() || (v.definingOp() && dependent.contains(v.definingOp()));
        }
      });
      if (!depends) continue;
      dependent.insert(&op);
      bool isCostly = op.numResults() && op.result(0).type().isTensor() && !op.numRegions() &&
                      costOf(&op, target_.tuning).time >= kCostly && !op.is<ttg::ConvertLayoutOp>();
      if (!costly && isCostly) costly = &op;
    }
    if (!lastUse || lastUse == body_.terminator()) return false;
    plan_.place = costly && lastUse->isBeforeInBlock(costly) ? costly : lastUse->next();
    return plan_.place != body_.terminator();
  }

  // ---- worth ----

  /// Cycles of a multiprocessor's matrix units.
  double cyclesOf(ttng::WarpGroupDotOp dot) const {
    auto b = dot.b().type().cast<MemDescType>();
    auto d = tensorOf(dot.d());
    double macs = double(d.numElements()) * double(b.dim(0));
    return macs * b.element().bitWidth() / target_.tuning.overlapDotsMatrixBits;
  }
  /// Cycles of a multiprocessor's schedulers.
  double cyclesOf(Operation *op) const {
    if (!op->numResults() || !op->result(0).type().isTensor()) return 0;
    Value sized = op->is<tt::ReduceOp>() ? op->operand(0) : op->result(0);
    OperationCost cost = costOf(op, target_.tuning);
    if (cost.ofWholeTensor) return 0;
    double instructions = op->is<tt::ReduceOp>() ? 1 : cost.time;
    double elements = double(elementsPerThread(sized.type()).value_or(0));
    return elements * instructions * double(warps_) / target_.schedulersPerMultiprocessor;
  }
  void estimate() {
    plan_.firstCycles = cyclesOf(plan_.first);
    // The first dot's result, what the work has made of its predecessor, what is carried, and results of other dots.
    plan_.registers = 2 * registersOf(plan_.first.d());
    for (auto *argument : carriedArguments(body_)) plan_.registers += registersOf(Value(argument));
    bool isWork = false;
    for (auto &op : body_) {
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      double cycles = dot ? cyclesOf(dot) : cyclesOf(&op);
      plan_.cycles += cycles;
      isWork |= &op == plan_.place;
      bool isOtherDot = dot && &op != plan_.first.op;
      if (isOtherDot && isWork) isWork = false; // it waits for all dots before it
      if (isWork) plan_.workCycles += cycles;
    }
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  int64_t warps_;
  llvm::SetVector<Value> carried_; // loop-carried scalars that are known ahead
  OverlapPlan plan_;
};

/// Why the plan is not worth it; empty: it is.
std::string whyNotWorth(const OverlapPlan &p, const TargetInfo &target, int64_t warps) {
  double saved = std::min(p.firstCycles, p.workCycles);
  int64_t registers = target.registersPerThread(warps, RegisterSplit::Evenly);
  int64_t usable = registers * target.tuning.overlapDotsRegistersPercent / 100;
  if (p.registers > usable)
    return llvm::formatv("about {0} registers of a thread would be needed, and {1} are usable", p.registers, usable);
  if (saved * 100 < p.cycles * double(target.tuning.overlapDotsLeastGain))
    return llvm::formatv("about {0} of {1} cycles of an iteration would be saved", int64_t(saved), int64_t(p.cycles));
  return "it is done where the loop's attribute tessera.overlap_dots is true";
}

// ---- the transformation ----

class OverlappedLoop {
public:
  OverlappedLoop(scf::ForOp loop, const OverlapPlan &plan)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), c_(loop->context()), loc_(loop->loc()), b_(loop.op) {}

  void build() {
    openGuard();
    Value first = emitFirstDot();
    emitLoop(first);
    emitLastIteration();
    closeGuard();
    for (auto [i, v] : llvm::zip_equal(usedResults_, finals_)) loop_->result(i).replaceAllUsesWith(v);
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

  // ---- parts of iterations ----

  Value waitFor(Builder &b, Value dot) {
    return ttng::WarpGroupDotWaitOp::create(b, loc_, {dot.type()}, {dot}, {b.i32Attr("pendings", 0)})->result(0);
  }
  /// The waits for copies and the first dot, on the values of `map`. `groups`: by how many groups of copies fewer have
  /// been issued than at their old place.
  Value emitAhead(Builder &b, ValueMap &map, int64_t groups) {
    for (auto &op : body_) {
      if (!plan_.ahead.contains(&op)) continue;
      Operation *copy = b.clone(&op, map);
      if (auto wait = copy->dyn<ttg::AsyncWaitOp>())
        copy->setAttr("num", IntegerAttr::getI32(c_, int64_t(wait.num()) - groups));
    }
    Value dot = map.lookup(plan_.first.d());
    dot.definingOp()->setAttr("isAsync", IntegerAttr::getBool(c_, true));
    return dot;
  }
  /// The rest of an iteration; `atPlace` is called at the first dot's new place.
  void emitRest(Builder &b, ValueMap &map, llvm::function_ref<void()> atPlace) {
    for (auto &op : body_) {
      if (&op == plan_.place) atPlace();
      bool isAhead = &op == plan_.first.op || plan_.copyWaits.contains(&op);
      bool isFirstsWait = plan_.wait && &op == plan_.wait.op;
      if (&op != body_.terminator() && !isAhead && !isFirstsWait) b.clone(&op, map);
    }
  }
  void mapResult(ValueMap &map, Value v) {
    map.map(plan_.first.d(), v);
    if (plan_.wait) map.map(plan_.wait->result(0), v);
  }

  Value emitFirstDot() {
    ValueMap map;
    map.map(inductionVariable(loop_), loop_.lowerBound());
    for (unsigned i = 0; i < numCarried(loop_); ++i) map.map(carried(loop_, i).argument, carried(loop_, i).init);
    return waitFor(b_, emitAhead(b_, map, 0));
  }

  /// A value of the body in the iteration of `map`; computed here if it comes later in the body.
  Value valueIn(Builder &b, ValueMap &map, Value v) {
    bool isOfBody = v.isBlockArgument() ? v.ownerBlock() == &body_ : v.definingOp()->block() == &body_;
    if (!isOfBody || map.contains(v)) return map.lookupOrSelf(v);
    for (Value o : v.definingOp()->operands()) valueIn(b, map, o);
    b.clone(v.definingOp(), map);
    return map.lookup(v);
  }
  Value emitNextDot(Builder &b, const ValueMap &current) {
    ValueMap map = current; // what is computed early here is computed again at its place, and merged by cse
    ValueMap next;
    Value induction = current.lookupOrSelf(inductionVariable(loop_));
    next.map(inductionVariable(loop_), arith::AddiOp::create(b, loc_, induction, loop_.step()).op->result());
    for (auto *op : plan_.ahead)
      for (Value v : op->operands())
        if (auto value = v.isBlockArgument() ? carriedByArgument(v) : std::nullopt; value && value->loop.op == loop_.op)
          next.map(v, Value());
    for (unsigned i = 0; i < numCarried(loop_); ++i) {
      CarriedValue value = carried(loop_, i);
      if (next.contains(value.argument)) next.map(value.argument, valueIn(b, map, value.yielded));
    }
    return emitAhead(b, next, plan_.groupsBehind);
  }

  // ---- the loop ----

  /// The bound of all iterations but the last: ub − step, or the least number of the type where that wraps.
  Value boundBeforeLast() {
    Value bound = loop_.upperBound();
    Type type = bound.type();
    constexpr unsigned kWidest = 64;
    unsigned bits = type.isInteger() ? type.bitWidth() : kWidest;
    if (bits < kWidest) {
      auto extend = [&](Value v) { return arith::ExtsiOp::create(b_, loc_, c_.i64(), v).op->result(); };
      Value before = arith::SubiOp::create(b_, loc_, extend(bound), extend(loop_.step())).op->result();
      Value least = b_.intConstant(loc_, c_.i64(), -(int64_t(1) << (bits - 1)));
      Value exact = arith::MaxsiOp::create(b_, loc_, before, least).op->result();
      return arith::TrunciOp::create(b_, loc_, type, exact).op->result();
    }
    Value before = arith::SubiOp::create(b_, loc_, bound, loop_.step()).op->result();
    Value wraps = compare(b_, loc_, CmpIPredicate::Sgt, before, bound);
    Value least = b_.intConstant(loc_, type, std::numeric_limits<int64_t>::min());
    return arith::SelectOp::create(b_, loc_, wraps, least, before).op->result();
  }
  /// The new loop carries the old one's values, the first dot's result, and the induction variable of the next
  /// iteration.
  void emitLoop(Value first) {
    llvm::SmallVector<Value, 16> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    unsigned dotAt = inits.size();
    inits.push_back(first);
    inits.push_back(loop_.lowerBound());
    llvm::SmallVector<Type, 16> types;
    for (Value v : inits) types.push_back(v.type());
    llvm::SmallVector<NamedAttribute, 4> attrs(loop_->attrs().begin(), loop_->attrs().end());
    newLoop_ = scf::ForOp::create(b_, loc_, types, loop_.lowerBound(), boundBeforeLast(), loop_.step(), inits, attrs);
    Block *block = newLoop_.body().addBlock();
    block->addArg(inductionVariable(loop_).type(), inductionVariable(loop_).loc());
    for (auto [i, t] : llvm::enumerate(types))
      block->addArg(t, i < dotAt ? carried(loop_, i).argument.loc() : plan_.first->loc());
    Builder in = Builder::atEnd(block);
    ValueMap map;
    map.map(inductionVariable(loop_), inductionVariable(*block));
    for (unsigned i = 0; i < dotAt; ++i) map.map(carried(loop_, i).argument, carriedArgument(*block, i));
    mapResult(map, carriedArgument(*block, dotAt));
    Value next;
    emitRest(in, map, [&] { next = emitNextDot(in, map); });
    llvm::SmallVector<Value, 16> yields;
    for (Value v : body_.terminator()->operands()) yields.push_back(map.lookupOrSelf(v));
    yields.push_back(waitFor(in, next));
    yields.push_back(arith::AddiOp::create(in, loc_, inductionVariable(*block), loop_.step()).op->result());
    scf::YieldOp::create(in, loc_, yields);
  }
  void emitLastIteration() {
    ValueMap map;
    unsigned dotAt = numCarried(loop_);
    for (unsigned i = 0; i < dotAt; ++i) map.map(carried(loop_, i).argument, newLoop_->result(i));
    mapResult(map, newLoop_->result(dotAt));
    map.map(inductionVariable(loop_), newLoop_->result(dotAt + 1));
    emitRest(b_, map, [] {});
    for (unsigned i : usedResults_) finals_.push_back(map.lookupOrSelf(carried(loop_, i).yielded));
  }

  scf::ForOp loop_;
  Block &body_;
  const OverlapPlan &plan_;
  Context &c_;
  Location loc_;
  Builder b_; // around the loop
  scf::IfOp guard_;
  scf::ForOp newLoop_;
  llvm::SmallVector<unsigned, 8> usedResults_; // indices of the old loop's results that have uses
  llvm::SmallVector<Value, 8> finals_;         // what replaces these
};

std::string summary(const OverlapPlan &p) {
  return llvm::formatv("the first dot of an iteration is issued in the one before and runs under its work: about {0} "
                       "cycles beside {1}, in iterations of {2}; about {3} registers of a thread",
                       int64_t(p.firstCycles), int64_t(p.workCycles), int64_t(p.cycles), p.registers)
      .str();
}
llvm::json::Object facts(const OverlapPlan &p) {
  return llvm::json::Object{{"cycles", int64_t(p.cycles)},
                            {"firstCycles", int64_t(p.firstCycles)},
                            {"workCycles", int64_t(p.workCycles)},
                            {"registers", p.registers}};
}

} // namespace

absl::StatusOr<bool> overlapDots(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  bool changed = false;
  for (auto f : loops) {
    auto asked = f->attr<IntegerAttr>(kOverlapAttr);
    if (asked && !asked.sext()) continue;
    auto plan = OverlapPlanner(f, *c.target).run();
    if (!plan) continue;
    std::string whyNot = asked ? "" : whyNotWorth(*plan, *c.target, numWarps(m.op()));
    if (!whyNot.empty()) {
      c.remark({Remark::Missed, "", "DotsOverlapped", f->loc(),
                "the first dot of an iteration does not run under the work of the one before: " + whyNot,
                facts(*plan)});
      continue;
    }
    c.remark({Remark::Applied, "", "DotsOverlapped", f->loc(), summary(*plan), facts(*plan)});
    OverlappedLoop(f, *plan).build();
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
