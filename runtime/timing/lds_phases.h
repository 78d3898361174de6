// How many cycles the banks of LDS take for one access of a wave.
//
// LDS serves a wave's lanes in groups, one group after the other; in a cycle each bank serves one dword, to as many
// lanes of the group as request it. Which lanes form a group and how many banks there are depends on the instruction's
// width and direction (machine.def): on gfx950 the groups of ds_read_b128 are no neighbours.
#pragma once
#include "runtime/timing/machine.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tessera::timing {

struct LdsCycles {
  unsigned actual = 0;
  unsigned least = 0; // without conflicts: one for each group with an active lane
};

/// `addresses`: bytes in LDS, one for each active lane in the order of the lanes; `mask`: the active lanes; `bytes`: of
/// a lane. @pre addresses.size() is the number of bits of the mask.
LdsCycles ldsCycles(const LdsPhases &, llvm::ArrayRef<uint32_t> addresses, uint64_t mask, unsigned bytes);

/// The group of a lane.
unsigned laneGroup(LaneGroups, unsigned lane);

} // namespace tessera::timing
