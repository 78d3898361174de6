// The partitioned_shared encoding (see partitioned_shared.h).
#include "layouts/partitioned_shared.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status PartitionedSharedEncoding::check(int64_t numPartitions, int64_t numGroups, int64_t partitionDim,
                                              const Encoding *layout) {
  if (auto s = checkPowerOfTwo("numPartitions", numPartitions); !s.ok()) return s;
  if (numPartitions < 2 || numPartitions > (1 << 16)) return invalid("numPartitions must be at least 2");
  if (auto s = checkPowerOfTwo("numGroups", numGroups); !s.ok()) return s;
  if (numGroups > (1 << 16)) return invalid("numGroups is too large");
  if (!layout || !layout->isShared()) return invalid("partitionLayout must be a layout of shared memory");
  if (partitionDim < 0 || partitionDim >= int64_t(layout->rank()))
    return invalid(llvm::formatv("partitionDim = {0} is not a dimension of partitionLayout, whose rank is {1}",
                                 partitionDim, layout->rank()));
  return absl::OkStatus();
}

void PartitionedSharedEncoding::print(llvm::raw_ostream &o, AliasPrinter alias) const {
  o << "#ttg.partitioned_shared<{numPartitions = " << numPartitions_ << ", numGroups = " << numGroups_
    << ", partitionDim = " << partitionDim_ << ", partitionLayout = ";
  if (!alias(layout_, o)) layout_->print(o, alias);
  o << "}>";
}

} // namespace tessera::layouts
