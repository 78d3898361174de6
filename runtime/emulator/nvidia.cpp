// NVIDIA's intrinsics. Sources: "Parallel Thread Execution ISA" (PTX), by section; LLVM "User Guide for NVPTX Back-end"
// (NVPTXUsage) for which intrinsic is which instruction. Approximate functions are computed in double and rounded once.
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/mbarrier.h"
#include "runtime/emulator/warpgroup.h"
#include "runtime/interpreter/host_math.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/FormatVariadic.h"
#include <cfenv>

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- barriers and warp-wide operations ----

void decodeBarrier(Decoder &d, CallInst &c) {
  if (c.arg_size() && d.constantOperand(c, 0) != 0) return d.unknown(c, "barriers with a number other than 0");
  // bar.sync orders shared and global memory.
  d.emitImmediate(barrier, BarrierForm().packed());
}
/// bar.arrive: its warp comes to the barrier and does not wait.
void arriveAtBarrier(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the barrier") || !noteEffect(w, i)) return;
  countWarpOperation(w, i, SiteCounters::Kind::Barrier, "barrier");
  w.barrierNumber = BarrierForm::of(i).number;
  if (i.a != kNoRow && !readBarrierNumber(w, i)) return;
  unsigned threads = BarrierForm::of(i).threads;
  BarrierArrivals &a = w.block->arrivals[w.barrierNumber];
  if (!a.warps.empty() && a.threads != threads)
    return fail(w, &i, -1,
                llvm::formatv("arrives at barrier {0} for {1} threads, and warp {2} for {3}", w.barrierNumber, threads,
                              a.warps[0], a.threads));
  if (llvm::is_contained(a.warps, w.index))
    return fail(
        w, &i, -1,
        llvm::formatv("arrives at barrier {0} again, before all of its threads have come to it", w.barrierNumber));
  a.threads = threads;
  a.warps.push_back(w.index);
  if (a.known.size() < std::max<size_t>(w.known.size(), w.block->copyUnit()))
    a.known.resize(std::max<size_t>(w.known.size(), w.block->copyUnit()));
  for (auto [to, from] : llvm::zip(a.known, w.known)) to = std::max(to, from);
  std::fill_n(a.known.begin() + w.index * w.lanes, w.lanes, ++w.block->launch->stamp);
}
template <Handler H> void decodeNamedBarrier(Decoder &d, CallInst &c) {
  auto *constant = dyn_cast<ConstantInt>(c.getArgOperand(0));
  uint64_t number = constant ? constant->getZExtValue() : 0, threads = d.constantOperand(c, 1);
  // "Operand b specifies the number of threads …; it must be a multiple of warp size"; there are 16 barriers.
  if (number >= kNamedBarriers || !threads || threads % 32 || threads > 1024)
    return d.unknown(c, "barriers of this number, or for this many threads");
  Row given = constant ? kNoRow : d.row(c.getArgOperand(0));
  BarrierForm form{.number = uint8_t(number), .threads = uint16_t(threads)};
  d.emit(H, kNoRow, given, kNoRow, kNoRow, form.packed());
}
/// setmaxnreg, whose number LLVM has checked: all warps of a warpgroup execute it; that the registers are there is
/// ignored.
template <bool More> void setRegisters(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "setmaxnreg")) return;
  unsigned count = unsigned(i.immediate);
  if (!w.registers)
    return fail(w, &i, -1, "setmaxnreg in a kernel that does not say how many registers it starts with (maxnreg)");
  if (More ? count < w.registers : count > w.registers)
    return fail(w, &i, -1,
                llvm::formatv("setmaxnreg.{0} to {1} registers of a thread that has {2}", More ? "inc" : "dec", count,
                              w.registers));
  w.registers = count;
}
template <bool More> void decodeSetRegisters(Decoder &d, CallInst &c) {
  d.emitImmediate(setRegisters<More>, d.constantOperand(c, 0));
}
/// The member mask must name the executing lanes and no others that are elsewhere.
bool membersPresent(Warp &w, const Instruction &i, Row mask, const char *what) {
  uint32_t members = w.row<uint32_t>(mask)[std::countr_zero(w.mask)];
  if (members & ~w.mask & w.full) {
    unsigned missing = unsigned(std::countr_zero(members & ~w.mask & w.full));
    fail(w, &i, int(std::countr_zero(w.mask)),
         llvm::formatv("{0} waits for lane {1}, which {2}", what, missing,
                       w.live >> missing & 1 ? "is in another branch" : "has ended"));
    return false;
  }
  if (w.mask & ~uint64_t(members)) {
    fail(w, &i, int(std::countr_zero(w.mask & ~uint64_t(members))),
         llvm::formatv("{0} is executed by a lane that its member mask leaves out", what));
    return false;
  }
  return true;
}
void warpBarrier(Warp &w, const Instruction &i) {
  if (!membersPresent(w, i, i.a, "the warp barrier")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Barrier, "warp barrier");
  w.lastSync = ++w.block->launch->stamp;
}
enum : unsigned { kUp, kDown, kButterfly, kIndex };
/// shfl.sync (PTX, "Data Movement and Conversion Instructions: shfl.sync"): `more`: value, b, c; `a`: members; `b`: the
/// predicate's row, if wanted.
void shuffle(Warp &w, const Instruction &i) {
  if (!membersPresent(w, i, i.a, "the shuffle")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Shuffle, "shuffle");
  const uint32_t *v = w.row<uint32_t>(i.more[0]), *bs = w.row<uint32_t>(i.more[1]), *cs = w.row<uint32_t>(i.more[2]);
  uint32_t out[32];
  uint8_t valid[32];
  uint32_t active = uint32_t(w.mask);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(active >> lane & 1)) continue;
    unsigned b = bs[lane] & 31, clamp = cs[lane] & 31, segment = cs[lane] >> 8 & 31;
    unsigned most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int j = 0;
    bool p = false;
    switch (i.immediate) {
    case kUp: j = int(lane) - int(b), p = j >= int(most); break;
    case kDown: j = int(lane + b), p = j <= int(most); break;
    case kButterfly: j = int(lane ^ b), p = j <= int(most); break;
    default: j = int(least | (b & ~segment)), p = j <= int(most); break;
    }
    if (!p) j = int(lane);
    if (!(active >> j & 1))
      return fail(w, &i, int(lane), llvm::formatv("the shuffle reads from lane {0}, which does not take part", j));
    out[lane] = v[j];
    valid[lane] = p;
  }
  forLanes(w, [&](unsigned l) {
    w.row<uint32_t>(i.to)[l] = out[l];
    if (i.b != kNoRow) w.row<uint8_t>(i.b)[l] = valid[l];
  });
}
template <unsigned Kind> void decodeShuffle(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> out(d.defineFresh(&c));
  Row in[3] = {d.row(c.getArgOperand(1)), d.row(c.getArgOperand(2)), d.row(c.getArgOperand(3))};
  d.emit(shuffle, out[0], d.row(c.getArgOperand(0)), out.size() > 1 ? out[1] : kNoRow, kNoRow, Kind).more = d.list(in);
}
/// vote.sync, match.any.sync and redux.sync: `a` members, `b` value; immediate: which.
enum : unsigned {
  kBallot,
  kAll,
  kAny,
  kUniform,
  kReduceAdd,
  kReduceMin,
  kReduceMax,
  kReduceUmin,
  kReduceUmax,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kMatchAny
};
void vote(Warp &w, const Instruction &i) {
  if (!membersPresent(w, i, i.a, "the warp-wide operation")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Shuffle,
                     i.immediate < kReduceAdd   ? "vote"
                     : i.immediate == kMatchAny ? "match"
                                                : "warp reduction");
  if (i.immediate < kReduceAdd) {
    const uint8_t *p = w.row<uint8_t>(i.b);
    uint32_t set = 0;
    for (uint64_t m = w.mask; m; m &= m - 1) set |= uint32_t(p[std::countr_zero(m)] & 1) << std::countr_zero(m);
    forLanes(w, [&](unsigned l) {
      if (i.immediate == kBallot)
        w.row<uint32_t>(i.to)[l] = set;
      else
        w.row<uint8_t>(i.to)[l] = i.immediate == kAll   ? set == w.mask
                                  : i.immediate == kAny ? set != 0
                                                        : set == w.mask || !set;
    });
    return;
  }
  const uint32_t *v = w.row<uint32_t>(i.b);
  if (i.immediate == kMatchAny) {
    uint32_t out[32];
    for (uint64_t m = w.mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      out[l] = 0;
      for (uint64_t n = w.mask; n; n &= n - 1)
        out[l] |= uint32_t(v[std::countr_zero(n)] == v[l]) << std::countr_zero(n);
    }
    forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = out[l]; });
    return;
  }
  uint32_t r = v[std::countr_zero(w.mask)];
  for (uint64_t m = w.mask & (w.mask - 1); m; m &= m - 1) {
    uint32_t x = v[std::countr_zero(m)];
    switch (i.immediate) {
    case kReduceAdd: r += x; break;
    case kReduceMin: r = uint32_t(std::min(int32_t(r), int32_t(x))); break;
    case kReduceMax: r = uint32_t(std::max(int32_t(r), int32_t(x))); break;
    case kReduceUmin: r = std::min(r, x); break;
    case kReduceUmax: r = std::max(r, x); break;
    case kReduceAnd: r &= x; break;
    case kReduceOr: r |= x; break;
    default: r ^= x; break;
    }
  }
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = r; });
}
template <unsigned Kind> void decodeVote(Decoder &d, CallInst &c) {
  bool valueFirst = Kind >= kReduceAdd && Kind != kMatchAny; // redux.sync takes the value first
  d.emit(vote, d.defineFresh(&c)[0], d.row(c.getArgOperand(valueFirst)), d.row(c.getArgOperand(!valueFirst)), kNoRow,
         Kind);
}

