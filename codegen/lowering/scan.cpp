// Lowering of tt.scan. Where the axis runs through registers, lanes, warps and registers again, from its lowest bit up
// (every blocked layout does), a scan goes through the levels that the layout has:
//   thread  each run of consecutive registers (a chunk) is scanned in place; its last value is its total
//   warp    totals of lanes are scanned by shuffles, log₂ of the lanes steps: in step k the upper half of every group
//           of 2^(k+1) lanes takes the total of the lower half
//   block   totals of warps go through shared memory; every thread combines those of the warps before its own, after
//           the total of the chunks before, over all threads
// and at the end each register is combined with all that lies before its thread's chunk. A reverse scan is the same in
// the order of falling indices. The combining region always gets (earlier, later); it need not be commutative.
//
// Scans in other layouts were given one of these before (transforms/layout/choose_scan_layouts.cpp).
//
// Scratch (transforms/memory/scratch.h): warp_partials.h.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "codegen/lowering/warp_partials.h"
#include "ir/ops.h"
#include "layouts/scan_shape.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

class ScanInOrder {
public:
  ScanInOrder(tt::ScanOp op, FunctionLowering &fl, const layouts::ScanShape &shape)
      : op_(op), fl_(fl), b_(fl.b), shape_(shape), axis_(op.axis()), reverse_(op.reverse()),
        layout_(fl.layout(op.srcs()[0].type())) {
    for (unsigned bit = 0; bit < layout_.inDimBits(Dim::Lane); ++bit)
      if (layout_.basis(Dim::Lane, bit)[axis_]) laneBits_.push_back(1u << bit), laneMask_ |= 1u << bit;
  }

  bool run() {
    collect();
    for (auto &row : rows_)
      for (Chunk &c : row.second.chunks) scanWithinThread(c);
    if (laneMask_) scanWithinWarp();
    auto shape = layouts::reduceShape(layout_, axis_);
    if (shape.warps > 1)
      scanAcrossWarps(shape);
    else
      for (int c = 0; c < shape_.chunks; ++c)
        for (auto &[key, row] : rows_) carryInto(row, c, /*totals=*/{}, /*along=*/nullptr);
    return writeResults();
  }

private:
  using Partial = WarpPartials::Partial;
  using Key = WarpPartials::Key;
  struct Chunk {
    llvm::SmallVector<Partial, 8> elements; // in scan order
    llvm::SmallVector<unsigned, 8> registers;
    Partial total;        // of this thread's part and all lanes' before it (in scan order)
    Partial beforeInWarp; // total of the lanes before; where this is not the first lane
  };
  struct Row {
    llvm::SmallVector<Chunk, 2> chunks;
    Partial carry; // total of the chunks done, over all threads; empty: none is
  };

  Partial combine(const Partial &x, const Partial &y) {
    Partial args(x);
    args.append(y.begin(), y.end());
    return lowerCombine(op_.combine(), args, fl_);
  }
  Partial select(llvm::Value *condition, const Partial &x, const Partial &y) {
    Partial out;
    for (auto [u, v] : llvm::zip(x, y)) out.push_back(b_.CreateSelect(condition, u, v));
    return out;
  }
  /// Which lane each lane reads: as constants, negative where any value will do, and as a value.
  struct Source {
    llvm::SmallVector<int8_t, 64> lanes;
    llvm::Value *lane;
  };
  /// lane & keep | set, in the lanes that have all bits of `wanted` and none of `unwanted`.
  Source sourceOf(unsigned keep, unsigned set, unsigned wanted, unsigned unwanted) {
    Source s{{}, b_.CreateOr(b_.CreateAnd(fl_.laneId(), keep), set)};
    for (unsigned l = 0; l < unsigned(fl_.target.info().warpSize); ++l) {
      bool matters = (l & wanted) == wanted && !(l & unwanted);
      s.lanes.push_back(matters ? int8_t((l & keep) | set) : int8_t(-1));
    }
    return s;
  }
  Partial fromLane(const Partial &p, const Source &s) {
    Partial out;
    for (llvm::Value *v : p) out.push_back(shuffleFixed(b_, fl_.target, v, s.lanes, s.lane));
    return out;
  }

