// Memory of the GPU that executed code accesses: buffers of the host at device addresses, with room between them that
// nothing may touch.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::code_object {

class Memory {
public:
  struct Region {
    std::string name; // as errors call it: "argument 0 ('x')"
    uint64_t address = 0;
    uint8_t *data = nullptr;
    uint64_t size = 0;
  };
  /// Gives host memory a device address, a multiple of 2 MiB. The memory must outlive this; a size of 0 is allowed.
  uint64_t add(std::string name, uint8_t *data, uint64_t size);
  /// The same at a given address, which no region has.
  void addAt(std::string name, uint64_t address, uint8_t *data, uint64_t size);
  /// The region that has all of [address, address + bytes), or null.
  const Region *find(uint64_t address, uint64_t bytes) const {
    const Region &r = regions_[last_];
    if (address - r.address < r.size && r.size - (address - r.address) >= bytes) return &r;
    return search(address, bytes);
  }
  /// "64 bytes after the end of argument 0 ('x')": where an address is that no region has.
  std::string describe(uint64_t address) const;
  Memory();

private:
  const Region *search(uint64_t address, uint64_t bytes) const;
  std::vector<Region> regions_; // by address; the first is empty
  mutable size_t last_ = 0;
  uint64_t next_;
};

} // namespace tessera::code_object
