// Results of a reduction that lanes divide between them (see reduce_halving.h).
#include "codegen/lowering/reduce_halving.h"
#include "codegen/lowering/target.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/reduction.h"
#include "transforms/analyses/register_pressure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

ReduceHalving::ReduceHalving(FunctionLowering &fl, tt::ReduceOp op, const LinearLayout &layout,
                             const layouts::ReduceShape &shape)
    : fl_(fl), op_(op), axis_(op.axis()), layout_(layout), shape_(shape) {}

/// Whether combine(a, b) has the bits of combine(b, a).
bool ReduceHalving::isCommutative() const {
  Operation *only = transforms::combination(op_.op);
  return only && only->info().has(kCommutative);
}

/// Shuffles count as a scan's do; halving must not take more instructions either, of which a shuffle is one. Where the
/// results come back, a part of the cost must be saved (reduceHalvingMostCost of ir/tuning.def). Not where arithmetic
/// takes operands from other lanes (DPP), which costs no more than a select.
unsigned ReduceHalving::chooseSteps(unsigned steps, size_t results) {
  constexpr double kCondition = 2; // and, compare: which half a lane keeps
  auto &info = fl_.target.info();
  if (info.hasRowShuffles || !findResultBits(results)) return 0;
  bool comeBack = shape_.warps == 1;
  double words = 0, combination = 0;
  for (auto v : op_.srcs()) words += llvm::divideCeil(v.type().cast<TensorType>().element().bitWidth(), kWordBits);
  op_->walk([&](Operation *op) {
    if (op != op_.op && !op->info().has(kTerminator)) combination += transforms::costOf(op, info.tuning).time;
  });
  double selects = words * (isCommutative() ? 2 : 3);
  // Of all results, if `n` steps halve them and a shuffle of a word costs `shuffle`.
  auto cost = [&](unsigned n, double shuffle) {
    double left = results, sum = n && comeBack ? left * words * shuffle : 0;
    for (unsigned step = 0; step < steps; ++step) {
      if (step < n) left /= 2;
      sum += left * (words * shuffle + combination) + (step < n ? left * selects + kCondition : 0);
    }
    return sum;
  };
  double scans = info.tuning.scanShuffleCost;
  double least = cost(0, scans);
  if (comeBack) least *= isInLoop(op_.op) ? info.tuning.reduceHalvingMostCostInLoop : info.tuning.reduceHalvingMostCost;
  unsigned best = 0;
  for (unsigned n = 1; n <= std::min<unsigned>(steps, resultBits_.size()); ++n) {
    if (cost(n, scans) >= least || cost(n, 1) > cost(0, 1)) continue;
    least = cost(n, scans);
    best = n;
  }
  return best && hasRegistersToWait() ? best : 0;
}

/// Whether a thread's tensors take at most half of its registers here. A butterfly reduces one result after the other;
/// to halve them, a result waits for its neighbour.
bool ReduceHalving::hasRegistersToWait() const {
  Operation *function = op_.op;
  while (!function->is<tt::FuncOp>()) function = function->parentOp();
  int64_t taken = transforms::RegisterPressure(function).before(op_.op);
  for (auto v : op_.srcs()) { // narrow elements are in registers of their own by now
    auto elements = int64_t(fl_.get(v).size());
    taken += transforms::registerBits(v.type().scalar(), elements, kWordBits) / kWordBits - transforms::registersOf(v);
  }
  return 2 * taken <= transforms::usableRegisters(fl_.target.info(), fl_.numWarps());
}

/// Finds what single registers add to the keys of a thread's results: all keys are sums of these. False where that is
/// not so, or where other threads have the same results by other registers.
bool ReduceHalving::findResultBits(size_t results) {
  for (unsigned bit = 0; bit < layout_.inDimBits(Dim::Register); ++bit) {
    Key key = WarpPartials::keyOf(layout_, 1u << bit, axis_);
    if (llvm::all_of(key, [](int64_t x) { return x == 0; }) || llvm::is_contained(resultBits_, key)) continue;
    if (!isApart(key)) return false;
    resultBits_.push_back(key);
  }
  // Neighbours first: they are there soonest after each other. But what goes through shared memory keeps its
  // neighbours, as vectors.
  if (shape_.warps > 1) std::reverse(resultBits_.begin(), resultBits_.end());
  return results == size_t(1) << resultBits_.size();
}

