// Pass allocate-tensor-memory: every buffer in tensor memory gets its columns. (Triton: TensorMemoryAllocation.)
// Runs: before lowering, on targets with tensor memory.
//
//   %acc = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, …>       {tensor_memory_col_offset = 0 : i32}
//   %p = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf16, …>      →   {tensor_memory_col_offset = 128 : i32}
//                                                                     and on the module: ttg.tensor_memory_size = 256
//
// A kernel allocates once, at its beginning: the least power of two, from 32 on, that has the columns of all of its
// buffers. A multiprocessor has 512. The largest buffers come first, so that each begins at a multiple of its size.
//
// Not done: buffers that do not live at the same time share no columns, and buffers of 64 rows have all 128 lanes.
#include "ir/module_attributes.h"
#include "ir/partitions.h"
#include "layouts/tensor_memory_places.h"
#include "transforms/memory/tensor_memory.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

namespace {

struct Buffer {
  Operation *alloc;
  int64_t columns;
};

/// The columns of a function's buffers; -1 after a diagnostic.
int64_t allocate(tt::FuncOp func, PassContext &context) {
  llvm::SmallVector<Buffer, 4> buffers;
  bool ok = true;
  auto refuse = [&](Operation *op, const llvm::Twine &why) {
    context.diagnostics.error(op->loc(), "'" + op->name() + "' " + why.str());
    ok = false;
  };
  func.op->walk([&](Operation *op) {
    auto alloc = op->dyn<ttng::TmemAllocOp>();
    if (!alloc) return;
    if (func.symVisibility() == "private") return refuse(op, "must stand in a kernel, not in a function that it calls");
    if (partitionOf(op).hasOwnWarps())
      return refuse(op, "must stand in the kernel itself, which hands the buffer to the partition: its own warps "
                        "allocate tensor memory");
    auto columns = tensorMemoryColumns(alloc.result().type().cast<MemDescType>());
    if (!columns.ok()) return refuse(op, std::string(columns.status().message()));
    buffers.push_back({op, *columns});
  });
  if (!ok) return -1;
  llvm::stable_sort(buffers, [](auto &a, auto &b) { return a.columns > b.columns; });
  int64_t next = 0;
  for (auto &b : buffers) {
    if (next + b.columns > layouts::kTensorMemoryColumns) {
      refuse(b.alloc, llvm::formatv("needs {0} columns of tensor memory beside {1} of other buffers; a block has {2}",
                                    b.columns, next, layouts::kTensorMemoryColumns)
                          .str());
      return -1;
    }
    b.alloc->setAttr(kTensorMemoryColumnAttr, IntegerAttr::getI32(func->context(), next));
    next += b.columns;
  }
  return next;
}

} // namespace

absl::StatusOr<bool> allocateTensorMemory(Module &module, PassContext &context) {
  int64_t most = 0;
  for (auto &op : *module.body()) {
    auto func = op.dyn<tt::FuncOp>();
    if (!func || func.body().empty()) continue;
    int64_t columns = allocate(func, context);
    if (columns < 0) return absl::InvalidArgumentError("tensor memory");
    most = std::max(most, columns);
  }
  if (!most) return false;
  setModuleInt(module.op(), kTensorMemorySizeAttr,
               std::max<int64_t>(layouts::kTensorMemoryMinColumns, int64_t(llvm::PowerOf2Ceil(uint64_t(most)))));
  return true;
}

} // namespace tessera::transforms
