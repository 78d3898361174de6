// Instructions across lanes: readlane, permlane, mbcnt and the like (ISA guides, "VOP1/VOP3 instructions"; CDNA4 for
// the swaps). Those of LDS hardware (ds_bpermute_b32, ds_swizzle_b32) are in semantics_lds.cpp.
#include "runtime/code_object/rows.h"

namespace tessera::code_object {

namespace {

unsigned firstActive(const Wave &w) {
  uint64_t e = w.exec();
  return e ? unsigned(std::countr_zero(e)) : 0;
}
uint32_t laneOf(Wave &w, const Operand &o, unsigned lane) {
  return o.isVector() ? w.row(o.index)[lane] : uint32_t(readScalar(w, o, 32));
}

void readFirstLane(Wave &w, const Step &s) { writeScalar(w, s[0], laneOf(w, s[1], firstActive(w)), 32); }
void readLane(Wave &w, const Step &s) {
  writeScalar(w, s[0], laneOf(w, s[1], unsigned(readScalar(w, s[2], 32)) & (w.lanes - 1)), 32);
}
/// EXEC does not matter.
void writeLane(Wave &w, const Step &s) {
  w.row(s[0].index)[readScalar(w, s[2], 32) & (w.lanes - 1)] = uint32_t(readScalar(w, s[1], 32));
}

/// Lanes of the mask below this one, of its lower or upper half.
template <bool IsHigh> void maskedCount(Wave &w, const Step &s) {
  Row64 a, b, out;
  auto *mask = static_cast<const uint32_t *>(readSource(w, s, 1, 0, Type::B32, a));
  auto *sum = static_cast<const uint32_t *>(readSource(w, s, 2, 1, Type::B32, b));
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  for (unsigned l = 0; l < kLanes; ++l) {
    uint64_t below = (uint64_t(1) << l) - 1;
    auto part = uint32_t(IsHigh ? below >> 32 : below);
    d[l] = sum[l] + uint32_t(std::popcount(mask[l] & part));
  }
  writeResult(w, s, s[0], Type::B32, out);
}

/// v_permlane16_b32 D, A, selectors of lanes 0-7, 8-15: within a row of 16, or from the other row of the 32.
template <bool IsOther> void permuteRow(Wave &w, const Step &s) {
  const uint32_t *from = w.row(s[1].index);
  uint64_t selectors = uint32_t(readScalar(w, s[2], 32)) | readScalar(w, s[3], 32) << 32, exec = w.exec();
  // op_sel: fetch inactive lanes; bound control: 0 of those that are not.
  bool fetches = s.modifiers->opSel & 1, zeroes = s.modifiers->opSel & 2;
  Row out;
  const uint32_t *old = w.row(s[0].index);
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned lane = (l & ~15u) | unsigned(selectors >> (4 * (l & 15)) & 15);
    if (IsOther) lane ^= 16;
    bool isActive = exec >> lane & 1;
    out.lane[l] = fetches || isActive ? from[lane] : zeroes ? 0 : old[l];
  }
  writeRow(w, s[0], 0, out.lane, exec);
}
void exchangeHalves(Wave &w, const Step &s) {
  const uint32_t *from = w.row(s[1].index);
  Row out;
  for (unsigned l = 0; l < kLanes; ++l) out.lane[l] = from[l ^ 32];
  writeRow(w, s[0], 0, out.lane, w.exec());
}

/// gfx950: odd rows of `Rows` lanes of the first register for even ones of the second.
template <unsigned Rows> void swapRows(Wave &w, const Step &s) {
  uint32_t *a = w.row(s[0].index), *b = w.row(s[1].index);
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(l & Rows)) continue;
    unsigned other = l - Rows;
    bool writesA = exec >> l & 1, writesB = exec >> other & 1;
    uint32_t x = a[l], y = b[other];
    if (writesA) a[l] = y;
    if (writesB) b[other] = x;
  }
}
void swapRegisters(Wave &w, const Step &s) {
  Row x, y;
  std::memcpy(x.lane, w.row(s[0].index), sizeof x);
  std::memcpy(y.lane, w.row(s[1].index), sizeof y);
  writeRow(w, s[0], 0, y.lane, w.exec());
  writeRow(w, s[1], 0, x.lane, w.exec());
}
void nothing(Wave &, const Step &) {}

} // namespace

std::vector<Semantic> laneSemantics() {
  return {
      special("v_readfirstlane_b32", readFirstLane, Type::B32),
      special("v_readlane_b32", readLane, Type::B32),
      special("v_writelane_b32", writeLane, Type::B32),
      special("v_mbcnt_lo_u32_b32", maskedCount<false>, Type::B32),
      special("v_mbcnt_hi_u32_b32", maskedCount<true>, Type::B32),
      special("v_permlane16_b32", permuteRow<false>, Type::B32),
      special("v_permlanex16_b32", permuteRow<true>, Type::B32),
      special("v_permlane64_b32", exchangeHalves, Type::B32),
      special("v_permlane16_swap_b32", swapRows<16>, Type::B32),
      special("v_permlane32_swap_b32", swapRows<32>, Type::B32),
      special("v_swap_b32", swapRegisters, Type::B32),
      special("v_nop", nothing),
  };
}

} // namespace tessera::code_object
