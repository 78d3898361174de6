// Loops that one producer warp can serve, one after the other.
//
// Attention with a causal mask has two loops over keys: the blocks before the diagonal, which need no mask, and those
// along it. Each of them is pipelined for itself, so that the second one's first copies are issued when the first has
// ended, and all warps wait until they arrive. With the first loop's producer:
//
//   buffers, mbarriers; first copies                    buffers, mbarriers; first copies
//   scf.for %i …            (the first loop)            ttg.warp_specialize
//   end of the buffers                                  default
//   %x = scalars; %y = tensors                            scf.for %i … ; %y = tensors
//   buffers, mbarriers; first copies           →          scf.for %j … iter_args(%read, %phase) as the first one ended
//   scf.for %j …            (this loop)                 partition0
//   end of the buffers                                    scf.for %i … ; first copies of %j ; scf.for %j …
//                                                       end of the buffers
//
// Both loops use the same multi-buffer, so that a copy for the second one is issued as soon as the first one has left
// a buffer. (Measured: NVIDIA H200, 2026-11, `benchmarks/triton_tutorials.py`, causal attention forward, heads of 128,
// 128 x 128, 8 warps, 3 stages, cuDNN's time by ours in two runs each: 0.967, 0.951 before, 0.986, 0.990 with this and
// the wait for the queries behind the first copies, which alone gives heads of 128 without a mask 0.979, 0.982 ->
// 0.987, 0.985.)
//
// (In the last iterations of the first loop, which copy nothing, the producer does not wait for a buffer either.)
//
// Conditions, beside those of a loop for itself (automatic_warp_specialization.cpp):
//   - The same number of buffers of the same types, in the same groups.
//   - What the second loop's copies and bounds need is there before the first loop, or scalars that do not depend on
//     its results: they are computed before it.
//   - The second loop does not forbid it (`tessera.warp_specialize = false`).
//   - Between the loops there is nothing else than pure operations, the end of the first one's buffers, and the
//     beginning of the second one's.
#include "transforms/schedule/loops_of_producer.h"
#include "ir/constants.h"
#include "ir/diagnostic.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/memory/scratch.h"
#include "transforms/memory/warp_groups.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

std::optional<ReadPosition> readPosition(const SpecializationPlan &plan) {
  auto index = carriedByArgument(plan.read);
  auto phase = carriedByArgument(plan.wait.phase());
  if (!index || !phase || index->loop.op != phase->loop.op) return std::nullopt;
  bool startsAtFirst = intConstantOf(index->init) == 0 && intConstantOf(phase->init) == 0;
  bool steps = isNextPhase(phase->yielded, phase->argument, index->yielded);
  return startsAtFirst && steps ? std::optional(ReadPosition{index->index, phase->index}) : std::nullopt;
}

/// Whether the copy, or the announcement, is for the buffers of this number.
static bool isFirstCopy(Operation *op, int64_t number) {
  auto isAt = [&](Value view) {
    auto at = view.definedBy<ttg::MemdescIndexOp>();
    return at && intConstantOf(at.index()) == number;
  };
  if (auto expect = op->dyn<ttng::BarrierExpectOp>()) return isAt(expect.alloc());
  auto copy = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
  return isAt(copy.barrier()) && isAt(copy.result()) && isArgumentOfFunction(copy.desc());
}

/// How many iterations ahead the loop copies: so many are copied for before it.
static std::optional<int64_t> copiesAhead(const SpecializationPlan &plan) {
  auto fill = carriedByArgument(plan.fill);
  return fill ? intConstantOf(fill->init) : std::nullopt;
}

namespace {

class FollowingLoopFinder {
public:
  FollowingLoopFinder(scf::ForOp firstLoop, llvm::ArrayRef<FollowingLoop> served, const SpecializationPlan &first)
      : previous_(served.empty() ? firstLoop : served.back().loop), first_(first) {
    loops_.insert(firstLoop.op);
    llvm::SmallPtrSet<Operation *, 8> hoisted; // for loops before
    for (auto &f : served) {
      loops_.insert(f.loop.op);
      hoisted.insert(f.scalars.begin(), f.scalars.end());
    }
    for (Operation *op = firstLoop->next(); op != previous_->next(); op = op->next())
      if (!loops_.contains(op) && !hoisted.contains(op)) later_.insert(op);
  }

