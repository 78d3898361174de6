// Pass tritongpu-automatic-warp-specialization: gives the copies of a pipelined loop to a warp of their own, the
// producer. The kernel's own warps, the consumers, are left with the dots and the work between them.
//
//   mbarriers %full                                     mbarriers %full, and %empty (a count of the own warps)
//   copies of the first iterations                      copies of the first iterations
//   scf.for %i … iter_args(%read, %fill, %phase, …)     ttg.warp_specialize
//     wait for %full[%read]                             default
//     dots that read the buffers %read          →         scf.for %i … iter_args(%read, %phase, …)
//     work                                                  wait for %full[%read]
//     copies to the buffers %fill                           dots, work
//                                                           arrive at %empty[%read], each warp for itself
//                                                       partition0 num_warps(1)
//                                                         scf.for %i … iter_args(%fill, %filled, …)
//                                                           wait for %empty[%fill]
//                                                           copies to the buffers %fill
//
// Where there are two buffers (a third is needed otherwise, see overlap_dots.cpp), those that different dots read (K
// and V of attention) have mbarriers of their own, full and empty: each is waited for and released where its own dots
// are. (Measured: NVIDIA H200, 2026-11, `tessera bench`, attention forward, heads of 128, 128 x 128, 8 warps, 2 stages:
// 1.52 times the speed with common mbarriers, causal 1.30. With 3 and 4 stages they cost more than they give: 128 x 128
// 0.995, causal 1.00; 128 x 64 1.05, causal 0.96, with 4 stages 0.94.)
//
// In the loop as it was, a copy overwrites what all warps have read in the iteration before: there is a barrier of all
// warps in each iteration, and they do the same at the same time: all use the matrix units, then none does. Consumers
// wait for the producer alone, which is a few iterations ahead: a warp group computes while another one uses the matrix
// units, and dots of one iteration overlap the work of the next (overlap-dots, which runs after this pass).
//
// The producer needs few registers and returns the others to the consumers (setmaxnreg), where those are whole warp
// groups: 240 of each thread for 8 warps, which could have 255 without the producer.
//
// Runs: NVIDIA pipeline, after tritongpu-pipeline. Targets with wgmma.
//
// Conditions:
//   - The loop stands in a kernel, in no other loop or branch, and no other loop of the kernel is specialised: warps of
//     partitions then need no messages about what to run.
//   - All asynchronous copies of the loop are bulk copies (TMA) to multi-buffers, and the loop waits for them by one
//     mbarrier. What they need is computed from scalars alone. Their descriptors are arguments of the kernel.
//   - Nothing reads these buffers but asynchronous dots that the same iteration waits for.
//   - Nothing else in the loop synchronises with other agents.
// The first copies stay before the loop: the consumers' first thread issues them.
//
// Worth it: if dots can then overlap work (overlap-dots), which takes two warp groups or more and three buffers, and if
// a multiprocessor would not run two blocks of the kernel as it is: those overlap by themselves, and do not fit beside
// the producer's warps. (Measured: NVIDIA H200, 2026-11, `tessera bench`, attention forward by 8 warps, 3 stages,
// N = 4,096, specialised against not: heads of 128 with blocks of 128 x 128 1.17, 128 x 64 1.05, heads of 64 with
// 256 x 64 1.13, one block either way; with two blocks, heads of 64, 128 x 128 0.88, 128 x 64 0.84, 128 x 32 0.73.)
// Or if the loop has `tt.warp_specialize` (tl.range(…, warp_specialize=True)). `tessera.warp_specialize = false`
// prevents it.
#include "transforms/schedule/automatic_warp_specialization.h"
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/diagnostic.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/memory/mbarrier.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/schedule/overlap_dots.h"
#include "transforms/schedule/specialization_plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace tessera::transforms {
using namespace ir;

namespace {

// ---- the transformation ----

class SpecializedLoop {
public:
  SpecializedLoop(scf::ForOp loop, const SpecializationPlan &plan)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), c_(loop->context()), loc_(loop->loc()), b_(loop.op),
        warps_(numWarps(loop->module().op())), addresses_(plan.addresses) {}

