// Lowering of tt.scan. Where the axis runs through registers, lanes, warps and registers again, from its lowest bit up
// (every blocked layout does), a scan goes through the levels that the layout has:
//   thread  each run of consecutive registers (a chunk) is scanned in place; its last value is its total
//   warp    totals of lanes are scanned by shuffles, log₂ of the lanes steps: in step k the upper half of every group of
//           2^(k+1) lanes takes the total of the lower half
//   block   totals of warps go through shared memory; every thread combines those of the warps before its own
//   chunks  what all threads hold of the chunks before is carried on
// and at the end each register is combined with all that lies before its thread's chunk. A reverse scan is the same in
// the order of falling indices. The combining region sees (earlier, later) always; it need not be commutative.
//
// Any other layout: the tensor goes to shared memory with the scanned axis fastest, the block's threads take its rows in
// turn and scan each in place, one element after the other, and every thread reads its registers back.
//
// Scratch (transforms/scratch.cpp): warp_partials.h, or the elements of every operand, one array after the other, each
// aligned to 16 bytes.
#include "codegen/lowering.h"
#include "codegen/shared_access.h"
#include "codegen/target.h"
#include "codegen/warp_partials.h"
#include "ir/ops.h"
#include "transforms/scan_shape.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

class ScanInOrder {
public:
  ScanInOrder(tt::ScanOp op, FunctionLowering &fl, const transforms::ScanShape &shape)
      : op_(op), fl_(fl), b_(fl.b), shape_(shape), axis_(op.axis()), reverse_(op.reverse()), layout_(fl.layout(op->operand(0).type())) {
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
    auto shape = transforms::reduceShape(layout_, axis_);
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
      llvm::Value *from = reverse_ ? b_.CreateOr(b_.CreateAnd(lane, ~below), bit) : b_.CreateAnd(b_.CreateOr(lane, below), ~bit);
      c.total = select(isSet(bit), combine(fromLane(c.total, from), c.total), c.total);
      below |= bit;
    }
    if (c.elements.size() == 1) { // one element: the total up to it is its value
      c.elements[0] = c.total;
      return;
    }
    // The lane before, in scan order: counting in the axis' bits alone, which borrows and carries pass through.
    llvm::Value *others = b_.CreateAnd(lane, ~laneMask_);
    llvm::Value *before = reverse_ ? b_.CreateAdd(b_.CreateOr(lane, ~laneMask_), fl_.i32(1)) : b_.CreateSub(b_.CreateAnd(lane, laneMask_), fl_.i32(1));
    c.beforeInWarp = fromLane(c.total, b_.CreateOr(b_.CreateAnd(before, laneMask_), others));
  }

  void scanAcrossWarps(const transforms::ReduceShape &shape) {
    WarpPartials exchange(fl_, op_, layout_, axis_, shape, shape_.chunks, !reverse_);
    for (auto &[key, chunks] : rows_)
      for (unsigned c = 0; c < chunks.size(); ++c) exchange.store(key, c, chunks[c].total);
    fl_.target.barrier(b_);
    bool carries = shape_.chunks > 1;
    firstWarp_ = b_.CreateICmpEQ(exchange.warpAlongAxis(), fl_.i32(reverse_ ? shape.warps - 1 : 0));
    for (auto &[key, chunks] : rows_)
      for (unsigned c = 0; c < chunks.size(); ++c) {
        auto totals = exchange.load(key, c);
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
    llvm::Value *notFirstLane = laneMask_ && !lanesDone ? b_.CreateNot(isFirstLane()) : nullptr, *notFirstWarp = acrossWarps ? b_.CreateNot(firstWarp_) : nullptr;
    Partial carry;
    for (unsigned i = 0; i < chunks.size(); ++i) {
      Chunk &c = chunks[i];
      // All that lies before this thread's chunk, and where there is anything (null: everywhere).
      Partial before = carry;
      llvm::Value *valid = nullptr;
      if (carry.empty()) {
        if (notFirstWarp) before = c.beforeInBlock, valid = notFirstWarp;
        if (notFirstLane) {
          before = before.empty() ? c.beforeInWarp : select(notFirstLane, select(notFirstWarp, combine(before, c.beforeInWarp), c.beforeInWarp), before);
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
  llvm::Value *lastLane() { return reverse_ ? b_.CreateAnd(fl_.laneId(), ~laneMask_) : b_.CreateOr(fl_.laneId(), laneMask_); }

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
  const transforms::ScanShape &shape_;
  int axis_;
  bool reverse_;
  const LinearLayout &layout_;
  llvm::SmallVector<unsigned, 6> laneBits_; // masks of the lane bits along the axis, lowest of the axis first
  unsigned laneMask_ = 0, free_ = 0;
  llvm::Value *firstWarp_ = nullptr;
  std::map<Key, llvm::SmallVector<Chunk, 2>> rows_;
};

} // namespace

/// Row by row in shared memory.
static bool scanInMemory(Operation *op, FunctionLowering &fl);

bool lowerScan(Operation *op, FunctionLowering &fl) {
  auto scan = op->cast<tt::ScanOp>();
  auto shape = transforms::scanShape(fl.layout(op->operand(0).type()), scan.axis());
  return shape.inOrder ? ScanInOrder(scan, fl, shape).run() : scanInMemory(op, fl);
}

static bool scanInMemory(Operation *op, FunctionLowering &fl) {
  auto scan = op->cast<tt::ScanOp>();
  auto &b = fl.b;
  auto type = op->operand(0).type().cast<TensorType>();
  unsigned axis = scan.axis(), n = op->numOperands();
  int64_t length = type.dim(axis), rows = type.numElements() / length;
  LinearLayout shared = LinearLayout::identity1D(length, Dim::Offset, layouts::tensorDim(axis));
  for (unsigned d = type.rank(); d-- > 0;)
    if (d != axis) shared *= LinearLayout::identity1D(type.dim(d), Dim::Offset, layouts::tensorDim(d));
  auto &registers = fl.layout(type);

  llvm::SmallVector<llvm::Value *, 2> bases;
  llvm::SmallVector<llvm::Type *, 2> elements, stored;
  int64_t offset = 0;
  for (auto v : op->operands()) {
    llvm::Type *e = fl.elementType(v.type());
    elements.push_back(e);
    stored.push_back(e->isIntegerTy(1) ? b.getInt8Ty() : e);
    bases.push_back(b.CreateConstGEP1_32(b.getInt8Ty(), fl.scratch(op), offset));
    int64_t bytes = e->isPointerTy() ? 8 : std::max<int64_t>(1, e->getPrimitiveSizeInBits() / 8);
    SharedAccess(registers, shared, e, fl).store(bases.back(), fl.get(v), fl.isRepresentative(registers));
    offset += llvm::alignTo(type.numElements() * bytes, 16);
  }
  fl.target.barrier(b);

  // for (row = thread; row < rows; row += threads) for (k = 1; k < length; ++k) element[k] = combine(element[k-1], element[k])
  auto &c = b.getContext();
  auto *function = b.GetInsertBlock()->getParent();
  auto newBlock = [&](const char *name) { return llvm::BasicBlock::Create(c, name, function); };
  auto *before = b.GetInsertBlock(), *rowHead = newBlock("scan.row"), *rowBody = newBlock("scan.first"), *head = newBlock("scan.element"), *body = newBlock("scan.combine"), *rowEnd = newBlock("scan.next"), *after = newBlock("scan.end");
  llvm::Value *thread = fl.threadId();
  b.CreateBr(rowHead);
  b.SetInsertPoint(rowHead);
  auto *row = b.CreatePHI(b.getInt32Ty(), 2);
  row->addIncoming(thread, before);
  b.CreateCondBr(b.CreateICmpULT(row, fl.i32(rows)), rowBody, after);

  b.SetInsertPoint(rowBody);
  llvm::Value *rowStart = b.CreateMul(row, fl.i32(length)), *first = scan.reverse() ? fl.i32(length - 1) : fl.i32(0);
  auto address = [&](unsigned i, llvm::Value *k) { return b.CreateGEP(stored[i], bases[i], b.CreateAdd(rowStart, k)); };
  auto align = [&](unsigned i) { return stored[i]->isPointerTy() ? 8u : std::max(1u, unsigned(stored[i]->getPrimitiveSizeInBits() / 8)); };
  auto read = [&](unsigned i, llvm::Value *k) {
    llvm::Value *v = fl.target.loadShared(b, address(i, k), stored[i], align(i));
    return elements[i] == stored[i] ? v : b.CreateTrunc(v, elements[i]);
  };
  llvm::SmallVector<llvm::Value *, 2> initial;
  for (unsigned i = 0; i < n; ++i) initial.push_back(read(i, first));
  auto *enter = b.GetInsertBlock();
  b.CreateBr(head);

  b.SetInsertPoint(head);
  auto *k = b.CreatePHI(b.getInt32Ty(), 2);
  k->addIncoming(fl.i32(1), enter);
  llvm::SmallVector<llvm::PHINode *, 2> carried;
  for (unsigned i = 0; i < n; ++i) {
    carried.push_back(b.CreatePHI(elements[i], 2));
    carried[i]->addIncoming(initial[i], enter);
  }
  b.CreateCondBr(b.CreateICmpULT(k, fl.i32(length)), body, rowEnd);

  b.SetInsertPoint(body);
  llvm::Value *at = scan.reverse() ? b.CreateSub(fl.i32(length - 1), k) : (llvm::Value *)k;
  llvm::SmallVector<llvm::Value *, 4> args(carried.begin(), carried.end());
  for (unsigned i = 0; i < n; ++i) args.push_back(read(i, at));
  auto results = lowerCombine(scan.combine(), args, fl);
  if (results.size() != n) return fl.error(op, "its combining region cannot be lowered");
  for (unsigned i = 0; i < n; ++i) {
    fl.target.storeShared(b, address(i, at), elements[i] == stored[i] ? results[i] : b.CreateZExt(results[i], stored[i]), align(i));
    carried[i]->addIncoming(results[i], b.GetInsertBlock());
  }
  k->addIncoming(b.CreateAdd(k, fl.i32(1)), b.GetInsertBlock());
  b.CreateBr(head);

  b.SetInsertPoint(rowEnd);
  row->addIncoming(b.CreateAdd(row, fl.i32(fl.warpSize() * fl.numWarps())), rowEnd);
  b.CreateBr(rowHead);

  b.SetInsertPoint(after);
  fl.target.barrier(b);
  for (unsigned i = 0; i < n; ++i) fl.set(op->result(i), SharedAccess(registers, shared, elements[i], fl).load(bases[i], elements[i]));
  return true;
}

} // namespace tessera::codegen
