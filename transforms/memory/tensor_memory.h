// Buffers in tensor memory (Blackwell): ttng.tmem_alloc and the views of its results.
#pragma once
#include "absl/status/statusor.h"
#include "ir/ops.h"

namespace tessera::transforms {

/// On ttng.tmem_alloc: the first of its columns of tensor memory (i32), counted from the first one that the block has.
inline constexpr llvm::StringLiteral kTensorMemoryColumnAttr = "tensor_memory_col_offset";
/// On the module: the columns that a block allocates, a power of two from 32 to 512.
inline constexpr llvm::StringLiteral kTensorMemorySizeAttr = "ttg.tensor_memory_size";

/// Whether the type is that of a buffer in tensor memory.
bool isInTensorMemory(ir::Type);
/// Columns that a buffer of the type takes, all of a multi-buffer's. Error: its layout is not modelled.
absl::StatusOr<int64_t> tensorMemoryColumns(ir::MemDescType);
/// The allocation behind a buffer; null if it is not known.
ir::ttng::TmemAllocOp tensorMemoryAllocation(ir::Value);

} // namespace tessera::transforms
