// Checked global memory (see global_memory.h).
#include "runtime/interpreter/global_memory.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {

uint64_t GlobalMemory::addScratch(std::string name, size_t bytes) {
  scratch_.push_back(std::make_shared<std::vector<uint64_t>>((bytes + 7) / 8));
  buffers_.push_back({std::move(name), reinterpret_cast<uint8_t *>(scratch_.back()->data()), bytes});
  return baseOf(buffers_.size() - 1);
}

std::string GlobalMemory::explain(uint64_t address, unsigned bytes) const {
  const InterpreterBuffer *b = bufferOf(address);
  if (!b) {
    if (address < uint64_t(1) << kWindowBits)
      return llvm::formatv("at address {0:x}: a null pointer{1}", address, address ? " plus an offset" : "").str();
    return llvm::formatv("at address {0:x}, which lies in no buffer", address).str();
  }
  int64_t offset = int64_t(address - baseOf(b - buffers_.data()));
  bool isInside = offset >= 0 && uint64_t(offset) < b->bytes && b->bytes - uint64_t(offset) >= bytes;
  if (isInside && resolve(address, bytes))
    return llvm::formatv("at byte {0} of buffer '{1}', which nothing ever wrote", offset, b->name).str();
  if (isInside)
    return llvm::formatv("at byte {0} of buffer '{1}', which is not a multiple of {2}: misaligned", offset, b->name,
                         bytes)
        .str();
  return llvm::formatv("at byte {0} of buffer '{1}', which has {2} bytes: out of bounds", offset, b->name, b->bytes)
      .str();
}

template <class U> static uint64_t update(uint8_t *at, llvm::function_ref<uint64_t(uint64_t)> f) {
  auto *p = reinterpret_cast<U *>(at);
  U old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(p, &old, U(f(old)), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

uint64_t updateMemory(uint8_t *at, unsigned bytes, llvm::function_ref<uint64_t(uint64_t)> f) {
  switch (bytes) {
  case 1: return update<uint8_t>(at, f);
  case 2: return update<uint16_t>(at, f);
  case 4: return update<uint32_t>(at, f);
  default: return update<uint64_t>(at, f);
  }
}

} // namespace tessera::runtime