  std::optional<FollowingLoop> run(const Tuning &tuning) {
    if (!findLoop() || forbidsProducer(found_.loop.op)) return std::nullopt;
    std::string whyNot;
    auto plan = planSpecialization(found_.loop, tuning, whyNot);
    if (!plan || !readPosition(first_) || !readPosition(*plan)) return std::nullopt;
    found_.plan = std::move(*plan);
    if (!pairBuffers() || !classify() || !findScalars() || !findComputations()) return std::nullopt;
    return std::move(found_);
  }

private:
  /// The loop, and what is between.
  bool findLoop() {
    for (Operation *op = previous_->next(); op; op = op->next()) {
      if (auto loop = op->dyn<scf::ForOp>()) {
        found_.loop = loop;
        return true;
      }
      if (op->numRegions() || op->info().has(kTerminator)) return false;
      between_.insert(op);
      later_.insert(op);
    }
    return false;
  }

  bool pairBuffers() {
    const SpecializationPlan &plan = found_.plan;
    if (first_.groups.size() != plan.groups.size() || plan.buffers != first_.buffers) return false;
    auto pair = [&](Operation *from, Operation *to) {
      found_.buffers[from->result()] = to->result();
      return from->result().type() == to->result().type() && between_.contains(from);
    };
    bool match = pair(plan.mbarriers.op, first_.mbarriers.op);
    for (auto [mine, others] : llvm::zip_equal(plan.groups, first_.groups)) {
      if (mine.allocs.size() != others.allocs.size()) return false;
      for (auto [from, to] : llvm::zip_equal(mine.allocs, others.allocs)) match &= pair(from, to);
    }
    return match;
  }

  /// Sorts what is between the loops; whether all of it is known.
  bool classify() {
    int64_t announcements = 0;
    for (Operation *op : between_) {
      bool isCopy = isCopyOrAnnouncement(op);
      announcements += op->is<ttng::BarrierExpectOp>();
      if (isCopy && !isFirstCopy(op, announcements - 1)) return false;
      if (isCopy) found_.firstCopies.push_back(op);
      bool isSetUp = op->is<ttng::InitBarrierOp>() || op->is<ttg::LocalAllocOp>() || isMemdescView(op);
      bool isEnd = op->is<ttng::InvalBarrierOp>() || op->is<ttg::LocalDeallocOp>();
      if (isCopy || isSetUp) {
        if (!isOfThisLoop(op) && !isMemdescView(op)) return false;
      } else if (!isEnd && !isPure(op)) {
        return false;
      }
      if (isEnd && isOfThisLoop(op)) return false;
    }
    return copiesAhead(found_.plan) == announcements;
  }
  bool isOfThisLoop(Operation *op) const {
    if (op->is<ttg::LocalAllocOp>()) return found_.buffers.contains(op->result());
    return llvm::any_of(op->operands(), [&](Value v) {
      return v.type().isa<MemDescType>() && found_.buffers.contains(memdescRoot(v));
    });
  }

  /// What the producer needs that is computed after the first loop.
  bool findScalars() {
    llvm::SetVector<Operation *> needed;
    bool can = true;
    auto add = [&](Value v) { can &= addScalar(v, needed); };
    auto addOperands = [&](Operation *op) {
      for (Value v : op->operands())
        if (!v.type().isa<MemDescType>()) add(v);
    };
    for (Value v : {found_.loop.lowerBound(), found_.loop.upperBound(), found_.loop.step()}) add(v);
    for (Operation *op : found_.firstCopies) addOperands(op);
    for (Operation *op : found_.plan.copies) addOperands(op);
    for (Operation *op : found_.plan.addresses) addOperands(op);
    for (unsigned i : found_.plan.carried) {
      add(carried(found_.loop, i).init);
      add(carried(found_.loop, i).yielded);
    }
    for (Operation *op : later_)
      if (needed.contains(op)) found_.scalars.push_back(op);
    return can;
  }
  /// Adds what computes the value after the first loop; false if that is more than arithmetic of scalars, or needs a
  /// loop's result.
  bool addScalar(Value v, llvm::SetVector<Operation *> &needed) {
    if (v.isBlockArgument()) return true; // of the function or of the loop
    Operation *op = v.definingOp();
    if (loops_.contains(op)) return false;
    if (!later_.contains(op) || needed.contains(op)) return true;
    if (!isPure(op) || op->numRegions() || v.type().isTensor()) return false;
    needed.insert(op);
    return llvm::all_of(op->operands(), [&](Value operand) { return addScalar(operand, needed); });
  }