/// Whether the key is one bit of an index, which no lane or warp changes.
bool ReduceHalving::isApart(const Key &key) const {
  unsigned bits = 0;
  for (int64_t x : key) bits += llvm::popcount(uint64_t(x));
  auto overlaps = [&](llvm::ArrayRef<int32_t> basis) {
    for (unsigned d = 0, k = 0; d < basis.size(); ++d)
      if (int(d) != axis_ && basis[d] & key[k++]) return true;
    return false;
  };
  for (auto &in : layout_.ins())
    if (in.dim != Dim::Register && llvm::any_of(in.bases, overlaps)) return false;
  return bits == 1;
}

ReduceHalving::Key ReduceHalving::keyOfResult(unsigned number) const {
  Key key(resultBits_[0].size(), 0);
  for (auto [i, bit] : llvm::enumerate(resultBits_))
    for (unsigned d = 0; d < key.size(); ++d)
      if (number >> i & 1) key[d] ^= bit[d];
  return key;
}

/// The lane without the bit keeps the results whose number has an even lowest digit, and the lane with it the others.
/// Each gives its partner what it does not keep, and combines the rest with what it gets, which are the values that a
/// butterfly combines. Unless that is commutative, the first operand is that of the lane without the bit. The results
/// keep the lower number of the two as their name.
void ReduceHalving::halve(unsigned mask, Partials &partials) {
  auto &b = fl_.b;
  llvm::Value *upper = b.CreateICmpNE(b.CreateAnd(fl_.laneId(), fl_.i32(mask)), fl_.i32(0));
  bool commutes = isCommutative();
  unsigned step = masks_.size();
  Partials kept;
  for (unsigned number = 0; number < 1u << resultBits_.size(); number += 2u << step) {
    Key key = keyOfResult(number);
    Partial first, second;
    for (auto [even, odd] : llvm::zip(partials.at(key), partials.at(keyOfResult(number | 1u << step)))) {
      llvm::Value *got = shuffleXor(b, fl_.target, b.CreateSelect(upper, even, odd), mask);
      first.push_back(b.CreateSelect(upper, commutes ? odd : got, even));
      second.push_back(commutes ? got : b.CreateSelect(upper, odd, got));
    }
    first.append(second);
    kept[key] = lowerCombine(op_.combine(), first, fl_);
  }
  partials = std::move(kept);
  masks_.push_back(mask);
}

LinearLayout ReduceHalving::layout() const {
  llvm::SmallVector<LinearLayout::InDim, 4> ins(layout_.ins());
  for (auto [mask, key] : llvm::zip(masks_, resultBits_)) {
    layouts::Basis of(layout_.numOutDims(), 0);
    for (unsigned d = 0, k = 0; d < of.size(); ++d)
      if (int(d) != axis_) of[d] = int32_t(key[k++]);
    for (auto &in : ins) {
      if (in.dim == Dim::Register) llvm::replace(in.bases, of, layouts::Basis(of.size(), 0));
      if (in.dim == Dim::Lane) in.bases[llvm::Log2_32(mask)] = of;
    }
  }
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(layout_.outs()));
}

void ReduceHalving::giveBack(Partials &partials) {
  if (!anyStep()) return;
  auto &b = fl_.b;
  unsigned halved = 0;
  for (unsigned mask : masks_) halved |= mask;
  Partials all;
  for (unsigned number = 0; number < 1u << resultBits_.size(); ++number) {
    unsigned set = 0; // the bits of the lanes that have the result
    for (auto [i, mask] : llvm::enumerate(masks_))
      if (number >> i & 1) set |= mask;
    llvm::SmallVector<int8_t, 32> lanes;
    for (unsigned l = 0; l < unsigned(layout_.inDimSize(Dim::Lane)); ++l) lanes.push_back(int8_t((l & ~halved) | set));
    llvm::Value *lane = b.CreateOr(b.CreateAnd(fl_.laneId(), ~halved), set);
    for (auto *v : partials.at(keyOfResult(number >> masks_.size() << masks_.size())))
      all[keyOfResult(number)].push_back(shuffleFixed(b, fl_.target, v, lanes, lane));
  }
  partials = std::move(all);
}

} // namespace tessera::codegen
