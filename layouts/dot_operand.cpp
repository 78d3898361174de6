// The dot_op encoding (see dot_operand.h).
#include "layouts/dot_operand.h"
#include "layouts/amd_mfma.h"
#include "layouts/amd_wmma.h"
#include "layouts/blocked.h"
#include "layouts/nvidia_mma.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status DotOperandEncoding::check(int64_t opIdx, const Encoding *parent, int64_t kWidth) {
  if (opIdx != 0 && opIdx != 1) return invalid(llvm::formatv("opIdx must be 0 or 1, not {0}", opIdx));
  if (!parent || !parent->isDistributed()) return invalid("the parent of a dot_op must be a distributed layout");
  if (kWidth < 0 || kWidth > 64) return invalid(llvm::formatv("kWidth = {0} is out of range", kWidth));
  if (parent->rank() < 2) return invalid("the parent of a dot_op must have at least two dimensions");
  if (kWidth & (kWidth - 1)) return invalid(llvm::formatv("kWidth = {0} must be a power of two", kWidth));
  switch (parent->kind()) {
  case EncodingKind::Blocked:
    if (kWidth != 0) return invalid("a dot_op over a blocked layout has no kWidth");
    return absl::OkStatus();
  case EncodingKind::NvidiaMma: {
    int32_t version = static_cast<const NvidiaMmaEncoding *>(parent)->versionMajor();
    if (version == 2 || version == 3) {
      if (kWidth == 0) return invalid(llvm::formatv("a dot_op over nvidia_mma version {0} needs a kWidth", version));
    } else if (kWidth != 0)
      return invalid(llvm::formatv("a dot_op over nvidia_mma version {0} has no kWidth", version));
    if (version == 3 && opIdx != 0)
      return invalid("operand 1 of a version 3 nvidia_mma is read from shared memory; it has no dot_op layout");
    return absl::OkStatus();
  }
  case EncodingKind::AmdMfma:
    if (kWidth == 0) return invalid("a dot_op over amd_mfma needs a kWidth");
    return absl::OkStatus();
  case EncodingKind::AmdWmma: {
    int32_t version = static_cast<const AmdWmmaEncoding *>(parent)->params().version;
    if (version == 1 && kWidth != 8 && kWidth != 16)
      return invalid("a dot_op over amd_wmma version 1 needs kWidth = 8 or 16");
    if (version == 2 && kWidth != 4 && kWidth != 8 && kWidth != 16)
      return invalid("a dot_op over amd_wmma version 2 needs kWidth = 4, 8 or 16");
    if (kWidth == 0) return invalid("a dot_op over amd_wmma needs a kWidth");
    return absl::OkStatus();
  }
  case EncodingKind::Linear:
  case EncodingKind::GenericLinear:
  case EncodingKind::Slice:
  case EncodingKind::DotOperand:
  case EncodingKind::SwizzledShared:
  case EncodingKind::NvmmaShared:
  case EncodingKind::AmdRotatingShared:
  case EncodingKind::PaddedShared:
  case EncodingKind::SharedLinear:
  case EncodingKind::PartitionedShared:
  case EncodingKind::TensorMemory:
  case EncodingKind::TensorMemoryScales: break;
  }
  return invalid("the parent of a dot_op must be a blocked layout or that of a matrix instruction");
}

/// Dots by fma: every thread has the whole of K for its rows or columns.
static LinearLayout blockedOperand(const BlockedEncoding &blocked, unsigned k, const CtaLayout &cta,
                                   llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int32_t, 4> size(blocked.sizePerThread());
  size[k] = shape[k];
  auto broadcastK = [&](Dim in, llvm::ArrayRef<int32_t> counts) {
    LinearLayout l;
    for (auto d : blocked.order())
      l *= d == int32_t(k) ? LinearLayout::zeros1D(counts[d], in, tensorDim(d))
                           : LinearLayout::identity1D(counts[d], in, tensorDim(d));
    return l;
  };
  return combineCtaWithShape(identityND(Dim::Register, size, blocked.order()) *
                                 broadcastK(Dim::Lane, blocked.threadsPerWarp()) *
                                 broadcastK(Dim::Warp, blocked.warpsPerCta()),
                             cta, shape);
}

absl::StatusOr<LinearLayout> DotOperandEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  if (auto *blocked = dynCast<BlockedEncoding>(parent_)) return blockedOperand(*blocked, kDim(), cta_, shape);
  if (auto *mma = dynCast<NvidiaMmaEncoding>(parent_)) return mma->operandLayout(shape, opIdx_, kWidth_);
  if (auto *mfma = dynCast<AmdMfmaEncoding>(parent_)) return mfma->operandLayout(shape, opIdx_, kWidth_);
  if (auto *wmma = dynCast<AmdWmmaEncoding>(parent_)) return wmma->operandLayout(shape, opIdx_, kWidth_);
  return absl::UnimplementedError("the layout of a dot_op over " + parent_->str() + " is not modelled");
}

void DotOperandEncoding::print(llvm::raw_ostream &o, AliasPrinter alias) const {
  o << "#ttg.dot_op<{opIdx = " << opIdx_ << ", parent = ";
  if (!alias(parent_, o)) parent_->print(o, alias);
  if (kWidth_) o << ", kWidth = " << kWidth_;
  o << "}>";
}

} // namespace tessera::layouts
