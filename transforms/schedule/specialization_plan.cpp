// Finds the copies of a pipelined loop, what they need, and who reads them (see specialization_plan.h).
#include "transforms/schedule/specialization_plan.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/diagnostic.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/memory/warp_groups.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

size_t SpecializationPlan::groupOf(ttng::AsyncTmaCopyGlobalToLocalOp copy) const {
  Operation *alloc = allocationOf(copy.result()).op;
  return llvm::find_if(groups, [&](auto &g) { return llvm::is_contained(g.allocs, alloc); }) - groups.begin();
}

namespace {

class SpecializationPlanner {
public:
  SpecializationPlanner(scf::ForOp loop, const Tuning &tuning)
      : loop_(loop), body_(*loop.body().front()), tuning_(tuning) {}

  std::optional<SpecializationPlan> run(std::string &whyNot) {
    auto around = loop_->parentOp()->dyn<scf::ForOp>(); // warps part before it (see findLoopNest)
    whyNot = whyWarpsCannotPart(around ? around.op : loop_.op);
    if (whyNot.empty() && !findCopies())
      whyNot = whyNoCopies_.empty() ? "not all of its asynchronous copies are bulk copies of one stage" : whyNoCopies_;
    if (whyNot.empty() && !findReads())
      whyNot =
          "copied buffers are read by more than dots that the iteration waits for; make a block that is loaded by a "
          "descriptor the operand of dots alone (scale or convert the result, not the block)";
    if (whyNot.empty() && !findAddresses()) whyNot = "addresses of copies depend on tensors or loads";
    if (!whyNot.empty()) return std::nullopt;
    return std::move(plan_);
  }

private:
  /// The copies, their announcements and the wait; whether nothing else of the loop is asynchronous.
  bool findCopies() {
    bool isKnown = loop_.body().hasOneBlock() && !loop_.unsignedCmp();
    ttng::WaitBarrierOp &wait = plan_.wait;
    for (auto &op : body_) {
      if (isCopyOrAnnouncement(&op)) {
        plan_.copies.push_back(&op);
      } else if (op.is<ttng::WaitBarrierOp>()) {
        isKnown &= !wait;
        wait = op.cast<ttng::WaitBarrierOp>();
      } else if (!op.is<ttng::WarpGroupDotWaitOp>()) {
        op.walk([&](Operation *inner) {
          bool isAlone = !(effectsOf(inner) & kSynchronizes) && !mayCopyLater(inner);
          if (!isAlone && isKnown)
            whyNoCopies_ =
                llvm::formatv("'{0}' at {1} synchronises or copies, too", inner->name(), describe(inner->loc())).str();
          isKnown &= isAlone;
        });
      }
    }
    if (!isKnown || plan_.copies.empty() || !wait || wait.pred()) return false;
    auto full = wait.alloc().definedBy<ttg::MemdescIndexOp>();
    if (!full) return false;
    plan_.read = full.index();
    plan_.mbarriers = allocationOf(wait.alloc());
    return plan_.mbarriers && llvm::all_of(plan_.copies, [&](Operation *op) { return isOfOneStage(op); }) &&
           findIndices();
  }
  /// Accesses through descriptors, which become bulk copies with mbarriers of their own later, and calls.
  static bool mayCopyLater(Operation *op) {
    bool isAccess = op->is<tt::DescriptorLoadOp>() || op->is<tt::DescriptorStoreOp>();
    return isAccess || op->is<tt::DescriptorReduceOp>() || op->is<tt::CallOp>();
  }
  /// Whether the copy signals the mbarrier `fill` of the multi-buffer that is waited for, and fills that buffer.
  bool isOfOneStage(Operation *op) {
    auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
    if (!copy) return isAtFill(op->cast<ttng::BarrierExpectOp>().alloc(), plan_.mbarriers);
    auto alloc = allocationOf(copy.result());
    if (!alloc || alloc->block() == &body_) return false;
    // The fence that acquires a map that the kernel made is for the threads that execute it, the consumers.
    if (!isArgumentOfFunction(copy.desc())) {
      whyNoCopies_ = "the kernel itself makes the tensor map of a copy";
      return false;
    }
    filled_.insert(alloc.op);
    return isAtFill(copy.barrier(), plan_.mbarriers) && isAtFill(copy.result(), alloc);
  }
  bool isAtFill(Value view, ttg::LocalAllocOp alloc) {
    auto at = view.definedBy<ttg::MemdescIndexOp>();
    if (!at || allocationOf(view) != alloc) return false;
    if (!plan_.fill) plan_.fill = at.index();
    return at.index() == plan_.fill;
  }
  /// Both indices count through the buffers, and `fill` starts at a buffer that no consumer has to leave first.
  bool findIndices() {
    auto read = carriedByArgument(plan_.read), fill = carriedByArgument(plan_.fill);
    if (!read || !fill || read->loop.op != loop_.op || fill->loop.op != loop_.op) return false;
    auto readStep = multiBufferStep(read->yielded), fillStep = multiBufferStep(fill->yielded);
    if (!readStep || !fillStep || readStep->index != plan_.read || fillStep->index != plan_.fill) return false;
    plan_.buffers = fillStep->buffers;
    auto *first = constantBits(fill->init), *start = constantBits(read->init);
    bool fillsAhead = first && start && start->isZero() && first->isStrictlyPositive();
    return fillsAhead && readStep->buffers == plan_.buffers && first->slt(plan_.buffers);
  }

