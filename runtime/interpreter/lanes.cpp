// Lanes and their pool (see lanes.h). The pool keeps freed arrays by size, a power of two each, last freed first
// reused.
#include "runtime/interpreter/lanes.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <new>

namespace tessera::runtime {

unsigned laneBytes(ir::Type t) {
  unsigned bits = t.isIntOrIndex() || t.isFloat() || t.isPointer() ? t.bitWidth() : 0;
  if (bits == 0 || bits > 128) return 0;
  return std::max<unsigned>(1, unsigned(llvm::PowerOf2Ceil(bits)) / 8);
}

LanePool::Block *LanePool::take(size_t bytes) {
  unsigned sizeClass = llvm::Log2_64_Ceil(std::max<size_t>(bytes, 64));
  auto &list = free_[sizeClass];
  if (list.empty()) {
    auto *b =
        static_cast<Block *>(::operator new(offsetof(Block, data) + (size_t(1) << sizeClass), std::align_val_t(64)));
    b->pool = this;
    b->sizeClass = sizeClass;
    b->references = 1;
    return b;
  }
  auto *b = list.back();
  list.pop_back();
  b->references = 1;
  return b;
}
void LanePool::give(Block *b) { free_[b->sizeClass].push_back(b); }
LanePool::~LanePool() {
  for (auto &list : free_)
    for (auto *b : list) ::operator delete(b, std::align_val_t(64));
}

Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape s(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) s[d - 1] = s[d] * shape[d];
  return s;
}
int64_t numElements(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

Lanes repeat(LanePool &pool, const Lanes &l, size_t count) {
  if (count == 1) return l;
  Lanes out(pool, l.width(), count);
  withWord(l.width(), [&](auto zero) {
    using U = decltype(zero);
    std::fill_n(out.as<U>(), count, *l.as<U>());
  });
  return out;
}

/// Calls f(dense position, strided position, length, stride) for each innermost row.
template <class F>
static void forRows(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t offset, F f) {
  size_t outer = shape.empty() ? 0 : shape.size() - 1;
  int64_t length = shape.empty() ? 1 : shape.back(), stride = shape.empty() ? 1 : strides.back();
  Shape at(outer, 0);
  for (int64_t dense = 0;; dense += length) {
    f(dense, offset, length, stride);
    size_t d = outer;
    for (; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      at[d] = 0;
    }
    if (d == size_t(-1)) return;
  }
}

Lanes gatherStrided(LanePool &pool, const Lanes &source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                    int64_t offset) {
  Lanes out(pool, source.width(), numElements(shape));
  withWord(source.width(), [&](auto zero) {
    using U = decltype(zero);
    const U *from = source.as<U>();
    U *to = out.as<U>();
    forRows(shape, strides, offset, [&](int64_t dense, int64_t strided, int64_t length, int64_t stride) {
      if (stride == 1)
        std::memcpy(to + dense, from + strided, length * sizeof(U));
      else
        for (int64_t i = 0; i < length; ++i) to[dense + i] = from[strided + i * stride];
    });
  });
  return out;
}

void scatterStrided(Lanes &into, const Lanes &source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                    int64_t offset) {
  withWord(source.width(), [&](auto zero) {
    using U = decltype(zero);
    const U *from = source.as<U>();
    U *to = into.as<U>();
    forRows(shape, strides, offset, [&](int64_t dense, int64_t strided, int64_t length, int64_t stride) {
      for (int64_t i = 0; i < length; ++i) to[strided + i * stride] = from[dense + i];
    });
  });
}

} // namespace tessera::runtime
