// Pass order-programs: which block runs which program, in kernels with dots in loops. A program's number is then not
// its block's (codegen/lowering/program_ids.cpp).
//
// Neighbouring programs run on the same die, where the hardware distributes blocks over dies:
//
//   %p = tt.get_program_id x   →   %p = tt.get_program_id x {tessera.die_window = 32 : i32}
//
// An MI300X has eight dies (XCDs), each with an L2 cache of its own, and consecutive blocks go to the dies one after
// the other. Programs with neighbouring numbers mostly share operands: tiles of a GEMM in one row, blocks of
// queries of one head. Each die then reads nearly all of both operands from memory. With the attribute, of 8 x 32
// consecutive blocks the 32 of a die are consecutive programs. As windows are short, dies share work evenly where it
// grows with the program's number. Limits: not with the third axis of the grid, or where the kernel distributes its
// programs over dies by itself (a remainder by their number).
//
// Long programs run before short ones, on other targets:
//
//   %p = tt.get_program_id x                          %p = tt.get_program_id x {tessera.work_axis = 0 : i32,
//   %ub = (%p + 1) * 128                        →              tessera.work_increases, tessera.work_rows = 16 : i32}
//   scf.for %i = 0 to %ub step 64: dots
//
// In causal attention a block of queries takes as long as its number is large. In the hardware's order, which counts x
// first, every head ends with its longest block, and so does the grid, while most multiprocessors have run out of work:
// for 64 heads of 32 blocks on 132 multiprocessors that is a thirteenth of the time. With the attributes, the longest
// programs of 16 rows of the grid (heads) start first, then the next longest; then those of the next 16 rows. Few rows
// at a time share the L2 cache (tuning.def has what was measured). Done if the number of iterations of the loops with
// dots grows or shrinks along one axis (analyses/growth.h), unless the hardware's order has the longest programs first.
//
// Legal for every kernel whose programs do not communicate, since programs may run in any order, and the numbers are
// the same ones. Limits: not where programs use atomics, inline assembly or external functions with effects, or loops
// whose end depends on memory (they may rely on programs with lower numbers having started), or calls.
//
// Runs: AMD pipeline and NVIDIA pipeline, before loops are peeled: their bounds are then the kernel's own.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/growth.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

struct Programs {
  std::vector<tt::GetProgramIdOp> ids;
  bool hasDotInLoop = false;
  bool mayCommunicate = false; // with other programs
};

Programs programsOf(Operation *kernel) {
  Programs p;
  kernel->walk([&](Operation *op) {
    if (auto id = op->dyn<tt::GetProgramIdOp>()) p.ids.push_back(id);
    p.hasDotInLoop |= isDot(op) && op->parentOfType<scf::ForOp>();
    auto assembly = op->dyn<tt::ElementwiseInlineAsmOp>();
    auto function = op->dyn<tt::ExternElementwiseOp>();
    bool hasEffects = (assembly && !assembly.pure()) || (function && !function.pure());
    p.mayCommunicate |=
        hasEffects || isGlobalAtomic(op) || op->is<scf::WhileOp>() || op->is<tt::CallOp>() || op->is<gpu::BlockIdOp>();
  });
  return p;
}

bool hasIdOf(const Programs &p, ProgramIDDim axis) {
  return llvm::any_of(p.ids, [&](tt::GetProgramIdOp id) { return id.axis() == axis; });
}

// ---- dies ----

/// Whether the number is divided by the number of dies: the kernel knows of them.
bool isDistributedByKernel(tt::GetProgramIdOp id, int64_t dies) {
  return llvm::any_of(id.result().users(), [&](Operation *user) {
    bool isRemainder = user->is<arith::RemsiOp>() || user->is<arith::RemuiOp>();
    return isRemainder && intConstantOf(user->operand(1)) == dies;
  });
}

