// Places in tensor memory, for the lowerings of accesses to it (tensor_memory.cpp) and of dots in it
// (tensor_memory_dot.cpp).
#pragma once
#include "codegen/lowering/lowering.h"
#include "ir/ops.h"
#include "layouts/tensor_memory_places.h"
#include <optional>

namespace tessera::codegen {

const layouts::TensorMemoryEncoding *tensorMemoryEncodingOf(ir::MemDescType);
/// Where a buffer's elements are: Dim0, Dim1 → Lane, Offset (elements). None after a diagnostic.
std::optional<layouts::LinearLayout> tensorMemoryPlacesOf(ir::Operation *, ir::MemDescType, FunctionLowering &);

struct TensorPlace {
  int32_t lane = 0, element = 0;
  auto operator<=>(const TensorPlace &) const = default;

  static TensorPlace of(const layouts::LinearLayout &places, int32_t row, int32_t column);
  /// What is added to a buffer's address for it. @pre it begins a column; `bits`: of an element
  int64_t address(unsigned bits) const;
};

/// The lane of tensor memory at which a buffer begins: 16 if it is a part of a buffer of 64 rows whose columns are in
/// the second half of each warp's lanes. None if the allocation behind it is not known.
std::optional<int32_t> firstLaneOf(ir::Value buffer, FunctionLowering &);

bool lowerTensorMemoryDot(ir::ttng::TcGen5MmaOp, FunctionLowering &);
bool lowerTensorMemoryCommit(ir::ttng::TcGen5CommitOp, FunctionLowering &);

} // namespace tessera::codegen
