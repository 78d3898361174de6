// Offsets of buffers in shared memory (see place_buffers.h).
#include "transforms/memory/place_buffers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tessera::transforms {

namespace {

using Before = bool (*)(const SharedBuffer *, const SharedBuffer *);

/// First fit: each buffer at the lowest offset that is free during its lifetime. The bytes of all.
int64_t placeInOrder(llvm::MutableArrayRef<SharedBuffer> buffers, Before before) {
  int64_t size = 0;
  llvm::SmallVector<SharedBuffer *, 16> order, placed;
  for (auto &b : buffers) order.push_back(&b);
  std::stable_sort(order.begin(), order.end(), before);
  for (auto *b : order) {
    llvm::SmallVector<std::pair<int64_t, int64_t>, 16> busy;
    for (auto *p : placed)
      if (p->conflictsWith(*b)) busy.push_back({p->offset, p->offset + p->bytes});
    llvm::sort(busy);
    int64_t at = 0;
    for (auto [lo, hi] : busy) {
      if (at + b->bytes <= lo) break;
      at = std::max<int64_t>(at, llvm::alignTo(hi, b->alignment));
    }
    b->offset = at;
    size = std::max(size, at + b->bytes);
    placed.push_back(b);
  }
  return size;
}

} // namespace

int64_t placeBuffers(llvm::MutableArrayRef<SharedBuffer> buffers, int64_t available) {
  constexpr Before kLargestFirst = [](const SharedBuffer *a, const SharedBuffer *b) { return a->bytes > b->bytes; };
  constexpr Before kLongestFirst = [](const SharedBuffer *a, const SharedBuffer *b) {
    return a->to - a->from > b->to - b->from;
  };
  constexpr Before kEarliestFirst = [](const SharedBuffer *a, const SharedBuffer *b) { return a->from < b->from; };
  constexpr Before kLastToEndFirst = [](const SharedBuffer *a, const SharedBuffer *b) { return a->to > b->to; };
  constexpr Before orders[] = {kLargestFirst, kLongestFirst, kEarliestFirst, kLastToEndFirst};
  std::vector<int64_t> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Before before : orders) {
    if (int64_t size = placeInOrder(buffers, before); size < least) {
      least = size;
      best.clear();
      for (auto &b : buffers) best.push_back(b.offset);
    }
    if (least <= available) break;
  }
  for (auto [b, offset] : llvm::zip(buffers, best)) b.offset = offset;
  return least;
}

} // namespace tessera::transforms