  void collect() {
    unsigned free = 0;
    for (unsigned bit = 0; bit < layout_.inDimBits(Dim::Register); ++bit)
      if (llvm::all_of(layout_.basis(Dim::Register, bit), [](auto x) { return x == 0; })) free |= 1u << bit;
    // Row → chunk and place in it, in scan order → register.
    std::map<Key, std::map<int64_t, unsigned>> order;
    for (unsigned r = 0; r < unsigned(layout_.inDimSize(Dim::Register)); ++r) {
      if (r & free) continue;
      auto index = layout_.apply({{Dim::Register, int32_t(r)}});
      order[WarpPartials::keyOf(layout_, r, axis_)][reverse_ ? -int64_t(index[axis_]) : index[axis_]] = r;
    }
    for (auto &[key, members] : order) {
      auto &chunks = rows_[key].chunks;
      for (auto &[at, r] : members) {
        if (chunks.empty() || chunks.back().registers.size() == unsigned(shape_.chunk)) chunks.emplace_back();
        Partial p;
        for (Value v : op_->operands()) p.push_back(fl_.get(v)[r]);
        chunks.back().elements.push_back(std::move(p));
        chunks.back().registers.push_back(r);
      }
    }
    free_ = free;
  }

  void scanWithinThread(Chunk &c) {
    for (unsigned i = 1; i < c.elements.size(); ++i) c.elements[i] = combine(c.elements[i - 1], c.elements[i]);
    c.total = c.elements.back();
  }

  /// The lanes' bits along the axis as if counting from the first lane of the scan: inverted for a reverse scan.
  llvm::Value *isSet(unsigned bit) {
    llvm::Value *v = b_.CreateAnd(fl_.laneId(), bit);
    return reverse_ ? b_.CreateICmpEQ(v, fl_.i32(0)) : b_.CreateICmpNE(v, fl_.i32(0));
  }
  llvm::Value *isFirstLane() {
    return b_.CreateICmpEQ(b_.CreateAnd(fl_.laneId(), laneMask_), fl_.i32(reverse_ ? laneMask_ : 0));
  }

  void scanWithinWarp() {
    unsigned below = 0;
    for (unsigned bit : laneBits_) {
      // The last lane of the lower half, for the upper half.
      Source last = reverse_ ? sourceOf(~(below | bit), bit, 0, bit) : sourceOf(~(below | bit), below, bit, 0);
      for (auto &[key, row] : rows_)
        for (Chunk &c : row.chunks) c.total = select(isSet(bit), combine(fromLane(c.total, last), c.total), c.total);
      below |= bit;
    }
    bool hasOneElement = shape_.chunk == 1; // the total up to it is its value
    Source before = hasOneElement ? Source() : laneBefore();
    for (auto &[key, row] : rows_)
      for (Chunk &c : row.chunks)
        if (hasOneElement)
          c.elements[0] = c.total;
        else
          c.beforeInWarp = fromLane(c.total, before);
  }
  /// The lane before, in scan order: counting in the axis' bits alone, which borrows and carries pass through.
  Source laneBefore() {
    llvm::Value *lane = fl_.laneId(), *others = b_.CreateAnd(lane, ~laneMask_);
    llvm::Value *along = reverse_ ? b_.CreateAdd(b_.CreateOr(lane, ~laneMask_), fl_.i32(1))
                                  : b_.CreateSub(b_.CreateAnd(lane, laneMask_), fl_.i32(1));
    Source s{{}, b_.CreateOr(b_.CreateAnd(along, laneMask_), others)};
    for (unsigned l = 0; l < unsigned(fl_.target.info().warpSize); ++l) {
      bool isFirst = (l & laneMask_) == (reverse_ ? laneMask_ : 0);
      unsigned next = reverse_ ? (l | ~laneMask_) + 1 : (l & laneMask_) - 1;
      s.lanes.push_back(isFirst ? int8_t(-1) : int8_t((next & laneMask_) | (l & ~laneMask_)));
    }
    return s;
  }

  llvm::SmallVector<Key, 16> keys() const {
    llvm::SmallVector<Key, 16> out;
    for (auto &[key, row] : rows_) out.push_back(key);
    return out;
  }

  void storeTotals(WarpPartials &exchange, bool byWarp) {
    if (!byWarp) {
      for (auto &[key, row] : rows_)
        for (auto [c, chunk] : llvm::enumerate(row.chunks)) exchange.store(key, c, chunk.total);
      return;
    }
    for (int c = 0; c < shape_.chunks; ++c) {
      std::map<Key, Partial> totals;
      for (auto &[key, row] : rows_) totals[key] = row.chunks[c].total;
      exchange.storeByWarp(totals, c);
    }
  }

  using Totals = llvm::SmallVector<Partial, 8>; // of all warps
  /// Of each row, of one chunk.
  std::map<Key, Totals> loadTotals(WarpPartials &exchange, unsigned chunk, bool byWarp) {
    if (byWarp) return exchange.loadByWarp(keys(), chunk);
    std::map<Key, Totals> out;
    for (auto &key : keys()) out[key] = exchange.load(key, chunk);
    return out;
  }

