// The EncodingPool (see encoding_pool.h). The key is the printed form, with parents as their addresses.
#include "layouts/encoding_pool.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

EncodingPool::EncodingPool() = default;
EncodingPool::~EncodingPool() = default;

template <class T> const T *EncodingPool::unique(std::unique_ptr<T> e) {
  llvm::SmallString<160> key;
  llvm::raw_svector_ostream o(key);
  e->print(o, [](const Encoding *parent, llvm::raw_ostream &out) {
    out << (const void *)parent;
    return true;
  });
  auto &known = byText_[key];
  if (!known) known = std::move(e);
  return static_cast<const T *>(known.get());
}

const Encoding *EncodingPool::inferOnce(llvm::ArrayRef<int64_t> question,
                                        llvm::function_ref<const Encoding *()> infer) {
  llvm::SmallVector<int64_t, 12> key(question);
  if (auto known = answers_.find(key); known != answers_.end()) return known->second;
  return answers_[std::move(key)] = infer(); // infer may ask as well
}

absl::StatusOr<const BlockedEncoding *> EncodingPool::getBlocked(BlockedParams p) {
  if (auto s = BlockedEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<BlockedEncoding>(std::move(p)));
}
absl::StatusOr<const SliceEncoding *> EncodingPool::getSlice(int64_t dim, const Encoding *parent) {
  if (auto s = SliceEncoding::check(dim, parent); !s.ok()) return s;
  return unique(std::make_unique<SliceEncoding>(dim, parent));
}
absl::StatusOr<const DotOperandEncoding *> EncodingPool::getDotOperand(int64_t opIdx, const Encoding *parent,
                                                                       int64_t kWidth) {
  if (auto s = DotOperandEncoding::check(opIdx, parent, kWidth); !s.ok()) return s;
  return unique(std::make_unique<DotOperandEncoding>(opIdx, parent, kWidth));
}
absl::StatusOr<const LinearEncoding *> EncodingPool::getLinear(LinearLayout l, bool generic) {
  if (auto s = LinearEncoding::check(l, generic); !s.ok()) return s;
  return unique(std::make_unique<LinearEncoding>(std::move(l), generic));
}
absl::StatusOr<const SwizzledSharedEncoding *> EncodingPool::getSwizzledShared(SwizzledSharedParams p, bool rotating) {
  if (auto s = SwizzledSharedEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<SwizzledSharedEncoding>(std::move(p), rotating));
}
absl::StatusOr<const NvidiaMmaEncoding *> EncodingPool::getNvidiaMma(NvidiaMmaParams p) {
  if (auto s = NvidiaMmaEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<NvidiaMmaEncoding>(std::move(p)));
}
absl::StatusOr<const AmdMfmaEncoding *> EncodingPool::getAmdMfma(AmdMfmaParams p) {
  if (auto s = AmdMfmaEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<AmdMfmaEncoding>(std::move(p)));
}
absl::StatusOr<const AmdWmmaEncoding *> EncodingPool::getAmdWmma(AmdWmmaParams p) {
  if (auto s = AmdWmmaEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<AmdWmmaEncoding>(std::move(p)));
}
absl::StatusOr<const NvmmaSharedEncoding *> EncodingPool::getNvmmaShared(NvmmaSharedParams p) {
  if (auto s = NvmmaSharedEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<NvmmaSharedEncoding>(std::move(p)));
}
absl::StatusOr<const PaddedSharedEncoding *> EncodingPool::getPaddedShared(PaddedSharedParams p) {
  if (auto s = PaddedSharedEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<PaddedSharedEncoding>(std::move(p)));
}
absl::StatusOr<const SharedLinearEncoding *> EncodingPool::getSharedLinear(LinearLayout l, int64_t alignment) {
  if (auto s = SharedLinearEncoding::check(l, alignment); !s.ok()) return s;
  return unique(std::make_unique<SharedLinearEncoding>(std::move(l), alignment));
}
absl::StatusOr<const PartitionedSharedEncoding *> EncodingPool::getPartitionedShared(int64_t numPartitions,
                                                                                     int64_t numGroups,
                                                                                     int64_t partitionDim,
                                                                                     const Encoding *layout) {
  if (auto s = PartitionedSharedEncoding::check(numPartitions, numGroups, partitionDim, layout); !s.ok()) return s;
  return unique(std::make_unique<PartitionedSharedEncoding>(numPartitions, numGroups, partitionDim, layout));
}
absl::StatusOr<const TensorMemoryEncoding *> EncodingPool::getTensorMemory(TensorMemoryParams p) {
  if (auto s = TensorMemoryEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<TensorMemoryEncoding>(std::move(p)));
}
absl::StatusOr<const TensorMemoryScalesEncoding *> EncodingPool::getTensorMemoryScales(TensorMemoryScalesParams p) {
  if (auto s = TensorMemoryScalesEncoding::check(p); !s.ok()) return s;
  return unique(std::make_unique<TensorMemoryScalesEncoding>(std::move(p)));
}
const BlockedEncoding *EncodingPool::defaultBlocked(llvm::ArrayRef<int64_t> shape, int numWarps, int threadsPerWarp,
                                                    int numCtas) {
  return unique(std::make_unique<BlockedEncoding>(defaultBlockedParams(shape, numWarps, threadsPerWarp, numCtas)));
}

} // namespace tessera::layouts
