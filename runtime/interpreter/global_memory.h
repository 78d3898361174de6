// Global memory of a kernel: registered buffers at virtual addresses. Every buffer has a window of 1 TiB to
// itself and starts in its middle, so that an address that leaves the buffer in either direction still names it, and
// address 0 and what is near it belong to nobody. An index of 32 bits that is extended the wrong way is 16 or 32 GiB
// off: within the window, so that it never is in another buffer by chance. Every access is checked: inside the buffer,
// aligned to its size.
//
// Loads, stores and atomics of 1 to 8 bytes are single atomic accesses of the host, so that programs may run on several
// threads at once with the outcomes a device allows.
#pragma once
#include "runtime/interpreter/interpreter.h"
#include "runtime/unwritten_values.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

namespace tessera::runtime {

class GlobalMemory {
public:
  static constexpr unsigned kWindowBits = 40;
  static constexpr uint64_t kMiddle = uint64_t(1) << (kWindowBits - 1), kMaxBytes = uint64_t(1) << 33;

  /// @pre each buffer has at most kMaxBytes bytes and its data are aligned to 16 bytes
  explicit GlobalMemory(llvm::ArrayRef<InterpreterBuffer> buffers) : buffers_(buffers.begin(), buffers.end()) {}

  size_t size() const { return buffers_.size(); }
  static uint64_t baseOf(size_t buffer) { return (uint64_t(buffer + 1) << kWindowBits) + kMiddle; }
  /// Adds a buffer of zeros, for the scratch memory of a program; the memory object then belongs to that program.
  uint64_t addScratch(std::string name, size_t bytes);

  /// The host address of an access of `bytes` bytes, or null if it is out of bounds or misaligned (see explain).
  uint8_t *resolve(uint64_t address, unsigned bytes) const {
    const InterpreterBuffer *b = bufferOf(address);
    if (!b) return nullptr;
    uint64_t offset = address - baseOf(b - buffers_.data());
    if (offset >= b->bytes || b->bytes - offset < bytes || (bytes & (bytes - 1)) || (offset & (bytes - 1)))
      return nullptr;
    return b->data + offset;
  }
  /// Whether something wrote these bytes, which resolve.
  bool isWritten(uint64_t address, unsigned bytes) const {
    const InterpreterBuffer *b = bufferOf(address);
    const uint8_t *at = b->undefined ? b->undefined + (address - baseOf(b - buffers_.data())) : nullptr;
    return !at || std::all_of(at, at + bytes, [](const uint8_t &x) { return !__atomic_load_n(&x, __ATOMIC_RELAXED); });
  }
  /// Those of these bytes, which resolve, that nothing wrote hold the value from now on.
  void putUnwritten(UnwrittenValue value, uint64_t address, unsigned bytes) const {
    const InterpreterBuffer *b = bufferOf(address);
    uint64_t offset = address - baseOf(b - buffers_.data());
    putValue(value, b->data + offset, b->undefined + offset, bytes, bytes);
  }
  /// These bytes, which resolve, are written.
  void markWritten(uint64_t address, unsigned bytes) const {
    const InterpreterBuffer *b = bufferOf(address);
    if (!b->undefined) return;
    uint8_t *at = b->undefined + (address - baseOf(b - buffers_.data()));
    for (unsigned k = 0; k < bytes; ++k) __atomic_store_n(at + k, uint8_t(0), __ATOMIC_RELAXED);
  }
  /// What is wrong with an access that does not resolve, or a read of what nothing wrote: "at byte 400 of buffer 'x',
  /// which has 400 bytes".
  std::string explain(uint64_t address, unsigned bytes) const;

private:
  const InterpreterBuffer *bufferOf(uint64_t address) const {
    uint64_t window = (address >> kWindowBits) - 1;
    return window < buffers_.size() ? &buffers_[window] : nullptr;
  }
  std::vector<InterpreterBuffer> buffers_;
  std::vector<std::shared_ptr<std::vector<uint64_t>>> scratch_;
};

/// Reads `bytes` (1, 2, 4, 8) at a resolved address.
inline uint64_t readMemory(const uint8_t *at, unsigned bytes) {
  switch (bytes) {
  case 1: return __atomic_load_n(at, __ATOMIC_RELAXED);
  case 2: return __atomic_load_n(reinterpret_cast<const uint16_t *>(at), __ATOMIC_RELAXED);
  case 4: return __atomic_load_n(reinterpret_cast<const uint32_t *>(at), __ATOMIC_RELAXED);
  default: return __atomic_load_n(reinterpret_cast<const uint64_t *>(at), __ATOMIC_RELAXED);
  }
}
inline void writeMemory(uint8_t *at, unsigned bytes, uint64_t v) {
  switch (bytes) {
  case 1: return __atomic_store_n(at, uint8_t(v), __ATOMIC_RELAXED);
  case 2: return __atomic_store_n(reinterpret_cast<uint16_t *>(at), uint16_t(v), __ATOMIC_RELAXED);
  case 4: return __atomic_store_n(reinterpret_cast<uint32_t *>(at), uint32_t(v), __ATOMIC_RELAXED);
  default: return __atomic_store_n(reinterpret_cast<uint64_t *>(at), v, __ATOMIC_RELAXED);
  }
}
/// Replaces what is there by f(old), atomically and in sequentially consistent order; gives the old value.
uint64_t updateMemory(uint8_t *at, unsigned bytes, llvm::function_ref<uint64_t(uint64_t old)> f);

} // namespace tessera::runtime
