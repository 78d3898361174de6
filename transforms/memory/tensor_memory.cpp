// Questions about buffers in tensor memory (see tensor_memory.h).
#include "transforms/memory/tensor_memory.h"
#include "ir/partitions.h"
#include "layouts/tensor_memory_places.h"
#include "transforms/analyses/memdesc_root.h"

namespace tessera::transforms {
using namespace ir;

bool isInTensorMemory(Type type) {
  auto buffer = type.dyn_cast<MemDescType>();
  if (!buffer || !buffer.encoding()) return false;
  auto kind = buffer.encoding()->kind();
  return kind == layouts::EncodingKind::TensorMemory || kind == layouts::EncodingKind::TensorMemoryScales;
}

absl::StatusOr<int64_t> tensorMemoryColumns(MemDescType type) {
  auto *encoding = layouts::dynCast<layouts::TensorMemoryEncoding>(type.encoding());
  if (!encoding) return absl::UnimplementedError("scales in tensor memory are not modelled");
  if (type.rank() < 2) return absl::InvalidArgumentError("a buffer in tensor memory has two dimensions");
  auto columns = layouts::tensorMemoryColumns(*encoding, type.shape().take_back(2), type.element().bitWidth());
  if (!columns.ok()) return columns;
  int64_t all = *columns;
  for (int64_t d : type.shape().drop_back(2)) {
    if (d < 1 || d > layouts::kTensorMemoryColumns) return absl::InvalidArgumentError("too many buffers");
    all *= d;
  }
  return all;
}

ttng::TmemAllocOp tensorMemoryAllocation(Value buffer) {
  while (true) {
    if (Value capture = captureOf(buffer))
      buffer = capture;
    else if (Value viewed = viewedMemdesc(buffer))
      buffer = viewed;
    else
      return buffer.definedBy<ttng::TmemAllocOp>();
  }
}

} // namespace tessera::transforms