// ---- arithmetic with rounding mode and flushing in the name: llvm.nvvm.OP.MODE[.ftz].TYPE ----

enum class Op { Add, Sub, Mul, Fma, Div, Rcp, Sqrt };
template <class T> T compute(Op op, T x, T y, T z) {
  switch (op) {
  case Op::Add: return x + y;
  case Op::Sub: return x - y;
  case Op::Mul: return x * y;
  case Op::Fma: return std::fma(x, y, z);
  case Op::Div: return x / y;
  case Op::Rcp: return T(1) / x;
  case Op::Sqrt: return std::sqrt(x);
  }
  return x;
}
/// immediate: operation | mode << 8 | ftz << 16. The mode is set around the loop; loads and stores stay inside of it.
template <class T, Op O, bool Ftz> void rounded(Warp &w, const Instruction &i) {
  int mode = int(i.immediate);
  if (mode != FE_TONEAREST) fesetround(mode);
  const T *x = w.row<T>(i.a), *y = w.row<T>(i.b == kNoRow ? i.a : i.b), *z = w.row<T>(i.c == kNoRow ? i.a : i.c);
  T *to = w.row<T>(i.to);
  forLanes(w, [=](unsigned l) {
    if constexpr (Ftz)
      to[l] = flush(compute<T>(O, flush(x[l]), flush(y[l]), flush(z[l])));
    else
      to[l] = compute<T>(O, x[l], y[l], z[l]);
  });
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
}
/// The mode of <cfenv> that a part of an intrinsic's name stands for.
int roundingModeOf(StringRef part) {
  return part == "rz" ? FE_TOWARDZERO : part == "rm" ? FE_DOWNWARD : part == "rp" ? FE_UPWARD : FE_TONEAREST;
}
template <Op O> void decodeRounded(Decoder &d, CallInst &c) {
  StringRef name = c.getCalledFunction()->getName();
  SmallVector<StringRef, 8> part;
  name.split(part, '.');
  bool ftz = part[4] == "ftz", isDouble = part.back() == "d" || c.getType()->isDoubleTy();
  int m = roundingModeOf(part[3]);
  Row in[3] = {kNoRow, kNoRow, kNoRow};
  for (unsigned k = 0; k < c.arg_size() && k < 3; ++k) in[k] = d.row(c.getArgOperand(k));
  d.emit(isDouble ? rounded<double, O, false>
         : ftz    ? rounded<float, O, true>
                  : rounded<float, O, false>,
         d.defineFresh(&c)[0], in[0], in[1], in[2], uint64_t(m));
}

