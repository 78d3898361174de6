// A load of a block of a matrix as a bulk copy (TMA) can do it: the base, sizes and strides of the matrix, and where
// the block starts. They are read off the pointers and mask that block_access.cpp creates for a descriptor:
//
//   pointers   base + start0 · stride + start1 + (row · stride + column)
//   mask       −start0 ≤ row < size0 − start0  and  −start1 ≤ column < size1 − start1
//
// with zeros for masked-off elements. Such a copy reads exactly the elements that the load reads.
#pragma once
#include "ir/ops.h"
#include <array>
#include <optional>

namespace tessera::transforms {
class AxisInfoAnalysis;

struct TensorBlock {
  ir::Value base;                 // a pointer
  std::array<ir::Value, 2> size;  // i32, rows then columns
  ir::Value stride;               // i64, elements from row to row; columns are contiguous
  std::array<ir::Value, 2> start; // i32; null: 0
};

/// Attribute of loads that were loads of a descriptor's block: its strides are positive and less than 2⁴⁰ bytes. Its
/// base and strides are also to be multiples of 16 bytes, but tritongpu-pipeline proves that again by AxisInfo.
inline constexpr const char *kFromDescriptorAttr = "tessera.descriptor";

/// Nothing if the load is not recognised as such a copy, or if starts and sizes are no extended i32. If the mask has no
/// lower bound, the start must be known not to be negative.
std::optional<TensorBlock> tensorBlock(ir::tt::LoadOp, const AxisInfoAnalysis &);

} // namespace tessera::transforms
