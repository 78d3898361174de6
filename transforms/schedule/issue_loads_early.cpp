// Loads are issued one after another before the arithmetic on what they bring, so that their latencies overlap:
//
//   %a = tt.load %p                          %a = tt.load %p
//   %x = arith.mulf %a, %s                   %q = tt.addptr %w, %i
//   %q = tt.addptr %w, %i              →     %b = tt.load %q
//   %b = tt.load %q                          %x = arith.mulf %a, %s
//   %y = arith.addf %x, %b                   %y = arith.addf %x, %b
//
// A load moves up to the load before it in its block, with the operations that its address, mask and other value
// need, if nothing in between writes global memory or synchronises, and the registers that the loads of one group
// fill stay under a budget: a fixed one, and three quarters of what a thread has where the other values leave that.
// The order of loads does not change. Assemblers do this too, within their own view of register pressure and not
// across barriers, such as come between two operands of a multiplication that go to shared memory: 128 × 128 × 128 of
// f16 in one block took a quarter longer.
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/blocked.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Bytes of registers that the loads of one group may fill, per thread, whatever else is there: 32 registers, half of
/// what a thread has at half occupancy on NVIDIA.
constexpr int64_t kBudget = 128;

/// Whether a thread has several elements of less than a register, of which each is loaded by itself: no two lie one
/// after the other along the fastest dimension.
bool isLoadedSingly(Value v) {
  auto type = v.type().dyn_cast<TensorType>();
  auto *blocked = type ? layouts::dynCast<layouts::BlockedEncoding>(type.encoding()) : nullptr;
  return blocked && blocked->sizePerThread()[blocked->order()[0]] == 1 && elementsPerThread(type).value_or(1) > 1 &&
         type.scalar().bitWidth() < 32;
}

/// What is loaded singly takes a register for each element, and most of another for its address.
int64_t registerBytes(Value v) {
  auto elements = elementsPerThread(v.type());
  return elements ? registerBits(v.type().scalar(), *elements, isLoadedSingly(v) ? 64 : 8) / 8 : kBudget + 1;
}

/// What is loaded singly for a buffer is stored at once, rather than after the loads for another.
bool storeSingleElements(Block &block) {
  llvm::SmallVector<ttg::LocalAllocOp, 4> buffers;
  for (auto &op : block)
    if (auto alloc = op.dyn<ttg::LocalAllocOp>(); alloc && alloc.src()) buffers.push_back(alloc);
  bool changed = false;
  for (auto alloc : buffers) {
    auto load = alloc.src().definedBy<tt::LoadOp>();
    if (!load || load->block() != &block || load->next() == alloc.op || !load.result().hasOneUse() ||
        !isLoadedSingly(load.result()))
      continue;
    alloc->moveAfter(load.op);
    changed = true;
  }
  return changed;
}

class LoadGroups {
public:
  LoadGroups(Block &b, const RegisterPressure &pressure, int64_t registers)
      : block_(b), pressure_(pressure), registers_(registers) {}

  bool run() {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : block_) ops.push_back(&op);
    bool changed = false;
    for (auto *op : ops) {
      bool plainLoad = op->is<tt::LoadOp>() && !(effectsOf(op) & ~kReadsGlobal);
      if (!plainLoad) {
        if (op->numRegions() || (effectsOf(op) & (kWritesGlobal | kSynchronizes))) last_ = nullptr;
        continue;
      }
      int64_t bytes = registerBytes(op->result());
      llvm::SmallVector<Operation *, 8> needed;
      if (last_ &&
          (bytes_ + bytes <= kBudget ||
           (std::max(pressure_.highest(last_, op), bytes_ / 4) + bytes / 4) * 4 <= registers_ * 3) &&
          collect(op, needed)) {
        llvm::sort(needed, [](auto *a, auto *b) { return a->isBeforeInBlock(b); });
        Operation *at = last_;
        for (auto *n : needed) {
          changed |= at->next() != n;
          n->moveAfter(at);
          at = n;
        }
        bytes_ += bytes;
      } else
        bytes_ = bytes;
      last_ = op;
    }
    return changed;
  }

private:
  /// The operations after the last load that `op` needs, and itself; false if one must stay where it is.
  bool collect(Operation *op, llvm::SmallVectorImpl<Operation *> &needed) {
    if (llvm::is_contained(needed, op)) return true;
    needed.push_back(op);
    for (auto v : op->operands()) {
      auto *def = v.definingOp();
      if (!def || def->block() != &block_ || def->isBeforeInBlock(last_)) continue;
      if (def == last_ || def->numRegions() || !isPure(def) || !collect(def, needed)) return false;
    }
    return true;
  }

  Block &block_;
  const RegisterPressure &pressure_; // as it was
  int64_t registers_;                // of a thread
  Operation *last_ = nullptr;        // the load that the next one may follow
  int64_t bytes_ = 0;                // of its group
};

} // namespace

absl::StatusOr<bool> issueLoadsEarly(Module &m, PassContext &c) {
  bool changed = false;
  int64_t registers = c.target ? registersPerThread(*c.target, numWarps(m.op()) * c.target->warpSize) : 0;
  for (auto &function : *m.body()) {
    RegisterPressure pressure(&function);
    function.walk([&](Operation *op) {
      for (auto &r : op->regions())
        for (auto *b = r.front(); b; b = b->next()) {
          changed |= storeSingleElements(*b);
          changed |= LoadGroups(*b, pressure, registers).run();
        }
    });
  }
  return changed;
}

} // namespace tessera::transforms