  /// What the loop itself needs of the rest.
  bool findComputations() {
    llvm::SetVector<Operation *> needed;
    bool can = true;
    auto addOperands = [&](Operation *op) {
      for (Value v : op->operands()) {
        Operation *from = v.isBlockArgument() ? nullptr : v.definingOp();
        bool isNeeded = from && later_.contains(from) && !llvm::is_contained(found_.scalars, from);
        if (!isNeeded || found_.buffers.contains(v)) continue;
        can &= isPure(from) && !isMemdescView(from);
        needed.insert(from);
      }
    };
    found_.loop->walk([&](Operation *op) { addOperands(op); });
    for (size_t i = 0; i < needed.size(); ++i) addOperands(needed[i]);
    for (Operation *op : later_)
      if (needed.contains(op)) found_.computations.push_back(op);
    return can;
  }

  scf::ForOp previous_;
  const SpecializationPlan &first_;
  llvm::SmallPtrSet<Operation *, 4> loops_; // from the first one to the previous one
  llvm::SetVector<Operation *> later_;      // what is computed after the first loop, in order
  llvm::SetVector<Operation *> between_;    // … and after the previous one
  FollowingLoop found_;
};

class LoopNestFinder {
public:
  LoopNestFinder(scf::ForOp first, const TargetInfo &target) : first_(first), target_(target) {
    nest_.tiles = first->parentOp()->cast<scf::ForOp>();
    body_ = nest_.tiles.body().front();
  }

  std::optional<LoopNest> run(std::string &whyNot) {
    if (findLoops() && findScalars() && mayIssueAhead() && buffersFit()) return std::move(nest_);
    whyNot = std::move(whyNot_);
    return std::nullopt;
  }

private:
  bool refuse(const llvm::Twine &reason) {
    if (whyNot_.empty()) whyNot_ = reason.str();
    return false;
  }
  static std::string nameOf(Operation *op) { return ("'" + op->name() + "' at " + describe(op->loc())).str(); }

  bool findLoops() {
    if (nest_.tiles.unsignedCmp() || !nest_.tiles.body().hasOneBlock())
      return refuse("the loop around it has an unsigned counter or several blocks");
    if (forbidsProducer(nest_.tiles.op)) return refuse("the loop around it has tessera.warp_specialize = false");
    if (!addFirst()) return refuse("it is not the first loop with copies in the loop around it");
    while (auto next = findFollowingLoop(first_, llvm::ArrayRef(nest_.loops).drop_front(), nest_.loops.front().plan,
                                         target_.tuning))
      nest_.loops.push_back(std::move(*next));
    for (auto &f : nest_.loops) {
      copies_.insert(f.firstCopies.begin(), f.firstCopies.end());
      copies_.insert(f.plan.copies.begin(), f.plan.copies.end());
    }
    return true;
  }
  bool addFirst() {
    FollowingLoop f;
    f.loop = first_;
    auto plan = planSpecialization(first_, target_.tuning, whyNot_);
    if (!plan) return false;
    if (!readPosition(*plan)) return refuse("it is inside another loop, and does not start at the first buffer");
    f.plan = std::move(*plan);
    auto add = [&](Operation *alloc) {
      f.buffers[alloc->result()] = alloc->result();
      return alloc->block() == body_;
    };
    bool isOwn = add(f.plan.mbarriers.op);
    for (auto &group : f.plan.groups)
      for (auto *alloc : group.allocs) isOwn &= add(alloc);
    if (!isOwn) return refuse("it is inside another loop, and its buffers are outside of that one");
    int64_t announcements = 0;
    for (Operation *op = body_->front(); op != first_.op; op = op->next()) {
      if (!isCopyOrAnnouncement(op)) continue;
      announcements += op->is<ttng::BarrierExpectOp>();
      bool isOfLoop = llvm::all_of(
          op->operands(), [&](Value v) { return !v.type().isa<MemDescType>() || f.buffers.contains(memdescRoot(v)); });
      if (!isOfLoop || !isFirstCopy(op, announcements - 1)) return false;
      f.firstCopies.push_back(op);
    }
    bool areAll = copiesAhead(f.plan) == announcements;
    nest_.loops.push_back(std::move(f));
    return areAll;
  }

