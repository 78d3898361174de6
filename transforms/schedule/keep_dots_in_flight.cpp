// Pass keep-dots-in-flight: dots whose results only accumulate are not waited for at the end of an iteration. The
// matrix unit executes them while threads begin the next one: wait for its copies, synchronise, issue its first dot.
// A loop like the backward pass of attention, with the probabilities in shared memory:
//
//   scf.for … iter_args(%dv, %dk)                         scf.for … iter_args(%dv, %dk)
//     wait for the copies of tile %i                        wait for the copies of tile %i
//     %s = dot %k, %q[%i]               {isAsync}           %s = dot %k, %q[%i]               {isAsync}
//     wait {pendings = 0} for %s                            wait {pendings = 0} for %s, and for the last iteration's
//     %p = softmax %s                                       %p = softmax %s
//     %n = dot %p, %do[%i], %dv         {isAsync}     →     %n = dot %p, %do[%i], %dv         {isAsync}
//     …                                                     …
//     %m = dot %ds, %q[%i], %dk         {isAsync}           %m = dot %ds, %q[%i], %dk         {isAsync}
//     copy tile %i + 3 to %q[%i + 3], %do[%i + 3]           copy tile %i + 3 to %q[%i + 3], %do[%i + 3]
//     wait {pendings = 0} for %n, %m                        scf.yield %n, %m
//     scf.yield %n, %m                                    wait {pendings = 0} for the loop's %n, %m
//
// Dots of a warp group complete in the order in which they are issued: the next iteration's first wait, for %s, is one
// for %n and %m as well.
//
// A dot stays in flight if
//   - its result is only carried on to the same dot of the next iteration, as its accumulator;
//   - it is one of the last dots of the body, and a wait of the next iteration comes before its own and leaves no
//     earlier dots in flight (the *first wait*);
//   - its operands in shared memory are in buffers from outside of the loop, and nothing writes them before the first
//     wait is over: up to the first wait the body writes no shared memory, and after the dot come only copies into
//     other buffers of the same multi-buffers. Nor may the next iteration's copies fill the buffer that it reads: they
//     would need a barrier after the first wait. tritongpu-pipeline has one buffer more where that is worth while
//     (PipelinePlan::hasSpareBuffer);
//   - no arrival in between says to other warps that buffers have been read (ttng.arrive_barrier);
//   - its A operand is in shared memory: registers would not be kept for it (dot_slices.h).
//
// Runs: NVIDIA pipeline, after hold-dot-operands, which takes registers first. Targets with wgmma.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// A dot that need not be waited for in its iteration.
struct Accumulation {
  ttng::WarpGroupDotOp dot;
  ttng::WarpGroupDotWaitOp wait; // of its iteration
  unsigned index;                // of the carried value
};

/// Whether the operation itself writes shared memory, or starts to.
bool writesShared(Operation &op) {
  bool isOfCopies = op.is<ttg::AsyncWaitOp>() || op.is<ttg::AsyncCommitGroupOp>();
  return !isOfCopies && effectsOf(&op) & kWritesShared;
}

class DotsOfLoop {
public:
  explicit DotsOfLoop(scf::ForOp loop) : loop_(loop), body_(*loop.body().front()) {}

