// Lanes: the elements of a scalar or tensor value as the interpreter keeps them, a packed row-major array of raw bit
// patterns of 1, 2, 4, 8 or 16 bytes each (i1 takes a byte; bits beyond an integer's width are zero). One element is
// held in place; longer arrays are shared between copies and come from a pool, which a kernel's temporaries reuse
// while they are still in the cache.
//
// Not for sharing between threads: each pool and all lanes of it belong to one thread.
#pragma once
#include "ir/type.h"
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tessera::runtime {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
using UInt128 = unsigned __int128;
using Int128 = __int128;
#pragma clang diagnostic pop

/// Bytes that an element of a scalar type takes in lanes, 0 for types that have no lanes (tokens, integers beyond 128
/// bits).
unsigned laneBytes(ir::Type scalar);

class LanePool {
public:
  LanePool() = default;
  ~LanePool();
  LanePool(const LanePool &) = delete;
  LanePool &operator=(const LanePool &) = delete;

  struct Block {
    LanePool *pool;
    unsigned sizeClass, references;
    alignas(64) unsigned char data[1];
  };
  Block *take(size_t bytes);
  void give(Block *);

private:
  std::vector<Block *> free_[48];
};

class Lanes {
public:
  Lanes() = default;
  /// `count` elements of `width` bytes, unspecified until written. @pre count >= 1
  Lanes(LanePool &pool, unsigned width, size_t count) : count_(count), width_(width) {
    if (count > 1) block_ = pool.take(count * width);
  }
  static Lanes one(unsigned width, uint64_t bits) {
    Lanes l;
    l.count_ = 1;
    l.width_ = width;
    std::memcpy(l.inline_, &bits, sizeof bits);
    return l;
  }
  Lanes(const Lanes &o) : count_(o.count_), width_(o.width_), block_(o.block_) {
    std::memcpy(inline_, o.inline_, sizeof inline_);
    if (block_) ++block_->references;
  }
  Lanes(Lanes &&o) noexcept : count_(o.count_), width_(o.width_), block_(o.block_) {
    std::memcpy(inline_, o.inline_, sizeof inline_);
    o.block_ = nullptr;
    o.count_ = 0;
  }
  Lanes &operator=(Lanes o) noexcept {
    std::swap(count_, o.count_);
    std::swap(width_, o.width_);
    std::swap(block_, o.block_);
    std::swap(inline_, o.inline_);
    return *this;
  }
  ~Lanes() {
    if (block_ && --block_->references == 0) block_->pool->give(block_);
  }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Bytes per element.
  unsigned width() const { return width_; }
  const unsigned char *bytes() const { return block_ ? block_->data : inline_; }
  /// @pre nobody else has a copy: only who made the lanes writes them.
  unsigned char *bytes() { return block_ ? block_->data : inline_; }

  /// The elements as unsigned integers. @pre sizeof(U) == width()
  template <class U> const U *as() const {
    assert(sizeof(U) == width_);
    return reinterpret_cast<const U *>(bytes());
  }
  template <class U> U *as() {
    assert(sizeof(U) == width_);
    return reinterpret_cast<U *>(bytes());
  }
  /// The low 64 bits of an element, zero-extended.
  uint64_t word(size_t i = 0) const {
    uint64_t v = 0;
    std::memcpy(&v, bytes() + i * width_, width_ < 8 ? width_ : 8);
    return v;
  }
  void setWord(size_t i, uint64_t v) {
    if (width_ == 16) std::memset(bytes() + i * 16 + 8, 0, 8);
    std::memcpy(bytes() + i * width_, &v, width_ < 8 ? width_ : 8);
  }
  bool flag(size_t i = 0) const { return bytes()[i * width_] & 1; }

private:
  size_t count_ = 0;
  unsigned width_ = 1;
  LanePool::Block *block_ = nullptr;
  alignas(16) unsigned char inline_[16] = {};
};

/// Integers of `width` bits in the low bits of a word.
inline uint64_t zeroExtend(uint64_t v, unsigned width) { return width >= 64 ? v : v & ((uint64_t(1) << width) - 1); }
inline int64_t signExtend(uint64_t v, unsigned width) {
  return width >= 64 ? int64_t(v) : int64_t(v << (64 - width)) >> (64 - width);
}
/// Element `i` as a signed number. @pre an integer or index type of at most 64 bits
inline int64_t signedAt(const Lanes &l, size_t i, ir::Type scalar) { return signExtend(l.word(i), scalar.bitWidth()); }

using Shape = llvm::SmallVector<int64_t, 5>;
/// Row-major strides in elements.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);
int64_t numElements(llvm::ArrayRef<int64_t> shape);

/// The same element `count` times. @pre l.size() == 1
Lanes repeat(LanePool &, const Lanes &l, size_t count);
/// The view with these strides (in elements; 0 repeats) of the source from `offset` on, made dense.
/// result[x0, x1, …] = source[offset + x0·stride0 + x1·stride1 + …]
Lanes gatherStrided(LanePool &, const Lanes &source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                    int64_t offset = 0);
/// The inverse: into[offset + x0·stride0 + …] = source[x0, x1, …].
void scatterStrided(Lanes &into, const Lanes &source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                    int64_t offset = 0);

/// Calls f(U()) with the unsigned integer type of the width in bytes.
template <class F> decltype(auto) withWord(unsigned width, F f) {
  switch (width) {
  case 1: return f(uint8_t());
  case 2: return f(uint16_t());
  case 4: return f(uint32_t());
  case 8: return f(uint64_t());
  default: return f(UInt128());
  }
}

} // namespace tessera::runtime
