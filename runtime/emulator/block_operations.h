// What the tables of both vendors have: where a lane is in the grid, clocks, and the barrier of a block.
#pragma once
#include "runtime/emulator/decode.h"
#include "runtime/emulator/unused_reads.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>

namespace tessera::emulator {

// ---- where a lane is ----

template <class F> void perLane(Warp &w, const Instruction &i, F f) {
  uint32_t *d = w.row<uint32_t>(i.to);
  forLanes(w, [&](unsigned l) { d[l] = uint32_t(f(l)); });
}
inline void threadX(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned l) { return w.index * w.lanes + l; });
}
inline void zero(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return 0; });
}
template <int Axis> void blockId(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.block->id[Axis]; });
}
/// An intrinsic without operands.
template <Handler H> void reads(Decoder &d, llvm::CallInst &c) { d.emit(H, d.defineFresh(&c)[0]); }

// ---- time ----

/// Time passes as instructions are executed; who reads it is not going round in a circle.
inline void clock64(Warp &w, const Instruction &i) {
  ++w.block->launch->changes;
  uint64_t *d = w.row<uint64_t>(i.to);
  forLanes(w, [&](unsigned l) { d[l] = w.block->launch->stamp + w.block->instructions; });
}
template <Handler H> void readsTime(Decoder &d, llvm::CallInst &c) {
  d.program().blocksInteract = true;
  reads<H>(d, c);
}

// ---- the barrier ----

/// The immediate of a barrier: what it orders, and of a named one its number, unless the instruction's row `a` has it,
/// and for how many threads it is.
struct BarrierForm {
  static constexpr uint8_t kShared = 1, kGlobal = 2; // memory
  static constexpr uint8_t kMeetsOthers = 4;         // warps may wait at another barrier of the program meanwhile
  uint8_t orders = kShared | kGlobal;
  uint8_t number = 0;
  uint16_t threads = 0; // 0: all of the block

  uint64_t packed() const { return orders | uint64_t(number) << 8 | uint64_t(threads) << 16; }
  static BarrierForm of(const Instruction &i) {
    return {uint8_t(i.immediate), uint8_t(i.immediate >> 8), uint16_t(i.immediate >> 16)};
  }
};
constexpr unsigned kNamedBarriers = 16; // PTX, "bar": operand a is 0 to 15

/// The number of a barrier that has it in a row: that of all lanes. Else the warp has failed.
inline bool readBarrierNumber(Warp &w, const Instruction &i) {
  const uint32_t *numbers = w.row<uint32_t>(i.a);
  w.barrierNumber = numbers[std::countr_zero(w.mask)];
  bool isSame = true;
  forLanes(w, [&](unsigned l) { isSame &= numbers[l] == w.barrierNumber; });
  if (!isSame)
    fail(w, &i, -1, "the lanes of a warp name different barriers");
  else if (w.barrierNumber >= kNamedBarriers)
    fail(w, &i, -1, llvm::formatv("there is no barrier {0}", w.barrierNumber));
  return isSame && w.barrierNumber < kNamedBarriers;
}
inline void barrier(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the barrier") || !noteEffect(w, i)) return;
  countWarpOperation(w, i, SiteCounters::Kind::Barrier, "barrier");
  w.state = Warp::State::AtBarrier;
  w.barrier = &i;
  w.barrierNumber = BarrierForm::of(i).number;
  if (i.a != kNoRow && !readBarrierNumber(w, i)) return;
  w.stop = true;
}

} // namespace tessera::emulator
