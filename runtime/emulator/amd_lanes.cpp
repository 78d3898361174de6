// AMD's intrinsics by which the lanes of a wave exchange values: DPP, ds_swizzle and ds_permute, v_permlane, reads of
// one lane, votes, and transposed reads of LDS. Sources: as in amd.cpp, whose remark on lanes that are off holds here.
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>

namespace tessera::emulator {
using namespace llvm;

namespace {

void exchanged(Warp &w, const Instruction &i, const char *name) {
  countWarpOperation(w, i, SiteCounters::Kind::Shuffle, name);
}

/// update.dpp(old, value, control, row mask, bank mask, bound control): rows of 16 lanes, banks of 4. A lane of a row
/// or bank that is masked off keeps `old`; a source that is outside of its row or switched off gives 0 with bound
/// control, else `old`. ("Data Parallel Processing (DPP)".) immediate: control | row mask << 16 | bank mask << 20 |
/// bound << 24.
void dpp(Warp &w, const Instruction &i) {
  exchanged(w, i, "shuffle in row (DPP)");
  unsigned control = unsigned(i.immediate & 0xffff), rowMask = unsigned(i.immediate >> 16 & 15),
           bankMask = unsigned(i.immediate >> 20 & 15);
  bool bound = i.immediate >> 24;
  const uint32_t *old = w.row<uint32_t>(i.a), *v = w.row<uint32_t>(i.b);
  uint32_t out[kMaxLanes];
  for (unsigned l = 0; l < w.lanes; ++l) {
    unsigned row = l / 16, in = l % 16;
    int source = -1;
    if (control <= 0xff)
      source = int(l & ~3u) | int(control >> (2 * (l & 3)) & 3);
    else if (control >= 0x101 && control <= 0x10f)
      source = in + (control & 15) < 16 ? int(l + (control & 15)) : -1;
    else if (control >= 0x111 && control <= 0x11f)
      source = in >= (control & 15) ? int(l - (control & 15)) : -1;
    else if (control >= 0x121 && control <= 0x12f)
      source = int(row * 16 + ((in - (control & 15)) & 15));
    else if (control == 0x130)
      source = l + 1 < w.lanes ? int(l + 1) : -1;
    else if (control == 0x134)
      source = int((l + 1) % w.lanes);
    else if (control == 0x138)
      source = int(l) - 1;
    else if (control == 0x13c)
      source = int((l + w.lanes - 1) % w.lanes);
    else if (control == 0x140)
      source = int(row * 16 + 15 - in);
    else if (control == 0x141)
      source = int((l & ~7u) + 7 - (l & 7));
    else if (control == 0x142)
      source = row ? int(row * 16 - 1) : -1;
    else if (control == 0x143)
      source = l >= 32 ? 31 : -1;
    else if (control >= 0x150 && control <= 0x15f)
      source = int(row * 16 + (control & 15));
    else if (control >= 0x160 && control <= 0x16f)
      source = int(row * 16 + (in ^ (control & 15)));
    bool enabled = (rowMask >> (row & 3) & 1) && (bankMask >> (in / 4) & 1);
    bool valid = source >= 0 && (w.mask >> source & 1);
    out[l] = !enabled ? old[l] : valid ? v[source] : bound ? 0 : old[l];
  }
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
void decodeDpp(Decoder &d, CallInst &c) {
  if (!c.getType()->isIntegerTy(32) && !c.getType()->isFloatTy()) return d.unknown(c, "DPP on this type");
  uint64_t control = d.constantOperand(c, 2), rows = d.constantOperand(c, 3), banks = d.constantOperand(c, 4),
           bound = d.constantOperand(c, 5);
  bool known = control <= 0xff || (control > 0x100 && control <= 0x12f && control != 0x110 && control != 0x120) ||
               control == 0x140 || control == 0x141 ||
               (d.target().warpSize == 64 ? control == 0x130 || control == 0x134 || control == 0x138 ||
                                                control == 0x13c || control == 0x142 || control == 0x143
                                          : control >= 0x150 && control <= 0x16f);
  if (d.target().hasRowBroadcast) known |= control >= 0x150 && control <= 0x15f;
  if (!known) return d.unknown(c, formatv("the DPP control {0:x} on {1}", control, d.target().name).str());
  d.emit(dpp, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)), kNoRow,
         control | rows << 16 | banks << 20 | bound << 24);
}
/// ds_swizzle_b32: bit 15: quads permuted; else lane = ((lane & and) | or) ^ xor among 32 lanes. A lane that is off
/// gives 0.
void swizzle(Warp &w, const Instruction &i) {
  exchanged(w, i, "shuffle (ds_swizzle)");
  const uint32_t *v = w.row<uint32_t>(i.a);
  unsigned o = unsigned(i.immediate);
  uint32_t out[kMaxLanes];
  for (unsigned l = 0; l < w.lanes; ++l) {
    unsigned source =
        o & 0x8000 ? (l & ~3u) | (o >> (2 * (l & 3)) & 3) : (l & ~31u) | ((((l & 31 & o) | (o >> 5)) ^ (o >> 10)) & 31);
    out[l] = w.mask >> source & 1 ? v[source] : 0;
  }
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
/// ds_bpermute_b32: lane (address / 4) modulo the wave's size; a lane that is off gives 0. ds_permute_b32 pushes.
void bpermute(Warp &w, const Instruction &i) {
  exchanged(w, i, "shuffle (ds_bpermute)");
  const uint32_t *at = w.row<uint32_t>(i.a), *v = w.row<uint32_t>(i.b);
  uint32_t out[kMaxLanes];
  forLanes(w, [&](unsigned l) {
    unsigned source = at[l] / 4 % w.lanes;
    out[l] = w.mask >> source & 1 ? v[source] : 0;
  });
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
void permute(Warp &w, const Instruction &i) {
  exchanged(w, i, "shuffle (ds_permute)");
  const uint32_t *at = w.row<uint32_t>(i.a), *v = w.row<uint32_t>(i.b);
  uint32_t out[kMaxLanes] = {};
  for (unsigned l = 0; l < w.lanes; ++l)
    if (w.mask >> l & 1) out[at[l] / 4 % w.lanes] = v[l];
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
/// v_permlane16 and v_permlanex16 (RDNA): selectors of 4 bits per lane of a row; x: from the other row of the pair. A
/// source that is off: `old`, or 0 with bound control, or its value with fetch-inactive. immediate: x | fi << 1 | bc
/// << 2.
void permuteLanes16(Warp &w, const Instruction &i) {
  exchanged(w, i, "shuffle (permlane16)");
  const uint32_t *old = w.row<uint32_t>(i.a), *v = w.row<uint32_t>(i.b);
  bool other = i.immediate & 1, fetch = i.immediate & 2, bound = i.immediate & 4;
  uint32_t out[kMaxLanes];
  unsigned first = unsigned(std::countr_zero(w.mask));
  uint64_t select = uint64_t(w.row<uint32_t>(i.more[1])[first]) << 32 | w.row<uint32_t>(i.more[0])[first];
  for (unsigned l = 0; l < w.lanes; ++l) {
    unsigned source = ((l & ~15u) ^ (other ? 16 : 0)) | unsigned(select >> (4 * (l & 15)) & 15);
    out[l] = fetch || (w.mask >> source & 1) ? v[source] : bound ? 0 : old[l];
  }
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
template <bool Other> void decodePermuteLanes16(Decoder &d, CallInst &c) {
  Row more[2] = {d.row(c.getArgOperand(2)), d.row(c.getArgOperand(3))};
  uint64_t flags = Other | d.constantOperand(c, 4) << 1 | d.constantOperand(c, 5) << 2;
  d.emit(permuteLanes16, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)), kNoRow, flags)
      .more = d.list(more);
}
/// v_permlane16_swap and v_permlane32_swap (gfx950): the odd rows (upper half) of the first operand change places
/// with the even rows (lower half) of the second. `to` and `c`: the two results; immediate: 16 or 32.
void swapHalves(Warp &w, const Instruction &i) {
  exchanged(w, i, "exchange of halves");
  unsigned n = unsigned(i.immediate);
  uint32_t first[kMaxLanes], second[kMaxLanes];
  memcpy(first, w.row<uint32_t>(i.a), 4 * w.lanes);
  memcpy(second, w.row<uint32_t>(i.b), 4 * w.lanes);
  for (unsigned l = 0; l < w.lanes; ++l)
    if (l & n) std::swap(first[l], second[l ^ n]);
  forLanes(w, [&](unsigned l) {
    w.row<uint32_t>(i.to)[l] = first[l];
    w.row<uint32_t>(i.c)[l] = second[l];
  });
}
template <unsigned N> void decodeSwap(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> out(d.defineFresh(&c));
  d.emit(swapHalves, out[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)), out[1], N);
}
void permlane64(Warp &w, const Instruction &i) {
  exchanged(w, i, "exchange of halves");
  uint32_t out[kMaxLanes];
  for (unsigned l = 0; l < w.lanes; ++l) out[l] = w.row<uint32_t>(i.a)[w.lanes == 64 ? l ^ 32 : l];
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
}
/// Readlane of the first active lane, or of a lane given in `b` (uniform).
template <class T> void readFirst(Warp &w, const Instruction &i) {
  T v = w.row<T>(i.a)[std::countr_zero(w.mask)];
  forLanes(w, [&](unsigned l) { w.row<T>(i.to)[l] = v; });
}
template <class T> void readLane(Warp &w, const Instruction &i) {
  T v = w.row<T>(i.a)[w.row<uint32_t>(i.b)[std::countr_zero(w.mask)] % w.lanes];
  forLanes(w, [&](unsigned l) { w.row<T>(i.to)[l] = v; });
}
void writeLane(Warp &w, const Instruction &i) { // a: value, b: lane, c: old
  unsigned first = unsigned(std::countr_zero(w.mask)), lane = w.row<uint32_t>(i.b)[first] % w.lanes;
  uint32_t v = w.row<uint32_t>(i.a)[first];
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = l == lane ? v : w.row<uint32_t>(i.c)[l]; });
}
/// The handler for values of so many bytes: 1, 2, 4 or 8.
Handler ofBytes(unsigned bytes, Handler one, Handler two, Handler four, Handler eight) {
  return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
}
void decodeReadFirst(Decoder &d, CallInst &c) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    d.emit(
        ofBytes(d.bytesOf(types[k]), readFirst<uint8_t>, readFirst<uint16_t>, readFirst<uint32_t>, readFirst<uint64_t>),
        out[k], in[k]);
  }
}
void decodeReadLane(Decoder &d, CallInst &c) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    d.emit(ofBytes(d.bytesOf(types[k]), readLane<uint8_t>, readLane<uint16_t>, readLane<uint32_t>, readLane<uint64_t>),
           out[k], in[k], d.row(c.getArgOperand(1)));
  }
}
/// v_mbcnt_lo, v_mbcnt_hi: bits of the mask below this lane, in the lower or upper half of the wave, added to `b`.
void countLow(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned l) {
    return w.row<uint32_t>(i.b)[l] +
           std::popcount(l >= 32 ? w.row<uint32_t>(i.a)[l] : w.row<uint32_t>(i.a)[l] & ((1u << l) - 1));
  });
}
void countHigh(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned l) {
    return w.row<uint32_t>(i.b)[l] + (l < 32 ? 0 : std::popcount(w.row<uint32_t>(i.a)[l] & ((1u << (l - 32)) - 1)));
  });
}
void ballot(Warp &w, const Instruction &i) {
  exchanged(w, i, "vote");
  uint64_t set = 0;
  for (uint64_t m = w.mask; m; m &= m - 1)
    set |= uint64_t(w.row<uint8_t>(i.a)[std::countr_zero(m)] & 1) << std::countr_zero(m);
  forLanes(w, [&](unsigned l) { storeRow(w, i.to, unsigned(i.immediate), l, set); });
}
/// ds_read_b64_tr_b16: every lane reads the 8 bytes at its address; of each 16 lanes, lane l then gets, as element j,
/// element l % 4 of what lane 4 j + l / 4 read. more: the elements as read, then the results.
void transposeRead(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the transposed read")) return;
  forLanes(w, [&](unsigned l) {
    for (unsigned j = 0; j < 4; ++j)
      w.row<uint16_t>(i.more[4 + j])[l] = w.row<uint16_t>(i.more[l % 4])[(l & ~15u) + 4 * j + l % 16 / 4];
  });
}
/// ds_read_b64_tr_b8, whose 8 bytes are two words: likewise, byte j is byte l % 8 of what lane 2 j + l / 8 read.
void transposeReadOfBytes(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the transposed read")) return;
  forLanes(w, [&](unsigned l) {
    for (unsigned word = 0; word < 2; ++word) {
      uint32_t v = 0;
      for (unsigned j = 0; j < 4; ++j) {
        unsigned lane = (l & ~15u) + 2 * (4 * word + j) + l % 16 / 8;
        v |= (w.row<uint32_t>(i.more[l % 8 / 4])[lane] >> (8 * (l % 4)) & 0xff) << (8 * j);
      }
      w.row<uint32_t>(i.more[2 + word])[l] = v;
    }
  });
}
void decodeTransposedRead(Decoder &d, CallInst &c) {
  bool isOfBytes = c.getType()->getScalarSizeInBits() == 32; // as words
  Access a = d.memoryAccess(c.getType(), c.getArgOperand(0), 8);
  a.kind = Access::Kind::Load;
  SmallVector<Row, 8> rows;
  for (auto &p : a.elements) rows.push_back(p.row = d.fresh(isOfBytes ? 4 : 2));
  d.emitAccess(std::move(a));
  for (Row r : d.defineFresh(&c)) rows.push_back(r);
  d.emit(isOfBytes ? transposeReadOfBytes : transposeRead).more = d.list(rows);
}

} // namespace

