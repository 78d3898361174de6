// How lanes exchange values on AMD GPUs: in several ways of very different cost, all but the last two without shared
// memory's pipeline:
//   DPP           an operand of an ordinary instruction taken from another lane of the same row of 16: quads permuted,
//                 rows shifted, rotated or mirrored, one lane for all; on RDNA any xor below 16 (row_xmask), on CDNA
//                 the row before or the lane before
//   permlane16, permlanex16   RDNA: any lanes of the same row, of the other row of a pair of rows
//   permlane32_swap, permlane16_swap   gfx950: halves of the wave (of 32 lanes) exchanged
//   readlane      one lane for all, in a scalar register
//   ds_swizzle    any xor below 32; ds_bpermute: any lane
// Where lanes that differ in low bits hold the same value, a mirror does what an xor does. Two moves by DPP, of which
// the second writes some banks of 4 lanes, still take a fraction of ds_bpermute's latency.
#include "codegen_amd/lowering_target.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <optional>

namespace tessera::amd {
using namespace llvm;

/// DPP controls ("Data Parallel Processing", dpp_ctrl).
namespace dpp {
constexpr unsigned kQuadXor1 = 0xB1, kQuadXor2 = 0x4E;                             // quad_perm [1,0,3,2], [2,3,0,1]
constexpr unsigned kRowShiftDown = 0x100, kRowShiftUp = 0x110, kRowRotate = 0x120; // | lanes; up: to higher lanes
constexpr unsigned kWaveShiftDown = 0x130, kWaveShiftUp = 0x138;                   // by one lane
constexpr unsigned kRowMirror = 0x140, kRowHalfMirror = 0x141;
constexpr unsigned kLastOfRowBefore = 0x142, kLane31 = 0x143; // in the rows after, in the upper half
constexpr unsigned kRowLane = 0x150;                          // | the lane that all lanes of the row get
constexpr unsigned kRowXor = 0x160;                           // | mask
constexpr unsigned kAllBanks = 15;

/// The lane that a lane reads; -1: none. Of quad_perm, `control` is the permutation.
static int sourceOf(unsigned control, unsigned lane, unsigned lanes) {
  unsigned row = lane & ~15u, in = lane & 15, n = control & 15;
  if (control <= 0xff) return int((lane & ~3u) | (control >> (2 * (lane & 3)) & 3));
  switch (control) {
  case kWaveShiftDown: return lane + 1 < lanes ? int(lane + 1) : -1;
  case kWaveShiftUp: return int(lane) - 1;
  case kRowMirror: return int(row | (15 - in));
  case kRowHalfMirror: return int(lane ^ 7);
  case kLastOfRowBefore: return int(row) - 1;
  case kLane31: return lane >= 32 ? 31 : -1;
  default: break;
  }
  switch (control & ~15u) {
  case kRowShiftDown: return in + n < 16 ? int(lane + n) : -1;
  case kRowShiftUp: return in >= n ? int(lane - n) : -1;
  case kRowRotate: return int(row | ((in - n) & 15));
  case kRowLane: return int(row | n);
  case kRowXor: return int(row | (in ^ n));
  default: return -1;
  }
}
} // namespace dpp

// ---- moves by DPP --------------------------------------------------------------------------------------------------

static Value *moveDpp(IRBuilder<> &b, Value *v, unsigned control) {
  // All rows and banks, every source lane valid.
  return b.CreateIntrinsic(
      Intrinsic::amdgcn_update_dpp, {v->getType()},
      {PoisonValue::get(v->getType()), v, b.getInt32(control), b.getInt32(15), b.getInt32(15), b.getTrue()});
}
/// Lanes of other banks, and those without a source, keep `old`.
static Value *moveDppOver(IRBuilder<> &b, Value *old, Value *v, unsigned control, unsigned banks) {
  return b.CreateIntrinsic(Intrinsic::amdgcn_update_dpp, {v->getType()},
                           {old, v, b.getInt32(control), b.getInt32(15), b.getInt32(banks), b.getFalse()});
}

/// The permutation of quads that gives each lane what it wants, if there is one for all quads of these banks.
static std::optional<unsigned> quadPermutation(ArrayRef<int8_t> sources, unsigned banks) {
  unsigned control = 0;
  int at[4] = {-1, -1, -1, -1};
  for (auto [l, s] : enumerate(sources)) {
    if (s < 0 || !(banks >> (l / 4 & 3) & 1)) continue;
    if (unsigned(s) / 4 != l / 4 || (at[l & 3] >= 0 && at[l & 3] != (s & 3))) return std::nullopt;
    at[l & 3] = s & 3;
  }
  for (unsigned k = 0; k < 4; ++k) control |= unsigned(at[k] < 0 ? k : at[k]) << (2 * k);
  return control;
}

/// The banks of 4 lanes in whose lanes the control brings what is wanted, in every row.
static unsigned banksServed(unsigned control, ArrayRef<int8_t> sources) {
  unsigned banks = dpp::kAllBanks;
  for (auto [l, s] : enumerate(sources))
    if (s >= 0 && dpp::sourceOf(control, l, sources.size()) != s) banks &= ~(1u << (l / 4 & 3));
  return banks;
}

static SmallVector<unsigned, 128> controlsFor(ArrayRef<int8_t> sources, const ir::TargetInfo &info) {
  SmallVector<unsigned, 128> controls;
  for (unsigned banks = dpp::kAllBanks; banks; --banks)
    if (auto q = quadPermutation(sources, banks); q && !is_contained(controls, *q)) controls.push_back(*q);
  for (unsigned n = 1; n < 16; ++n)
    for (unsigned kind : {dpp::kRowShiftDown, dpp::kRowShiftUp, dpp::kRowRotate}) controls.push_back(kind | n);
  controls.append({dpp::kRowMirror, dpp::kRowHalfMirror});
  bool rdna = info.warpSize == 32;
  for (unsigned n = 0; n < 16; ++n) {
    if (rdna || info.hasRowBroadcast) controls.push_back(dpp::kRowLane | n);
    if (rdna) controls.push_back(dpp::kRowXor | n);
  }
  if (!rdna) controls.append({dpp::kWaveShiftDown, dpp::kWaveShiftUp, dpp::kLastOfRowBefore, dpp::kLane31});
  return controls;
}

// ---- moves between RDNA's rows --------------------------------------------------------------------------------------

/// permlane16 or permlanex16: in every row each lane names the lane that it reads, by selectors of 4 bits.
static Value *permuteRows(IRBuilder<> &b, Value *v, bool ofOtherRow, uint64_t select) {
  auto id = ofOtherRow ? Intrinsic::amdgcn_permlanex16 : Intrinsic::amdgcn_permlane16;
  return b.CreateIntrinsic(id, {v->getType()},
                           {PoisonValue::get(v->getType()), v, b.getInt32(uint32_t(select)),
                            b.getInt32(uint32_t(select >> 32)), b.getFalse(), b.getFalse()});
}

/// The selectors with which every lane reads what it wants from its own or the other row, if both rows want the same.
static std::optional<uint64_t> selectors(ArrayRef<int8_t> sources, bool ofOtherRow) {
  uint64_t select = 0;
  int at[16];
  std::fill(std::begin(at), std::end(at), -1);
  for (auto [l, s] : enumerate(sources)) {
    if (s < 0) continue;
    bool isOtherRow = (unsigned(s) ^ l) & 16;
    if (isOtherRow != ofOtherRow || (at[l & 15] >= 0 && at[l & 15] != (s & 15))) return std::nullopt;
    at[l & 15] = s & 15;
  }
  for (unsigned k = 0; k < 16; ++k) select |= uint64_t(at[k] < 0 ? k : at[k]) << (4 * k);
  return select;
}

/// Rows of 32 lanes shifted as one: within rows by DPP, what leaves one row comes from permlanex16.
static Value *shiftRows(IRBuilder<> &b, Value *v, ArrayRef<int8_t> sources) {
  for (unsigned n = 1; n < 16; ++n)
    for (unsigned kind : {dpp::kRowShiftDown, dpp::kRowShiftUp}) {
      SmallVector<int8_t, 64> others(sources);
      bool fits = true;
      for (auto [l, s] : enumerate(sources)) {
        int from = dpp::sourceOf(kind | n, l, sources.size());
        if (from < 0) continue;
        fits &= s < 0 || s == from;
        others[l] = -1;
      }
      auto select = selectors(others, /*ofOtherRow=*/true);
      if (fits && select) return moveDppOver(b, permuteRows(b, v, true, *select), v, kind | n, dpp::kAllBanks);
    }
  return nullptr;
}

// ---- AmdTarget ------------------------------------------------------------------------------------------------------

Value *AmdTarget::shuffleFixed32(IRBuilder<> &b, Value *v, ArrayRef<int8_t> sources) const {
  if (sources[0] >= 0 && all_equal(sources))
    return b.CreateIntrinsic(Intrinsic::amdgcn_readlane, {v->getType()}, {v, b.getInt32(sources[0])});
  auto controls = controlsFor(sources, info_);
  SmallVector<unsigned, 128> served;
  for (unsigned c : controls) {
    served.push_back(banksServed(c, sources));
    if (served.back() == dpp::kAllBanks) return moveDpp(b, v, c);
  }
  if (rdna_) {
    for (bool ofOtherRow : {false, true})
      if (auto select = selectors(sources, ofOtherRow)) return permuteRows(b, v, ofOtherRow, *select);
    return shiftRows(b, v, sources);
  }
  for (unsigned i = 0; i < controls.size(); ++i)
    for (unsigned k = i + 1; k < controls.size(); ++k) {
      if ((served[i] | served[k]) != dpp::kAllBanks) continue;
      return moveDppOver(b, moveDpp(b, v, controls[i]), v, controls[k], dpp::kAllBanks & ~served[i]);
    }
  return nullptr;
}

static Value *ownLane(IRBuilder<> &b, unsigned warpSize) {
  Value *low = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {}, {b.getInt32(-1), b.getInt32(0)});
  return warpSize == 32 ? low : b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_hi, {}, {b.getInt32(-1), low});
}

