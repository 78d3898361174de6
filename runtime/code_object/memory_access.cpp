// Forms of accesses, atomic operations and the trace (see memory_access.h).
#include "runtime/code_object/memory_access.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

namespace tessera::code_object {
using namespace llvm;

std::optional<AccessForm> parseForm(StringRef t) {
  AccessForm f;
  // gfx9's names end with the half, those since gfx11 begin with it.
  if (t.consume_front("d16_hi_") || t.consume_back("_d16_hi"))
    f.half = AccessForm::High;
  else if (t.consume_front("d16_") || t.consume_back("_d16"))
    f.half = AccessForm::Low;
  int bytes = StringSwitch<int>(t)
                  .Cases({"byte", "ubyte", "sbyte", "b8", "u8", "i8"}, 1)
                  .Cases({"short", "ushort", "sshort", "b16", "u16", "i16"}, 2)
                  .Cases({"dword", "b32"}, 4)
                  .Cases({"dwordx2", "b64"}, 8)
                  .Cases({"dwordx3", "b96"}, 12)
                  .Cases({"dwordx4", "b128"}, 16)
                  .Cases({"dwordx8", "b256"}, 32)
                  .Cases({"dwordx16", "b512"}, 64)
                  .Default(0);
  if (!bytes || (bytes > 2 && f.half != AccessForm::Whole)) return std::nullopt;
  f.bytes = uint8_t(bytes);
  f.isSigned = t == "sbyte" || t == "sshort" || t == "i8" || t == "i16";
  return f;
}

std::optional<AtomicForm> parseAtomic(StringRef t) {
  AtomicForm f;
  // The type, or gfx9's _x2 for 64 bits.
  char kind = 'b';
  if (t.consume_back("_x2")) f.bytes = 8;
  for (auto [suffix, bytes] : {std::pair("_u32", 4),
                               {"_u64", 8},
                               {"_i32", 4},
                               {"_i64", 8},
                               {"_b32", 4},
                               {"_b64", 8},
                               {"_f32", 4},
                               {"_f64", 8}})
    if (t.consume_back(suffix)) {
      f.bytes = uint8_t(bytes);
      kind = suffix[1];
      break;
    }
  t.consume_back("_num");
  auto pick = [&](Atomic a) { return std::optional<Atomic>(a); };
  std::optional<Atomic> operation;
  if (kind == 'f')
    operation = StringSwitch<std::optional<Atomic>>(t)
                    .Case("add", pick(Atomic::FAdd))
                    .Cases({"min", "fmin"}, pick(Atomic::FMin))
                    .Cases({"max", "fmax"}, pick(Atomic::FMax))
                    .Default(std::nullopt);
  else
    operation = StringSwitch<std::optional<Atomic>>(t)
                    .Cases({"swap", "wrxchg"}, pick(Atomic::Swap))
                    .Cases({"cmpswap", "cmpst", "cmpstore"}, pick(Atomic::CompareSwap))
                    .Case("add", pick(Atomic::Add))
                    .Case("sub", pick(Atomic::Sub))
                    .Case("rsub", pick(Atomic::ReverseSub))
                    .Case("smin", pick(Atomic::SMin))
                    .Case("umin", pick(Atomic::UMin))
                    .Case("smax", pick(Atomic::SMax))
                    .Case("umax", pick(Atomic::UMax))
                    .Case("min", pick(kind == 'i' ? Atomic::SMin : Atomic::UMin))
                    .Case("max", pick(kind == 'i' ? Atomic::SMax : Atomic::UMax))
                    .Case("and", pick(Atomic::And))
                    .Case("or", pick(Atomic::Or))
                    .Case("xor", pick(Atomic::Xor))
                    .Case("inc", pick(Atomic::Inc))
                    .Case("dec", pick(Atomic::Dec))
                    .Case("pk_add_f16", pick(Atomic::PkAddF16))
                    .Case("pk_add_bf16", pick(Atomic::PkAddBF16))
                    .Default(std::nullopt);
  if (!operation) return std::nullopt;
  f.operation = *operation;
  return f;
}

static uint32_t addHalves(uint32_t a, uint32_t b, bool isBfloat) {
  auto one = [&](uint32_t x, uint32_t y) -> uint32_t {
    auto p = uint16_t(x), q = uint16_t(y);
    return isBfloat ? runtime::encodeBfloat(runtime::decodeBfloat(p) + runtime::decodeBfloat(q))
                    : runtime::encodeHalf(runtime::decodeHalf(p) + runtime::decodeHalf(q));
  };
  return one(a, b) | one(a >> 16, b >> 16) << 16;
}

template <class T, class S, class F> static T newValue(Atomic operation, T old, T data, T compare) {
  auto number = [](T x) { return std::bit_cast<F>(x); };
  switch (operation) {
  case Atomic::Swap: return data;
  case Atomic::CompareSwap: return old == compare ? data : old;
  case Atomic::Add: return old + data;
  case Atomic::Sub: return old - data;
  case Atomic::ReverseSub: return data - old;
  case Atomic::SMin: return T(std::min(S(old), S(data)));
  case Atomic::UMin: return std::min(old, data);
  case Atomic::SMax: return T(std::max(S(old), S(data)));
  case Atomic::UMax: return std::max(old, data);
  case Atomic::And: return old & data;
  case Atomic::Or: return old | data;
  case Atomic::Xor: return old ^ data;
  case Atomic::Inc: return old >= data ? 0 : old + 1;
  case Atomic::Dec: return old == 0 || old > data ? data : old - 1;
  case Atomic::FAdd: return std::bit_cast<T>(F(number(old) + number(data)));
  case Atomic::FMin: return std::bit_cast<T>(std::fmin(number(old), number(data)));
  case Atomic::FMax: return std::bit_cast<T>(std::fmax(number(old), number(data)));
  case Atomic::PkAddF16: return T(addHalves(uint32_t(old), uint32_t(data), false));
  case Atomic::PkAddBF16: return T(addHalves(uint32_t(old), uint32_t(data), true));
  case Atomic::CondSub: return old >= data ? old - data : old;
  case Atomic::MaskedOr: return (old & ~data) | compare;
  }
  return old;
}

uint64_t applyAtomic(AtomicForm f, uint8_t *place, uint64_t data, uint64_t compare) {
  if (f.bytes == 8) {
    uint64_t old;
    std::memcpy(&old, place, 8);
    uint64_t made = newValue<uint64_t, int64_t, double>(f.operation, old, data, compare);
    std::memcpy(place, &made, 8);
    return old;
  }
  uint32_t old;
  std::memcpy(&old, place, 4);
  uint32_t made = newValue<uint32_t, int32_t, float>(f.operation, old, uint32_t(data), uint32_t(compare));
  std::memcpy(place, &made, 4);
  return old;
}

void loadLane(Wave &w, const AccessForm &f, unsigned first, unsigned lane, const uint8_t *from) {
  if (f.bytes >= 4) {
    for (unsigned k = 0; k < f.bytes / 4u; ++k) std::memcpy(&w.row(first + k)[lane], from + 4 * k, 4);
    return;
  }
  uint32_t v = f.bytes == 1 ? *from : uint32_t(from[0] | from[1] << 8);
  if (f.isSigned) v = f.bytes == 1 ? uint32_t(int8_t(v)) : uint32_t(int16_t(v));
  uint32_t &to = w.row(first)[lane];
  to = f.half == AccessForm::Low    ? (to & 0xffff0000) | (v & 0xffff)
       : f.half == AccessForm::High ? (to & 0xffff) | v << 16
                                    : v;
}
void storeLane(Wave &w, const AccessForm &f, unsigned first, unsigned lane, uint8_t *to) {
  if (f.bytes >= 4) {
    for (unsigned k = 0; k < f.bytes / 4u; ++k) std::memcpy(to + 4 * k, &w.row(first + k)[lane], 4);
    return;
  }
  uint32_t v = w.row(first)[lane] >> (f.half == AccessForm::High ? 16 : 0);
  std::memcpy(to, &v, f.bytes);
}

uint8_t *resolve(Wave &w, uint64_t address, unsigned bytes, bool isWrite) {
  if (const Memory::Region *r = w.group->memory->find(address, bytes)) return r->data + (address - r->address);
  w.fail(formatv("{0} {1} bytes at {2}", isWrite ? "writes" : "reads", bytes, w.group->memory->describe(address)));
  return nullptr;
}

void traceMemory(Wave &w, uint64_t mask, const uint64_t *addresses, unsigned bytes) {
  if (!w.trace) return;
  TraceEvent &e = w.trace->events.back();
  e.mask = mask;
  e.bytes = uint8_t(bytes);
  e.firstAddress = uint32_t(w.trace->addresses.size());
  if (mask == ~uint64_t(0))
    w.trace->addresses.insert(w.trace->addresses.end(), addresses, addresses + kLanes);
  else
    for (; mask; mask &= mask - 1) w.trace->addresses.push_back(addresses[std::countr_zero(mask)]);
  e.addressCount = uint16_t(w.trace->addresses.size() - e.firstAddress);
}
void traceLds(Wave &w, uint64_t mask, const uint32_t *addresses, const uint32_t *more, unsigned bytes) {
  if (!w.trace) return;
  TraceEvent &e = w.trace->events.back();
  e.mask = mask;
  e.bytes = uint8_t(bytes);
  e.firstLds = uint32_t(w.trace->ldsAddresses.size());
  auto add = [&](const uint32_t *from) {
    auto &to = w.trace->ldsAddresses;
    if (mask == ~uint64_t(0))
      to.insert(to.end(), from, from + kLanes);
    else
      for (uint64_t m = mask; m; m &= m - 1) to.push_back(from[std::countr_zero(m)]);
  };
  add(addresses);
  if (more) add(more);
  e.ldsCount = uint16_t(w.trace->ldsAddresses.size() - e.firstLds);
}

} // namespace tessera::code_object