  /// What copies and loops need of the body around them.
  bool findScalars() {
    llvm::SmallVector<Value, 32> needed;
    for (auto &f : nest_.loops) {
      scf::ForOp loop = f.loop;
      needed.append({loop.lowerBound(), loop.upperBound(), loop.step()});
      for (unsigned i : f.plan.carried) needed.append({carried(loop, i).init, carried(loop, i).yielded});
      for (Operation *op : f.plan.addresses) needed.append(op->operands().begin(), op->operands().end());
    }
    for (Operation *op : copies_) needed.append(op->operands().begin(), op->operands().end());
    llvm::erase_if(needed, [](Value v) { return v.type().isa<MemDescType>(); });
    Operation *refused =
        addToSlice(nest_.scalars, *body_, needed, Across::Iterations, [&](Operation *op) { return isScalar(op); });
    if (refused) return refuse("addresses of copies depend on " + nameOf(refused));
    bool areScalars = llvm::all_of(nest_.scalars.carried,
                                   [&](unsigned i) { return !carried(nest_.tiles, i).argument.type().isTensor(); });
    return areScalars || refuse("addresses of copies depend on tensors or loads");
  }
  /// Whether the producer can compute it: arithmetic of scalars, and loads of what the kernel does not store.
  bool isScalar(Operation *op) {
    auto isTensor = [](Value v) { return v.type().isTensor() || v.type().isa<MemDescType>(); };
    if (op->numRegions() || llvm::any_of(op->results(), isTensor) || llvm::any_of(op->operands(), isTensor))
      return false;
    auto load = op->dyn<tt::LoadOp>();
    if (load && !load.isVolatile()) loads_.push_back(op);
    return load ? !load.isVolatile() : isPure(op);
  }

  /// Whether copies of a tile may be issued before the tile before is stored.
  bool mayIssueAhead() {
    llvm::SmallVector<Operation *, 4> stores;
    Operation *obstacle = nullptr;
    nest_.tiles->walk([&](Operation *op) {
      bool isOfPipeline = op->is<ttng::InitBarrierOp>() || op->is<ttng::InvalBarrierOp>() ||
                          op->is<ttng::WaitBarrierOp>() || op->is<ttg::LocalAllocOp>() ||
                          op->is<ttg::LocalDeallocOp>() || op->is<ttng::WarpGroupDotWaitOp>();
      if (isCopyOrAnnouncement(op)) isOfPipeline = copies_.contains(op);
      if (obstacle || isOfPipeline || (op->numRegions() && !op->info().effects)) return;
      if (op->is<tt::CallOp>() || isCopyOrAnnouncement(op) || !onlyStores(op, stores)) obstacle = op;
    });
    if (obstacle)
      return refuse("in the loop around it, " + nameOf(obstacle) + " writes memory, copies or synchronizes");
    for (Operation *op : copies_)
      if (op->is<ttng::AsyncTmaCopyGlobalToLocalOp>()) loads_.push_back(op);
    auto [store, load] = conflictBetween(stores, loads_);
    return !store || refuse(nameOf(store) + " may write what " + nameOf(load) + " reads");
  }

  /// Whether the buffers fit beside what a tile takes when it is stored.
  bool buffersFit() {
    llvm::SmallVector<Operation *, 8> replaced;
    for (auto &f : nest_.loops)
      for (auto &[mine, firsts] : f.buffers) replaced.push_back(mine.definingOp());
    int64_t bytes = sharedBytesDuring(nest_.tiles.op, replaced, target_) + kBytesOfProducer;
    for (auto &group : nest_.loops.front().plan.groups)
      for (auto *alloc : group.allocs) bytes += bufferBytes(alloc->result().type().cast<MemDescType>());
    return bytes <= target_.sharedMemoryPerBlock ||
           refuse(llvm::formatv("its buffers and what a tile takes beside them are {0} bytes of shared memory", bytes));
  }

  scf::ForOp first_;
  const TargetInfo &target_;
  Block *body_;
  LoopNest nest_;
  llvm::SetVector<Operation *> copies_;     // and announcements, of all loops
  llvm::SmallVector<Operation *, 8> loads_; // that the producer issues, copies among them
  std::string whyNot_;
};

} // namespace

std::optional<LoopNest> findLoopNest(scf::ForOp first, const TargetInfo &target, std::string &whyNot) {
  return LoopNestFinder(first, target).run(whyNot);
}

std::optional<FollowingLoop> findFollowingLoop(scf::ForOp firstLoop, llvm::ArrayRef<FollowingLoop> served,
                                               const SpecializationPlan &first, const Tuning &tuning) {
  return FollowingLoopFinder(firstLoop, served, first).run(tuning);
}

} // namespace tessera::transforms
