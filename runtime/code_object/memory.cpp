// Memory of the GPU at device addresses (see memory.h).
#include "runtime/code_object/memory.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::code_object {

/// Where buffers begin, and what lies between them at least. Neither is a small number, which offsets often are.
static constexpr uint64_t kFirstAddress = uint64_t(0x7f) << 40;
static constexpr uint64_t kAlign = uint64_t(2) << 20;

Memory::Memory() : regions_(1), next_(kFirstAddress) {}

uint64_t Memory::add(std::string name, uint8_t *data, uint64_t size) {
  uint64_t at = next_;
  next_ += (size / kAlign + 2) * kAlign;
  addAt(std::move(name), at, data, size);
  return at;
}

void Memory::addAt(std::string name, uint64_t address, uint8_t *data, uint64_t size) {
  auto where = std::upper_bound(regions_.begin() + 1, regions_.end(), address,
                                [](uint64_t a, const Region &r) { return a < r.address; });
  regions_.insert(where, {std::move(name), address, data, size});
  last_ = 0;
}

const Memory::Region *Memory::search(uint64_t address, uint64_t bytes) const {
  auto after = std::upper_bound(regions_.begin() + 1, regions_.end(), address,
                                [](uint64_t a, const Region &r) { return a < r.address; });
  if (after == regions_.begin() + 1) return nullptr;
  const Region &r = *(after - 1);
  uint64_t offset = address - r.address;
  if (offset >= r.size || r.size - offset < bytes) return nullptr;
  last_ = size_t(after - 1 - regions_.begin());
  return &r;
}

std::string Memory::describe(uint64_t address) const {
  const Region *nearest = nullptr;
  uint64_t distance = kAlign;
  bool isBefore = false;
  for (size_t i = 1; i < regions_.size(); ++i) {
    const Region &r = regions_[i];
    uint64_t end = r.address + r.size;
    if (address >= r.address && address < end)
      return llvm::formatv("address {0:x}, {1} bytes before the end of {2}", address, end - address, r.name);
    uint64_t d = address < r.address ? r.address - address : address - end;
    if (d >= distance) continue;
    nearest = &r;
    distance = d;
    isBefore = address < r.address;
  }
  if (!nearest) return llvm::formatv("address {0:x}, which is in no buffer", address);
  return llvm::formatv("address {0:x}, {1} bytes {2} of {3} ({4} bytes)", address, distance,
                       isBefore ? "before the start" : "after the end", nearest->name, nearest->size);
}

} // namespace tessera::code_object
