// AMD's intrinsics. Sources: LLVM "User Guide for AMDGPU Backend" (AMDGPUUsage) for the intrinsics; the ISA guides
// ("AMD Instinct MI300" for gfx9, "RDNA3" and "RDNA4" for gfx11 and gfx12), by section, for what the instructions do.
// What is peculiar: a wave goes through divergent code with lanes switched off (EXEC), so an operation across lanes
// in such code is well defined; each says below what it gives for a lane that is off.
#include "runtime/amd_functions.h"
#include "runtime/emulator/amd_buffers.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/FormatVariadic.h"
#include <cfenv>

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- ids ----

void waveInGroup(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.index; });
}

// ---- barriers ----

/// s_barrier itself orders nothing: the fences before and after it do, shared memory alone where they say so.
void decodeBarrier(Decoder &d, CallInst &c) {
  auto fence = [](const llvm::Instruction *i) -> const FenceInst * {
    while (i && isa<DbgInfoIntrinsic>(i)) i = i->getNextNode();
    return dyn_cast_or_null<FenceInst>(i);
  };
  const FenceInst *before = fence(c.getPrevNode()), *after = fence(c.getNextNode());
  uint8_t orders = 0;
  if (before && after && isReleaseOrStronger(before->getOrdering()) && isAcquireOrStronger(after->getOrdering())) {
    auto localOnly = [](const FenceInst *f) {
      auto *m = f->getMetadata(LLVMContext::MD_mmra);
      if (!m) return false;
      bool local = false, global = false;
      auto tag = [&](const MDNode *t) {
        if (t->getNumOperands() != 2) return;
        auto *key = dyn_cast<MDString>(t->getOperand(0)), *value = dyn_cast<MDString>(t->getOperand(1));
        if (!key || !value || key->getString() != "amdgpu-synchronize-as") return;
        local |= value->getString() == "local";
        global |= value->getString() == "global";
      };
      tag(m);
      for (auto &o : m->operands())
        if (auto *t = dyn_cast<MDNode>(o)) tag(t);
      return local && !global;
    };
    orders = localOnly(before) || localOnly(after) ? BarrierForm::kShared : BarrierForm().orders;
    d.program().hasSharedBarriers |= orders == BarrierForm::kShared;
  }
  d.emitImmediate(barrier, BarrierForm{.orders = orders}.packed());
}

// ---- lanes ----

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
void decodeReadFirst(Decoder &d, CallInst &c) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    unsigned bytes = d.bytesOf(types[k]);
    d.emit(bytes == 1   ? Handler(readFirst<uint8_t>)
           : bytes == 2 ? readFirst<uint16_t>
           : bytes == 4 ? readFirst<uint32_t>
                        : readFirst<uint64_t>,
           out[k], in[k]);
  }
}
void decodeReadLane(Decoder &d, CallInst &c) {
  auto types = d.elements(c.getType());
  SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))), out(d.defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    unsigned bytes = d.bytesOf(types[k]);
    d.emit(bytes == 1   ? Handler(readLane<uint8_t>)
           : bytes == 2 ? readLane<uint16_t>
           : bytes == 4 ? readLane<uint32_t>
                        : readLane<uint64_t>,
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
void waveBarrier(Warp &w, const Instruction &i) { w.lastSync = ++w.block->launch->stamp; }

// ---- arithmetic ----

template <auto F> void anyFloat1(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c, unary<float, float, [](float x) { return float(F(double(x))); }>,
                     unary<double, double, [](double x) { return double(F(x)); }>, 1);
}
/// v_exp_f32 and v_log_f32 flush denormals; the others keep them.
float exp2Flushed(float x) { return flush(float(std::exp2(double(x)))); }
float log2Flushed(float x) { return float(std::log2(double(flush(x)))); }
float rsqFlushed(float x) { return float(1.0 / std::sqrt(double(flush(x)))); }
void median3(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     ternary<float, float,
                             [](float x, float y, float z) {
                               if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return minNum(minNum(x, y), z);
                               return std::max(std::min(x, y), std::min(std::max(x, y), z));
                             }>,
                     nullptr, 3);
}
void fractionPart(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     unary<float, float,
                           [](float x) {
                             float m;
                             return std::isinf(x) ? std::nanf("") : (m = x - std::floor(x), m < 1 ? m : 0x1.fffffep-1f);
                           }>,
                     unary<double, double,
                           [](double x) {
                             double m;
                             return std::isinf(x) ? std::nan("")
                                                  : (m = x - std::floor(x), m < 1 ? m : 0x1.fffffffffffffp-1);
                           }>,
                     1);
}
void trigPreopOf(Decoder &d, CallInst &c) {
  d.emit(binaryMixed<double, double, uint32_t, runtime::amd::trigPreop>, d.defineFresh(&c)[0],
         d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
}
/// v_frexp_mant: in [1/2, 1); v_frexp_exp: the exponent, 0 for zero, infinity and NaN.
void mantissa(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     unary<float, float,
                           [](float x) {
                             int e;
                             return std::frexp(x, &e);
                           }>,
                     unary<double, double,
                           [](double x) {
                             int e;
                             return std::frexp(x, &e);
                           }>,
                     1);
}
void exponent(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType();
  auto f = [](auto x) {
    int e = 0;
    if (std::isfinite(x)) std::frexp(x, &e);
    return e;
  };
  Row in = d.toFloat(d.row(c.getArgOperand(0)), t), out = d.defineFresh(&c)[0];
  if (c.getType()->isIntegerTy(16))
    d.emit(unary<int16_t, float, f>, out, in);
  else
    d.emit(t->isDoubleTy() ? Handler(unary<int32_t, double, f>) : Handler(unary<int32_t, float, f>), out, in);
}
template <class T> uint32_t classOf(T x) {
  bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
  case FP_NAN: return 3; // signalling or quiet: the tests mean both
  case FP_INFINITE: return negative ? 4 : 512;
  case FP_NORMAL: return negative ? 8 : 256;
  case FP_SUBNORMAL: return negative ? 16 : 128;
  default: return negative ? 32 : 64;
  }
}
void classTest(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType();
  Row in = d.toFloat(d.row(c.getArgOperand(0)), t), mask = d.row(c.getArgOperand(1)), out = d.defineFresh(&c)[0];
  if (t->isDoubleTy())
    d.emit(binaryMixed<uint8_t, double, uint32_t, [](double x, uint32_t m) { return (classOf(x) & m) != 0; }>, out, in,
           mask);
  else
    d.emit(binaryMixed<uint8_t, float, uint32_t, [](float x, uint32_t m) { return (classOf(x) & m) != 0; }>, out, in,
           mask);
}