  /// Finds the groups. All users of the filled buffers must be known.
  bool findReads() {
    canSeparate_ = plan_.buffers < tuning_.overlapDotsLeastBuffers;
    for (auto *alloc : filled_)
      if (!onlyDotsRead(alloc, alloc->result(), Value())) return false;
    llvm::MapVector<Operation *, BufferGroup> reads; // of each allocation
    for (auto &op : body_) {
      if (auto wait = op.dyn<ttng::WarpGroupDotWaitOp>(); wait && wait.pendings() == 0) {
        for (auto *alloc : pending_) reads[alloc].lastRead = &op;
        pending_.clear();
      }
      for (auto *alloc : readers_.lookup(&op)) {
        auto &group = reads[alloc];
        if (!group.firstRead) group.firstRead = &op;
        group.lastRead = &op;
        if (op.cast<ttng::WarpGroupDotOp>().isAsync()) pending_.insert(alloc);
      }
    }
    if (!pending_.empty() || reads.empty()) return false;
    for (auto &[alloc, read] : reads) {
      auto same = llvm::find_if(plan_.groups,
                                [&, last = read.lastRead](auto &g) { return g.lastRead == last || !canSeparate_; });
      if (same == plan_.groups.end()) same = plan_.groups.insert(same, read);
      if (same->lastRead->isBeforeInBlock(read.lastRead)) same->lastRead = read.lastRead;
      same->allocs.push_back(alloc);
    }
    for (auto *alloc : filled_) // what nothing reads
      if (!reads.contains(alloc)) plan_.groups[0].allocs.push_back(alloc);
    return true;
  }
  /// Fills readers_ with the dots of the body that read a view of `memdesc`, which is the buffer `index` of the
  /// multi-buffer `alloc`, or all of it (null). Dots read the buffer `read` alone, and copies fill the buffer `fill`.
  bool onlyDotsRead(Operation *alloc, Value memdesc, Value index) {
    return llvm::all_of(memdesc.users(), [&](Operation *user) {
      bool isInLoop = false;
      for (Operation *p = user; p; p = p->parentOp()) isInLoop |= p->block() == &body_;
      if (isMemdescView(user)) {
        auto at = user->dyn<ttg::MemdescIndexOp>();
        return onlyDotsRead(alloc, user->result(), at ? at.index() : index);
      }
      auto copy = user->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>();
      if (!isInLoop) {
        canSeparate_ &= !copy || isAnnouncedBefore(copy);
        return copy || user->is<ttg::LocalDeallocOp>();
      }
      if (user->block() != &body_) return false;
      if (user->is<ttng::WarpGroupDotOp>()) return readers_[user].push_back(alloc), index == plan_.read;
      return copy && index == plan_.fill;
    });
  }
  /// Whether the copy signals an mbarrier that is waited for, and its bytes are announced before it in its block.
  bool isAnnouncedBefore(ttng::AsyncTmaCopyGlobalToLocalOp copy) {
    if (allocationOf(copy.barrier()) != plan_.mbarriers) return false;
    for (Operation *op = copy->prev(); op; op = op->prev())
      if (auto expect = op->dyn<ttng::BarrierExpectOp>()) return expect.alloc() == copy.barrier();
    return false;
  }

  bool findAddresses() {
    return llvm::all_of(plan_.copies, [&](Operation *copy) {
      return llvm::all_of(copy->operands(), [&](Value v) { return addAddress(v); });
    });
  }
  /// Adds what computes a value in the body to the producer; false if it is no arithmetic of scalars.
  bool addAddress(Value v) {
    if (v.isBlockArgument()) {
      if (v.ownerBlock() != &body_) return !v.type().isTensor();
      auto value = carriedByArgument(v);
      if (!value || value->loop.op != loop_.op) return v == inductionVariable(loop_);
      return !v.type().isTensor() && (!plan_.carried.insert(value->index) || addAddress(value->yielded));
    }
    Operation *op = v.definingOp();
    if (op->block() != &body_) return !v.type().isTensor();
    bool isScalar = llvm::none_of(op->results(), [](Value r) { return r.type().isTensor(); });
    if (!isScalar || !isPure(op) || op->numRegions()) return false;
    if (plan_.addresses.contains(op)) return true;
    bool known = llvm::all_of(op->operands(), [&](Value operand) { return addAddress(operand); });
    plan_.addresses.insert(op);
    return known;
  }

  scf::ForOp loop_;
  Block &body_;
  const Tuning &tuning_;
  llvm::SetVector<Operation *> filled_;                                    // allocations
  llvm::DenseMap<Operation *, llvm::SmallVector<Operation *, 2>> readers_; // dots, and the allocations they read
  llvm::SetVector<Operation *> pending_;                                   // allocations that dots in flight read
  // Groups should have mbarriers of their own, and all copies before the loop can signal them.
  bool canSeparate_ = false;
  std::string whyNoCopies_; // why findCopies finds none, where there is more to say than that
  SpecializationPlan plan_;
};

} // namespace

std::optional<SpecializationPlan> planSpecialization(scf::ForOp loop, const Tuning &tuning, std::string &whyNot) {
  return SpecializationPlanner(loop, tuning).run(whyNot);
}

} // namespace tessera::transforms