std::pair<Value *, Value *> AmdTarget::halves32(IRBuilder<> &b, Value *low, Value *high, unsigned mask) const {
  // The instruction exchanges the odd rows (the upper half) of one register with the even rows (the lower half) of the
  // other; with both the same, one result holds what even rows have, in the odd ones too, the other what odd rows have.
  auto id = mask == 32 ? Intrinsic::amdgcn_permlane32_swap : Intrinsic::amdgcn_permlane16_swap;
  Value *both = b.CreateIntrinsic(id, {}, {low, high, b.getFalse(), b.getFalse()});
  return {b.CreateExtractValue(both, 0), b.CreateExtractValue(both, 1)};
}

Value *AmdTarget::shuffleXor32(IRBuilder<> &b, Value *v, unsigned mask, unsigned uniform) const {
  // xor with any mask whose bits outside `uniform` are the wanted ones gives an equal value.
  auto serves = [&](unsigned does) { return ((does ^ mask) & ~uniform) == 0; };
  if (mask == 1) return moveDpp(b, v, dpp::kQuadXor1);
  if (mask == 2) return moveDpp(b, v, dpp::kQuadXor2);
  if (serves(7)) return moveDpp(b, v, dpp::kRowHalfMirror); // lane i of a half row gets lane 7 - i, which is i ^ 7
  if (serves(15)) return moveDpp(b, v, dpp::kRowMirror);
  if (rdna_ && mask < 16) return moveDpp(b, v, dpp::kRowXor | mask);
  if (mask == 8) return moveDpp(b, v, dpp::kRowRotate | 8);
  if (rdna_ && mask < 32 && (mask & 16)) {
    uint64_t select = 0;
    for (unsigned lane = 0; lane < 16; ++lane) select |= uint64_t(lane ^ (mask & 15)) << (4 * lane);
    return permuteRows(b, v, /*ofOtherRow=*/true, select);
  }
  if (hasHalves(mask)) {
    auto [first, second] = halves32(b, v, v, mask);
    Value *upper = b.CreateICmpNE(b.CreateAnd(ownLane(b, info_.warpSize), mask), b.getInt32(0));
    return b.CreateSelect(upper, first, second);
  }
  SmallVector<int8_t, 64> sources;
  for (unsigned l = 0; l < unsigned(info_.warpSize); ++l) sources.push_back(int8_t(l ^ mask));
  if (Value *moved = shuffleFixed32(b, v, sources)) return moved;
  // ds_swizzle in bit mode: lane = ((lane & 31) | 0) ^ mask.
  if (mask < 32) return b.CreateIntrinsic(Intrinsic::amdgcn_ds_swizzle, {}, {v, b.getInt32(mask << 10 | 0x1f)});
  return shuffleIndex32(b, v, b.CreateXor(ownLane(b, info_.warpSize), mask));
}

Value *AmdTarget::shuffleIndex32(IRBuilder<> &b, Value *v, Value *lane) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_ds_bpermute, {}, {b.CreateShl(lane, 2), v}); // addressed in bytes
}

} // namespace tessera::amd