/// A conversion to an 8-bit kind without saturation: beyond the largest value NaN, or infinity where the kind has one.
uint8_t toFloat8(ir::FloatKind kind, float x) {
  if (std::isnan(x)) return uint8_t(runtime::encodeFloat(kind, x));
  double most = kind == ir::FloatKind::F8E4M3FN ? 448 : kind == ir::FloatKind::F8E4M3FNUZ ? 240 : 57344;
  double unit = kind == ir::FloatKind::F8E4M3FN ? 32 : kind == ir::FloatKind::F8E4M3FNUZ ? 16 : 8192;
  if (std::fabs(double(x)) < most + unit / 2) return uint8_t(runtime::encodeFloat(kind, x));
  if (kind == ir::FloatKind::F8E5M2) return std::signbit(x) ? 0xfc : 0x7c;
  return kind == ir::FloatKind::F8E4M3FN ? (std::signbit(x) ? 0xff : 0x7f) : 0x80;
}
/// immediate: kind | upper half << 8. a, b: values; c: old.
void convertToPairOf8(Warp &w, const Instruction &i) {
  auto kind = ir::FloatKind(i.immediate & 0xff);
  unsigned shift = i.immediate >> 8 ? 16 : 0;
  forLanes(w, [&](unsigned l) {
    uint32_t pair = toFloat8(kind, w.row<float>(i.a)[l]) | uint32_t(toFloat8(kind, w.row<float>(i.b)[l])) << 8;
    w.row<uint32_t>(i.to)[l] = (w.row<uint32_t>(i.c)[l] & ~(0xffffu << shift)) | pair << shift;
  });
}
void convertFromPairOf8(Warp &w, const Instruction &i) { // more: the two results
  auto kind = ir::FloatKind(i.immediate & 0xff);
  unsigned shift = unsigned(i.immediate >> 8);
  forLanes(w, [&](unsigned l) {
    uint32_t v = w.row<uint32_t>(i.a)[l] >> shift;
    for (unsigned k = 0; k < i.more.size(); ++k)
      w.row<float>(i.more[k])[l] = float(runtime::decodeFloat(kind, v >> (8 * k) & 0xff));
  });
}
ir::FloatKind kindOf(Decoder &d, bool fp8) {
  if (d.target().convertsE4M3FNUZ) return fp8 ? ir::FloatKind::F8E4M3FNUZ : ir::FloatKind::F8E5M2FNUZ;
  return fp8 ? ir::FloatKind::F8E4M3FN : ir::FloatKind::F8E5M2;
}
template <bool Fp8> void decodeToPairOf8(Decoder &d, CallInst &c) {
  d.emit(convertToPairOf8, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)),
         d.row(c.getArgOperand(2)), uint64_t(kindOf(d, Fp8)) | d.constantOperand(c, 3) << 8);
}
template <bool Fp8> void decodeFromPairOf8(Decoder &d, CallInst &c) {
  Row in = d.row(c.getArgOperand(0));
  auto out = d.list(d.defineFresh(&c));
  d.emit(convertFromPairOf8, kNoRow, in, kNoRow, kNoRow,
         uint64_t(kindOf(d, Fp8)) | (d.constantOperand(c, 1) ? 16 : 0) << 8)
      .more = out;
}
template <bool Fp8> void decodeFromOneOf8(Decoder &d, CallInst &c) {
  Row in = d.row(c.getArgOperand(0));
  auto out = d.list(d.defineFresh(&c));
  d.emit(convertFromPairOf8, kNoRow, in, kNoRow, kNoRow, uint64_t(kindOf(d, Fp8)) | d.constantOperand(c, 1) * 8 << 8)
      .more = out;
}
void convertPairTowardZero(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < 2; ++k)
    d.emit(unary<uint16_t, float,
                 [](float x) { return runtime::encodeFloat(ir::FloatKind::F16, x, runtime::Rounding::TowardZero); }>,
           out[k], d.row(c.getArgOperand(k)));
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
void ignore(Decoder &, CallInst &) {}

} // namespace