// Table: the intrinsics of AMDGPU that exchange values between lanes.
ArrayRef<IntrinsicRow> amdLaneIntrinsics() {
  static constexpr const char
      *kDpp = "ISA guide, Data Parallel Processing (DPP)",
      *kLds = "ISA guide, Data Share Instructions: DS_SWIZZLE_B32, DS_BPERMUTE_B32, DS_PERMUTE_B32, "
              "DS_READ_B64_TR_B16, DS_READ_B64_TR_B8",
      *kLane = "ISA guide, Vector ALU: V_READLANE, V_READFIRSTLANE, V_WRITELANE, V_MBCNT, V_CMP",
      *kPermlane = "ISA guide, V_PERMLANE16, V_PERMLANEX16, V_PERMLANE64, V_PERMLANE16_SWAP, V_PERMLANE32_SWAP";
  static const IntrinsicRow rows[] = {
      {"llvm.amdgcn.update.dpp", kDpp, decodeDpp},
      {"llvm.amdgcn.ds.swizzle", kLds,
       [](Decoder &d, CallInst &c) {
         d.emit(swizzle, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), kNoRow, kNoRow, d.constantOperand(c, 1));
       }},
      {"llvm.amdgcn.ds.bpermute", kLds,
       [](Decoder &d, CallInst &c) {
         d.emit(bpermute, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
       }},
      {"llvm.amdgcn.ds.permute", kLds,
       [](Decoder &d, CallInst &c) {
         d.emit(permute, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
       }},
      {"llvm.amdgcn.ds.read.tr16.b64", kLds, decodeTransposedRead},
      {"llvm.amdgcn.ds.read.tr8.b64", kLds, decodeTransposedRead},
      {"llvm.amdgcn.readfirstlane", kLane, decodeReadFirst},
      {"llvm.amdgcn.readlane", kLane, decodeReadLane},
      {"llvm.amdgcn.writelane", kLane,
       [](Decoder &d, CallInst &c) {
         d.emit(writeLane, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)),
                d.row(c.getArgOperand(2)));
       }},
      {"llvm.amdgcn.mbcnt.lo", kLane,
       [](Decoder &d, CallInst &c) {
         d.emit(countLow, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
       }},
      {"llvm.amdgcn.mbcnt.hi", kLane,
       [](Decoder &d, CallInst &c) {
         d.emit(countHigh, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
       }},
      {"llvm.amdgcn.ballot", kLane,
       [](Decoder &d, CallInst &c) {
         d.emit(ballot, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), kNoRow, kNoRow, d.bytesOf(c.getType()));
       }},
      {"llvm.amdgcn.permlane16", kPermlane, decodePermuteLanes16<false>},
      {"llvm.amdgcn.permlanex16", kPermlane, decodePermuteLanes16<true>},
      {"llvm.amdgcn.permlane64", kPermlane,
       [](Decoder &d, CallInst &c) { d.emit(permlane64, d.defineFresh(&c)[0], d.row(c.getArgOperand(0))); }},
      {"llvm.amdgcn.permlane16.swap", kPermlane, decodeSwap<16>},
      {"llvm.amdgcn.permlane32.swap", kPermlane, decodeSwap<32>},
  };
  return rows;
}

} // namespace tessera::emulator
