// Blocks that TMA moves (see descriptor_blocks.h).
#include "transforms/analyses/descriptor_blocks.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/nvmma_shared.h"

namespace tessera::transforms {
using namespace ir;

bool hasShapeOfBlock(TensorDescType desc, TensorType data) {
  auto block = desc.shape(), shape = data.shape();
  if (shape.size() > block.size() || block.take_back(shape.size()) != shape) return false;
  return llvm::all_of(block.drop_back(shape.size()), [](int64_t n) { return n == 1; });
}

MemDescType bufferOfBlock(Value desc, TensorType data, bool isMutable) {
  auto type = desc.type().cast<TensorDescType>();
  auto *shared = layouts::dynCast<layouts::NvmmaSharedEncoding>(type.encoding());
  if (!shared) return {};
  bool hasShape = hasShapeOfBlock(type, data);
  bool mayBeReshaped = data.rank() < type.rank() && data.numElements() == type.numElements();
  if (!hasShape && !mayBeReshaped) return {};
  Context &c = *data.element().context();
  const layouts::Encoding *layout = shared;
  if (data.rank() != type.rank()) {
    layouts::NvmmaSharedParams p = shared->params();
    p.rank = data.rank();
    auto narrower = c.encodings().getNvmmaShared(p);
    if (!narrower.ok()) return {};
    layout = *narrower;
  }
  if (!hasShape) {
    auto *reshaped = layouts::inferReshape(c.encodings(), shared, type.shape(), data.shape());
    if (!reshaped || !layouts::sameLayout(reshaped, layout, data.shape())) return {};
  }
  return MemDescType::get(data.shape(), data.element(), layout, sharedMemorySpace(c), isMutable);
}

llvm::SmallVector<NamedAttribute, 2> cacheAttrsOf(const Operation *op) {
  llvm::SmallVector<NamedAttribute, 2> out;
  for (auto &a : op->attrs())
    if (a.name == "cache" || a.name == "evict") out.push_back(a);
  return out;
}

} // namespace tessera::transforms