/// Gives neighbouring programs to the same die.
bool orderByDies(const Programs &p, const TargetInfo &target, PassContext &c) {
  bool fits = llvm::all_of(p.ids, [&](tt::GetProgramIdOp id) {
    return id.axis() != ProgramIDDim::Z && !isDistributedByKernel(id, target.dies);
  });
  if (!fits) return false;
  int64_t window = target.tuning.dieWindow;
  for (auto id : p.ids) {
    id->setAttr(kDieWindowAttr, IntegerAttr::getI32(id->context(), window));
    if (hasIdOf(p, ProgramIDDim::Y)) id->setAttr(kTwoAxesAttr, IntegerAttr::getBool(id->context(), true));
  }
  if (c.wantsRemarks())
    c.remark({Remark::Applied, "", "ProgramsOrdered", p.ids.front().op,
              llvm::formatv("{0} consecutive programs each run on one of the {1} dies, whose L2 cache they share",
                            window, target.dies)
                  .str(),
              llvm::json::Object{{"window", window}, {"dies", int64_t(target.dies)}}});
  return true;
}

// ---- long programs first ----

/// How the iterations of the function's loops with dots grow along an axis.
Growth growthOfWork(Operation *function, ProgramIDDim axis) {
  GrowthAnalysis analysis(axis);
  Growth work = {Growth::Exact, 0};
  function->walk([&](Operation *op) {
    auto loop = op->dyn<scf::ForOp>();
    if (!loop) return;
    bool hasDot = false;
    op->walk([&](Operation *inner) { hasDot |= isDot(inner); });
    if (!hasDot) return;
    bool sameSteps = analysis.of(loop.step()).isZero();
    Growth range = analysis.of(loop.upperBound()) - analysis.of(loop.lowerBound());
    work = work + (sameSteps ? direction(range) : Growth()); // of different steps: the direction alone
  });
  return work;
}

/// Starts the programs with the most iterations first.
bool orderByWork(Operation *function, const Programs &p, const TargetInfo &target, PassContext &c) {
  for (auto axis : {ProgramIDDim::X, ProgramIDDim::Y, ProgramIDDim::Z}) {
    Growth work = hasIdOf(p, axis) ? growthOfWork(function, axis) : Growth();
    bool oneAxis = llvm::all_of(p.ids, [&](tt::GetProgramIdOp id) { return id.axis() == axis; });
    if (!work.isPositive() && (!work.isNegative() || oneAxis)) continue;
    int64_t rows = target.tuning.workOrderRows;
    for (auto id : p.ids) {
      id->setAttr(kWorkAxisAttr, IntegerAttr::getI32(id->context(), int(axis)));
      if (work.isPositive()) id->setAttr(kWorkIncreasesAttr, UnitAttr::get(id->context()));
      id->setAttr(kWorkRowsAttr, IntegerAttr::getI32(id->context(), rows));
    }
    if (c.wantsRemarks())
      c.remark({Remark::Applied, "", "LongestFirst", p.ids.front().op,
                llvm::formatv("work {0} with the program's number on axis {1}: of {2} rows of the grid, the longest "
                              "programs start first",
                              work.isPositive() ? "grows" : "shrinks", "xyz"[int(axis)], rows)
                    .str(),
                llvm::json::Object{{"axis", int64_t(axis)}, {"rows", rows}}});
    return true;
  }
  return false;
}

} // namespace

absl::StatusOr<bool> orderPrograms(Module &m, PassContext &c) {
  if (!c.target) return false;
  bool changed = false;
  for (auto &function : *m.body()) {
    // Numbers in a called function are those in its caller, which stays as it is.
    auto kernel = function.dyn<tt::FuncOp>();
    if (!kernel || kernel.symVisibility() == "private") continue;
    Programs p = programsOf(&function);
    if (p.ids.empty() || !p.hasDotInLoop || p.mayCommunicate) continue;
    changed |= c.target->dies > 1 ? orderByDies(p, *c.target, c) : orderByWork(&function, p, *c.target, c);
  }
  return changed;
}

} // namespace tessera::transforms
