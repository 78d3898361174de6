// Pass choose-tensor-memory-layouts: loads from tensor memory and stores to it get registers that an access moves
// (layouts/tensor_memory_access.h); what the program wants to have is converted.
// Runs: before lowering, on targets with tensor memory, before the conversions that it makes get shared memory.
//
//   %x = ttng.tmem_load %acc : … -> tensor<128x64xf32, #blocked>
//
//   →  %y = ttng.tmem_load %acc : … -> tensor<128x64xf32, #linear>
//      %x = ttg.convert_layout %y : #linear -> #blocked
//
// Triton and Gluon choose such layouts themselves, but among more shapes of accesses (16x64b, 16x128b, 16x256b) than
// are lowered here. Layouts that an access moves stay. Buffers that are too small for the warps, or not modelled, are
// left to the lowering, whose error says so.
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/tensor_memory_access.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

/// The tensor's type with registers that an access moves; none if its own are, or if there are none.
static std::optional<TensorType> betterType(Operation *op, TensorType tensor, Value memory) {
  auto buffer = memory.type().cast<MemDescType>();
  auto *encoding = layouts::dynCast<layouts::TensorMemoryEncoding>(buffer.encoding());
  if (!encoding || !tensor.encoding() || buffer.rank() != 2) return std::nullopt;
  auto &given = tensor.encoding()->layoutOf(tensor.shape());
  unsigned bits = tensor.element().bitWidth();
  if (!given.ok() || layouts::planTensorMemoryAccess(*given, *encoding, buffer.shape(), bits).ok()) return std::nullopt;
  auto better = layouts::tensorMemoryRegisters(*encoding, buffer.shape(), bits, unsigned(numWarpsAt(op)));
  if (!better || !layouts::planTensorMemoryAccess(*better, *encoding, buffer.shape(), bits).ok()) return std::nullopt;
  auto linear = op->context().encodings().getLinear(*better);
  if (!linear.ok()) return std::nullopt;
  return tensor.withEncoding(*linear).cast<TensorType>();
}

static bool chooseForLoad(ttng::TmemLoadOp load) {
  Value result = load.result();
  auto wanted = result.type().cast<TensorType>();
  auto better = betterType(load.op, wanted, load.src());
  if (!better) return false;
  result.setType(*better);
  Builder after = Builder::after(load.op);
  auto convert = ttg::ConvertLayoutOp::create(after, load->loc(), wanted, result);
  result.replaceUsesIf(convert.result(), [&](auto &use) { return use.owner != convert.op; });
  return true;
}

/// `operand`: the stored tensor's.
static bool chooseForStore(Operation *op, unsigned operand, Value memory) {
  Value stored = op->operand(operand);
  auto better = betterType(op, stored.type().cast<TensorType>(), memory);
  if (!better) return false;
  Builder before(op);
  op->setOperand(operand, ttg::ConvertLayoutOp::create(before, op->loc(), *better, stored).result());
  return true;
}

absl::StatusOr<bool> chooseTensorMemoryLayouts(Module &module, PassContext &) {
  llvm::SmallVector<Operation *, 8> accesses;
  module.op()->walk([&](Operation *op) {
    if (op->is<ttng::TmemLoadOp>() || op->is<ttng::TmemStoreOp>() || op->is<ttng::TmemAllocOp>())
      accesses.push_back(op);
  });
  bool changed = false;
  for (Operation *op : accesses) {
    if (auto load = op->dyn<ttng::TmemLoadOp>()) changed |= chooseForLoad(load);
    if (auto store = op->dyn<ttng::TmemStoreOp>()) {
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (op->operand(i) == store.src()) changed |= chooseForStore(op, i, store.dst());
    }
    if (auto alloc = op->dyn<ttng::TmemAllocOp>(); alloc && alloc.src())
      changed |= chooseForStore(op, 0, alloc.result());
  }
  return changed;
}

} // namespace tessera::transforms
