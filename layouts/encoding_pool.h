// The EncodingPool makes and owns encodings: equal parameters give the same object. One per IR Context, used by one
// thread at a time. The get functions check their parameters and return what is wrong as an error.
#pragma once
#include "layouts/amd_mfma.h"
#include "layouts/amd_wmma.h"
#include "layouts/blocked.h"
#include "layouts/dot_operand.h"
#include "layouts/linear.h"
#include "layouts/nvidia_mma.h"
#include "layouts/nvmma_shared.h"
#include "layouts/padded_shared.h"
#include "layouts/partitioned_shared.h"
#include "layouts/shared_linear.h"
#include "layouts/slice.h"
#include "layouts/swizzled_shared.h"
#include "layouts/tensor_memory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>

namespace tessera::layouts {

class EncodingPool {
public:
  EncodingPool();
  ~EncodingPool();
  absl::StatusOr<const BlockedEncoding *> getBlocked(BlockedParams);
  absl::StatusOr<const SliceEncoding *> getSlice(int64_t dim, const Encoding *parent);
  absl::StatusOr<const DotOperandEncoding *> getDotOperand(int64_t opIdx, const Encoding *parent, int64_t kWidth);
  absl::StatusOr<const LinearEncoding *> getLinear(LinearLayout, bool generic = false);
  absl::StatusOr<const SwizzledSharedEncoding *> getSwizzledShared(SwizzledSharedParams, bool rotating = false);
  absl::StatusOr<const NvidiaMmaEncoding *> getNvidiaMma(NvidiaMmaParams);
  absl::StatusOr<const AmdMfmaEncoding *> getAmdMfma(AmdMfmaParams);
  absl::StatusOr<const AmdWmmaEncoding *> getAmdWmma(AmdWmmaParams);
  absl::StatusOr<const NvmmaSharedEncoding *> getNvmmaShared(NvmmaSharedParams);
  absl::StatusOr<const PaddedSharedEncoding *> getPaddedShared(PaddedSharedParams);
  absl::StatusOr<const SharedLinearEncoding *> getSharedLinear(LinearLayout, int64_t alignment = 16);
  absl::StatusOr<const PartitionedSharedEncoding *> getPartitionedShared(int64_t numPartitions, int64_t numGroups,
                                                                         int64_t partitionDim, const Encoding *layout);
  absl::StatusOr<const TensorMemoryEncoding *> getTensorMemory(TensorMemoryParams);
  absl::StatusOr<const TensorMemoryScalesEncoding *> getTensorMemoryScales(TensorMemoryScalesParams);

  /// The default blocked encoding of a shape. @pre the shape is one of powers of two
  const BlockedEncoding *defaultBlocked(llvm::ArrayRef<int64_t> shape, int numWarps, int threadsPerWarp,
                                        int numCtas = 1);

  /// What `infer` gives, kept for the next time that the same question is asked. An encoding in it is its address.
  const Encoding *inferOnce(llvm::ArrayRef<int64_t> question, llvm::function_ref<const Encoding *()> infer);

private:
  template <class T> const T *unique(std::unique_ptr<T>);
  llvm::StringMap<std::unique_ptr<Encoding>> byText_;
  std::map<llvm::SmallVector<int64_t, 12>, const Encoding *> answers_; // of inferOnce
};

} // namespace tessera::layouts