  void build() {
    separateMbarriers();
    emitEmptyBarriers();
    collectCaptures();
    llvm::SmallVector<Type, 8> types;
    for (Value r : loop_->results())
      if (!r.useEmpty()) {
        used_.push_back(r);
        types.push_back(r.type());
      }
    auto op =
        ttg::WarpSpecializeOp::create(b_, loc_, types, captures_.getArrayRef(),
                                      {{"partitionNumWarps", DenseArrayAttr::getI32(c_, {1})},
                                       {"requestedRegisters", DenseArrayAttr::getI32(c_, {kRegistersOfProducer})}});
    for (auto [r, outer] : llvm::zip_equal(used_, op->results())) r.replaceAllUsesWith(outer);
    emitProducer(op);
    emitConsumers(op);
    b_.setInsertionPointAfter(op.op);
    for (Value mbarriers : empty_) releaseMbarriers(b_, loc_, mbarriers);
    for (Value mbarriers : llvm::drop_begin(full_)) releaseMbarriers(b_, loc_, mbarriers);
    dropUnneededCarriedValues(loop_);
  }

private:
  /// Gives all groups but the first mbarriers of their own, which their copies signal and their first dots wait for.
  void separateMbarriers() {
    full_.push_back(plan_.mbarriers.result());
    if (plan_.groups.size() == 1) return;
    Builder b(plan_.mbarriers.op);
    for (size_t g = 1; g < plan_.groups.size(); ++g) full_.push_back(createMbarriers(b, loc_, plan_.buffers, 1));
    llvm::SmallVector<ttng::BarrierExpectOp, 8> announcements;
    for (auto *view : plan_.mbarriers.result().users()) {
      if (!view->is<ttg::MemdescIndexOp>()) continue;
      for (auto *user : view->result().users())
        if (auto expect = user->dyn<ttng::BarrierExpectOp>()) announcements.push_back(expect);
    }
    for (auto expect : announcements) separateCopies(expect);
    for (size_t g = 1; g < plan_.groups.size(); ++g) {
      Builder at(plan_.groups[g].firstRead);
      ttng::WaitBarrierOp::create(at, loc_, mbarrierAt(at, loc_, full_[g], plan_.read), plan_.wait.phase(), Value(),
                                  {});
    }
  }
  /// Announces the bytes of each group's copies after an announcement of all of them.
  void separateCopies(ttng::BarrierExpectOp all) {
    Value index = all.alloc().definedBy<ttg::MemdescIndexOp>().index();
    llvm::SmallVector<ttng::BarrierExpectOp, 2> announced(plan_.groups.size());
    llvm::SmallVector<int64_t, 2> bytes(plan_.groups.size(), 0);
    for (Operation *op = all->next(); op && !op->is<ttng::BarrierExpectOp>(); op = op->next()) {
      auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
      if (!copy || copy.barrier() != all.alloc()) continue;
      size_t g = plan_.groupOf(copy);
      auto type = copy.result().type().cast<MemDescType>();
      bytes[g] += type.numElements() * type.element().bitWidth() / 8;
      if (!g) continue;
      Builder b(op);
      if (!announced[g]) {
        Value mbarrier = mbarrierAt(b, loc_, full_[g], index);
        announced[g] = ttng::BarrierExpectOp::create(b, loc_, mbarrier, all.pred(), {b.i32Attr("size", 0)});
        if (op->block() == &body_) addresses_.insert(mbarrier.definingOp());
      }
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (op->operand(i) == all.alloc()) op->setOperand(i, announced[g].alloc());
    }
    announced[0] = all;
    for (auto [expect, n] : llvm::zip(announced, bytes))
      if (expect) expect->setAttr("size", b_.i32Attr("size", n).value);
  }