  /// A chunk's totals are read when the chunks before are done: all of them at once would take registers for every
  /// warp and chunk.
  void scanAcrossWarps(const layouts::ReduceShape &shape) {
    WarpPartials exchange(fl_, op_, layout_, axis_, shape, shape_.chunks, !reverse_);
    bool byWarp = exchange.manyLanesApart() || exchange.fillVectors(keys());
    storeTotals(exchange, byWarp);
    fl_.barrier();
    for (int c = 0; c < shape_.chunks; ++c) {
      auto totals = loadTotals(exchange, c, byWarp);
      for (auto &[key, row] : rows_) {
        if (reverse_) std::reverse(totals[key].begin(), totals[key].end());
        carryInto(row, c, totals[key], exchange.warpAlongAxis());
      }
    }
  }

  /// What lies in the warps before this thread's, and in the chunks before; in the first warp without those, anything.
  /// The carry becomes the total of this chunk, too, if `carries`.
  Partial beforeInBlock(Row &row, const Totals &totals, llvm::Value *along, bool carries) {
    Partial before;
    unsigned warps = totals.size();
    for (unsigned w = 0; w < warps; ++w) {
      if (before.empty())
        before = row.carry;
      else
        before = select(b_.CreateICmpEQ(along, fl_.i32(reverse_ ? warps - 1 - w : w)), row.carry, before);
      if (w + 1 < warps || carries) row.carry = row.carry.empty() ? totals[w] : combine(row.carry, totals[w]);
    }
    return before;
  }

  /// Combines a chunk's elements with all that lies before it. `totals`: of this chunk in each warp, `along`: this
  /// warp's number; none where one warp has the whole axis.
  void carryInto(Row &row, unsigned i, const Totals &totals, llvm::Value *along) {
    Chunk &c = row.chunks[i];
    bool isFirst = i == 0, isLast = i + 1 == row.chunks.size(), lanesDone = shape_.chunk == 1;
    llvm::Value *notFirstLane = laneMask_ && !lanesDone ? b_.CreateNot(isFirstLane()) : nullptr,
                *notFirstWarp = nullptr;
    if (along && isFirst) notFirstWarp = b_.CreateICmpNE(along, fl_.i32(reverse_ ? totals.size() - 1 : 0));
    // All that lies before this thread's chunk, and where there is anything (null: everywhere).
    Partial before = along ? beforeInBlock(row, totals, along, !isLast) : row.carry;
    llvm::Value *valid = notFirstWarp;
    if (notFirstLane && before.empty()) {
      before = c.beforeInWarp;
      valid = notFirstLane;
    } else if (notFirstLane) {
      Partial both = combine(before, c.beforeInWarp);
      if (notFirstWarp) {
        both = select(notFirstWarp, both, c.beforeInWarp);
        valid = b_.CreateOr(valid, notFirstLane);
      }
      before = select(notFirstLane, both, before);
    }
    if (!before.empty())
      for (Partial &e : c.elements) {
        Partial with = combine(before, e);
        e = valid ? select(valid, with, e) : with;
      }
    if (along || isLast) return;
    Partial whole = laneMask_ ? fromLane(c.total, lastLane()) : c.total;
    row.carry = isFirst ? whole : combine(row.carry, whole);
  }
  Source lastLane() { return sourceOf(~laneMask_, reverse_ ? 0 : laneMask_, 0, 0); }

  bool writeResults() {
    llvm::SmallVector<Elements, 2> out(op_->numResults(), Elements(layout_.inDimSize(Dim::Register), nullptr));
    for (auto &[key, row] : rows_)
      for (Chunk &c : row.chunks)
        for (auto [r, e] : llvm::zip(c.registers, c.elements)) {
          if (e.size() != out.size()) return fl_.error(op_, "its combining region cannot be lowered");
          for (unsigned k = 0; k < out.size(); ++k) out[k][r] = e[k];
        }
    for (unsigned k = 0; k < out.size(); ++k) {
      for (unsigned r = 0; r < out[k].size(); ++r) out[k][r] = out[k][r & ~free_];
      fl_.set(op_->result(k), std::move(out[k]));
    }
    return true;
  }

  tt::ScanOp op_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  const layouts::ScanShape &shape_;
  int axis_;
  bool reverse_;
  const LinearLayout &layout_;
  llvm::SmallVector<unsigned, 6> laneBits_; // masks of the lane bits along the axis, lowest of the axis first
  unsigned laneMask_ = 0, free_ = 0;
  std::map<Key, Row> rows_;
};

} // namespace

bool lowerScan(Operation *op, FunctionLowering &fl) {
  auto scan = op->cast<tt::ScanOp>();
  auto shape = layouts::scanShape(fl.layout(scan.srcs()[0].type()), scan.axis());
  if (!shape.inOrder)
    return fl.error(op, "has a layout in which its axis does not run through registers, lanes and warps in order "
                        "(choose-scan-layouts finds one)");
  return ScanInOrder(scan, fl, shape).run();
}

} // namespace tessera::codegen
