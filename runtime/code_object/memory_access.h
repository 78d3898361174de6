// What instructions of all memories have in common: forms of loads and stores, atomic operations, the trace.
#pragma once
#include "runtime/code_object/wave.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
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

/// Smallest and largest of the lanes of a mask that is not empty.
template <class T> struct Extent {
  T least, most;
};
template <class T> Extent<T> extentOf(const T *lane, uint64_t mask) {
  Extent<T> e{~T(0), 0};
  if (mask == ~uint64_t(0)) {
    for (unsigned l = 0; l < kLanes; ++l) {
      e.least = std::min(e.least, lane[l]);
      e.most = std::max(e.most, lane[l]);
    }
    return e;
  }
  for (; mask; mask &= mask - 1) {
    T x = lane[std::countr_zero(mask)];
    e.least = std::min(e.least, x);
    e.most = std::max(e.most, x);
  }
  return e;
}

/// The same as loadLane and storeLane for the lanes of a mask, of which each one's bytes begin at place(lane).
template <class Place> void loadLanes(Wave &, const AccessForm &, unsigned first, uint64_t mask, Place place);
template <class Place> void storeLanes(Wave &, const AccessForm &, unsigned first, uint64_t mask, Place place);

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

// ---- loops over lanes without conditions on the form ----

template <class F> void forLanesOf(uint64_t mask, F f) {
  if (mask == ~uint64_t(0))
    for (unsigned l = 0; l < kLanes; ++l) f(l);
  else
    for (; mask; mask &= mask - 1) f(unsigned(std::countr_zero(mask)));
}
template <unsigned Registers, class Place> void loadDwords(Wave &w, unsigned first, uint64_t mask, Place place) {
  uint32_t *rows[Registers];
  for (unsigned k = 0; k < Registers; ++k) rows[k] = w.row(first + k);
  forLanesOf(mask, [&](unsigned l) {
    uint32_t v[Registers];
    std::memcpy(v, place(l), sizeof v);
    for (unsigned k = 0; k < Registers; ++k) rows[k][l] = v[k];
  });
}
template <unsigned Registers, class Place> void storeDwords(Wave &w, unsigned first, uint64_t mask, Place place) {
  const uint32_t *rows[Registers];
  for (unsigned k = 0; k < Registers; ++k) rows[k] = w.row(first + k);
  forLanesOf(mask, [&](unsigned l) {
    uint32_t v[Registers];
    for (unsigned k = 0; k < Registers; ++k) v[k] = rows[k][l];
    std::memcpy(place(l), v, sizeof v);
  });
}
/// One or two bytes: the whole register, or a half of which the other is kept.
template <class T, class Place>
void loadPart(Wave &w, const AccessForm &f, unsigned first, uint64_t mask, Place place) {
  uint32_t *row = w.row(first);
  uint32_t kept = f.half == AccessForm::Low ? 0xffff0000 : f.half == AccessForm::High ? 0xffff : 0;
  unsigned shift = f.half == AccessForm::High ? 16 : 0, spare = f.isSigned ? 32 - 8 * sizeof(T) : 0;
  forLanesOf(mask, [&](unsigned l) {
    T v;
    std::memcpy(&v, place(l), sizeof v);
    auto wide = uint32_t(int32_t(uint32_t(v) << spare) >> spare);
    row[l] = (row[l] & kept) | (wide << shift & ~kept);
  });
}
template <class T, class Place>
void storePart(Wave &w, const AccessForm &f, unsigned first, uint64_t mask, Place place) {
  const uint32_t *row = w.row(first);
  unsigned shift = f.half == AccessForm::High ? 16 : 0;
  forLanesOf(mask, [&](unsigned l) {
    auto v = T(row[l] >> shift);
    std::memcpy(place(l), &v, sizeof v);
  });
}
template <class Place> void loadLanes(Wave &w, const AccessForm &f, unsigned first, uint64_t mask, Place place) {
  switch (f.bytes) {
  case 4: return loadDwords<1>(w, first, mask, place);
  case 8: return loadDwords<2>(w, first, mask, place);
  case 12: return loadDwords<3>(w, first, mask, place);
  case 16: return loadDwords<4>(w, first, mask, place);
  case 1: return loadPart<uint8_t>(w, f, first, mask, place);
  case 2: return loadPart<uint16_t>(w, f, first, mask, place);
  default:
    for (; mask; mask &= mask - 1) {
      auto l = unsigned(std::countr_zero(mask));
      loadLane(w, f, first, l, place(l));
    }
  }
}
template <class Place> void storeLanes(Wave &w, const AccessForm &f, unsigned first, uint64_t mask, Place place) {
  switch (f.bytes) {
  case 4: return storeDwords<1>(w, first, mask, place);
  case 8: return storeDwords<2>(w, first, mask, place);
  case 12: return storeDwords<3>(w, first, mask, place);
  case 16: return storeDwords<4>(w, first, mask, place);
  case 1: return storePart<uint8_t>(w, f, first, mask, place);
  case 2: return storePart<uint16_t>(w, f, first, mask, place);
  default:
    for (; mask; mask &= mask - 1) {
      auto l = unsigned(std::countr_zero(mask));
      storeLane(w, f, first, l, place(l));
    }
  }
}

} // namespace tessera::code_object
