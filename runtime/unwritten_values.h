// Values of memory that nothing wrote. To read them does no harm where a mask or a select drops what was read:
//
//   v = tl.load(x + i)                        rows from n on are padding of torch.empty
//   o = tl.sum(tl.where(i < n, v, 0.0))       and nothing depends on them
//
// Whether anything does is found by experiment. Interpreter and emulators stop at the first read of such memory; only
// then they run the launch from its beginning again, several times: all such reads find zeros, then other values. If a
// run ends in another way or leaves other memory than the one with zeros, the kernel depends on what it read, and the
// place whose value makes the difference is a fault. A launch that reads no such memory runs once.
//
// Limits: what is printed is not compared, nor is what makes no difference with any of the values: a comparison of an
// integer with 7 is false for all of them. Launches on more memory than kMostTrialBytes are not run again; there any
// such read is a fault.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace tessera::runtime {

/// A launch is run again from a copy of its memory.
inline constexpr uint64_t kMostTrialBytes = uint64_t(4) << 30;

/// What reads of memory that nothing wrote find. As numbers of any format: 0; NaN and -1; almost the largest; almost
/// the lowest; the integer 1.
enum class UnwrittenValue : uint8_t { Zeros, Ones, Large, Low, One };

/// Byte `k` of an element.
inline uint8_t byteOf(UnwrittenValue v, size_t k) {
  switch (v) {
  case UnwrittenValue::Zeros: return 0;
  case UnwrittenValue::Ones: return 0xff;
  case UnwrittenValue::Large: return 0x7b; // f16: 61280, f32: 1.3e36, e5m2: 57344, e4m3: 352
  case UnwrittenValue::Low: return 0xfb;   // their negatives
  case UnwrittenValue::One: return k == 0;
  }
  return 0;
}

/// Writes the value to those of `bytes` bytes that are not written, of elements of `ofElement` bytes each.
inline void putValue(UnwrittenValue v, uint8_t *data, const uint8_t *undefined, size_t bytes, size_t ofElement) {
  for (size_t k = 0; k < bytes; ++k)
    if (undefined[k]) data[k] = byteOf(v, k % ofElement);
}

/// Of the places that read such memory, in the order in which the run with zeros came upon them, the first whose value
/// makes a difference; none if no value does. `differs(value, only)`: whether a run differs in which the place `only`
/// (without one: all places) finds `value`, and the others find zeros.
template <class Differs> std::optional<size_t> placeThatMatters(size_t places, Differs differs) {
  constexpr size_t kTried = 16; // one by one
  for (UnwrittenValue v : {UnwrittenValue::Ones, UnwrittenValue::Large, UnwrittenValue::Low, UnwrittenValue::One}) {
    if (!differs(v, std::optional<size_t>())) continue;
    for (size_t p = 0; places > 1 && p < places && p < kTried; ++p)
      if (differs(v, std::optional<size_t>(p))) return p;
    return 0;
  }
  return std::nullopt;
}

} // namespace tessera::runtime