/// A conversion between numbers: f2i.rn, d2ull.rz.ftz, ui2f.rp, …
struct Conversion {
  StringRef from, to; // f, d, i, ui, ll, ull
  bool ftz;
  int mode; // of rounding
  Row in, out;
};

void decodeFloatToInteger(Decoder &d, const Conversion &c) {
  Row wide = d.fresh(8);
  bool isSigned = !c.to.starts_with("u");
  unsigned bits = c.to.ends_with("ll") ? 64 : 32;
  auto h = [](auto type) {
    return [](Warp &w, const Instruction &i) { // immediate: bits | signed << 8 | ftz << 9 | mode << 16
      const auto *a = w.row<decltype(type)>(i.a);
      int mode = int(i.immediate >> 16);
      forLanes(w, [&](unsigned l) {
        double x = double(a[l]);
        if (i.immediate >> 9 & 1) x = flush(float(x));
        x = mode == FE_TOWARDZERO ? std::trunc(x)
            : mode == FE_DOWNWARD ? std::floor(x)
            : mode == FE_UPWARD   ? std::ceil(x)
                                  : std::nearbyint(x);
        w.row<uint64_t>(i.to)[l] = toInteger(x, i.immediate >> 8 & 1, unsigned(i.immediate & 0xff));
      });
    };
  };
  d.emit(c.from == "d" ? Handler(h(double())) : Handler(h(float())), wide, c.in, kNoRow, kNoRow,
         bits | uint64_t(isSigned) << 8 | uint64_t(c.ftz) << 9 | uint64_t(c.mode) << 16);
  if (bits == 64)
    d.copy(c.out, wide, 8);
  else
    d.emit(unary<uint32_t, uint64_t, [](uint64_t x) { return uint32_t(x); }>, c.out, wide);
}

