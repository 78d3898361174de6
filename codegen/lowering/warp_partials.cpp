// Partial values through shared memory (see warp_partials.h).
#include "codegen/lowering/warp_partials.h"
#include "codegen/lowering/target.h"
#include "transforms/memory/scratch.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

WarpPartials::Key WarpPartials::keyOf(const layouts::LinearLayout &layout, unsigned reg, std::optional<int> axis) {
  Key key;
  for (auto [d, at] : llvm::enumerate(layout.apply({{Dim::Register, int32_t(reg)}})))
    if (!axis || int(d) != *axis) key.push_back(at);
  return key;
}

WarpPartials::WarpPartials(FunctionLowering &fl, Operation *op, const layouts::LinearLayout &layout, int axis,
                           const layouts::ReduceShape &shape, unsigned chunks, bool lastAlongAxis)
    : fl_(fl), shape_(shape), chunks_(chunks), base_(fl.scratch(op)), result_(fl.i32(0)), along_(fl.i32(0)) {
  auto &b = fl.b;
  // The thread's part (lane and warp) of the flat result index, and the warp's number along the axis.
  auto add = [&](llvm::Value *&acc, llvm::Value *source, unsigned bit, int64_t weight) {
    if (!weight) return;
    llvm::Value *t = b.CreateAnd(b.CreateLShr(source, bit), 1), *part = b.CreateMul(t, fl.i32(weight));
    bool overlaps = &acc == &result_ && (threadResults_ & weight);
    acc = overlaps ? b.CreateXor(acc, part) : b.CreateOr(acc, part);
  };
  for (Dim d : {Dim::Lane, Dim::Warp})
    for (unsigned bit = 0; bit < layout.inDimBits(d); ++bit) {
      int64_t weight = shape.flatten(layout.basis(d, bit), axis);
      add(result_, d == Dim::Lane ? fl.laneId() : fl.warpId(), bit, weight);
      threadResults_ |= weight;
    }
  // In the order of the axis: the warp bit of the lowest index is bit 0.
  llvm::SmallVector<std::pair<int32_t, unsigned>, 5> bits;
  for (unsigned bit = 0; bit < layout.inDimBits(Dim::Warp); ++bit)
    if (layout.basis(Dim::Warp, bit)[axis]) bits.push_back({layout.basis(Dim::Warp, bit)[axis], bit});
  llvm::sort(bits);
  for (auto [i, bit] : llvm::enumerate(bits)) add(along_, fl.warpId(), bit.second, 1 << i);

  // One lane of those that hold the same value stores it: broadcast bits are zero, bits along the axis too, or all set.
  unsigned zero = 0, one = 0, warpZero = 0;
  for (unsigned bit = 0; bit < layout.inDimBits(Dim::Lane); ++bit) {
    bool alongAxis = layout.basis(Dim::Lane, bit)[axis];
    if (int64_t stride = shape.flatten(layout.basis(Dim::Lane, bit), axis)) {
      resultsOfLanes_ *= 2;
      laneStride_ = laneStride_ ? std::min(laneStride_, stride) : stride;
    } else {
      sameResult_ |= 1u << bit;
    }
    if (alongAxis && lastAlongAxis)
      one |= 1u << bit;
    else if (!shape.flatten(layout.basis(Dim::Lane, bit), axis))
      zero |= 1u << bit;
  }
  for (unsigned bit = 0; bit < layout.inDimBits(Dim::Warp); ++bit)
    if (!shape.flatten(layout.basis(Dim::Warp, bit), axis) && !layout.basis(Dim::Warp, bit)[axis])
      warpZero |= 1u << bit;
  auto require = [&](llvm::Value *v, unsigned mask, unsigned want) {
    if (!mask) return;
    llvm::Value *z = b.CreateICmpEQ(b.CreateAnd(v, mask), fl.i32(want));
    writes_ = writes_ ? b.CreateAnd(writes_, z) : z;
  };
  require(fl.laneId(), zero | one, one);
  require(fl.warpId(), warpZero, 0);

  int64_t offset = 0;
  for (Value v : op->operands()) {
    types_.push_back(fl.elementType(v.type()));
    stored_.push_back(fl.memoryType(v.type()));
    offsets_.push_back(offset);
    offset += layouts::reduceScratchBytes(shape, transforms::scratchElementBytes(v.type()), chunks);
  }
  for (Value v : op->operands()) {
    combined_.push_back(offset);
    offset += layouts::combinedScratchBytes(shape, transforms::scratchElementBytes(v.type()));
  }
}