  bool run() {
    if (!isSuitable() || !findFirstWait()) return false;
    for (auto dot : llvm::reverse(dots_)) {
      auto a = asAccumulation(dot);
      if (!a || !mayStayInFlight(*a)) break; // who waits for a dot waits for those before it
      found_.push_back(*a);
    }
    if (found_.empty()) return false;
    for (auto &a : found_) {
      a.wait->result(0).replaceAllUsesWith(a.dot.d());
      a.wait->erase();
    }
    waitAfterLoop();
    return true;
  }

private:
  bool isSuitable() {
    if (!loop_.body().hasOneBlock()) return false;
    for (auto &op : body_) {
      bool isKnown = true;
      op.walk([&](Operation *inner) {
        bool isDotOrWait = inner->is<ttng::WarpGroupDotOp>() || inner->is<ttng::WarpGroupDotWaitOp>();
        isKnown &= !isLoopOrCall(inner) && (inner == &op || !isDotOrWait);
      });
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!isKnown || (dot && !dot.isAsync())) return false;
      if (dot) dots_.push_back(dot);
    }
    return !dots_.empty();
  }

  /// The first wait of the body after which no dot of an earlier iteration is in flight.
  bool findFirstWait() {
    int64_t issued = 0;
    for (auto &op : body_) {
      if (op.is<ttng::WarpGroupDotOp>()) ++issued;
      if (auto wait = op.dyn<ttng::WarpGroupDotWaitOp>(); wait && wait.pendings() <= issued) {
        firstWait_ = wait;
        return true;
      }
      if (writesShared(op) || op.is<ttng::ArriveBarrierOp>()) return false;
    }
    return false;
  }

  std::optional<Accumulation> asAccumulation(ttng::WarpGroupDotOp dot) const {
    if (!dot.d().hasOneUse() || dot->isBeforeInBlock(firstWait_.op)) return std::nullopt;
    auto wait = dot.d().firstUse()->owner->dyn<ttng::WarpGroupDotWaitOp>();
    if (!wait || wait->block() != &body_ || wait->numOperands() != 1) return std::nullopt;
    Value done = wait->result(0);
    if (!done.hasOneUse() || done.firstUse()->owner != body_.terminator()) return std::nullopt;
    unsigned index = done.firstUse()->index();
    Value argument = carried(loop_, index).argument;
    bool isAccumulator = argument == dot.c() && argument.hasOneUse();
    return isAccumulator ? std::optional(Accumulation{dot, wait, index}) : std::nullopt;
  }

  bool mayStayInFlight(const Accumulation &a) const {
    if (!a.dot.a().type().isa<MemDescType>()) return false;
    for (Operation *op = a.dot->next(); op; op = op->next()) {
      if (op->is<ttng::ArriveBarrierOp>()) return false;
      auto copy = op->dyn<ttg::AsyncCopyGlobalToLocalOp>();
      if (copy ? !leavesOperands(copy.result(), a.dot) : writesShared(*op)) return false;
    }
    return llvm::all_of(a.dot->operands(), [&](Value v) {
      if (!v.type().isa<MemDescType>()) return true;
      auto alloc = allocationOf(v);
      return alloc && !loop_->isAncestorOf(alloc.op);
    });
  }
  /// Whether what is copied to `buffer`, in this iteration and in the next one, leaves the dot's operands alone.
  static bool leavesOperands(Value buffer, ttng::WarpGroupDotOp dot) {
    auto filled = allocationOf(buffer);
    return filled && llvm::all_of(dot->operands(), [&](Value v) {
             if (!v.type().isa<MemDescType>()) return true;
             auto alloc = allocationOf(v);
             if (!alloc || alloc.op != filled.op) return bool(alloc);
             Value read = indexOf(v), written = indexOf(buffer);
             auto apart = read && written ? stepsApart(read, written) : std::nullopt;
             return apart && apart->steps != 0 && apart->steps + 1 != apart->buffers;
           });
  }
  /// The index of a buffer in its multi-buffer; null if it is not known.
  static Value indexOf(Value memdesc) {
    Value index;
    for (Value v = memdesc; isMemdescView(v.definingOp()); v = viewedMemdesc(v)) {
      auto select = v.definedBy<ttg::MemdescIndexOp>();
      index = select ? select.index() : Value();
    }
    return index;
  }

  void waitAfterLoop() {
    llvm::SmallVector<Value, 4> results;
    llvm::SmallVector<Type, 4> types;
    for (auto &a : found_)
      if (Value r = loop_->result(a.index); !r.useEmpty()) {
        results.push_back(r);
        types.push_back(r.type());
      }
    if (results.empty()) return;
    Builder b(loop_->next());
    auto wait = ttng::WarpGroupDotWaitOp::create(b, loop_->loc(), types, results, {b.i32Attr("pendings", 0)});
    for (auto [r, done] : llvm::zip_equal(results, wait->results()))
      r.replaceUsesIf(done, [&](OpOperand &use) { return use.owner != wait.op; });
  }

  scf::ForOp loop_;
  Block &body_;
  llvm::SmallVector<ttng::WarpGroupDotOp, 8> dots_; // of the body
  ttng::WarpGroupDotWaitOp firstWait_;
  llvm::SmallVector<Accumulation, 4> found_;
};

} // namespace

absl::StatusOr<bool> keepDotsInFlight(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  bool changed = false;
  for (auto &func : *m.body()) {
    auto f = func.dyn<tt::FuncOp>();
    if (!f || f.body().empty()) continue;
    for (auto loop : collect<scf::ForOp>(&func)) changed |= DotsOfLoop(loop).run();
  }
  return changed;
}

} // namespace tessera::transforms
