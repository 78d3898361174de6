// Cycles of the banks of LDS for one access (see lds_phases.h).
#include "runtime/timing/lds_phases.h"
#include <algorithm>
#include <array>

namespace tessera::timing {

unsigned laneGroup(LaneGroups groups, unsigned lane) {
  // Of 32 lanes, in fours: which group each four belongs to.
  static constexpr unsigned kPairs8[8] = {0, 1, 2, 3, 1, 0, 3, 2}; // {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27}
  static constexpr unsigned kGroups16[8] = {0, 1, 1, 0, 1, 0, 0, 1}; // {0-3,12-15,20-27} {4-11,16-19,28-31}
  unsigned half = lane / 32;
  unsigned four = lane % 32 / 4;
  switch (groups) {
  case LaneGroups::Neighbours32: return half;
  case LaneGroups::Neighbours16: return lane / 16;
  case LaneGroups::Neighbours8: return lane / 8;
  case LaneGroups::Pairs8: return half * 4 + kPairs8[four];
  case LaneGroups::Groups16: return half * 2 + kGroups16[four];
  }
  return 0;
}

LdsCycles ldsCycles(const LdsPhases &phases, llvm::ArrayRef<uint32_t> addresses, uint64_t mask, unsigned bytes) {
  constexpr unsigned kMostGroups = 8;
  constexpr unsigned kMostWords = 64 * 5; // 64 lanes of 16 bytes, one dword more if they are not aligned
  struct Group {
    std::array<uint32_t, kMostWords> words;
    unsigned count = 0;
  };
  std::array<Group, kMostGroups> groups;
  const uint32_t *address = addresses.begin();
  for (unsigned lane = 0; lane < 64 && address != addresses.end(); ++lane) {
    if (!(mask >> lane & 1)) continue;
    Group &g = groups[laneGroup(phases.groups, lane)];
    uint32_t first = *address / 4;
    uint32_t last = (*address + std::max(bytes, 1u) - 1) / 4;
    for (uint32_t w = first; w <= last && g.count < kMostWords; ++w) g.words[g.count++] = w;
    ++address;
  }
  LdsCycles cycles;
  for (Group &g : groups) {
    if (g.count == 0) continue;
    auto end = g.words.begin() + g.count;
    std::sort(g.words.begin(), end);
    end = std::unique(g.words.begin(), end); // one dword goes to all lanes that request it
    std::array<unsigned, 64> perBank{};
    for (auto w = g.words.begin(); w != end; ++w) ++perBank[*w % phases.banks];
    cycles.actual += *std::max_element(perBank.begin(), perBank.end());
    ++cycles.least;
  }
  return cycles;
}

} // namespace tessera::timing