WarpPartials::Place WarpPartials::place(int64_t key) {
  bool overlaps = key & threadResults_;
  return overlaps ? Place{fl_.b.CreateXor(result_, fl_.i32(key)), 0} : Place{result_, key};
}

llvm::Value *WarpPartials::address(unsigned operand, const Key &key, unsigned chunk, llvm::Value *along) {
  auto &b = fl_.b;
  int64_t bytes = byteSize(stored_[operand]), row = int64_t(shape_.warps) * chunks_;
  Place at = place(shape_.flattenKey(key));
  llvm::Value *index = b.CreateAdd(b.CreateMul(at.thread, fl_.i32(row)), along);
  llvm::Value *p = b.CreateGEP(stored_[operand], base_, index);
  int64_t constant = offsets_[operand] + (at.offset * row + int64_t(chunk) * shape_.warps) * bytes;
  return b.CreateConstGEP1_32(b.getInt8Ty(), p, constant);
}

void WarpPartials::store(const Key &key, unsigned chunk, const Partial &p) {
  for (unsigned i = 0; i < p.size(); ++i) {
    llvm::Value *v = types_[i] == stored_[i] ? p[i] : fl_.b.CreateZExt(p[i], stored_[i]);
    fl_.target.storeShared(fl_.b, address(i, key, chunk, along_), v, byteSize(stored_[i]), writes_);
  }
}

WarpPartials::Share WarpPartials::share() {
  auto &b = fl_.b;
  unsigned widest = 1;
  for (auto *t : stored_) widest = std::max<unsigned>(widest, byteSize(t));
  // One vector load each; the rest goes over the lanes, lowest bits first: some targets exchange those for less.
  unsigned perLane = std::min<unsigned>(shape_.warps, std::max<unsigned>(1, 16 / widest));
  Share s{fl_.i32(0), unsigned(shape_.warps), {}};
  for (unsigned bit = 0; bit < 32 && s.count > perLane; ++bit) {
    if (!(sameResult_ >> bit & 1)) continue;
    llvm::Value *on = b.CreateAnd(b.CreateLShr(fl_.laneId(), bit), 1);
    s.count /= 2;
    s.first = b.CreateOr(s.first, b.CreateMul(on, fl_.i32(s.count)));
    s.exchanges.push_back(1u << bit);
  }
  return s;
}

/// Consecutive elements in one access: what is narrower than a word comes in words.
static void loadElements(FunctionLowering &fl, llvm::Value *from, llvm::Type *element, unsigned bytes, unsigned count,
                         llvm::SmallVectorImpl<llvm::Value *> &out) {
  auto &b = fl.b;
  if (count == 1) return out.push_back(fl.target.loadShared(b, from, element, bytes));
  if (bytes >= 4 || bytes * count < 4) {
    llvm::Value *v = fl.target.loadShared(b, from, llvm::FixedVectorType::get(element, count), count * bytes);
    for (unsigned k = 0; k < count; ++k) out.push_back(b.CreateExtractElement(v, k));
    return;
  }
  // Cut by shifts: of a cast to a vector LLVM makes a load of each element again.
  unsigned words = bytes * count / 4, perWord = 4 / bytes;
  llvm::Type *word = b.getInt32Ty();
  llvm::Value *v = fl.target.loadShared(
      b, from, words > 1 ? (llvm::Type *)llvm::FixedVectorType::get(word, words) : word, count * bytes);
  for (unsigned k = 0; k < count; ++k) {
    llvm::Value *w = words > 1 ? b.CreateExtractElement(v, k / perWord) : v;
    out.push_back(
        b.CreateBitCast(b.CreateTrunc(b.CreateLShr(w, k % perWord * bytes * 8), b.getIntNTy(bytes * 8)), element));
  }
}