void decodeIntegerToFloat(Decoder &d, const Conversion &c) {
  bool isSigned = !c.from.starts_with("u");
  unsigned bytes = c.from.ends_with("ll") ? 8 : 4;
  Row wide = d.resized(d.signExtended(c.in, 8 * bytes, bytes), bytes, 8);
  if (isSigned && bytes == 4) wide = d.signExtended(wide, 32, 8);
  auto h = [](auto type, auto integer) {
    return [](Warp &w, const Instruction &i) {
      fesetround(int(i.immediate));
      const uint64_t *a = w.row<uint64_t>(i.a);
      auto *t = w.row<decltype(type)>(i.to);
      forLanes(w, [=](unsigned l) { t[l] = decltype(type)(decltype(integer)(a[l])); });
      fesetround(FE_TONEAREST);
    };
  };
  d.emit(c.to == "f" ? (isSigned ? Handler(h(float(), int64_t())) : Handler(h(float(), uint64_t())))
                     : (isSigned ? Handler(h(double(), int64_t())) : Handler(h(double(), uint64_t()))),
         c.out, wide, kNoRow, kNoRow, uint64_t(c.mode));
}

void narrowDouble(Warp &w, const Instruction &i) { // immediate: mode | ftz << 16
  fesetround(int(i.immediate & 0xffff));
  const double *a = w.row<double>(i.a);
  float *t = w.row<float>(i.to);
  forLanes(w, [=, &i](unsigned l) {
    float r = float(a[l]);
    t[l] = i.immediate >> 16 ? flush(r) : r;
  });
  fesetround(FE_TONEAREST);
}

void decodeConversion(Decoder &d, CallInst &call) {
  StringRef name = call.getCalledFunction()->getName();
  SmallVector<StringRef, 8> part;
  name.split(part, '.');
  auto [from, to] = part[2].split('2');
  int mode = roundingModeOf(part.size() > 3 ? part[3] : "rn");
  Row in = d.row(call.getArgOperand(0)), out = d.defineFresh(&call)[0];
  Conversion c{from, to, name.contains(".ftz"), mode, in, out};
  auto isFloat = [](StringRef s) { return s == "f" || s == "d"; };
  if (isFloat(from) && !isFloat(to)) return decodeFloatToInteger(d, c);
  if (!isFloat(from) && isFloat(to)) return decodeIntegerToFloat(d, c);
  if (from == "d" && to == "f")
    d.emit(narrowDouble, out, in, kNoRow, kNoRow, uint64_t(mode) | uint64_t(c.ftz) << 16);
  else
    d.unknown(call, "the intrinsic '" + name.str() + "'");
}

template <auto F> void floats1(Decoder &d, CallInst &c) { d.elementwise(c, unary<float, float, F>, 1); }
template <auto F> void doubles1(Decoder &d, CallInst &c) { d.elementwise(c, unary<double, double, F>, 1); }
template <auto F> void floats2(Decoder &d, CallInst &c) { d.elementwise(c, binary<float, float, F>, 2); }
template <auto F> void doubles2(Decoder &d, CallInst &c) { d.elementwise(c, binary<double, double, F>, 2); }
template <class T, auto F> void integers2(Decoder &d, CallInst &c) { d.elementwise(c, binary<T, T, F>, 2); }
/// ex2.approx of f32 and f16 types, fabs of f32 and f64: overloaded by type.
template <auto F, bool Ftz> void anyFloat1(Decoder &d, CallInst &c) {
  d.elementwiseFloat(
      c, unary<float, float, [](float x) { return Ftz ? flush(float(F(double(flush(x))))) : float(F(double(x))); }>,
      unary<double, double, [](double x) { return double(F(x)); }>, 1);
}
#define TESSERA_F1(F) floats1<[](float x) { return float(F(double(x))); }>
#define TESSERA_F1_FTZ(F) floats1<[](float x) { return flush(float(F(double(flush(x))))); }>
double reciprocalRoot(double x) { return 1.0 / std::sqrt(x); }
float saturate(float x) { return std::isnan(x) ? 0.0f : std::min(1.0f, std::max(0.0f, x)); }

// ---- 8-bit floats and pairs ----

/// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a goes to the upper half of d.
template <ir::FloatKind K> void toPairOf8(Decoder &d, CallInst &c) {
  d.elementwise(
      c,
      binary<uint16_t, float,
             [](float a, float b) { return uint16_t(runtime::encodeFloat(K, a) << 8 | runtime::encodeFloat(K, b)); }>,
      2);
}
template <ir::FloatKind K> void halvesToPairOf8(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> in(d.rows(c.getArgOperand(0))); // lower element first
  Row out = d.defineFresh(&c)[0];
  d.emit(binary<uint16_t, uint16_t,
                [](uint16_t low, uint16_t high) {
                  return uint16_t(runtime::encodeFloat(K, halfToFloat(high)) << 8 |
                                  runtime::encodeFloat(K, halfToFloat(low)));
                }>,
         out, in[0], in[1]);
}
template <ir::FloatKind K> void pairOf8ToHalves(Decoder &d, CallInst &c) {
  Row in = d.row(c.getArgOperand(0));
  SmallVector<Row, 4> out(d.defineFresh(&c));
  d.emit(unary<uint16_t, uint16_t,
               [](uint16_t x) { return runtime::encodeFloat(ir::FloatKind::F16, runtime::decodeFloat(K, x & 0xff)); }>,
         out[0], in);
  d.emit(unary<uint16_t, uint16_t,
               [](uint16_t x) { return runtime::encodeFloat(ir::FloatKind::F16, runtime::decodeFloat(K, x >> 8)); }>,
         out[1], in);
}
/// cvt.rz.f16x2.f32 d, a, b: a goes to the upper half.
template <ir::FloatKind K, runtime::Rounding R> void toPairOf16(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> out(d.defineFresh(&c));
  auto h = unary<uint16_t, float, [](float x) { return runtime::encodeFloat(K, x, R); }>;
  d.emit(h, out[0], d.row(c.getArgOperand(1)));
  d.emit(h, out[1], d.row(c.getArgOperand(0)));
}
/// fma.rn.f16x2, fma.rn.bf16x2: rounded once. x * y is exact in double, the addition's error is kept.
template <ir::FloatKind K> void fusedMultiplyAddOf16(Decoder &d, CallInst &c) {
  d.elementwise(c,
                ternary<uint16_t, uint16_t,
                        [](uint16_t x, uint16_t y, uint16_t z) {
                          double exact = runtime::decodeFloat(K, x) * runtime::decodeFloat(K, y);
                          double addend = runtime::decodeFloat(K, z);
                          double sum = exact + addend;
                          double part = sum - exact;
                          double error = (exact - (sum - part)) + (addend - part);
                          return uint16_t(
                              runtime::encodeFloat(K, runtime::roundToOdd(sum, std::isfinite(error) ? error : 0)));
                        }>,
                3);
}

// ---- integers ----

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned s = selector >> (4 * k) & 15;
    uint8_t byte = uint8_t(both >> (8 * (s & 7)));
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= uint32_t(byte) << (8 * k);
  }
  return r;
}
void decodePermute(Decoder &d, CallInst &c) { d.elementwise(c, ternary<uint32_t, uint32_t, permute>, 3); }
template <int High> void wordOfDouble(Decoder &d, CallInst &c) {
  d.elementwise(c, unary<uint32_t, uint64_t, [](uint64_t x) { return uint32_t(x >> (32 * High)); }>, 1);
}
void doubleOfWords(Decoder &d, CallInst &c) {
  d.elementwise(c, binary<uint64_t, uint32_t, [](uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }>,
                2);
}
void absoluteDifference(Decoder &d, CallInst &c) {
  bool isSigned = c.getCalledFunction()->getName().ends_with(".i");
  d.elementwise(
      c,
      isSigned
          ? Handler(ternary<uint32_t, uint32_t,
                            [](uint32_t a, uint32_t b, uint32_t k) {
                              return k + uint32_t(std::abs(int64_t(int32_t(a)) - int32_t(b)));
                            }>)
          : ternary<uint32_t, uint32_t, [](uint32_t a, uint32_t b, uint32_t k) { return k + (a > b ? a - b : b - a); }>,
      3);
}
void warpFence(Decoder &, CallInst &) {}

} // namespace

