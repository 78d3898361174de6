// Barrier placement. Operations reach shared memory in an order that only a barrier makes hold for all threads, so
// between two accesses that overlap, at least one of which writes, there must be a barrier on every path:
//
//   ttg.local_store %x, %buf                 ttg.local_store %x, %buf
//   %y = ttg.local_load %buf          →      gpu.barrier
//                                            %y = ttg.local_load %buf
//
// The analysis walks each function forwards with the set of byte ranges read and written since the last barrier; loops
// are walked until their entry state no longer grows, branches are joined. Operations with a barrier of their own inside
// (reductions across warps, conversions through memory) leave only what they read after it. A barrier is put before an
// operation only if some path needs it. Accesses of one warp alone are no exception: the barrier of a one-warp block is
// cheap, and the target decides what it is.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "transforms/shared_allocation.h"
#include <set>

namespace tessera::transforms {
using namespace ir;

namespace {

using Range = std::pair<int64_t, int64_t>; // bytes [first, second)

struct State {
  std::set<Range> reads, writes;
  bool join(const State &o) {
    size_t before = reads.size() + writes.size();
    reads.insert(o.reads.begin(), o.reads.end());
    writes.insert(o.writes.begin(), o.writes.end());
    return reads.size() + writes.size() != before;
  }
  void clear() { reads.clear(), writes.clear(); }
};

bool overlaps(const std::set<Range> &set, Range r) {
  for (auto &s : set)
    if (s.first < r.second && r.first < s.second) return true;
  return false;
}

class BarrierPlacement {
public:
  BarrierPlacement(tt::FuncOp func, const TargetInfo &target) : func_(func), target_(target) {}

  bool run() {
    // Over blocks to a fixed point; a function of one block needs one round.
    llvm::DenseMap<Block *, State> entry;
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto *b = func_.body().front(); b; b = b->next()) {
        State s = entry[b];
        walkBlock(b, s);
        for (auto *succ : b->successors()) changed |= entry[succ].join(s);
      }
    }
    for (auto *op : before_) {
      Builder b(op);
      gpu::BarrierOp::create(b, op->loc());
    }
    return !before_.empty();
  }

private:
  void walkBlock(Block *b, State &s) {
    for (auto &op : *b) visit(&op, s);
  }

  /// The bytes that a memory descriptor may stand for: the whole allocation behind it, all of shared memory if unknown.
  Range rangeOf(Value v) {
    llvm::DenseSet<Value> seen;
    while (v && seen.insert(v).second) {
      Operation *def = v.definingOp();
      if (!def) break;
      if (auto alloc = def->dyn<ttg::LocalAllocOp>()) {
        auto type = alloc.result().type().cast<MemDescType>();
        int64_t at = offsetOf(def);
        return {at, at + (type.numElements() * std::max<int64_t>(8, type.element().bitWidth()) + 7) / 8};
      }
      // Views have their source first.
      if (def->numOperands() == 0 || !def->operand(0).type().isa<MemDescType>()) break;
      v = def->operand(0);
    }
    return {0, INT64_MAX};
  }
  static int64_t offsetOf(Operation *op) {
    auto a = op->attr<IntegerAttr>("allocation.offset");
    return a ? a.sext() : 0;
  }

  void need(Operation *op, State &s) {
    before_.insert(op);
    s.clear();
  }
  void access(Operation *op, State &s, llvm::ArrayRef<Range> reads, llvm::ArrayRef<Range> writes) {
    if (before_.contains(op)) s.clear();
    for (auto r : reads)
      if (overlaps(s.writes, r)) need(op, s);
    for (auto w : writes)
      if (overlaps(s.writes, w) || overlaps(s.reads, w)) need(op, s);
    s.reads.insert(reads.begin(), reads.end());
    s.writes.insert(writes.begin(), writes.end());
  }

  void visit(Operation *op, State &s) {
    switch (op->opcode()) {
    case Opcode::gpu_barrier: s.clear(); return;
    case Opcode::ttg_barrier:
      // Bit 0 is the local (shared) address space; a barrier that leaves it out orders nothing here.
      if (op->cast<ttg::BarrierOp>().addrSpace() & 1) s.clear();
      return;
    case Opcode::scf_for: walkLoop(op, {&op->region(0)}, s); return;
    case Opcode::scf_while: walkLoop(op, {&op->region(0), &op->region(1)}, s); return;
    case Opcode::scf_if: {
      State then = s, otherwise = s;
      walkRegion(op->region(0), then);
      walkRegion(op->region(1), otherwise);
      then.join(otherwise);
      s = then;
      return;
    }
    case Opcode::tt_call: {
      // The callee's frame is both read and written, and a callee starts and ends with its accesses unordered.
      if (!op->hasAttr("allocation.offset")) return;
      Range all = {0, INT64_MAX};
      access(op, s, all, all);
      return;
    }
    case Opcode::ttg_local_alloc:
      if (op->numOperands()) access(op, s, {}, rangeOf(op->result()));
      return;
    case Opcode::ttg_local_dealloc: return;
    default: break;
    }
    Scratch scratch = scratchOf(op, target_);
    if (scratch.bytes) {
      Range r = {offsetOf(op), offsetOf(op) + scratch.bytes};
      access(op, s, {}, r);
      // Its own barrier stands between its writes and its reads.
      s.clear();
      s.reads.insert(r);
      return;
    }
    uint8_t effects = op->info().effects;
    if (!(effects & (kReadsShared | kWritesShared))) {
      for (auto &r : op->regions())
        if (op->opcode() != Opcode::tt_reduce && op->opcode() != Opcode::tt_scan) walkRegion(r, s);
      return;
    }
    llvm::SmallVector<Range, 4> ranges;
    for (auto v : op->operands())
      if (v.type().isa<MemDescType>()) ranges.push_back(rangeOf(v));
    access(op, s, effects & kReadsShared ? llvm::ArrayRef(ranges) : llvm::ArrayRef<Range>(), effects & kWritesShared ? llvm::ArrayRef(ranges) : llvm::ArrayRef<Range>());
  }

  void walkRegion(Region &r, State &s) {
    for (auto *b = r.front(); b; b = b->next()) walkBlock(b, s);
  }
  void walkLoop(Operation *, llvm::ArrayRef<Region *> regions, State &s) {
    State entry = s;
    while (true) {
      State body = entry;
      for (auto *r : regions) walkRegion(*r, body);
      if (!entry.join(body)) {
        s = entry;
        return;
      }
    }
  }

  tt::FuncOp func_;
  const TargetInfo &target_;
  llvm::SetVector<Operation *> before_;
};

} // namespace

absl::StatusOr<bool> insertBarriers(Module &module, PassContext &context) {
  if (!context.target) {
    context.diagnostics.error({}, "insert-barriers needs a target");
    return absl::InvalidArgumentError("no target");
  }
  bool changed = false;
  for (auto &op : *module.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) changed |= BarrierPlacement(f, *context.target).run();
  return changed;
}

} // namespace tessera::transforms