llvm::SmallVector<WarpPartials::Partial, 8> WarpPartials::load(llvm::function_ref<llvm::Value *(unsigned)> addressOf,
                                                               unsigned count) {
  auto &b = fl_.b;
  llvm::SmallVector<Partial, 8> out(count);
  for (unsigned i = 0; i < types_.size(); ++i) {
    unsigned bytes = byteSize(stored_[i]), width = std::min<unsigned>(count, std::max<unsigned>(1, 16 / bytes));
    llvm::Value *from = addressOf(i);
    for (unsigned w = 0; w < count; w += width) {
      llvm::SmallVector<llvm::Value *, 16> elements;
      loadElements(fl_, b.CreateConstGEP1_32(stored_[i], from, w), stored_[i], bytes, width, elements);
      for (auto [k, e] : llvm::enumerate(elements))
        out[w + k].push_back(types_[i] == stored_[i] ? e : b.CreateTrunc(e, types_[i]));
    }
  }
  return out;
}

llvm::SmallVector<WarpPartials::Partial, 8> WarpPartials::load(const Key &key, unsigned chunk, llvm::Value *first,
                                                               unsigned count) {
  return load([&](unsigned i) { return address(i, key, chunk, first); }, count);
}

llvm::SmallVector<WarpPartials::Partial, 8> WarpPartials::loadResult(llvm::Value *flat) {
  auto &b = fl_.b;
  return load(
      [&](unsigned i) {
        return b.CreateConstGEP1_32(
            b.getInt8Ty(), b.CreateGEP(stored_[i], base_, b.CreateMul(flat, fl_.i32(int64_t(shape_.warps) * chunks_))),
            offsets_[i]);
      },
      shape_.warps);
}

void WarpPartials::storeCombined(llvm::Value *flat, const Partial &p, llvm::Value *acts) {
  auto &b = fl_.b;
  for (unsigned i = 0; i < p.size(); ++i) {
    llvm::Value *v = types_[i] == stored_[i] ? p[i] : b.CreateZExt(p[i], stored_[i]);
    fl_.target.storeShared(b, b.CreateConstGEP1_32(b.getInt8Ty(), b.CreateGEP(stored_[i], base_, flat), combined_[i]),
                           v, byteSize(stored_[i]), acts);
  }
}

void WarpPartials::forRuns(llvm::ArrayRef<Key> keys, unsigned bytes,
                           llvm::function_ref<void(int64_t, llvm::ArrayRef<Key>)> call) {
  std::map<int64_t, Key> byIndex;
  for (auto &key : keys) byIndex.emplace(shape_.flattenKey(key), key);
  for (auto it = byIndex.begin(); it != byIndex.end();) {
    int64_t first = it->first;
    unsigned width = 1;
    auto follows = [&](unsigned n) {
      if (n * bytes > 16 || first % n || threadResults_ & (n - 1)) return false;
      for (unsigned k = 1; k < n; ++k)
        if (!byIndex.count(first + k)) return false;
      return true;
    };
    while (follows(2 * width)) width *= 2;
    llvm::SmallVector<Key, 16> run;
    for (unsigned k = 0; k < width; ++k) run.push_back((it++)->second);
    call(first, run);
  }
}

bool WarpPartials::fillVectors(llvm::ArrayRef<Key> keys) {
  bool fill = true;
  for (llvm::Type *type : stored_) {
    unsigned bytes = byteSize(type);
    fill &= bytes >= 4 && !type->isPointerTy(); // others are stored one by one
    forRuns(keys, bytes, [&](int64_t, llvm::ArrayRef<Key> run) { fill &= run.size() * bytes == 16; });
  }
  return fill;
}

bool WarpPartials::vectorsApart(llvm::ArrayRef<Key> keys) {
  if (resultsOfLanes_ == 1) return false;
  constexpr int64_t kAccess = 16, kBanks = 128; // bytes
  bool areApart = true;
  for (llvm::Type *type : stored_) {
    int64_t bytes = byteSize(type), ofWarps = bytes * shape_.warps;
    int64_t fromLaneToLane = std::max(kAccess, laneStride_ * ofWarps * chunks_);
    int64_t meeting =
        resultsOfLanes_ / std::min<int64_t>(resultsOfLanes_, std::max<int64_t>(1, kBanks / fromLaneToLane));
    bool oneAccess = ofWarps <= kAccess, twoAccesses = ofWarps <= 2 * kAccess;
    areApart &= (oneAccess && meeting >= 2) || (twoAccesses && meeting >= 4);
  }
  return areApart && fillVectors(keys);
}

