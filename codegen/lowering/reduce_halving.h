// Results of a reduction that lanes divide between them. Where a thread has several results, each step of a butterfly
// shuffles and combines all of them in all lanes. Instead the lanes of a pair take half of the results each, in the
// first steps, so that later steps have half as many:
//
//     lane 0  a b c d                lane 0  a c, of lanes 0 and 1         lane 0  a, of lanes 0 to 3
//     lane 1  a b c d    step 1:     lane 1  b d, of lanes 0 and 1    2:   lane 1  b, of lanes 0 to 3
//     lane 2  a b c d                lane 2  a c, of lanes 2 and 3         lane 2  c, of lanes 0 to 3
//     lane 3  a b c d                lane 3  b d, of lanes 2 and 3         lane 3  d, of lanes 0 to 3
//
// Of 4 results over 32 lanes that are 2 + 1 + 3 shuffles, not 20, and 4 that give each lane all results again. The
// same values are combined, so that results have the bits that a butterfly gives lane 0.
#pragma once
#include "codegen/lowering/warp_partials.h"
#include "ir/ops.h"

namespace tessera::codegen {

class ReduceHalving {
public:
  using Key = WarpPartials::Key;
  using Partial = WarpPartials::Partial;
  using Partials = std::map<Key, Partial>; // a thread's results, by key

  /// Of the source's layout and the shape that it gives the reduction, which must outlive this.
  ReduceHalving(FunctionLowering &fl, ir::tt::ReduceOp op, const layouts::LinearLayout &layout,
                const layouts::ReduceShape &shape);

  /// In how many of the first of `steps` between lanes the thread's results are halved, at the least cost: with none,
  /// every step is a butterfly's. Before the first step.
  unsigned chooseSteps(unsigned steps, size_t results);
  /// One step, with the lanes whose number differs in this bit.
  void halve(unsigned mask, Partials &);
  bool anyStep() const { return !masks_.empty(); }
  /// The layout of the results that lanes have after these steps.
  layouts::LinearLayout layout() const;
  /// Each lane gets all of its results again, from the lanes that have them. Nothing without a step.
  void giveBack(Partials &);

private:
  bool isCommutative() const;
  bool findResultBits(size_t results);
  bool isApart(const Key &) const;
  Key keyOfResult(unsigned number) const;
  bool hasRegistersToWait() const;

  FunctionLowering &fl_;
  ir::tt::ReduceOp op_;
  int axis_;
  const layouts::LinearLayout &layout_;
  const layouts::ReduceShape &shape_;
  llvm::SmallVector<Key, 4> resultBits_; // what single registers add to keys: all keys are sums of these
  llvm::SmallVector<unsigned, 5> masks_; // the lane masks of the steps so far, one for each of the first result bits
};

} // namespace tessera::codegen
