// Pass order-programs: neighbouring programs run on the same die, where the hardware distributes blocks over dies.
//
//   %p = tt.get_program_id x   →   %p = tt.get_program_id x {tessera.die_window = 32 : i32}
//
// An MI300X has eight dies (XCDs), each with an L2 cache of its own, and consecutive blocks go to the dies one after
// the other. Programs with neighbouring numbers mostly share operands: tiles of a matrix product in one row, blocks of
// queries of one head. Each die then reads nearly all of both operands from memory. With the attribute a program's
// number is not its block's (codegen/lowering/program_ids.cpp): of 8 x 32 consecutive blocks, the 32 of a die are
// consecutive programs. As windows are short, dies share work evenly where it grows with the program's number.
//
// Legal for every kernel whose programs do not talk to each other, since programs may run in any order, and the
// numbers are the same ones. Done for kernels with dots in loops. Limits: not where programs use atomics, or loops
// whose end depends on memory (they may rely on programs with lower numbers having started), or the third axis of the
// grid, or calls, or where the kernel distributes its programs over dies by itself (a remainder by their number).
//
// Runs: AMD pipeline; any place does.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Whether the number is divided by the number of dies: the kernel knows of them.
bool isDistributedByKernel(tt::GetProgramIdOp id, int64_t dies) {
  return llvm::any_of(id.result().users(), [&](Operation *user) {
    bool isRemainder = user->is<arith::RemsiOp>() || user->is<arith::RemuiOp>();
    return isRemainder && intConstantOf(user->operand(1)) == dies;
  });
}

struct Programs {
  std::vector<tt::GetProgramIdOp> ids;
  bool hasDotInLoop = false;
  bool talks = false; // to other programs, perhaps
};

Programs programsOf(Operation *function) {
  Programs p;
  function->walk([&](Operation *op) {
    if (auto id = op->dyn<tt::GetProgramIdOp>()) p.ids.push_back(id);
    p.hasDotInLoop |= isDot(op) && op->parentOfType<scf::ForOp>();
    p.talks |= op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>() || op->is<scf::WhileOp>() ||
               op->is<tt::CallOp>() || op->is<gpu::BlockIdOp>();
  });
  return p;
}

} // namespace

absl::StatusOr<bool> orderPrograms(Module &m, PassContext &c) {
  if (!c.target || c.target->dies <= 1) return false;
  int64_t window = c.target->tuning.dieWindow;
  bool changed = false;
  for (auto &function : *m.body()) {
    // Numbers in a called function are those in its caller, which stays as it is.
    auto kernel = function.dyn<tt::FuncOp>();
    if (!kernel || kernel.symVisibility() == "private") continue;
    Programs p = programsOf(&function);
    bool fits = llvm::all_of(p.ids, [&](tt::GetProgramIdOp id) {
      return id.axis() != ProgramIDDim::Z && !isDistributedByKernel(id, c.target->dies);
    });
    if (p.ids.empty() || !p.hasDotInLoop || p.talks || !fits) continue;
    bool twoAxes = llvm::any_of(p.ids, [](tt::GetProgramIdOp id) { return id.axis() == ProgramIDDim::Y; });
    for (auto id : p.ids) {
      id->setAttr("tessera.die_window", IntegerAttr::getI32(m.context(), window));
      if (twoAxes) id->setAttr("tessera.two_axes", IntegerAttr::getBool(m.context(), true));
    }
    changed = true;
    if (c.wantsRemarks())
      c.remark({Remark::Applied, "", "ProgramsOrdered", p.ids.front()->loc(),
                llvm::formatv("{0} consecutive programs each run on one of the {1} dies, whose L2 cache they share",
                              window, c.target->dies)
                    .str(),
                llvm::json::Object{{"window", window}, {"dies", int64_t(c.target->dies)}}});
  }
  return changed;
}

} // namespace tessera::transforms
