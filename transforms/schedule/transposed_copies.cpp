// Copies into buffers across their rows (see transposed_copies.h).
#include "transforms/schedule/transposed_copies.h"
#include "ir/context.h"
#include "layouts/layout_order.h"
#include "layouts/nvmma_shared.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;
using layouts::LinearLayout;

static constexpr int64_t kVectorBytes = 16;              // of copies
static constexpr unsigned kVectorBits = 3;               // eight vectors fill the banks once
static constexpr int64_t kLanesAlong = 1 << kVectorBits; // of a warp, along the buffer's rows

/// The dimension along which the values lie in memory; -1: unknown.
static int64_t memoryDim(TensorType loaded) {
  auto layout = loaded.encoding()->toLinearLayout(loaded.shape());
  return layout.ok() ? int64_t(layouts::storageOrderOf(loaded.encoding(), *layout)[0]) : -1;
}

static int64_t sideOfSquare(TensorType loaded) { return kWordBits / int64_t(loaded.element().bitWidth()); }

bool runsAcross(TensorType loaded, MemDescType buffer) {
  auto *matrix = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding());
  if (!matrix || loaded.rank() != 2 || buffer.rank() != 2 || loaded.element().bitWidth() >= kWordBits) return false;
  int64_t rows = matrix->params().transposed ? 0 : 1;
  int64_t memory = memoryDim(loaded);
  return memory >= 0 && memory != rows;
}

const Encoding *layoutOfSquares(TensorType loaded, MemDescType buffer, int64_t numWarps, const TargetInfo &target) {
  unsigned along = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding())->params().transposed ? 0 : 1;
  unsigned across = 1 - along;
  int64_t side = sideOfSquare(loaded);
  auto parts = [&](unsigned d, int64_t most, int64_t perPart) {
    return int32_t(std::min(most, std::max<int64_t>(1, loaded.dim(d) / perPart)));
  };
  layouts::BlockedParams p;
  p.sizePerThread.assign(2, int32_t(side));
  p.threadsPerWarp.resize(2);
  p.threadsPerWarp[across] = parts(across, target.warpSize / kLanesAlong, side);
  p.threadsPerWarp[along] = target.warpSize / p.threadsPerWarp[across];
  p.warpsPerCta.resize(2);
  p.warpsPerCta[across] = parts(across, numWarps, side * p.threadsPerWarp[across]);
  p.warpsPerCta[along] = int32_t(numWarps / p.warpsPerCta[across]);
  p.order = {int32_t(along), int32_t(across)};
  p.cta = loaded.encoding()->cta();
  auto e = loaded.element().context()->encodings().getBlocked(p);
  return e.ok() ? *e : nullptr;
}

/// Swizzles offsets for eight lanes that read a vector each, in rows that are as many apart as a square has: bits of
/// the row's number that select no other banks are added to the bits of an offset that do. `vectorBit`, `rowBit`: the
/// lowest bit of an offset that selects a vector, and such a row.
static void swizzleRows(llvm::MutableArrayRef<layouts::Basis> offsets, unsigned vectorBit, unsigned rowBit) {
  unsigned endOfVectors = vectorBit + kVectorBits;
  unsigned endOfRows = std::min<unsigned>(rowBit + kVectorBits, offsets.size());
  unsigned to = vectorBit;
  for (unsigned from = std::max(rowBit, endOfVectors); from < endOfRows; ++from, ++to) {
    if (to >= std::min(rowBit, endOfVectors)) break;
    for (unsigned d : {0, 1}) offsets[from][d] ^= offsets[to][d];
  }
}

const Encoding *bufferOfSquares(layouts::EncodingPool &pool, TensorType loaded) {
  int64_t memory = memoryDim(loaded);
  int64_t vector = kVectorBytes * 8 / int64_t(loaded.element().bitWidth());
  if (memory < 0 || loaded.dim(memory) < vector || !loaded.encoding()->cta().isTrivial()) return nullptr;
  // Rows one after the other.
  LinearLayout::InDim offsets{Dim::Offset, {}};
  for (int64_t d : {memory, 1 - memory}) {
    for (int64_t i = 1; i < loaded.dim(d); i *= 2) {
      layouts::Basis at(2, 0);
      at[d] = int32_t(i);
      offsets.bases.push_back(at);
    }
  }
  swizzleRows(offsets.bases, llvm::Log2_64(uint64_t(vector)),
              llvm::Log2_64(uint64_t(loaded.dim(memory) * sideOfSquare(loaded))));
  LinearLayout layout({offsets, {Dim::Block, {}}},
                      {{Dim::Dim0, int32_t(loaded.dim(0))}, {Dim::Dim1, int32_t(loaded.dim(1))}});
  auto e = pool.getSharedLinear(std::move(layout), kVectorBytes);
  return e.ok() ? *e : nullptr;
}

} // namespace tessera::transforms
