// What instructions of all memories have in common: forms of loads and stores, atomic operations, the trace.
#pragma once
#include "runtime/code_object/wave.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tessera::code_object {

/// How the bytes of an access become registers.
struct AccessForm {
  uint8_t bytes = 4;                                     // in memory, by a lane
  bool isSigned = false;                                 // of one or two bytes
  enum Half : uint8_t { Whole, Low, High } half = Whole; // of the register (d16); the other half is kept
  unsigned registers() const { return bytes <= 4 ? 1 : bytes / 4; }
};
/// "dwordx2", "b64", "short_d16_hi", "d16_hi_b16", "u8", … as in names of loads and stores.
std::optional<AccessForm> parseForm(llvm::StringRef);

enum class Atomic : uint8_t {
  Swap,
  CompareSwap,
  Add,
  Sub,
  SMin,
  UMin,
  SMax,
  UMax,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  FAdd,
  FMin,
  FMax,
  PkAddF16,
  PkAddBF16,
  ReverseSub,
  CondSub,
  MaskedOr
};
struct AtomicForm {
  Atomic operation = Atomic::Add;
  uint8_t bytes = 4;
};
/// "add", "add_x2", "add_u64", "cmpswap_b32", "pk_add_f16", … as in names of atomics.
std::optional<AtomicForm> parseAtomic(llvm::StringRef);
/// Changes what is at `place` and returns what was there.
uint64_t applyAtomic(AtomicForm, uint8_t *place, uint64_t data, uint64_t compare);

/// Reads a lane's bytes into its registers, which begin at row `first`; or the other way round.
void loadLane(Wave &, const AccessForm &, unsigned first, unsigned lane, const uint8_t *from);
void storeLane(Wave &, const AccessForm &, unsigned first, unsigned lane, uint8_t *to);
/// A value of up to 8 bytes in registers.
inline uint64_t laneValue(Wave &w, unsigned row, unsigned lane, unsigned bytes) {
  uint64_t v = w.row(row)[lane];
  return bytes == 8 ? v | uint64_t(w.row(row + 1)[lane]) << 32 : v;
}
inline void setLaneValue(Wave &w, unsigned row, unsigned lane, unsigned bytes, uint64_t v) {
  w.row(row)[lane] = uint32_t(v);
  if (bytes == 8) w.row(row + 1)[lane] = uint32_t(v >> 32);
}

/// The bytes at a device address; null, and the wave fails, if no region has them.
uint8_t *resolve(Wave &, uint64_t address, unsigned bytes, bool isWrite);

/// Adds the accesses of the lanes of `mask` to the trace's last event.
void traceMemory(Wave &, uint64_t mask, const uint64_t *addresses, unsigned bytes);
/// `more`: a second address of each lane.
void traceLds(Wave &, uint64_t mask, const uint32_t *addresses, const uint32_t *more, unsigned bytes);

/// Calls f(lane) for the lanes of a mask until the wave fails.
template <class F> void forLanes(Wave &w, uint64_t mask, F f) {
  for (; mask && w.state != Wave::State::Failed; mask &= mask - 1) f(unsigned(std::countr_zero(mask)));
}

} // namespace tessera::code_object
