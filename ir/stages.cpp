// Stages of the IR and how each is checked (see stages.h).
#include "ir/stages.h"
#include "ir/attribute_names.h"
#include "ir/defined_types.h"
#include "ir/ops.h"

namespace tessera::ir {

llvm::ArrayRef<IrStage> allIrStages() {
  static constexpr IrStage all[] = {IrStage::LayoutsAssigned, IrStage::WarpGroupsAllocated,
                                    IrStage::SharedMemoryAllocated, IrStage::BarriersInserted};
  return all;
}

llvm::StringRef irStageName(IrStage stage) {
  switch (stage) {
  case IrStage::LayoutsAssigned: return "layouts assigned";
  case IrStage::WarpGroupsAllocated: return "warp groups allocated";
  case IrStage::SharedMemoryAllocated: return "shared memory allocated";
  case IrStage::BarriersInserted: return "barriers inserted";
  }
  llvm_unreachable("stage");
}

llvm::StringRef contradictionOf(IrStage stage) {
  switch (stage) {
  case IrStage::LayoutsAssigned: return "makes a tensor without a layout";
  case IrStage::WarpGroupsAllocated: return "does not say on which warps its partitions run";
  case IrStage::SharedMemoryAllocated: return "has no offset in shared memory";
  case IrStage::BarriersInserted: return "";
  }
  llvm_unreachable("stage");
}

static bool hasTensorWithoutLayout(Operation *op) {
  bool found = false;
  forEachDefinedType(op, [&](Type t) { found |= t.isTensor() && !t.cast<TensorType>().encoding(); });
  return found;
}

static bool contradicts(Operation *op, IrStage stage) {
  switch (stage) {
  case IrStage::LayoutsAssigned: return hasTensorWithoutLayout(op);
  case IrStage::WarpGroupsAllocated: return op->is<ttg::WarpSpecializeOp>() && !op->hasAttr("warpGroupStartIds");
  case IrStage::SharedMemoryAllocated: return op->is<ttg::LocalAllocOp>() && !op->hasAttr(kAllocationOffsetAttr);
  case IrStage::BarriersInserted: return false;
  }
  llvm_unreachable("stage");
}

Operation *firstContradicting(Module &m, IrStage stage) {
  Operation *found = nullptr;
  m.op()->walk([&](Operation *op) {
    if (!found && contradicts(op, stage)) found = op;
  });
  return found;
}

} // namespace tessera::ir