  void emitEmptyBarriers() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) empty_.push_back(createMbarriers(b_, loc_, plan_.buffers, warps_));
  }

  /// What the producer uses from outside of the loop.
  void collectCaptures() {
    auto addOperands = [&](Operation *op) {
      for (Value v : op->operands()) {
        Block *block = v.isBlockArgument() ? v.ownerBlock() : v.definingOp()->block();
        if (block != &body_) captures_.insert(v);
      }
    };
    for (Value v : {loop_.lowerBound(), loop_.upperBound(), loop_.step()}) captures_.insert(v);
    captures_.insert(empty_.begin(), empty_.end());
    for (unsigned i : plan_.carried) captures_.insert(carried(loop_, i).init);
    for (auto *op : addresses_) addOperands(op);
    for (auto &op : body_)
      if (isCopyOrAnnouncement(op)) addOperands(&op);
    for (unsigned i : plan_.carried) { // a value that the loop only passes on, or replaces by one from outside
      Value next = carried(loop_, i).yielded;
      Block *block = next.isBlockArgument() ? next.ownerBlock() : next.definingOp()->block();
      if (block != &body_) captures_.insert(next);
    }
  }

  void emitProducer(ttg::WarpSpecializeOp op) {
    Builder holder = Builder::atEnd(op.partitionOpHolder().addBlock());
    auto partitions = ttg::WarpSpecializePartitionsOp::create(holder, loc_, {}, 1);
    Block *block = partitions->region(0).addBlock();
    ValueMap map;
    for (Value v : captures_) map.map(v, block->addArg(v.type(), v.loc()));
    Builder b = Builder::atEnd(block);
    llvm::SmallVector<Value, 8> inits;
    for (unsigned i : plan_.carried) inits.push_back(map.lookup(carried(loop_, i).init));
    // The phase before the first one counts as complete: the first buffers are free.
    inits.push_back(integer(b, 1));
    llvm::SmallVector<Type, 8> types;
    for (Value v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(b, loc_, types, map.lookup(loop_.lowerBound()), map.lookup(loop_.upperBound()),
                                   map.lookup(loop_.step()), inits);
    Block *body = loop.body().addBlock();
    map.map(inductionVariable(loop_), body->addArg(inductionVariable(loop_).type(), loc_));
    for (unsigned i : plan_.carried)
      map.map(carried(loop_, i).argument, body->addArg(carried(loop_, i).argument.type(), loc_));
    Value phase = body->addArg(c_.i32(), loc_);
    emitProducerBody(*body, map, phase);
    ttg::WarpReturnOp::create(b, loc_);
  }
  void emitProducerBody(Block &body, ValueMap &map, Value phase) {
    Builder b = Builder::atEnd(&body);
    for (auto &op : body_)
      if (addresses_.contains(&op)) b.clone(&op, map);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      Value isEmpty = mbarrierAt(b, loc_, map.lookup(empty_[g]), map.lookup(plan_.fill));
      ttng::WaitBarrierOp::create(b, loc_, isEmpty, phase, Value(), {});
      for (auto &op : body_)
        if (isCopyOrAnnouncement(op) && groupOf(op) == g) b.clone(&op, map);
    }
    llvm::SmallVector<Value, 8> yields;
    for (unsigned i : plan_.carried) yields.push_back(map.lookup(carried(loop_, i).yielded));
    yields.push_back(createNextPhase(b, loc_, phase, map.lookup(carriedByArgument(plan_.fill)->yielded)));
    scf::YieldOp::create(b, loc_, yields);
  }

  void emitConsumers(ttg::WarpSpecializeOp op) {
    for (auto [group, empty] : llvm::zip_equal(plan_.groups, empty_)) {
      Builder b = Builder::after(group.lastRead);
      auto arrive = ttng::ArriveBarrierOp::create(b, loc_, mbarrierAt(b, loc_, empty, plan_.read), Value(),
                                                  {b.i32Attr("count", 1)});
      arrive->setAttr(kEachWarpArrivesAttr, UnitAttr::get(c_));
    }
    for (auto *op = body_.terminator()->prev(); op;) {
      auto *before = op->prev();
      bool isUnusedAddress =
          addresses_.contains(op) && llvm::all_of(op->results(), [](Value r) { return r.useEmpty(); });
      if (isCopyOrAnnouncement(*op) || isUnusedAddress) op->erase();
      op = before;
    }
    Builder b = Builder::atEnd(op.defaultRegion().addBlock());
    auto yield = ttg::WarpYieldOp::create(b, loc_, used_);
    loop_->moveBefore(yield.op);
  }

  Value integer(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  static bool isCopyOrAnnouncement(Operation &op) {
    return op.is<ttng::AsyncTmaCopyGlobalToLocalOp>() || op.is<ttng::BarrierExpectOp>();
  }
  size_t groupOf(Operation &op) const {
    if (auto copy = op.dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return plan_.groupOf(copy);
    return llvm::find(full_, allocationOf(op.cast<ttng::BarrierExpectOp>().alloc()).result()) - full_.begin();
  }

  scf::ForOp loop_;
  Block &body_;
  const SpecializationPlan &plan_;
  Context &c_;
  Location loc_;
  Builder b_; // around the loop
  int64_t warps_;
  llvm::SetVector<Operation *> addresses_;   // of the plan, and those of further mbarriers
  llvm::SmallVector<Value, 2> full_, empty_; // mbarriers of each group: the buffer is filled, and has been read
  llvm::SmallVector<Value, 8> used_;         // results of the loop that have uses
  llvm::SetVector<Value> captures_;
};

/// Bytes of the buffers that exist at an operation, of its block and those around it.
int64_t sharedBytesAt(Operation *at) {
  int64_t bytes = 0;
  for (auto *op = at->block()->front(); op != at; op = op->next()) {
    auto dealloc = op->dyn<ttg::LocalDeallocOp>();
    auto alloc = dealloc ? allocationOf(dealloc.src()) : op->dyn<ttg::LocalAllocOp>();
    if (!alloc) continue;
    auto type = alloc.result().type().cast<MemDescType>();
    bytes += (dealloc ? -1 : 1) * type.numElements() * type.element().bitWidth() / 8;
  }
  return bytes;
}

/// Why warps should not be specialised for a loop in which they can be; empty: they should.
std::string whyNotWorth(scf::ForOp loop, const TargetInfo &target) {
  int64_t bytes = sharedBytesAt(loop.op);
  if (bytes + kBytesOfProducer > target.sharedMemoryPerBlock)
    return llvm::formatv("its buffers of {0} bytes leave no room for more mbarriers", bytes);
  if (loop->hasAttr(kWarpSpecializeAttr)) return "";
  int64_t warps = numWarps(loop->module().op());
  if (warps < 2 * kWarpGroup) return llvm::formatv("{0} warps are fewer than two warp groups", warps);
  int64_t held = heldRegisters(loop->parentOp());
  if (target.blocksBySharedMemory(bytes) >= 2 &&
      held * 100 <=
          target.registersPerThread(2 * warps, RegisterSplit::Evenly) * target.tuning.twoBlocksRegistersPercent)
    return llvm::formatv("a multiprocessor runs two blocks of it, which overlap ({0} bytes of shared memory, {1} "
                         "registers a thread held at dots)",
                         bytes, held);
  return whyNoOverlapOfDots(loop, target, registersBesideProducer(target, warps));
}

} // namespace