// Table: the intrinsics of NVPTX.
ArrayRef<IntrinsicRow> nvidiaIntrinsics() {
  static constexpr const char *kBar = "PTX, bar / barrier, bar.warp.sync", *kShfl = "PTX, shfl.sync",
                              *kVote = "PTX, vote.sync, match.sync, redux.sync",
                              *kArithmetic = "PTX, Floating Point Instructions: add, sub, mul, fma, div, rcp, sqrt",
                              *kApprox = "PTX, Floating Point Instructions: .approx forms, div.full",
                              *kMinMax = "PTX, Floating Point Instructions: min, max, abs",
                              *kCvt = "PTX, Data Movement and Conversion Instructions: cvt",
                              *kInt = "PTX, Integer Arithmetic Instructions; prmt", *kFence = "PTX, membar / fence",
                              *kElect = "PTX, elect.sync",
                              *kWarpgroup = "PTX, Asynchronous Warpgroup Level Matrix Instructions";
  // Table: in a lambda, since some rows are made in a loop.
  static const std::vector<IntrinsicRow> rows = [] {
    std::vector<IntrinsicRow> r = {
        {"llvm.nvvm.barrier.cta.sync.aligned.all", kBar, decodeBarrier},
        {"llvm.nvvm.barrier.cta.sync.all", kBar, decodeBarrier},
        {"llvm.nvvm.barrier.cta.sync.aligned.count", kBar, decodeNamedBarrier<barrier>},
        {"llvm.nvvm.barrier.cta.sync.count", kBar, decodeNamedBarrier<barrier>},
        {"llvm.nvvm.barrier.cta.arrive.aligned.count", kBar, decodeNamedBarrier<arriveAtBarrier>},
        {"llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", "PTX, setmaxnreg", decodeSetRegisters<true>},
        {"llvm.nvvm.setmaxnreg.dec.sync.aligned.u32", "PTX, setmaxnreg", decodeSetRegisters<false>},
        {"llvm.nvvm.bar.warp.sync", kBar,
         [](Decoder &d, CallInst &c) { d.emit(warpBarrier, kNoRow, d.row(c.getArgOperand(0))); }},
        {"llvm.nvvm.shfl.sync.up.i32", kShfl, decodeShuffle<kUp>},
        {"llvm.nvvm.shfl.sync.down.i32", kShfl, decodeShuffle<kDown>},
        {"llvm.nvvm.shfl.sync.bfly.i32", kShfl, decodeShuffle<kButterfly>},
        {"llvm.nvvm.shfl.sync.idx.i32", kShfl, decodeShuffle<kIndex>},
        {"llvm.nvvm.shfl.sync.up.i32p", kShfl, decodeShuffle<kUp>},
        {"llvm.nvvm.shfl.sync.down.i32p", kShfl, decodeShuffle<kDown>},
        {"llvm.nvvm.shfl.sync.bfly.i32p", kShfl, decodeShuffle<kButterfly>},
        {"llvm.nvvm.shfl.sync.idx.i32p", kShfl, decodeShuffle<kIndex>},
        {"llvm.nvvm.vote.ballot.sync", kVote, decodeVote<kBallot>},
        {"llvm.nvvm.vote.all.sync", kVote, decodeVote<kAll>},
        {"llvm.nvvm.vote.any.sync", kVote, decodeVote<kAny>},
        {"llvm.nvvm.vote.uni.sync", kVote, decodeVote<kUniform>},
        {"llvm.nvvm.match.any.sync.i32", kVote, decodeVote<kMatchAny>},
        {"llvm.nvvm.redux.sync.add", kVote, decodeVote<kReduceAdd>},
        {"llvm.nvvm.redux.sync.min", kVote, decodeVote<kReduceMin>},
        {"llvm.nvvm.redux.sync.max", kVote, decodeVote<kReduceMax>},
        {"llvm.nvvm.redux.sync.umin", kVote, decodeVote<kReduceUmin>},
        {"llvm.nvvm.redux.sync.umax", kVote, decodeVote<kReduceUmax>},
        {"llvm.nvvm.redux.sync.and", kVote, decodeVote<kReduceAnd>},
        {"llvm.nvvm.redux.sync.or", kVote, decodeVote<kReduceOr>},
        {"llvm.nvvm.redux.sync.xor", kVote, decodeVote<kReduceXor>},
        {"llvm.nvvm.elect.sync", kElect,
         [](Decoder &d, CallInst &c) {
           auto out = d.defineFresh(&c);
           Row leader = out[0], isLeader = out[1];
           emitElect(d, leader, isLeader, d.row(c.getArgOperand(0)));
         }},
        {"llvm.nvvm.membar.cta", kFence, warpFence},
        {"llvm.nvvm.membar.gl", kFence, warpFence},
        {"llvm.nvvm.membar.sys", kFence, warpFence},
        {"llvm.nvvm.fence.mbarrier_init.release.cluster", kFence, warpFence},
        {"llvm.nvvm.fence.proxy.async", kFence, [](Decoder &d, CallInst &) { emitProxyFence(d); }},
        {"llvm.nvvm.fence.proxy.async.shared_cta", kFence, [](Decoder &d, CallInst &) { emitProxyFence(d); }},
        {"llvm.nvvm.wgmma.fence.sync.aligned", kWarpgroup, [](Decoder &d, CallInst &) { emitWarpgroupFence(d); }},
        {"llvm.nvvm.wgmma.commit_group.sync.aligned", kWarpgroup,
         [](Decoder &d, CallInst &) { emitWarpgroupCommit(d); }},
        {"llvm.nvvm.wgmma.wait_group.sync.aligned", kWarpgroup,
         [](Decoder &d, CallInst &c) { emitWarpgroupWait(d, d.constantOperand(c, 0)); }},
        {"llvm.nvvm.ex2.approx", kApprox, anyFloat1<[](auto x) { return std::exp2(x); }, false>},
        {"llvm.nvvm.ex2.approx.ftz", kApprox, anyFloat1<[](auto x) { return std::exp2(x); }, true>},
        {"llvm.nvvm.lg2.approx.f", kApprox, TESSERA_F1(std::log2)},
        {"llvm.nvvm.lg2.approx.ftz.f", kApprox, TESSERA_F1_FTZ(std::log2)},
        {"llvm.nvvm.sin.approx.f", kApprox, TESSERA_F1(std::sin)},
        {"llvm.nvvm.sin.approx.ftz.f", kApprox, TESSERA_F1_FTZ(std::sin)},
        {"llvm.nvvm.cos.approx.f", kApprox, TESSERA_F1(std::cos)},
        {"llvm.nvvm.cos.approx.ftz.f", kApprox, TESSERA_F1_FTZ(std::cos)},
        {"llvm.nvvm.sqrt.approx.f", kApprox, TESSERA_F1(std::sqrt)},
        {"llvm.nvvm.sqrt.approx.ftz.f", kApprox, TESSERA_F1_FTZ(std::sqrt)},
        {"llvm.nvvm.rsqrt.approx.f", kApprox, TESSERA_F1(reciprocalRoot)},
        {"llvm.nvvm.rsqrt.approx.ftz.f", kApprox, TESSERA_F1_FTZ(reciprocalRoot)},
        {"llvm.nvvm.rsqrt.approx.d", kApprox, doubles1<[](double x) { return reciprocalRoot(x); }>},
        {"llvm.nvvm.rcp.approx.ftz.f", kApprox, TESSERA_F1_FTZ(1.0 /)},
        {"llvm.nvvm.rcp.approx.ftz.d", kApprox, doubles1<runtime::reciprocalOfUpperBits>},
        {"llvm.nvvm.div.approx.f", kApprox, floats2<[](float x, float y) { return x / y; }>},
        {"llvm.nvvm.div.approx.ftz.f", kApprox, floats2<[](float x, float y) { return flush(flush(x) / flush(y)); }>},
        {"llvm.nvvm.div.full", kApprox, floats2<[](float x, float y) { return x / y; }>},
        {"llvm.nvvm.div.full.ftz", kApprox, floats2<[](float x, float y) { return flush(flush(x) / flush(y)); }>},
        {"llvm.nvvm.tanh.approx", kApprox, anyFloat1<[](auto x) { return std::tanh(x); }, false>},
        {"llvm.nvvm.fabs", kMinMax, anyFloat1<[](auto x) { return std::fabs(x); }, false>},
        {"llvm.nvvm.fabs.ftz", kMinMax, anyFloat1<[](auto x) { return std::fabs(x); }, true>},
        {"llvm.nvvm.fmin.f", kMinMax, floats2<[](float x, float y) { return minNum(x, y); }>},
        {"llvm.nvvm.fmin.ftz.f", kMinMax, floats2<[](float x, float y) { return minNum(flush(x), flush(y)); }>},
        {"llvm.nvvm.fmin.d", kMinMax, doubles2<[](double x, double y) { return minNum(x, y); }>},
        {"llvm.nvvm.fmax.f", kMinMax, floats2<[](float x, float y) { return maxNum(x, y); }>},
        {"llvm.nvvm.fmax.ftz.f", kMinMax, floats2<[](float x, float y) { return maxNum(flush(x), flush(y)); }>},
        {"llvm.nvvm.fmax.d", kMinMax, doubles2<[](double x, double y) { return maxNum(x, y); }>},
        {"llvm.nvvm.floor.f", kCvt, TESSERA_F1(std::floor)},
        {"llvm.nvvm.floor.ftz.f", kCvt, TESSERA_F1_FTZ(std::floor)},
        {"llvm.nvvm.floor.d", kCvt, doubles1<[](double x) { return std::floor(x); }>},
        {"llvm.nvvm.ceil.f", kCvt, TESSERA_F1(std::ceil)},
        {"llvm.nvvm.ceil.ftz.f", kCvt, TESSERA_F1_FTZ(std::ceil)},
        {"llvm.nvvm.ceil.d", kCvt, doubles1<[](double x) { return std::ceil(x); }>},
        {"llvm.nvvm.trunc.f", kCvt, TESSERA_F1(std::trunc)},
        {"llvm.nvvm.trunc.ftz.f", kCvt, TESSERA_F1_FTZ(std::trunc)},
        {"llvm.nvvm.trunc.d", kCvt, doubles1<[](double x) { return std::trunc(x); }>},
        // cvt.rni: to the nearest integer, ties to even.
        {"llvm.nvvm.round.f", kCvt, TESSERA_F1(std::nearbyint)},
        {"llvm.nvvm.round.ftz.f", kCvt, TESSERA_F1_FTZ(std::nearbyint)},
        {"llvm.nvvm.round.d", kCvt, doubles1<[](double x) { return std::nearbyint(x); }>},
        {"llvm.nvvm.saturate.f", kCvt, floats1<[](float x) { return saturate(x); }>},
        {"llvm.nvvm.saturate.ftz.f", kCvt, floats1<[](float x) { return flush(saturate(flush(x))); }>},
        {"llvm.nvvm.ff.to.e4m3x2.rn", kCvt, toPairOf8<ir::FloatKind::F8E4M3FN>},
        {"llvm.nvvm.ff.to.e5m2x2.rn", kCvt, toPairOf8<ir::FloatKind::F8E5M2>},
        {"llvm.nvvm.f16x2.to.e4m3x2.rn", kCvt, halvesToPairOf8<ir::FloatKind::F8E4M3FN>},
        {"llvm.nvvm.f16x2.to.e5m2x2.rn", kCvt, halvesToPairOf8<ir::FloatKind::F8E5M2>},
        {"llvm.nvvm.e4m3x2.to.f16x2.rn", kCvt, pairOf8ToHalves<ir::FloatKind::F8E4M3FN>},
        {"llvm.nvvm.e5m2x2.to.f16x2.rn", kCvt, pairOf8ToHalves<ir::FloatKind::F8E5M2>},
        {"llvm.nvvm.ff2f16x2.rz", kCvt, toPairOf16<ir::FloatKind::F16, runtime::Rounding::TowardZero>},
        {"llvm.nvvm.ff2bf16x2.rz", kCvt, toPairOf16<ir::FloatKind::BF16, runtime::Rounding::TowardZero>},
        {"llvm.nvvm.ff2f16x2.rn", kCvt, toPairOf16<ir::FloatKind::F16, runtime::Rounding::NearestEven>},
        {"llvm.nvvm.ff2bf16x2.rn", kCvt, toPairOf16<ir::FloatKind::BF16, runtime::Rounding::NearestEven>},
        {"llvm.nvvm.f2h.rn", kCvt,
         [](Decoder &d, CallInst &c) {
           d.elementwise(c, unary<uint16_t, float, [](float x) { return floatToHalf(x); }>, 1);
         }},
        {"llvm.nvvm.fma.rn.f16x2", kArithmetic, fusedMultiplyAddOf16<ir::FloatKind::F16>},
        {"llvm.nvvm.fma.rn.bf16x2", kArithmetic, fusedMultiplyAddOf16<ir::FloatKind::BF16>},
        {"llvm.nvvm.d2i.hi", kInt, wordOfDouble<1>},
        {"llvm.nvvm.d2i.lo", kInt, wordOfDouble<0>},
        {"llvm.nvvm.lohi.i2d", kInt, doubleOfWords},
        {"llvm.nvvm.mulhi.ui", kInt,
         integers2<uint32_t, [](uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }>},
        {"llvm.nvvm.mulhi.i", kInt,
         integers2<uint32_t, [](uint32_t a, uint32_t b) { return uint32_t(int64_t(int32_t(a)) * int32_t(b) >> 32); }>},
        {"llvm.nvvm.mulhi.ull", kInt,
         integers2<uint64_t, [](uint64_t a, uint64_t b) { return uint64_t(u128(a) * b >> 64); }>},
        {"llvm.nvvm.mulhi.ll", kInt,
         integers2<uint64_t, [](uint64_t a, uint64_t b) { return uint64_t(i128(int64_t(a)) * int64_t(b) >> 64); }>},
        {"llvm.nvvm.prmt", kInt, decodePermute},
        {"llvm.nvvm.sad.i", kInt, absoluteDifference},
        {"llvm.nvvm.sad.ui", kInt, absoluteDifference},
    };
    append_range(r, nvidiaSpecialRegisters());
    // The families by operation, rounding mode, flushing and type. Names must outlive the table.
    static std::vector<std::string> names;
    std::vector<std::tuple<std::string, const char *, void (*)(Decoder &, CallInst &)>> families;
    for (auto [op, decode] : {std::pair<const char *, void (*)(Decoder &, CallInst &)>{"add", decodeRounded<Op::Add>},
                              {"sub", decodeRounded<Op::Sub>},
                              {"mul", decodeRounded<Op::Mul>},
                              {"fma", decodeRounded<Op::Fma>},
                              {"div", decodeRounded<Op::Div>},
                              {"rcp", decodeRounded<Op::Rcp>},
                              {"sqrt", decodeRounded<Op::Sqrt>}})
      for (const char *mode : {"rn", "rz", "rm", "rp"})
        for (const char *type : {"f", "ftz.f", "d"})
          families.push_back({std::string("llvm.nvvm.") + op + "." + mode + "." + type, kArithmetic, decode});
    for (const char *from : {"f", "d"})
      for (const char *to : {"i", "ui", "ll", "ull"})
        for (const char *mode : {"rn", "rz", "rm", "rp"})
          for (const char *ftz : {"", ".ftz"})
            if (!*ftz || *from == 'f')
              families.push_back(
                  {std::string("llvm.nvvm.") + from + "2" + to + "." + mode + ftz, kCvt, decodeConversion});
    for (const char *from : {"i", "ui", "ll", "ull"})
      for (const char *to : {"f", "d"})
        for (const char *mode : {"rn", "rz", "rm", "rp"})
          families.push_back({std::string("llvm.nvvm.") + from + "2" + to + "." + mode, kCvt, decodeConversion});
    for (const char *mode : {"rn", "rz", "rm", "rp"})
      for (const char *ftz : {"", ".ftz"})
        families.push_back({std::string("llvm.nvvm.d2f.") + mode + ftz, kCvt, decodeConversion});
    for (auto &f : families) names.push_back(std::get<0>(f));
    for (size_t k = 0; k < families.size(); ++k)
      r.push_back({names[k].c_str(), std::get<1>(families[k]), std::get<2>(families[k])});
    return r;
  }();
  return rows;
}

} // namespace tessera::emulator
