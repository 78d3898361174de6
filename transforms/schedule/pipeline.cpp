// Pass tritongpu-pipeline: the loads that feed a loop's multiplications run some iterations ahead of them.
//
//   scf.for %i = %lb to %ub step %s iter_args(%p = %p0, %acc = %acc0) {
//     %x = tt.load %p
//     %m = ttg.local_alloc %x
//     %a = ttg.local_load %m                                        (and %b likewise)
//     %d = tt.dot %a, %b, %acc
//     %q = tt.addptr %p, %k
//     scf.yield %q, %d
//   }
//
// The body is cut in two: the *producer* (the loads and what their addresses and masks are computed from, which must
// not depend on the rest) and the consumer. The producer of iteration i + D runs in iteration i, on carried values of
// its own that are D iterations ahead; before the loop it runs D times. Where iterations end is told by a predicate,
// i < ub - D·s, which masks its loads, so that any number of iterations is right, none included. There are two ways:
//
//   in the background   (targets whose lanes copy global to shared memory by themselves, loads of at least 4 contiguous
//                       bytes) D = stages - 1; the buffer is a ring of D + 1 slots, from which conversions of what was
//                       loaded read their layouts directly:
//       prologue   D times: ttg.async_copy_global_to_local into slot 0, 1, …; ttg.async_commit_group
//       body       ttg.async_wait {num = D - 1}; copy into the slot that the last iteration read; commit; consumer on
//                  its slot
//       after      ttg.async_wait {num = 0}; ttg.local_dealloc
//       One barrier an iteration, after the wait, separates the slots' writers and readers (insert-barriers).
//       Operands that fit into registers all at once are read before the copies go out (fewOperandRegisters). Beside
//       a multiplication of warp groups that goes on in the background the copies go out, mostly the last one, which
//       is waited for behind them (productBesideCopies, PipelinePlan::beside). If the multiplications are those of
//       warp groups (ttng.warp_group_dot) and do nothing but add to values that the loop carries, or begin anew with
//       zeros, they run in the background as well, one iteration's beside the next one's:
//           body   ttg.async_wait {num = D - 1}; consumer on its slot, not waited for; ttng.warp_group_dot_wait {pendings =
//                  the loop's}: those of the iteration before are done; copy into the slot that these read; commit
//       So they do where branches alone look at a product, as at the end of a tile in a loop over tiles; the branch
//       then waits for it (insert-wgmma-waits), behind the copies. Here a second barrier stands before the copies.
//       Waiting first for the next slot would save it, but starts the copies a latency later: with three stages, 0.77
//       of the speed on an H200. Where the target copies blocks of tensors by itself, the loads are blocks of
//       descriptors (analyses/tensor_block.h) that lie in shared memory as such copies bring them, and the loop is
//       inside of another one, so that a matrix is described once for many of its loops, one thread starts the copies
//       of an iteration, and a barrier in shared memory for each slot tells when they have arrived:
//           before the outer loops   ttng.tensormap_create of each matrix
//           body   ttng.wait_barrier of the slot; consumer; wait for the iteration before; ttng.barrier_expect and
//                  ttng.async_tma_copy_global_to_local into the slot that it read
//   through registers   D = 1: the loads of the next iteration are issued at the start of the body, and what they
//                       brought is stored at its end, into the other of two slots (or the only one, if memory is
//                       short). Loads that do not go to a buffer are carried in registers. Here the last iteration,
//                       which brings nothing, comes after the loop, so that no predicate is needed; all of it is
//                       inside an scf.if where it is not known that there is an iteration:
//       if lb < ub   loads of the first iteration; loop to ub - s: loads, consumer, stores; consumer of the last one
//
// Loops with inner loops, with atomics or barriers, with stores to what the loads may read (reachDifferentMemory),
// and those whose producer would need shared memory or a reduction are left alone. The number of stages is the
// option, or a loop's `tt.num_stages`.
//
// pipeline_plan.cpp chooses what runs ahead and how, pipelined_loop.cpp builds the loop.
#include "transforms/passes.h"
#include "transforms/schedule/pipelined_loop.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

/// What is done, for people and for programs.
static std::string summary(const PipelinePlan &p, int64_t stages, const TargetInfo &target) {
  std::string s = llvm::formatv("{0} of the loop's loads run {1} iteration{2} ahead of their multiplications, {3}",
                                p.ahead.size(), p.distance, p.distance == 1 ? "" : "s",
                                p.background ? "copied to shared memory in the background" : "through registers")
                      .str();
  if (p.bytes)
    s += llvm::formatv("; {0} slot{1} take {2} bytes of shared memory", p.slots, p.slots == 1 ? "" : "s",
                       p.bytes * p.slots);
  if (!p.background && p.bytes && p.slots == 1) s += "; two do not fit into half of what a block has";
  if (p.overlapped) s += "; multiplications overlap the next iteration's";
  if (p.blocks) s += "; blocks of tensors are copied whole";
  if (p.background && p.distance < stages - 1)
    s += llvm::formatv("; {0} stages were asked for, {1} fit into the {2} bytes that a block has", stages,
                       p.distance + 1, target.sharedMemoryPerBlock);
  return s;
}
static llvm::json::Object facts(const PipelinePlan &p, int64_t stages) {
  return llvm::json::Object{
      {"loads", int64_t(p.ahead.size())}, {"distance", p.distance},     {"stages", stages},          {"slots", p.slots},
      {"bytes", p.bytes * p.slots},       {"background", p.background}, {"overlapped", p.overlapped}};
}

absl::StatusOr<bool> pipelineLoads(Module &m, const PipelineLoadsOptions &o, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-pipeline needs a target");
    return absl::InvalidArgumentError("no target");
  }
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  AxisInfoAnalysis axis(m);
  bool changed = false;
  for (auto f : loops) {
    auto own = f->attr<IntegerAttr>("tt.num_stages");
    int64_t n = own ? own.sext() : o.numStages;
    if (n <= 1) continue;
    Location loc = f->loc();
    std::string why;
    n = std::min<int64_t>(n, 16);
    if (auto plan = planPipeline(f, n, *c.target, axis, why)) {
      changed = true;
      Remark done{Remark::Applied, "", "LoopPipelined", loc, summary(*plan, n, *c.target), facts(*plan, n)};
      buildPipelinedLoop(f, *plan, *c.target);
      c.remark(std::move(done));
    } else if (!why.empty()) {
      c.remark({Remark::Missed, "", "LoopPipelined", loc, "the loop's loads do not run ahead: " + why, {}});
    }
  }
  // Only this pass asks.
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::LoadOp>()) op->removeAttr(kFromDescriptorAttr);
  });
  return changed;
}

} // namespace tessera::transforms
