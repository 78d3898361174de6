// Scratch in shared memory that lowerings use, asked by the allocation and by the lowering (see shared_allocation.h).
#include "ir/ops.h"
#include "layouts/conversion_plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "transforms/reduce_shape.h"
#include "transforms/shared_allocation.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

ReduceShape reduceShape(const layouts::LinearLayout &source, int axis) {
  ReduceShape s;
  for (unsigned bit = 0, n = source.inDimBits(Dim::Warp); bit < n; ++bit)
    if (source.basis(Dim::Warp, bit)[axis]) s.warps *= 2;
  for (unsigned d = 0; d < source.numOutDims(); ++d)
    if (int(d) != axis) {
      s.resultSizes.push_back(source.outs()[d].size);
      s.results *= source.outs()[d].size;
    }
  return s;
}

int64_t reduceScratchBytes(const ReduceShape &s, Type operand) {
  int64_t bytes = std::max<int64_t>(1, operand.scalar().bitWidth() / 8);
  return llvm::alignTo(s.results * s.warps * bytes, 16);
}

Scratch scratchOf(Operation *op, const TargetInfo &target) {
  Scratch s;
  if (auto reduce = op->dyn<tt::ReduceOp>()) {
    auto type = op->operand(0).type().cast<TensorType>();
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return s;
    auto shape = reduceShape(*layout, reduce.axis());
    if (shape.warps == 1) return s;
    for (auto v : op->operands()) s.bytes += reduceScratchBytes(shape, v.type());
  } else if (op->is<tt::ScanOp>()) {
    for (auto v : op->operands()) s.bytes += llvm::alignTo(v.type().cast<TensorType>().numElements() * std::max<int64_t>(1, v.type().scalar().bitWidth() / 8), 16);
  } else if (auto convert = op->dyn<ttg::ConvertLayoutOp>()) {
    auto plan = layouts::planConversionOf(convert.src().type().cast<TensorType>().encoding(), convert.result().type().cast<TensorType>().encoding(), convert.src().type().cast<TensorType>().shape(),
                                          convert.src().type().scalar().bitWidth(), {target.sharedMemoryBanks, target.sharedMemoryBankBytes, target.maxSharedAccessBytes});
    if (plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory) s.bytes = plan->scratchBytes;
  } else if ((op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>()) && !op->useEmpty()) {
    // One thread does the atomic; the others read its result here.
    Type t = op->result().type();
    if (!t.isTensor()) s.bytes = 16;
    else {
      auto layout = t.cast<TensorType>().encoding()->toLinearLayout(t.cast<TensorType>().shape());
      if (!layout.ok()) return s;
      for (auto [dim, mask] : layout->freeVariableMasks())
        if (mask && dim != Dim::Register) s.bytes = t.cast<TensorType>().numElements() * std::max<int64_t>(1, t.scalar().bitWidth() / 8);
    }
  }
  return s;
}

} // namespace tessera::transforms
