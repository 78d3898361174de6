// The dot_op encoding (see dot_operand.h).
#include "layouts/dot_operand.h"
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
  if (parent->kind() == EncodingKind::Blocked && kWidth != 0) return invalid("a dot_op over a blocked layout has no kWidth");
  if (auto *mma = dynCast<NvidiaMmaEncoding>(parent)) {
    if (mma->versionMajor() >= 2 && kWidth == 0) return invalid(llvm::formatv("a dot_op over nvidia_mma version {0} needs a kWidth", mma->versionMajor()));
    if (mma->versionMajor() == 3 && opIdx != 0) return invalid("operand 1 of a version 3 nvidia_mma is read from shared memory; it has no dot_op layout");
  }
  if (parent->kind() == EncodingKind::AmdMfma && kWidth == 0) return invalid("a dot_op over amd_mfma needs a kWidth");
  return absl::OkStatus();
}

absl::StatusOr<LinearLayout> DotOperandEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  auto *blocked = dynCast<BlockedEncoding>(parent_);
  if (!blocked) return absl::UnimplementedError("the layout of a dot_op over " + parent_->aliasStem().str() + " is not modelled yet");
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned k = opIdx_ == 0 ? rank() - 1 : rank() - 2;
  llvm::SmallVector<int32_t, 4> size(blocked->sizePerThread());
  size[k] = shape[k];
  auto broadcastK = [&](Dim in, llvm::ArrayRef<int32_t> counts) {
    LinearLayout l;
    for (auto d : blocked->order()) l *= d == int32_t(k) ? LinearLayout::zeros1D(counts[d], in, tensorDim(d)) : LinearLayout::identity1D(counts[d], in, tensorDim(d));
    return l;
  };
  return combineCtaWithShape(identityND(Dim::Register, size, blocked->order()) * broadcastK(Dim::Lane, blocked->threadsPerWarp()) * broadcastK(Dim::Warp, blocked->warpsPerCta()), cta(), shape);
}

void DotOperandEncoding::print(llvm::raw_ostream &o, AliasPrinter alias) const {
  o << "#ttg.dot_op<{opIdx = " << opIdx_ << ", parent = ";
  if (!alias(parent_, o)) parent_->print(o, alias);
  if (kWidth_) o << ", kWidth = " << kWidth_;
  o << "}>";
}

} // namespace tessera::layouts
