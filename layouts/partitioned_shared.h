// The partitioned_shared encoding: a tensor cut along `partitionDim` into numPartitions · numGroups pieces that are
// distributed in turn over numPartitions separate buffers of shared memory (the LDS partitions of gfx1250); each piece
// has the layout `partitionLayout`. Read, checked and printed; its map into several buffers is not modelled.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class PartitionedSharedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::PartitionedShared;
  PartitionedSharedEncoding(int32_t numPartitions, int32_t numGroups, int32_t partitionDim, const Encoding *layout)
      : Encoding(kKind), numPartitions_(numPartitions), numGroups_(numGroups), partitionDim_(partitionDim),
        layout_(layout) {}
  static absl::Status check(int64_t numPartitions, int64_t numGroups, int64_t partitionDim, const Encoding *layout);
  int32_t numPartitions() const { return numPartitions_; }
  int32_t numGroups() const { return numGroups_; }
  int32_t partitionDim() const { return partitionDim_; }
  const Encoding *partitionLayout() const { return layout_; }
  unsigned rank() const override { return layout_->rank(); }
  const CtaLayout &cta() const override { return layout_->cta(); }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t>) const override {
    return absl::UnimplementedError("the layout of partitioned_shared is not modelled");
  }
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  int32_t numPartitions_, numGroups_, partitionDim_;
  const Encoding *layout_;
};

} // namespace tessera::layouts
