// Ranges of bytes in shared memory, for analyses that follow accesses through a function (insert_barriers.cpp). A range
// may be one buffer of a multi-buffer, which is named by its index:
//
//   scf.for … iter_args(%r = %c0) {
//     %q = ttg.memdesc_index %buffers[%r]        here the buffer is %r + 0; in the next iteration, in which %r is one
//     …                                          further, it is %r - 1; after the loop, it is any buffer
//     scf.yield %next                            (the index after %r, analyses/multi_buffer_index.h)
//   }
#pragma once
#include "ir/ops.h"
#include <set>

namespace tessera::transforms {

/// Who accesses a range: any warps, or each warp group a part of its own (kWarpGroupRowsAttr), and then whether a
/// barrier of each warp group by itself has ordered the access.
enum class AccessBy : uint8_t { Block, Groups, GroupsOrdered };

/// Bytes [first, second) of shared memory, or those of them that belong to one buffer of a multi-buffer.
struct SharedRange {
  int64_t first = 0;
  int64_t second = 0;
  ir::ValueImpl *index = nullptr;      // of a buffer of its multi-buffer; null: all buffers
  int64_t steps = 0;                   // the buffer is so many steps after that one, modulo the number of buffers
  ir::ValueImpl *allocation = nullptr; // the multi-buffer; others in the same bytes may have buffers of other sizes
  AccessBy by = AccessBy::Block;
  auto operator<=>(const SharedRange &) const = default;

  /// The range becomes all of the multi-buffer.
  void forgetIndex() {
    index = nullptr;
    steps = 0;
  }
};
using SharedRangeSet = std::set<SharedRange>;

inline constexpr int64_t kEndOfSharedMemory = INT64_MAX;
inline constexpr SharedRange kAllSharedMemory = {.first = 0, .second = kEndOfSharedMemory};

/// Whether an access to the range may conflict with one to a range of the set: they may have bytes in common, and no
/// barrier of warp groups has ordered the two. Two buffers of one multi-buffer have none in common if their indices are
/// known to differ.
bool overlaps(const SharedRangeSet &, const SharedRange &);
/// Whether all accesses that may conflict are of one warp group: both are by warp groups to their parts of one buffer.
bool overlapsWithinGroups(const SharedRangeSet &, const SharedRange &);

// What a range with an index from before the loop is called in its first iteration; one from an iteration in the next
// one; and one from the body after the loop. The loop may be null (an scf.while): nothing is known of its indices.
void enterLoop(SharedRange &, ir::scf::ForOp);
void enterNextIteration(SharedRange &, ir::scf::ForOp);
void leaveLoop(SharedRange &, ir::scf::ForOp);

} // namespace tessera::transforms