// Table: the intrinsics of AMDGPU.
ArrayRef<IntrinsicRow> amdIntrinsics() {
  static constexpr const char
      *kIds = "AMDGPUUsage, Initial Kernel Execution State, Kernel Arguments (code object V5)",
      *kSync = "ISA guide, S_BARRIER; AMDGPUUsage, Memory Model", *kDpp = "ISA guide, Data Parallel Processing (DPP)",
      *kLds = "ISA guide, Data Share Instructions: DS_SWIZZLE_B32, DS_BPERMUTE_B32, DS_PERMUTE_B32, "
              "DS_READ_B64_TR_B16, DS_READ_B64_TR_B8",
      *kLane = "ISA guide, Vector ALU: V_READLANE, V_READFIRSTLANE, V_WRITELANE, V_MBCNT, V_CMP",
      *kPermlane = "ISA guide, V_PERMLANE16, V_PERMLANEX16, V_PERMLANE64, V_PERMLANE16_SWAP, V_PERMLANE32_SWAP",
      *kBuffer = "ISA guide, Vector Memory Buffer Instructions, Buffer Resource Descriptor",
      *kFloat = "ISA guide, Vector ALU: V_EXP_F32, V_LOG_F32, V_RCP_F32, V_RSQ_F32, V_SQRT_F32, V_FREXP, V_FRACT, "
                "V_MED3, V_CMP_CLASS",
      *kFp8 = "ISA guide, V_CVT_PK_FP8_F32, V_CVT_PK_F32_FP8, V_CVT_PKRTZ_F16_F32",
      *kBits = "ISA guide, V_PERM_B32, V_BFE";
  static const IntrinsicRow rows[] = {
      {"llvm.amdgcn.workitem.id.x", kIds, reads<threadX>},
      {"llvm.amdgcn.workitem.id.y", kIds, reads<zero>},
      {"llvm.amdgcn.workitem.id.z", kIds, reads<zero>},
      {"llvm.amdgcn.workgroup.id.x", kIds, reads<blockId<0>>},
      {"llvm.amdgcn.workgroup.id.y", kIds, reads<blockId<1>>},
      {"llvm.amdgcn.workgroup.id.z", kIds, reads<blockId<2>>},
      {"llvm.amdgcn.wave.id", kIds, reads<waveInGroup>},
      {"llvm.amdgcn.implicitarg.ptr", kIds,
       [](Decoder &d, CallInst &c) { d.define(&c, {d.constant(kConstantBase, 8)}); }},
      {"llvm.amdgcn.s.memtime", kIds, readsTime<clock64>},
      {"llvm.amdgcn.s.memrealtime", kIds, readsTime<clock64>},
      {"llvm.amdgcn.s.barrier", kSync, decodeBarrier},
      {"llvm.amdgcn.wave.barrier", kSync, [](Decoder &d, CallInst &) { d.emit(waveBarrier); }},
      {"llvm.amdgcn.s.waitcnt", kSync, decodeWaitCount},
      {"llvm.amdgcn.s.sleep", kSync, ignore},
      {"llvm.amdgcn.s.setprio", kSync, ignore},
      {"llvm.amdgcn.sched.barrier", kSync, ignore},
      {"llvm.amdgcn.sched.group.barrier", kSync, ignore},
      {"llvm.amdgcn.iglp.opt", kSync, ignore},
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
      {"llvm.amdgcn.make.buffer.rsrc", kBuffer, decodeMakeResource},
      {"llvm.amdgcn.raw.ptr.buffer.load", kBuffer, decodeBufferLoad},
      {"llvm.amdgcn.raw.ptr.buffer.load.lds", kBuffer, decodeBufferLoadToLds},
      {"llvm.amdgcn.global.load.lds", kBuffer, decodeGlobalLoadToLds},
      {"llvm.amdgcn.raw.ptr.buffer.store", kBuffer, decodeBufferStore},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.swap", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.add", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.sub", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.smin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.umin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.smax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.umax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.and", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.or", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.xor", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fadd", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fmin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fmax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.exp2", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwiseFloat(c, unary<float, float, exp2Flushed>, nullptr, 1); }},
      {"llvm.amdgcn.log", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwiseFloat(c, unary<float, float, log2Flushed>, nullptr, 1); }},
      {"llvm.amdgcn.rcp", kFloat, anyFloat1<[](double x) { return 1.0 / x; }>},
      {"llvm.amdgcn.rsq", kFloat,
       [](Decoder &d, CallInst &c) {
         d.elementwiseFloat(c, unary<float, float, rsqFlushed>,
                            unary<double, double, [](double x) { return 1.0 / std::sqrt(x); }>, 1);
       }},
      {"llvm.amdgcn.sqrt", kFloat, anyFloat1<[](double x) { return std::sqrt(x); }>},
      {"llvm.amdgcn.sin", kFloat, anyFloat1<[](double x) { return std::sin(x * 6.283185307179586476925); }>},
      {"llvm.amdgcn.cos", kFloat, anyFloat1<[](double x) { return std::cos(x * 6.283185307179586476925); }>},
      {"llvm.amdgcn.tanh", kFloat, anyFloat1<[](double x) { return std::tanh(x); }>},
      {"llvm.amdgcn.fract", kFloat, fractionPart},
      {"llvm.amdgcn.fmed3", kFloat, median3},
      {"llvm.amdgcn.fdiv.fast", kFloat,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c, binary<float, float, [](float x, float y) { return x / y; }>, 2);
       }},
      {"llvm.amdgcn.div.fixup", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwise(c, ternary<float, float, runtime::amd::divisionFixup<float>>, 3); }},
      {"llvm.amdgcn.frexp.mant", kFloat, mantissa},
      {"llvm.amdgcn.frexp.exp", kFloat, exponent},
      {"llvm.amdgcn.trig.preop", kFloat, trigPreopOf},
      {"llvm.amdgcn.class", kFloat, classTest},
      {"llvm.amdgcn.cvt.pk.fp8.f32", kFp8, decodeToPairOf8<true>},
      {"llvm.amdgcn.cvt.pk.bf8.f32", kFp8, decodeToPairOf8<false>},
      {"llvm.amdgcn.cvt.pk.f32.fp8", kFp8, decodeFromPairOf8<true>},
      {"llvm.amdgcn.cvt.pk.f32.bf8", kFp8, decodeFromPairOf8<false>},
      {"llvm.amdgcn.cvt.f32.fp8", kFp8, decodeFromOneOf8<true>},
      {"llvm.amdgcn.cvt.f32.bf8", kFp8, decodeFromOneOf8<false>},
      {"llvm.amdgcn.cvt.pkrtz", kFp8, convertPairTowardZero},
      {"llvm.amdgcn.perm", kBits,
       [](Decoder &d, CallInst &c) { d.elementwise(c, ternary<uint32_t, uint32_t, runtime::amd::permuteBytes>, 3); }},
      {"llvm.amdgcn.ubfe", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c,
                       ternary<uint32_t, uint32_t,
                               [](uint32_t x, uint32_t o, uint32_t n) {
                                 return n & 31 ? x >> (o & 31) & ((1u << (n & 31)) - 1) : 0;
                               }>,
                       3);
       }},
      {"llvm.amdgcn.sbfe", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c,
                       ternary<uint32_t, uint32_t,
                               [](uint32_t x, uint32_t o, uint32_t n) {
                                 n &= 31;
                                 o &= 31;
                                 return n ? uint32_t(int32_t(x >> o << (32 - n)) >> (32 - n)) : 0;
                               }>,
                       3);
       }},
      {"llvm.amdgcn.mulhi.u24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c,
             binary<uint32_t, uint32_t,
                    [](uint32_t a, uint32_t b) { return uint32_t(uint64_t(a & 0xffffff) * (b & 0xffffff) >> 32); }>,
             2);
       }},
      {"llvm.amdgcn.mul.u24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c, binary<uint32_t, uint32_t, [](uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }>, 2);
       }},
      {"llvm.amdgcn.mul.i24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c,
             binary<uint32_t, uint32_t,
                    [](uint32_t a, uint32_t b) { return uint32_t((int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8)); }>,
             2);
       }},
  };
  return rows;
}

} // namespace tessera::emulator
