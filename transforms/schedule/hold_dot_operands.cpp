// Pass hold-dot-operands: A operands that a loop does not change stay in registers for dots of few columns.
//
//   %b = ttg.local_alloc %k                        %b = ttg.local_alloc %k
//   scf.for …                                      %a = ttg.local_load %b : … -> tensor<…, #dot_op<{opIdx = 0}>>
//     %s = ttng.warp_group_dot %b, %q        →     scf.for …
//                                                    %s = ttng.warp_group_dot %a, %q
//
// wgmma reads operands from shared memory, 128 bytes a cycle of a multiprocessor at most. A step of 64 x N takes N / 2
// cycles and reads 2 KiB of A and N x 32 bytes of B: for N = 32 that takes one and a half times as long as multiplying.
// With A in registers it reads B alone, at half of that bandwidth. K and V in the backward pass of attention are such
// operands, which walks through 32 rows of Q at a time. (Measured: NVIDIA H200, 2026-11, the backward kernel of
// Triton's tutorial, without and with this pass: heads of 128 3.89 and 3.42 to 3.56 ms, causal 2.13 to 2.18 and 1.90 to
// 1.95; heads of 64 3.95 to 3.98 and 3.54 to 3.83, causal 2.13 to 2.23 and 1.90 to 2.02.)
//
// Conditions:
//   - Reading A and B takes longer than multiplying (N < 64).
//   - The operand's buffer is written by its allocation alone, before the loop.
//   - There are registers for it (heldRegisters), for as many blocks on a multiprocessor as without it.
//
// Runs: NVIDIA pipeline, after issue-dots-early, which decides by the same registers. Targets with wgmma.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/encoding.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// An A operand in shared memory that a loop does not change.
struct Operand {
  ttng::WarpGroupDotOp dot;
  scf::ForOp loop; // the outermost one that does not change it
  const layouts::Encoding *layout;
};

/// Whether the contents are those that the allocation gave it.
bool isConstant(ttg::LocalAllocOp alloc) {
  return alloc && alloc.src() && !alloc.result().type().cast<MemDescType>().isMutable();
}

/// The outermost loop around the dot that a value from `alloc` does not change in; null if there is none.
scf::ForOp outermostLoop(ttng::WarpGroupDotOp dot, Operation *alloc) {
  scf::ForOp found;
  Operation *at = dot.op;
  for (; at->block() != alloc->block(); at = at->parentOp()) {
    if (!at->parentOp() || at->parentOp()->is<tt::FuncOp>()) return {};
    if (auto loop = at->parentOp()->dyn<scf::ForOp>()) found = loop;
  }
  return found;
}

/// Whether an instruction takes longer to read both operands from shared memory than to multiply them.
bool isBoundByReads(const layouts::NvidiaMmaEncoding &mma, const TargetInfo &target) {
  constexpr double kRows = 64, kBytesOfStep = 32; // of a row of A, and of a column of B
  double cycles = kRows * kBytesOfStep * 8 * mma.tileN() / target.tuning.wgmmaBitsPerCycle;
  double bytes = (kRows + mma.tileN()) * kBytesOfStep;
  return bytes > cycles * target.sharedMemoryBanks * target.sharedMemoryBankBytes;
}

std::optional<Operand> operandToHold(ttng::WarpGroupDotOp dot, const TargetInfo &target) {
  auto type = dot.a().type().dyn_cast<MemDescType>();
  auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(dot.d().type().cast<TensorType>().encoding());
  if (!type || !mma || !isBoundByReads(*mma, target)) return std::nullopt;
  auto alloc = allocationOf(dot.a());
  if (!isConstant(alloc)) return std::nullopt;
  for (Value v = dot.a(); v != alloc.result(); v = viewedMemdesc(v)) // views with indices are in the loop
    if (v.definingOp()->numOperands() != 1) return std::nullopt;
  auto loop = outermostLoop(dot, alloc.op);
  if (!loop) return std::nullopt;
  int64_t width = std::max<int64_t>(1, kWordBits / type.element().bitWidth());
  auto layout = dot->context().encodings().getDotOperand(0, mma, width);
  if (!layout.ok()) return std::nullopt;
  return Operand{dot, loop, *layout};
}

/// Loads the operand before the loop, for the dot. Returns what it added.
llvm::SmallVector<Operation *, 4> hold(const Operand &operand) {
  Builder b(operand.loop.op);
  Value buffer = allocationOf(operand.dot.a()).result();
  llvm::SmallVector<Operation *, 4> views, added;
  for (Value v = operand.dot.a(); v != buffer; v = viewedMemdesc(v)) views.push_back(v.definingOp());
  ValueMap map;
  map.map(buffer, buffer);
  for (auto *view : llvm::reverse(views)) added.push_back(b.clone(view, map));
  Value at = map.lookup(operand.dot.a());
  auto type = at.type().cast<MemDescType>();
  auto held = TensorType::get(type.shape(), type.element(), operand.layout);
  added.push_back(ttg::LocalLoadOp::create(b, operand.dot->loc(), held, at, Value()).op);
  operand.dot->setOperand(0, added.back()->result());
  return added;
}

/// Registers of a thread that may be held with as many blocks on a multiprocessor as without held operands. As many are
/// left for addresses and indices as in a single block of the kernel's warps.
int64_t registersToHold(Operation *func, const TargetInfo &target) {
  int64_t warps = numWarps(func->module().op());
  if (specializesWarps(func))
    return registersBesideProducer(target, func->module().op()) * target.tuning.heldRegistersPercent / 100;
  int64_t blocksByBytes = target.blocksBySharedMemory(sharedBytesDuring(func, {}, target));
  int64_t held = heldRegisters(func);
  auto share = [&](int64_t blocks) { return target.registersPerThread(blocks * warps, RegisterSplit::Allocated); };
  auto fit = [&](int64_t blocks) {
    return blocks * warps <= target.maxWarpsPerMultiprocessor && blocks <= blocksByBytes &&
           held * 100 <= share(blocks) * target.tuning.twoBlocksRegistersPercent;
  };
  int64_t blocks = 1;
  while (fit(blocks + 1)) ++blocks;
  return holdableRegisters(target, warps) - (share(1) - share(blocks));
}

} // namespace

absl::StatusOr<bool> holdDotOperands(Module &m, PassContext &c) {
  if (!c.target || c.target->matrixUnit != MatrixUnit::Wgmma) return false;
  bool changed = false;
  for (auto &func : *m.body()) {
    if (!func.is<tt::FuncOp>()) continue;
    std::vector<Operand> operands;
    func.walk([&](Operation *op) {
      if (auto dot = op->dyn<ttng::WarpGroupDotOp>())
        if (auto operand = operandToHold(dot, *c.target)) operands.push_back(*operand);
    });
    if (operands.empty()) continue;
    int64_t registers = registersToHold(&func, *c.target);
    for (auto &operand : operands) {
      Value buffer = operand.dot.a();
      auto added = hold(operand);
      if (heldRegisters(&func) <= registers) {
        changed = true;
        continue;
      }
      operand.dot->setOperand(0, buffer);
      for (auto *op : llvm::reverse(added)) op->erase();
    }
  }
  return changed;
}

} // namespace tessera::transforms
