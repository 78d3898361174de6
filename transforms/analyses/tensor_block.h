// A load of a block of a matrix, seen as a copy by a tensor's description: what base, sizes and strides the matrix
// has and where the block begins, read from the pointers and mask that block_access.cpp makes of a descriptor:
//
//   pointers   base + start0 · stride + start1 + (row · stride + column)
//   mask       −start0 ≤ row < size0 − start0  and  −start1 ≤ column < size1 − start1
//
// with zeros for the rest. Every element that the load reads is one that such a copy reads, and no others are.
#pragma once
#include "ir/ops.h"
#include <array>
#include <optional>

namespace tessera::transforms {
class AxisInfoAnalysis;

struct TensorBlock {
  ir::Value base;                 // a pointer
  std::array<ir::Value, 2> size;  // i32, rows then columns
  ir::Value stride;               // i64, elements from row to row; columns lie one after the other
  std::array<ir::Value, 2> start; // i32; null: 0
};

/// Of loads that were loads of a descriptor's block: its strides are positive, multiples of 16 bytes, and less than
/// 2⁴⁰.
inline constexpr const char *kFromDescriptorAttr = "tessera.descriptor";

/// Empty where the load is not seen to be such a copy, or starts and sizes are no extended i32. Where the mask has no
/// lower bound, the start must be known not to be negative.
std::optional<TensorBlock> tensorBlock(ir::tt::LoadOp, const AxisInfoAnalysis &);

} // namespace tessera::transforms
