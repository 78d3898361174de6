// Layouts of blocks that are loaded through descriptors (see descriptor_load_layout.h).
#include "transforms/layout/descriptor_load_layout.h"
#include "ir/context.h"
#include "ir/tensor_queries.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

/// Whether a block of 16-bit elements is transposed on its way to another descriptor.
static bool isStoredTransposed(tt::DescriptorLoadOp load) {
  constexpr unsigned kMatrixBits = 16; // elements of ldmatrix and stmatrix
  auto isOfMatrices = [](Value v) { return tensorOf(v).element().bitWidth() == kMatrixBits; };
  Value v = load.result();
  if (tensorOf(v).rank() != 2 || !isOfMatrices(v)) return false;
  bool isTransposed = false;
  while (v.hasOneUse()) {
    Operation *user = v.users()[0];
    if (user->is<tt::DescriptorStoreOp>()) return isTransposed && isOfMatrices(v);
    bool isTrans = user->is<tt::TransOp>();
    if (!isTrans && !isElementwise(user) && !user->is<ttg::ConvertLayoutOp>()) return false;
    if (user->numResults() != 1) return false;
    isTransposed ^= isTrans;
    v = user->result(0);
  }
  return false;
}

/// The layout in which ldmatrix with `.trans` reads a block, and in which the block's transpose is written by stmatrix;
/// null if the block is too small.
static const Encoding *layoutOfTransposedMatrices(TensorType type, int warps) {
  constexpr int32_t kSide = 8; // of a matrix, of which a lane has two elements
  if (type.dim(0) < kSide || type.dim(1) < kSide || type.numElements() < int64_t(warps) * kSide * kSide) return nullptr;
  layouts::LinearLayout::InDim registers{Dim::Register, {{1, 0}}}, warp{Dim::Warp, {}};
  layouts::LinearLayout::InDim lanes{Dim::Lane, {{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}}};
  for (int32_t row = kSide; row < type.dim(0); row *= 2) registers.bases.push_back({row, 0});
  for (int32_t column = kSide; column < type.dim(1); column *= 2) registers.bases.push_back({0, column});
  auto *firstOfWarps = registers.bases.end() - llvm::Log2_64(uint64_t(warps));
  warp.bases.append(firstOfWarps, registers.bases.end());
  registers.bases.erase(firstOfWarps, registers.bases.end());
  layouts::LinearLayout layout({registers, lanes, warp, {Dim::Block, {}}},
                               {{Dim::Dim0, int32_t(type.dim(0))}, {Dim::Dim1, int32_t(type.dim(1))}});
  auto e = type.element().context()->encodings().getLinear(std::move(layout));
  return e.ok() ? *e : nullptr;
}

/// Threads read 16 bytes of a row at once.
static const Encoding *layoutOfRows(TensorType type, int warps, int lanes) {
  constexpr int64_t kReadBytes = 16; // the widest read of shared memory
  int64_t bytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
  int64_t perThread = std::max<int64_t>(1, type.numElements() / (int64_t(warps) * lanes));
  unsigned last = type.rank() - 1;
  llvm::SmallVector<int32_t, 4> sizePerThread(type.rank(), 1);
  sizePerThread[last] = int32_t(std::min({perThread, kReadBytes / bytes, type.dim(last)}));
  llvm::SmallVector<int32_t, 4> order(type.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  return *type.element().context()->encodings().getBlocked(
      layouts::blockedParamsFor(type.shape(), sizePerThread, order, warps, lanes, type.encoding()->cta()));
}

const Encoding *layoutOfDescriptorLoad(tt::DescriptorLoadOp load, int warps, int lanes, const TargetInfo *target) {
  TensorType type = tensorOf(load.result());
  bool hasMatrixAccess = target && target->hasTensorCopy && target->hasLdmatrix && target->hasStmatrix;
  if (hasMatrixAccess && type.encoding()->cta().isTrivial() && isStoredTransposed(load))
    if (auto *layout = layoutOfTransposedMatrices(type, warps)) return layout;
  return layoutOfRows(type, warps, lanes);
}

} // namespace tessera::transforms
