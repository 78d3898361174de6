// The order of copies and dots in a pipelined loop's body (see pipeline_order.h).
#include "transforms/schedule/pipeline_order.h"
#include "ir/attribute_names.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/schedule/overlap_plan.h"
#include "transforms/schedule/pipeline_blocks.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class OrderPlanner {
public:
  OrderPlanner(scf::ForOp loop, const TargetInfo &target, PipelinePlan &plan)
      : loop_(loop), body_(*loop.body().front()), target_(target), plan_(plan) {}

  void run() {
    plan_.dotsInFlight = onlyAccumulates();
    if (plan_.dotsInFlight) return;
    plan_.slicedDots.clear();
    if (refillStage()) return;
    plan_.copiesAfter = dotBeforeCopies();
    bool fewWarps = numWarps(loop_->module().op()) <= target_.tuning.pipelineEarlyOperandWarps;
    plan_.operandsFirst = plan_.distance > 1 && fewWarps && operandsFitRegisters();
    if (plan_.copiesAfter && gathersDots()) keepLastBuffers();
  }

private:
  /// Whether a buffer keeps its contents while the next iteration begins: it is one of a multi-buffer, or from before
  /// the loop. A buffer that the body fills from registers is filled again at once by the next iteration.
  bool outlivesIteration(Value buffer) {
    Operation *def = buffer.definingOp();
    while (def && def->block() == &body_ && def->is<ttg::MemdescTransOp>())
      def = def->cast<ttg::MemdescTransOp>().src().definingOp();
    bool fromOutside = !def || def->block() != &body_;
    return fromOutside || llvm::any_of(plan_.loads, [&](auto &a) { return a.isBuffer(def); });
  }

  /// Whether no ttng.warp_group_dot follows in the body.
  static bool isAfterDots(Operation *at) {
    for (auto *op = at->next(); op; op = op->next())
      if (op->is<ttng::WarpGroupDotOp>()) return false;
    return true;
  }
  /// Whether the accumulator is only carried on to the same dot of the next iteration, as it is or, under a condition,
  /// as zeros, and otherwise used in branches alone, as at the end of a tile in a loop over tiles. The branches wait
  /// for it by themselves (insert-wgmma-waits), after all dots.
  bool isCarriedToItself(ttng::WarpGroupDotOp dot, const CarriedValue &accumulator) {
    Value next = accumulator.yielded;
    auto select = next.definedBy<arith::SelectOp>();
    bool selectsZeros =
        select && !select.condition().type().isTensor() && (isZero(select.trueValue()) || isZero(select.falseValue()));
    bool restarts = selectsZeros && next != dot.d() && next.hasOneUse();
    if (restarts ? !isAfterDots(select.op) : next != dot.d()) return false;
    return llvm::all_of(dot.d().uses(), [&](OpOperand *use) {
      if (use->owner == body_.terminator()) return !restarts;
      if (restarts && use->owner == select.op) return true;
      Operation *at = use->owner;
      while (at->block() != &body_) at = at->parentOp();
      bool inBranch = at != use->owner && at->is<scf::IfOp>();
      return inBranch && isAfterDots(at);
    });
  }
  /// Whether the A operand may still be read while the next iteration begins: it is in such a buffer, or in
  /// registers that the loop does not write, or converted slice by slice.
  bool leftOperandOutlivesIteration(ttng::WarpGroupDotOp dot) {
    if (dot.a().type().isa<MemDescType>()) return outlivesIteration(dot.a());
    if (isDefinedOutside(dot.a(), loop_.op)) return true;
    auto sliced = sliceAlongK(dot);
    if (!sliced || !outlivesIteration(sliced->read.src())) return false;
    plan_.slicedDots.push_back(std::move(*sliced));
    return true;
  }

  /// Whether every dot is a ttng.warp_group_dot on operands that outlive the iteration, and accumulates into a
  /// loop-carried value of its own.
  bool onlyAccumulates() {
    for (auto &op : body_) {
      if (op.is<tt::DotOp>()) return false;
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (dot.useC() || !outlivesIteration(dot.b()) || !leftOperandOutlivesIteration(dot)) return false;
      bool isArgument = dot.c().isBlockArgument() && dot.c().ownerBlock() == &body_;
      auto accumulator = isArgument ? carriedByArgument(dot.c()) : std::nullopt;
      if (!accumulator || !dot.c().hasOneUse()) return false;
      if (!isCarriedToItself(dot, *accumulator) || addsOutsideOfInstruction(dot)) return false;
    }
    return true;
  }

  /// The dot after which the next copies are issued, if any. Computing their addresses and issuing them keeps a warp
  /// busy for as long as a dot takes, and an asynchronous dot needs nothing from the warp. Measured on an H200:
  ///   - the last dot, mostly: against copies before the first one, attention with heads of 128 gains 3 %, gradients
  ///     of attention 4 to 7 %;
  ///   - the first of two if shared memory admits one block per multiprocessor, so that no other block computes while
  ///     this one waits for its operands: 2 %.
  /// None if the next iteration needs the copies: then they must be issued at once.
  ttng::WarpGroupDotOp dotBeforeCopies() {
    llvm::SmallVector<ttng::WarpGroupDotOp, 4> dots;
    for (auto &op : body_)
      if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) dots.push_back(dot);
    if (dots.empty() || plan_.distance < 2) return {};
    auto first = dots.front();
    bool firstStartsAtOnce =
        first.a().type().isa<MemDescType>() && outlivesIteration(first.a()) && outlivesIteration(first.b());
    bool oneBlockFits = target_.blocksBySharedMemory(plan_.bytesTaken()) < 2;
    bool takeFirst = dots.size() == 2 && oneBlockFits && firstStartsAtOnce;
    auto dot = takeFirst ? first : dots.back();
    return addsOutsideOfInstruction(dot) ? ttng::WarpGroupDotOp() : dot;
  }

  /// The registers of all operands of the dots and of their accumulators, if the threads read all operands from shared
  /// memory.
  std::optional<int64_t> registersOfDots() {
    int64_t registers = 0;
    for (auto &op : body_) {
      if (op.is<ttng::WarpGroupDotOp>()) return std::nullopt;
      auto dot = op.dyn<tt::DotOp>();
      if (!dot) continue;
      for (Value v : {dot.a(), dot.b(), dot.d()}) {
        auto load = v.definedBy<ttg::LocalLoadOp>();
        bool isLoadedHere = load && load->block() == &body_;
        if (v != dot.d() && !isLoadedHere) return std::nullopt;
        auto n = elementsPerThread(v.type());
        if (!n) return std::nullopt;
        registers += registerBits(v.type().scalar(), *n) / 32;
      }
    }
    bool hasDots = registers > 0; // else they are in regions of the body
    return hasDots ? std::optional(registers) : std::nullopt;
  }
  /// Whether these fit into registers all at once. Then operands are read before the iteration's copies are issued:
  /// both keep the load-store unit busy, and with few warps no other warp computes meanwhile.
  bool operandsFitRegisters() {
    auto registers = registersOfDots();
    return registers && *registers <= target_.tuning.pipelineEarlyOperandRegisters;
  }

  // ---- dots that the next iteration issues ----

  /// Whether the value is in memory or registers when the iteration begins.
  bool isThereAtStart(Value operand) {
    return operand.type().isa<MemDescType>() ? outlivesIteration(operand) : isDefinedOutside(operand, loop_.op);
  }
  /// Whether the dot only accumulates, and its A operand is computed in the body.
  bool accumulatesComputed(ttng::WarpGroupDotOp dot) {
    bool isArgument = dot.c().isBlockArgument() && dot.c().ownerBlock() == &body_;
    auto accumulator = isArgument ? carriedByArgument(dot.c()) : std::nullopt;
    if (!accumulator || !dot.c().hasOneUse() || dot.useC() || addsOutsideOfInstruction(dot)) return false;
    if (accumulator->yielded != dot.d() || !dot.d().hasOneUse()) return false;
    return dot.a().type().isTensor() && !isDefinedOutside(dot.a(), loop_.op) && outlivesIteration(dot.b());
  }
  /// Whether overlap-dots can issue all dots of an iteration together: two or more that need nothing of its work, and
  /// those of the iteration before that only accumulate what its work computed. The registers must do for the results,
  /// the accumulators, their operands and the A operands of few columns that hold-dot-operands keeps; and leave no room
  /// for a second block, whose dots would run under this one's work as they are.
  bool gathersDots() {
    int64_t warps = numWarps(loop_->module().op());
    int64_t threads = warps * target_.warpSize;
    int64_t registers = 0;
    unsigned atStart = 0, delayed = 0;
    for (auto &op : body_) {
      if (op.is<tt::DotOp>()) return false;
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      registers += registersOf(dot.d());
      if (accumulatesComputed(dot)) {
        registers += registersOf(dot.a());
        ++delayed;
        continue;
      }
      bool isCarried = dot.c().isBlockArgument() && dot.c().ownerBlock() == &body_;
      if (isCarried || delayed || !isThereAtStart(dot.a()) || !isThereAtStart(dot.b())) return false;
      auto held = dot.a().type().dyn_cast<MemDescType>();
      if (held && isDefinedOutside(dot.a(), loop_.op))
        registers += registerBits(held.element(), llvm::divideCeil(held.numElements(), threads)) / kWordBits;
      ++atStart;
    }
    bool isAlone = registers > target_.registersPerThread(2 * warps, RegisterSplit::Allocated);
    return atStart >= 2 && delayed && isAlone && registers <= holdableRegisters(target_, warps);
  }
  /// Copies then go into the buffers of the iteration before the last: one buffer more for each load, or, if there is
  /// no room, copies for one iteration less ahead.
  void keepLastBuffers() {
    bool byThreadsAlone = plan_.hasThreadCopies() && !plan_.hasBulkCopies() && !plan_.byWarps;
    if (!byThreadsAlone || plan_.lateLoads() || plan_.tiles.loop || loop_->hasAttr(kWarpSpecializeAttr)) return;
    if (auto requested = loop_->attr<IntegerAttr>(kOverlapAttr); requested && !requested.sext()) return;
    if (plan_.bytesOfBuffers(plan_.buffers + 1) + plan_.otherBytes <= target_.sharedMemoryPerBlock)
      ++plan_.buffers;
    else if (plan_.distance > 2)
      --plan_.distance;
    else
      return;
    plan_.keepsLastBuffers = true;
  }

  // ---- copies into the buffers that the iteration has read ----

  /// Whether nothing needs the buffers of the iteration once its dots are done.
  bool mayRefillStage() {
    if (plan_.byWarps || plan_.tiles.loop || plan_.lateLoads()) return false;
    if (loop_->hasAttr(kWarpSpecializeAttr)) return false; // the producer fills other buffers
    return llvm::all_of(body_, [&](Operation &op) {
      if (op.is<tt::DotOp>() && !(readsCopies(op.operand(0)) && readsCopies(op.operand(1)))) return false;
      return !isDot(&op) || isOnlyAccumulated(&op);
    });
  }
  /// Whether the operand is read from a buffer that the loop's copies fill. (How long buffers that the iteration fills
  /// from registers are in use changes with the order of the body, and with it the blocks that fit.)
  bool readsCopies(Value operand) {
    auto load = operand.definedBy<ttg::LocalLoadOp>();
    return load && load->block() == &body_ && outlivesIteration(load.src());
  }
  /// Whether the dot's result is only carried on, or added to by other dots, by whatever name.
  bool isOnlyAccumulated(Operation *dot) {
    if (dot->is<tt::DotScaledOp>()) return false;
    return llvm::all_of(dot->result().uses(), [&](OpOperand *use) {
      constexpr unsigned kAccumulator = 2; // operand of both kinds of dots
      if (use->owner->block() != &body_) return false;
      if (renamesRegisters(*use->owner)) return isOnlyAccumulated(use->owner);
      return use->owner == body_.terminator() || (isDot(use->owner) && use->index() == kAccumulator);
    });
  }
  /// The registers of operands that are read from shared memory: the most of a wgmma's A operand, which takes all of
  /// them at once, with its sums if these are added to the accumulator afterwards. By mma.sync as many as are read
  /// ahead.
  int64_t registersOfOperands() {
    if (auto all = registersOfDots()) return std::min(*all, target_.tuning.pipelineOperandRegistersAhead);
    int64_t most = 0;
    for (auto &op : body_) {
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      int64_t left = dot.a().type().isTensor() ? registersOf(dot.a()) : 0;
      most = std::max(most, left + (addsOutsideOfInstruction(dot) ? registersOf(dot.d()) : 0));
    }
    return most;
  }
  /// For how many iterations ahead copies into the buffers that are read give more blocks, which compute while one
  /// waits, and leave as many copies in flight on a multiprocessor; 0: for none.
  int64_t distanceForBlocks() {
    int64_t ofOperands = registersOfOperands();
    auto blocks = [&](int64_t buffers) { return blocksThatFit(plan_, loop_, target_, buffers, ofOperands); };
    int64_t now = blocks(plan_.buffers);
    if (!operandsFitRegisters() && now > 1) return 0;
    // By mma.sync, copies after all dots would leave a block with one buffer nothing to overlap with.
    bool areLate = registersOfDots() && !operandsFitRegisters();
    int64_t least = loop_->hasAttr(kNumStagesAttr) ? plan_.distance : areLate ? 2 : 1;
    for (int64_t distance = plan_.distance; distance >= least; --distance)
      if (int64_t then = blocks(distance); then > now) return then * distance >= now * plan_.distance ? distance : 0;
    return 0;
  }
  /// Returns whether the loop gets this form.
  bool refillStage() {
    if (!mayRefillStage()) return false;
    int64_t distance = distanceForBlocks();
    if (!distance) return false;
    if (distance < plan_.distance) plan_.whyFewerStages = "with fewer, another block fits on a multiprocessor";
    plan_.refillsStage = true;
    plan_.operandsFirst = operandsFitRegisters();
    plan_.distance = plan_.buffers = distance;
    return true;
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  PipelinePlan &plan_;
};

} // namespace

void orderCopiesAndDots(scf::ForOp loop, const TargetInfo &target, PipelinePlan &plan) {
  OrderPlanner(loop, target, plan).run();
}

} // namespace tessera::transforms
