// Which barriers order accesses to global memory (see global_order.h). Programs may rely on barriers that the compiler
// inserts for shared memory, as Triton's do: a value that one thread stored to global memory is loaded by another after
// a reduction. A function is walked twice, forwards and backwards, with one bit: whether a write to global memory may
// lie between the last barrier and here. Loops are walked until the bit no longer changes.
#include "transforms/memory/global_order.h"
#include "ir/attribute_names.h"
#include "ir/op_table.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Which of the inserted barriers need not order global memory.
class GlobalOrder {
public:
  explicit GlobalOrder(const llvm::DenseSet<Operation *> &inserted) : inserted_(inserted) {}

  llvm::SmallVector<Operation *, 16> unneededIn(tt::FuncOp func, bool mayBeCalled) {
    for (bool forwards : {true, false}) {
      forwards_ = forwards;
      throughRegion(func.body(), mayBeCalled);
    }
    llvm::SmallVector<Operation *, 16> unneeded;
    for (auto *op : inserted_)
      if (!needed_.contains(op)) unneeded.push_back(op);
    return unneeded;
  }

private:
  /// `write`: whether a write to global memory may lie between the last barrier and `op` (forwards: the barrier before
  /// it; backwards: the one after it). Returns the same for what follows in that direction.
  bool through(Operation *op, bool write) {
    if (inserted_.contains(op)) {
      if (write) needed_.insert(op);
      return false;
    }
    if (op->is<gpu::BarrierOp>())
      return (op->hasAttr(kLocalBarrierAttr) || op->hasAttr(kWarpGroupBarrierAttr)) && write;
    if (auto barrier = op->dyn<ttg::BarrierOp>()) {
      bool sharedMemoryAlone = !(barrier.addrSpace() & ~kLocalAddressSpace);
      return sharedMemoryAlone && write;
    }
    switch (op->opcode()) {
    case Opcode::tt_call: return true;
    case Opcode::tt_reduce:
    case Opcode::tt_scan: return write; // their regions hold no accesses
    case Opcode::scf_for:
    case Opcode::scf_while: return throughLoop(op, write);
    default: break;
    }
    if (!op->numRegions()) return write || (effectsOf(op) & kWritesGlobal);
    // One region of an scf.if with both runs; any other regions may not run at all.
    bool oneRegionRuns = op->is<scf::IfOp>() && !op->cast<scf::IfOp>().elseRegion().empty();
    bool any = write && !oneRegionRuns;
    for (auto &r : op->regions()) any |= throughRegion(r, write);
    return any || (op->info().effects & kWritesGlobal);
  }

  /// Any number of iterations; an scf.while may be left in the middle of one.
  bool throughLoop(Operation *op, bool write) {
    while (true) {
      bool afterIteration = write;
      for (unsigned i = 0; i < op->numRegions(); ++i) {
        unsigned region = forwards_ ? i : op->numRegions() - 1 - i;
        afterIteration |= throughRegion(op->region(region), afterIteration);
      }
      if (afterIteration == write) return write;
      write = afterIteration;
    }
  }

  bool throughBlock(Block &b, bool write) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : b) ops.push_back(&op);
    if (!forwards_) std::reverse(ops.begin(), ops.end());
    for (auto *op : ops) write = through(op, write);
    return write;
  }

  /// From the region's entry to its exits, or backwards.
  bool throughRegion(Region &r, bool write) {
    if (r.empty()) return write;
    if (r.hasOneBlock()) return throughBlock(*r.front(), write);
    llvm::DenseMap<Block *, bool> out; // after the block forwards, before it backwards
    bool result = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto *b = r.front(); b; b = b->next()) {
        bool isExit = b->successors().empty();
        bool in = false;
        if (forwards_) {
          in = b == r.front() && write;
          for (auto *p = r.front(); p; p = p->next())
            if (llvm::is_contained(p->successors(), b)) in |= out[p];
        } else {
          in = isExit && write;
          for (auto *succ : b->successors()) in |= out[succ];
        }
        bool now = throughBlock(*b, in);
        if (now && !out[b]) {
          out[b] = true;
          changed = true;
        }
        if (forwards_ ? isExit : b == r.front()) result |= now;
      }
    }
    return result;
  }

  const llvm::DenseSet<Operation *> &inserted_;
  llvm::DenseSet<Operation *> needed_;
  bool forwards_ = true;
};

} // namespace

llvm::SmallVector<Operation *, 16> barriersOfSharedMemoryAlone(tt::FuncOp func, bool mayBeCalled,
                                                               const llvm::DenseSet<Operation *> &inserted) {
  return GlobalOrder(inserted).unneededIn(func, mayBeCalled);
}

} // namespace tessera::transforms
