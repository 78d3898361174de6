// What a walk over a function knows of accesses to memory at a place (insert_barriers.cpp, to whose rules the comments
// refer).
#pragma once
#include "ir/ops.h"
#include "transforms/memory/shared_ranges.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace tessera::transforms {

/// Accesses that no barrier has ordered yet, and asynchronous ones that nothing has waited for.
struct AccessState {
  SharedRangeSet reads, writes;        // since the last barrier (rule 1)
  SharedRangeSet arrivals;             // mbarriers that one thread named for dots to arrive at (rule 12)
  SharedRangeSet pendingCopies;        // asynchronous copies write these until they are waited for (rule 4)
  SharedRangeSet pendingDots;          // asynchronous dots read these (rule 5)
  SharedRangeSet pendingStores;        // bulk copies to global memory read these (rule 6)
  SharedRangeSet unfenced;             // ordinary writes without a fence after them; only in functions with bulk copies
  std::set<ir::ValueImpl *> warpLoads; // roots of pointers from which several warps loaded the same elements (rule 10)

  bool operator==(const AccessState &) const = default;
  /// Whether the state grew.
  bool join(const AccessState &other) {
    size_t before = size();
    for (auto set : kSharedRangeSets) (this->*set).insert((other.*set).begin(), (other.*set).end());
    warpLoads.insert(other.warpLoads.begin(), other.warpLoads.end());
    return size() != before;
  }
  size_t size() const {
    size_t n = warpLoads.size();
    for (auto set : kSharedRangeSets) n += (this->*set).size();
    return n;
  }
  /// A barrier that orders all memory.
  void clear() {
    clearShared();
    warpLoads.clear();
  }
  /// A barrier that orders shared memory alone.
  void clearShared() {
    reads.clear();
    writes.clear();
    arrivals.clear();
  }
  /// Changes what the ranges of single buffers are called from here on (rule 3).
  void renameBuffers(llvm::function_ref<void(SharedRange &)> rename) {
    for (auto set : kSharedRangeSets) {
      SharedRangeSet renamed;
      for (SharedRange r : this->*set) {
        if (r.index) rename(r);
        renamed.insert(r);
      }
      this->*set = std::move(renamed);
    }
  }
  /// A barrier of each warp group by itself (rule 11).
  void orderWithinGroups() {
    for (auto set : {&AccessState::reads, &AccessState::writes}) {
      SharedRangeSet ordered;
      for (SharedRange r : this->*set) {
        if (r.by == AccessBy::Groups) r.by = AccessBy::GroupsOrdered;
        ordered.insert(r);
      }
      this->*set = std::move(ordered);
    }
  }
  void forgetIndices() {
    renameBuffers([](SharedRange &r) { r.forgetIndex(); });
  }

private:
  static constexpr SharedRangeSet AccessState::*kSharedRangeSets[] = {
      &AccessState::reads,       &AccessState::writes,        &AccessState::arrivals, &AccessState::pendingCopies,
      &AccessState::pendingDots, &AccessState::pendingStores, &AccessState::unfenced};
};

} // namespace tessera::transforms