void WarpPartials::storeByWarp(const std::map<Key, Partial> &partials, unsigned chunk) {
  auto &b = fl_.b;
  llvm::SmallVector<Key, 16> keys;
  for (auto &[key, p] : partials) keys.push_back(key);
  llvm::Value *row = b.CreateMul(along_, fl_.i32(shape_.results));
  int64_t before = int64_t(chunk) * shape_.warps * shape_.results;
  for (unsigned i = 0; i < types_.size(); ++i) {
    unsigned bytes = byteSize(stored_[i]);
    auto put = [&](int64_t first, llvm::ArrayRef<Key> run) {
      Place at = place(first);
      llvm::Value *mine = b.CreateGEP(stored_[i], base_, b.CreateAdd(row, at.thread));
      llvm::SmallVector<llvm::Value *, 4> values;
      for (auto &key : run) {
        llvm::Value *v = partials.at(key)[i];
        values.push_back(types_[i] == stored_[i] ? v : b.CreateZExt(v, stored_[i]));
      }
      llvm::Value *whole = values[0];
      if (values.size() > 1) {
        whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(stored_[i], values.size()));
        for (auto [k, v] : llvm::enumerate(values)) whole = b.CreateInsertElement(whole, v, k);
      }
      fl_.target.storeShared(b, b.CreateConstGEP1_32(b.getInt8Ty(), mine, offsets_[i] + (before + at.offset) * bytes),
                             whole, bytes * values.size(), writes_);
    };
    forRuns(keys, bytes, [&](int64_t first, llvm::ArrayRef<Key> run) {
      if (bytes >= 4 && !stored_[i]->isPointerTy()) return put(first, run);
      for (auto [k, key] : llvm::enumerate(run)) put(first + k, key);
    });
  }
}

std::map<WarpPartials::Key, llvm::SmallVector<WarpPartials::Partial, 8>>
WarpPartials::loadByWarp(llvm::ArrayRef<Key> keys, unsigned chunk) {
  auto &b = fl_.b;
  std::map<Key, llvm::SmallVector<Partial, 8>> out;
  for (auto &key : keys) out[key].resize(shape_.warps);
  for (unsigned i = 0; i < types_.size(); ++i) {
    unsigned bytes = byteSize(stored_[i]);
    forRuns(keys, bytes, [&](int64_t first, llvm::ArrayRef<Key> run) {
      Place place = this->place(first);
      llvm::Value *from = b.CreateGEP(stored_[i], base_, place.thread);
      for (unsigned w = 0; w < shape_.warps; ++w) {
        llvm::SmallVector<llvm::Value *, 16> elements;
        int64_t at = (int64_t(chunk) * shape_.warps + w) * shape_.results + place.offset;
        loadElements(fl_, b.CreateConstGEP1_32(b.getInt8Ty(), from, offsets_[i] + at * bytes), stored_[i], bytes,
                     run.size(), elements);
        for (auto [k, e] : llvm::enumerate(elements))
          out[run[k]][w].push_back(types_[i] == stored_[i] ? e : b.CreateTrunc(e, types_[i]));
      }
    });
  }
  return out;
}

std::map<WarpPartials::Key, WarpPartials::Partial> WarpPartials::loadCombined(llvm::ArrayRef<Key> keys) {
  auto &b = fl_.b;
  std::map<Key, Partial> out;
  for (unsigned i = 0; i < types_.size(); ++i) {
    unsigned bytes = byteSize(stored_[i]);
    forRuns(keys, bytes, [&](int64_t first, llvm::ArrayRef<Key> run) {
      Place at = place(first);
      llvm::Value *from = b.CreateConstGEP1_32(b.getInt8Ty(), b.CreateGEP(stored_[i], base_, at.thread),
                                               combined_[i] + at.offset * bytes);
      llvm::SmallVector<llvm::Value *, 16> elements;
      loadElements(fl_, from, stored_[i], bytes, run.size(), elements);
      for (auto [k, e] : llvm::enumerate(elements))
        out[run[k]].push_back(types_[i] == stored_[i] ? e : b.CreateTrunc(e, types_[i]));
    });
  }
  return out;
}

} // namespace tessera::codegen
