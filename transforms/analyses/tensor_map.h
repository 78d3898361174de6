// What tensor maps can describe: 128 bytes with the address, sizes, strides and element type of a tensor in global
// memory, and the box and swizzle of its blocks in shared memory, from which TMA copies.
#pragma once
#include "ir/type.h"
#include "layouts/nvmma_shared.h"

namespace tessera::transforms {

/// Bytes of which addresses and strides of tensors, and rows of blocks, are multiples (CUDA driver API,
/// cuTensorMapEncodeTiled).
inline constexpr int64_t kTensorMapAlignment = 16;

/// The code of an element type (PTX ISA, "tensormap.replace", .elemtype); -1: none. Integers of 32 and 64 bits are
/// unsigned unless the type says that they are signed; 8-bit floats count as bytes.
int tensorMapElementType(ir::Type);

/// The swizzle_mode of a tensor map for buffers in the layout (PTX ISA, "tensormap.replace", .swizzle_mode).
int tensorMapSwizzle(const layouts::NvmmaSharedEncoding &);

} // namespace tessera::transforms
