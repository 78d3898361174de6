// What functions take in their layouts (see layout_cost.h).
#include "transforms/layout/layout_cost.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/load_elements.h"
#include "transforms/analyses/op_cost.h"

namespace tessera::transforms {
using namespace ir;

/// Accesses by which a thread loads or stores its elements of a tensor.
static double accessesPerThread(const AxisInfoAnalysis &axes, Value pointers, Value mask) {
  auto type = tensorOf(pointers);
  auto &layout = type.encoding()->layoutOf(type.shape());
  if (!layout.ok()) return double(type.numElements());
  int64_t together = elementsPerAccess(axes, pointers, mask, type.encoding());
  return std::max(1.0, double(layouts::uniqueElementsPerThread(*layout)) / double(together));
}

std::vector<double> costsInLayouts(Module &m, const Tuning &tuning) {
  LayoutCosts costs(tuning);
  AxisInfoAnalysis axes(m);
  auto costOfOne = [&](Operation *op) -> double {
    if (auto c = op->dyn<ttg::ConvertLayoutOp>()) return costs.conversion(c.src(), encodingOf(c.result()));
    if (auto r = op->dyn<tt::ReduceOp>()) return costs.reduction(r);
    if (auto load = op->dyn<tt::LoadOp>(); load && load.ptr().type().isTensor())
      return tuning.conversionWordCost * accessesPerThread(axes, load.ptr(), load.mask());
    if (auto store = op->dyn<tt::StoreOp>(); store && store.ptr().type().isTensor())
      return tuning.conversionWordCost * accessesPerThread(axes, store.ptr(), store.mask());
    bool computes =
        isPure(op) && op->numResults() && op->result(0).type().isTensor() && !isDotOperand(encodingOf(op->result(0)));
    bool isCounted = op->is<tt::ScanOp>() || (!op->numRegions() && (isElementwise(op) || op->is<arith::SelectOp>()));
    return computes && isCounted ? costs.operation(op, encodingOf(op->result(0))) : 0;
  };
  // What is saved in each iteration is weighed against what a layout costs before and after the loop: counts of loops
  // that are constant matter.
  auto executions = [&](Operation *op) { return costs.frequency(op->block(), LayoutCosts::Iterations::Known); };
  std::vector<double> all;
  for (Operation &function : *m.body()) {
    double cost = 0;
    function.walk([&](Operation *op) {
      if (double once = costOfOne(op); once > 0) cost += once * executions(op);
    });
    all.push_back(cost);
  }
  return all;
}

} // namespace tessera::transforms
