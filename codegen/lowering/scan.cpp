// Lowering of tt.scan. Where the axis runs through registers, lanes, warps and registers again, from its lowest bit up
// (every blocked layout does), a scan goes through the levels that the layout has:
//   thread  each run of consecutive registers (a chunk) is scanned in place; its last value is its total
//   warp    totals of lanes are scanned by shuffles, log₂ of the lanes steps: in step k the upper half of every group
//           of 2^(k+1) lanes takes the total of the lower half
//   block   totals of warps go through shared memory; every thread combines those of the warps before its own
//   chunks  the total of the chunks before, over all threads, is added to the next
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
#include "llvm/Support/MathExtras.h"
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
      for (Chunk &c : row.second) scanWithinThread(c);
    if (laneMask_)
      for (auto &row : rows_)
        for (Chunk &c : row.second) scanWithinWarp(c);
    auto shape = layouts::reduceShape(layout_, axis_);
    if (shape.warps > 1) scanAcrossWarps(shape);
    for (auto &row : rows_) carryChunks(row.second, shape.warps > 1);
    return writeResults();
  }

private:
  using Partial = WarpPartials::Partial;
  using Key = WarpPartials::Key;
  struct Chunk {
    llvm::SmallVector<Partial, 8> elements; // in scan order
    llvm::SmallVector<unsigned, 8> registers;
    Partial total;         // of this thread's part and all lanes' before it (in scan order)
    Partial beforeInWarp;  // total of the lanes before; where this is not the first lane
    Partial beforeInBlock; // total of the warps before; where this is not the first warp
    Partial whole;         // of all warps, where there are several
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
  Partial fromLane(const Partial &p, llvm::Value *lane) {
    Partial out;
    for (llvm::Value *v : p) out.push_back(shuffleIndex(b_, fl_.target, v, lane));
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
      Key key;
      for (unsigned d = 0; d < index.size(); ++d)
        if (int(d) != axis_) key.push_back(index[d]);
      order[key][reverse_ ? -int64_t(index[axis_]) : index[axis_]] = r;
    }
    for (auto &[key, members] : order) {
      auto &chunks = rows_[key];
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

  void scanWithinWarp(Chunk &c) {
    llvm::Value *lane = fl_.laneId();
    unsigned below = 0;
    for (unsigned bit : laneBits_) {
      // The last lane of the lower half.
      llvm::Value *from =
          reverse_ ? b_.CreateOr(b_.CreateAnd(lane, ~below), bit) : b_.CreateAnd(b_.CreateOr(lane, below), ~bit);
      c.total = select(isSet(bit), combine(fromLane(c.total, from), c.total), c.total);
      below |= bit;
    }
    if (c.elements.size() == 1) { // one element: the total up to it is its value
      c.elements[0] = c.total;
      return;
    }
    // The lane before, in scan order: counting in the axis' bits alone, which borrows and carries pass through.
    llvm::Value *others = b_.CreateAnd(lane, ~laneMask_);
    llvm::Value *before = reverse_ ? b_.CreateAdd(b_.CreateOr(lane, ~laneMask_), fl_.i32(1))
                                   : b_.CreateSub(b_.CreateAnd(lane, laneMask_), fl_.i32(1));
    c.beforeInWarp = fromLane(c.total, b_.CreateOr(b_.CreateAnd(before, laneMask_), others));
  }

  void storeTotals(WarpPartials &exchange) {
    if (!exchange.manyLanesApart()) {
      for (auto &[key, chunks] : rows_)
        for (unsigned c = 0; c < chunks.size(); ++c) exchange.store(key, c, chunks[c].total);
      return;
    }
    for (int c = 0; c < shape_.chunks; ++c) {
      std::map<Key, Partial> totals;
      for (auto &[key, chunks] : rows_) totals[key] = chunks[c].total;
      exchange.storeByWarp(totals, c);
    }
  }

  using Totals = llvm::SmallVector<Partial, 8>; // of all warps
  /// Of each row and chunk.
  std::map<Key, llvm::SmallVector<Totals, 2>> loadTotals(WarpPartials &exchange) {
    std::map<Key, llvm::SmallVector<Totals, 2>> out;
    llvm::SmallVector<Key, 16> keys;
    for (auto &[key, chunks] : rows_) keys.push_back(key);
    if (!exchange.manyLanesApart()) {
      for (auto &key : keys)
        for (int c = 0; c < shape_.chunks; ++c) out[key].push_back(exchange.load(key, c));
      return out;
    }
    for (int c = 0; c < shape_.chunks; ++c)
      for (auto &[key, totals] : exchange.loadByWarp(keys, c)) out[key].push_back(std::move(totals));
    return out;
  }

  void scanAcrossWarps(const layouts::ReduceShape &shape) {
    WarpPartials exchange(fl_, op_, layout_, axis_, shape, shape_.chunks, !reverse_);
    storeTotals(exchange);
    fl_.barrier();
    auto totalsOfWarps = loadTotals(exchange);
    bool carries = shape_.chunks > 1;
    firstWarp_ = b_.CreateICmpEQ(exchange.warpAlongAxis(), fl_.i32(reverse_ ? shape.warps - 1 : 0));
    for (auto &[key, chunks] : rows_)
      for (unsigned c = 0; c < chunks.size(); ++c) {
        auto totals = totalsOfWarps[key][c];
        if (reverse_) std::reverse(totals.begin(), totals.end());
        Partial sum = totals[0], before = totals[0];
        for (unsigned w = 1; w < shape.warps; ++w) {
          llvm::Value *after = b_.CreateICmpEQ(exchange.warpAlongAxis(), fl_.i32(reverse_ ? shape.warps - 1 - w : w));
          if (w > 1) before = select(after, sum, before);
          if (w + 1 < shape.warps || carries) sum = combine(sum, totals[w]);
        }
        chunks[c].beforeInBlock = before;
        chunks[c].whole = sum;
      }
  }

  void carryChunks(llvm::SmallVectorImpl<Chunk> &chunks, bool acrossWarps) {
    bool lanesDone = shape_.chunk == 1;
    llvm::Value *notFirstLane = laneMask_ && !lanesDone ? b_.CreateNot(isFirstLane()) : nullptr,
                *notFirstWarp = acrossWarps ? b_.CreateNot(firstWarp_) : nullptr;
    Partial carry;
    for (unsigned i = 0; i < chunks.size(); ++i) {
      Chunk &c = chunks[i];
      // All that lies before this thread's chunk, and where there is anything (null: everywhere).
      Partial before = carry;
      llvm::Value *valid = nullptr;
      if (carry.empty()) {
        if (notFirstWarp) before = c.beforeInBlock, valid = notFirstWarp;
        if (notFirstLane) {
          before =
              before.empty()
                  ? c.beforeInWarp
                  : select(notFirstLane, select(notFirstWarp, combine(before, c.beforeInWarp), c.beforeInWarp), before);
          valid = valid ? b_.CreateOr(valid, notFirstLane) : notFirstLane;
        }
      } else {
        if (notFirstWarp) before = select(notFirstWarp, combine(before, c.beforeInBlock), before);
        if (notFirstLane) before = select(notFirstLane, combine(before, c.beforeInWarp), before);
      }
      if (!before.empty())
        for (Partial &e : c.elements) {
          Partial with = combine(before, e);
          e = valid ? select(valid, with, e) : with;
        }
      if (i + 1 == chunks.size()) break;
      Partial whole = c.whole;
      if (!acrossWarps) whole = laneMask_ ? fromLane(c.total, lastLane()) : c.total;
      carry = carry.empty() ? whole : combine(carry, whole);
    }
  }
  llvm::Value *lastLane() {
    return reverse_ ? b_.CreateAnd(fl_.laneId(), ~laneMask_) : b_.CreateOr(fl_.laneId(), laneMask_);
  }

  bool writeResults() {
    llvm::SmallVector<Elements, 2> out(op_->numResults(), Elements(layout_.inDimSize(Dim::Register), nullptr));
    for (auto &[key, chunks] : rows_)
      for (Chunk &c : chunks)
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
  llvm::Value *firstWarp_ = nullptr;
  std::map<Key, llvm::SmallVector<Chunk, 2>> rows_;
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