int64_t registersOfConsumers(Operation *op, const TargetInfo &target) {
  int64_t warps = numWarps(op->module().op());
  if (!partitionOf(op)) return target.registersPerThread(warps, RegisterSplit::Evenly);
  return registersBesideProducer(target, warps);
}

absl::StatusOr<bool> automaticWarpSpecialization(Module &m, PassContext &c) {
  if (!c.target || !mayHaveProducers(*c.target)) return false;
  bool changed = false;
  // Loops that an earlier pass copied have one location: what holds of all is said once.
  std::set<std::pair<std::string, std::string>> said;
  for (auto loop : collect<scf::ForOp>(m.op())) {
    bool copies = llvm::any_of(*loop.body().front(),
                               [](auto &op) { return op.template is<ttng::AsyncTmaCopyGlobalToLocalOp>(); });
    int64_t warps = numWarps(m.op());
    if (partitionOf(loop.op).hasOwnWarps()) continue; // the copies have their warp already
    if (!copies || forbidsProducer(loop.op) || !hasRoomForProducer(*c.target, warps)) continue;
    std::string whyNot;
    auto plan = planSpecialization(loop, c.target->tuning, whyNot);
    if (plan) whyNot = whyNotWorth(loop, *c.target);
    if (!whyNot.empty()) {
      if (!said.insert({describe(loop->loc()), whyNot}).second) continue;
      c.remark({Remark::Missed,
                "",
                "WarpsSpecialized",
                loop->loc(),
                "no producer warp issues the loop's copies: " + whyNot,
                {}});
      continue;
    }
    c.remark({Remark::Applied, "", "WarpsSpecialized", loop->loc(),
              llvm::formatv("a producer warp issues the loop's copies; the other {0} have {1} registers a thread",
                            warps, registersBesideProducer(*c.target, warps)),
              llvm::json::Object{{"consumers", warps}, {"buffers", plan->buffers}}});
    SpecializedLoop(loop, *plan).build();
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
