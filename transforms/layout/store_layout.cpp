// Which layouts are good for a store (see store_layout.h): how many bytes neighbouring lanes write side by side, and in
// how many accesses.
#include "transforms/layout/store_layout.h"
#include "ir/tensor_queries.h"
#include "layouts/layout_order.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

int64_t elementsPerThreadOrMany(const Encoding *e, llvm::ArrayRef<int64_t> shape) {
  return layouts::elementsPerThread(e, shape).value_or(INT64_MAX);
}

/// How many elements along a dimension one thread holds one after the other from the first on; 0 if the next lane does
/// not continue where the thread ends. A thread that holds whole rows makes each access of the warp touch as many rows
/// as it has lanes, and counts as 0.
static int64_t coalescedElements(const Encoding *e, llvm::ArrayRef<int64_t> shape, unsigned dim) {
  auto &l = e->layoutOf(shape);
  if (!l.ok()) return 0;
  int64_t n = layouts::consecutiveElements(*l, dim);
  bool holdsWholeRows = n >= shape[dim] && shape.size() > 1;
  bool nextLaneIsElsewhere =
      n < shape[dim] && l->inDimBits(Dim::Lane) && l->basis(Dim::Lane, 0, layouts::tensorDim(dim)) != n;
  return holdsWholeRows || nextLaneIsElsewhere ? 0 : n;
}

/// Bytes of a lane's consecutive elements in the result of an AMD matrix instruction; 0 for other layouts and for those
/// that the shape does not have. Its lanes are distributed along the other dimension, so an access touches as many rows
/// as there are lanes, a few times 8 to 32 bytes of each. That costs less than the round trip through shared memory,
/// with its barriers, that whole rows would take.
static int64_t rowBytesOfAmdResult(const Encoding *e, llvm::ArrayRef<int64_t> shape, unsigned dim, int64_t bytes) {
  if (e->kind() != layouts::EncodingKind::AmdMfma && e->kind() != layouts::EncodingKind::AmdWmma) return 0;
  auto &l = e->layoutOf(shape);
  return l.ok() ? layouts::consecutiveElements(*l, dim) * bytes : 0;
}

/// Accesses of a thread, each to `width` elements.
static int64_t accessesOfThread(const Encoding *e, llvm::ArrayRef<int64_t> shape, int64_t width) {
  auto &l = e->layoutOf(shape);
  if (!l.ok()) return INT64_MAX;
  int64_t distinct = 1;
  for (unsigned b = 0; b < l->inDimBits(Dim::Register); ++b)
    if (llvm::any_of(l->basis(Dim::Register, b), [](int32_t x) { return x != 0; })) distinct *= 2;
  return std::max<int64_t>(1, distinct / std::max<int64_t>(1, width));
}

bool storesAsWell(tt::StoreOp store, const layouts::BlockedEncoding *now, const Encoding *e, int64_t accessBytes,
                  const Tuning &tuning) {
  unsigned fast = now->order()[0];
  auto shape = tensorOf(store.ptr()).shape();
  auto &layout = now->layoutOf(shape);
  if (!layout.ok()) return false;
  int64_t bytes = std::max<int64_t>(1, tensorOf(store.value()).element().bitWidth() / 8);
  int64_t widest = std::max<int64_t>(1, accessBytes / bytes);
  int64_t wanted = std::min<int64_t>(coalescedElements(now, shape, fast), widest);
  int64_t offered = coalescedElements(e, shape, fast);
  // A lane's run of several accesses leaves gaps between the lanes of each. Two of them fill sectors of memory one
  // after the other; longer runs write parts of as many sectors as there are lanes, several times.
  int64_t runBytes = offered * bytes;
  if (runBytes > std::max(accessBytes, kSectorBytes) && offered > coalescedElements(now, shape, fast)) return false;
  // Where threads hold copies of each other's elements, few of them store, one element after the other.
  int64_t most = std::max<int64_t>(elementsPerThreadOrMany(now, shape), tuning.storedElementsOfFewThreads);
  if (elementsPerThreadOrMany(e, shape) > most) return false;
  const int64_t leastBytes = tuning.storedRowBytes;
  bool storesMatrixRows = wanted * bytes >= leastBytes && rowBytesOfAmdResult(e, shape, fast, bytes) >= leastBytes;
  if (storesMatrixRows) return true;
  // What does not fill the threads takes one access of some lanes in any layout.
  int64_t threads = int64_t(1) << (layout->inDimBits(Dim::Lane) + layout->inDimBits(Dim::Warp));
  bool leavesThreadsIdle = tensorOf(store.ptr()).numElements() < threads;
  bool isWideVector = offered > 0 && shape.size() == 1 && offered * bytes >= leastBytes;
  if (offered < wanted && !leavesThreadsIdle && !isWideVector) return false;
  // A layout that has many elements in one lane and copies in the others needs one access for each.
  return accessesOfThread(e, shape, std::min(offered, wanted)) <=
         accessesOfThread(now, shape, wanted) + tuning.extraStoresPerConversion;
}

} // namespace tessera::transforms
