// One backward slice of layout conversions: which values it recomputes in the wanted layout, what that saves, and the
// rewrite. Internal to recomputeConversions, whose file says which slices are tried.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include "layouts/encoding.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/carried_places.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include <utility>

namespace tessera::transforms {

/// A value in a layout.
using LayoutValue = std::pair<ir::Value, const layouts::Encoding *>;

/// What slices of one module share.
struct SliceContext {
  const ir::Tuning &tuning;
  LayoutCosts costs;
  int64_t threads; // of a block
  GlobalAccesses accesses;
  AxisInfoAnalysis axes; // nothing is known of values that slices made
  bool asyncCopies;      // loops copy loads for dots to shared memory asynchronously
};

class ConversionSlice {
public:
  /// `remains`: plan as if recomputed operations for whose values it holds remained for other users, too.
  /// @pre all conversions are to one layout
  ConversionSlice(SliceContext &, llvm::ArrayRef<ir::ttg::ConvertLayoutOp> conversions,
                  llvm::function_ref<bool(ir::Value)> remains);
  /// What the slice saves.
  double gain();
  bool isWorthwhile() { return gain() > context_.tuning.minimumSliceGain; }
  /// Returns operations that may be dead now; no others are that were not before.
  llvm::SmallVector<ir::Operation *, 16> apply();
  /// Whether it does more than moving its conversions to where their sources are defined.
  bool recomputes() const { return !recomputed_.empty(); }
  /// Recomputed values whose old computation remains: for a use outside the slice, or by something that remains itself.
  llvm::DenseSet<ir::Value> valuesThatRemain();

private:
  /// What computing `v` in layout `e` needs of its operands; false: it cannot be computed there.
  bool inputsFor(ir::Value v, const layouts::Encoding *e, llvm::SmallVectorImpl<LayoutValue> &inputs);
  double plan(ir::Value v, const layouts::Encoding *e, unsigned depth, llvm::function_ref<bool(ir::Value)> remains);
  void collect(ir::Value v, const layouts::Encoding *e);
  bool readsWholeRowsForFma();
  bool convertsWideValue();
  /// Converting the value where it is defined to a layout.
  double conversionAt(ir::Value v, const layouts::Encoding *e);
  double operationCost(ir::Operation *op, const layouts::Encoding *e);
  /// Computing the value where it is defined, in a layout.
  double operationAt(ir::Value v, const layouts::Encoding *e) {
    return operationCost(v.definingOp(), e) * costs_.frequency(v.parentBlock());
  }
  bool isWordOfOperand(ir::Value v) const;
  bool isCopiedInLoop(ir::Value v);
  llvm::SmallVector<ir::Operation *, 4> replacedConversions();
  double recomputationCost();
  double conversionsBackCost();
  bool isNarrowLoad(ir::Operation *op) const;
  int64_t readsPerThread() const;
  bool canLoadIn(ir::tt::LoadOp, const layouts::Encoding *) const;
  bool isInsideUse(ir::OpOperand *use, const layouts::Encoding *e);
  ir::Value materialize(ir::Value v, const layouts::Encoding *e);
  ir::Value materializeCarried(ir::Value v, const layouts::Encoding *e);
  void recompute(ir::Value v, const layouts::Encoding *e);
  llvm::SmallVector<ir::Operation *, 16> operationsLeft() const;
  void changeCarriedLayout(ir::Value v, const layouts::Encoding *e);

  SliceContext &context_;
  LayoutCosts &costs_;
  llvm::SmallVector<ir::ttg::ConvertLayoutOp, 4> conversions_;
  layouts::EncodingPool &pool_;
  const layouts::Encoding *wanted_;
  bool readsWords_; // of copies to shared memory, from which operands of dots are computed through rearrangements
  struct Choice {
    double cost = 0;
    bool recompute = false;
  };
  llvm::DenseMap<LayoutValue, Choice> choices_;
  llvm::SetVector<LayoutValue> recomputed_, converted_;
  using InputsInLayout = std::pair<const layouts::Encoding *, llvm::SmallVector<LayoutValue, 4>>;
  llvm::DenseMap<ir::Value, llvm::SmallVector<InputsInLayout, 1>> inputs_; // of recomputed values, by layout
  llvm::DenseMap<LayoutValue, ir::Value> made_;
};

} // namespace tessera::transforms
