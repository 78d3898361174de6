// Moving a tensor's registers to and from shared memory (see shared_access.h). Where the element at a logical index
// lies is what the shared encoding's linear layout says: the register-to-offset map is the register layout composed
// with the inverse of the shared one, and as many registers as fall on consecutive addresses, up to 16 bytes, move in
// one access. They need not be consecutive registers: a thread that holds several rows and stores columns picks one
// from each row.
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "layouts/bank_conflicts.h"
#include "layouts/conversion_plan.h"
#include "layouts/warp_copy.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

SharedAccess::SharedAccess(const LinearLayout &registers, const LinearLayout &shared, llvm::Type *element,
                           FunctionLowering &fl, const layouts::Encoding *encoding, ViewOffset view)
    : map_(registers.invertAndCompose(shared)), element_(element->isIntegerTy(1) ? fl.b.getInt8Ty() : element), fl_(fl),
      view_(view) {
  // The registers, or sums of registers, that map to offsets 1, 2, 4 …: the vector. Lanes and warps must not reach
  // into it.
  unsigned limit = std::max<int64_t>(1, 16 / byteSize(element_));
  layouts::F2Span span;
  int32_t threads = 0;
  registers_ = columns(Dim::Register);
  for (uint64_t x : registers_) span.add(x);
  for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
    for (uint64_t x : columns(d)) threads |= x;
  for (int32_t offset = 1; uint32_t(offset) < limit && !(threads & offset); offset <<= 1) {
    auto made = span.solve(offset);
    if (!made) break;
    vectorRegisters_.push_back(*made);
  }
  unsigned log = vectorRegisters_.size();
  // A view that begins inside a vector, as one that splits a swizzle can, has its elements in another order.
  while (log && view_.bits & ((1 << log) - 1)) --log;
  padded_ = encoding ? layouts::dynCast<layouts::PaddedSharedEncoding>(encoding) : nullptr;
  if (padded_) // a vector may neither straddle a gap nor lose its alignment to one
    for (auto &p : padded_->params().paddings)
      while (log && ((1 << log) > p.interval || p.padding % (1 << log))) --log;
  vectorRegisters_.resize(log);
  vector_ = 1u << log;
  // The thread's part of the offset, in elements.
  thread_ = fl.applyLayout(
      map_,
      {{Dim::Register, fl.i32(0)}, {Dim::Lane, fl.laneId()}, {Dim::Warp, fl.warpId()}, {Dim::Block, fl.i32(0)}})[0];
  // Bits that lanes or warps can set: constants that avoid them may be added after the base, and fold into the address.
  for (Dim d : {Dim::Lane, Dim::Warp})
    for (unsigned bit = 0, n = llvm::Log2_32(map_.inDimSize(d)); bit < n; ++bit) threadBits_ |= map_.basis(d, bit)[0];
}

bool SharedAccess::followsLanes(unsigned elements) const { return !padded_ && layouts::isWarpCopy(map_, elements); }

void SharedAccess::takeAddressOfWarp() {
  thread_ = fl_.applyLayout(
      map_,
      {{Dim::Register, fl_.i32(0)}, {Dim::Lane, fl_.i32(0)}, {Dim::Warp, fl_.warpId()}, {Dim::Block, fl_.i32(0)}})[0];
  bases_.clear();
}

llvm::SmallVector<uint64_t, 16> SharedAccess::columns(Dim d) const {
  llvm::SmallVector<uint64_t, 16> c;
  // What lies in another block of the cluster is no neighbour.
  for (unsigned bit = 0; bit < map_.inDimBits(d); ++bit)
    c.push_back(uint32_t(map_.basis(d, bit)[0]) | (map_.numOutDims() > 1 ? uint64_t(map_.basis(d, bit)[1]) << 32 : 0));
  return c;
}

bool SharedAccess::starts(unsigned r) const {
  uint64_t offset = 0;
  for (auto [bit, x] : llvm::enumerate(registers_))
    if (r >> bit & 1) offset ^= x;
  return !(offset & (vector_ - 1));
}

int32_t SharedAccess::offsetOf(unsigned r) const {
  return map_.apply({{Dim::Register, int32_t(r)}, {Dim::Lane, 0}, {Dim::Warp, 0}, {Dim::Block, 0}})[0];
}

bool SharedAccess::inRepetition(unsigned r, llvm::Value *&condition) {
  if (!window_) return true;
  int32_t which = -window_;
  int32_t wanted = (offsetOf(r) ^ part_ * window_) & which; // what the threads' part must be
  if (wanted & ~threadBits_) return false;
  if (int32_t decided = threadBits_ & which)
    condition = fl_.b.CreateICmpEQ(fl_.b.CreateAnd(thread_, decided), fl_.i32(wanted));
  return true;
}

void SharedAccess::loadPart(llvm::Value *base, llvm::Type *type, Elements &values) {
  auto &b = fl_.b;
  values.resize(map_.inDimSize(Dim::Register));
  for (unsigned r = 0, n = values.size(); r < n; ++r) {
    llvm::Value *condition = nullptr;
    if (!starts(r) || !inRepetition(r, condition)) continue;
    llvm::Type *t = vector_ == 1 ? element_ : (llvm::Type *)llvm::FixedVectorType::get(element_, vector_);
    llvm::Value *v = fl_.target.loadShared(b, address(base, r), t, vector_ * byteSize(element_));
    for (unsigned k = 0; k < vector_; ++k) {
      llvm::Value *e = vector_ == 1 ? v : b.CreateExtractElement(v, k);
      llvm::Value *&to = values[r ^ inVector(k)];
      if (type->isIntegerTy(1)) e = b.CreateTrunc(e, type);
      to = condition && to ? b.CreateSelect(condition, e, to) : e;
    }
  }
}

unsigned SharedAccess::inVector(unsigned k) const {
  unsigned r = 0;
  for (auto [i, x] : llvm::enumerate(vectorRegisters_))
    if (k >> i & 1) r ^= x;
  return r;
}

unsigned SharedAccess::vectorLength() const {
  unsigned n = 1;
  for (unsigned i = 0; i < vectorRegisters_.size() && vectorRegisters_[i] == 1u << i; ++i) n *= 2;
  while (n > 1 && llvm::any_of(llvm::drop_begin(registers_, llvm::Log2_32(n)), [&](uint64_t x) { return x & (n - 1); }))
    n /= 2;
  return n;
}

llvm::Value *SharedAccess::viewBeside(int32_t &constant) const {
  auto *part = llvm::dyn_cast_or_null<llvm::ConstantInt>(view_.value);
  if (!part || window_) return view_.value;
  constant ^= int32_t(part->getSExtValue());
  return nullptr;
}

llvm::Value *SharedAccess::address(llvm::Value *base, unsigned reg) {
  auto &b = fl_.b;
  int32_t constant = offsetOf(reg);
  llvm::Value *extraXor = viewBeside(constant);
  llvm::Value *offset = thread_;
  if (window_) {
    constant %= window_;
    if (threadBits_ >= window_) offset = b.CreateAnd(offset, window_ - 1);
  }
  if (extraXor) offset = b.CreateXor(offset, extraXor);
  int32_t clash = extraXor ? constant : constant & threadBits_;
  // Equal clashing parts share one xor.
  auto &address = bases_[{base, extraXor, clash}];
  if (!address)
    address =
        b.CreateGEP(element_, base, withPadding(padded_, clash ? b.CreateXor(offset, fl_.i32(clash)) : offset, fl_));
  if (constant == clash) return address;
  // The rest has no bit in common with what it is added to, so that the gaps before both add up as well.
  int64_t rest = constant - clash;
  return b.CreateConstGEP1_32(element_, address, padded_ ? padded_->paddedOffset(rest) : rest);
}

llvm::Value *withPadding(const layouts::Encoding *encoding, llvm::Value *offset, FunctionLowering &fl) {
  auto *padded = encoding ? layouts::dynCast<layouts::PaddedSharedEncoding>(encoding) : nullptr;
  if (!padded) return offset;
  auto &b = fl.b;
  llvm::Value *at = offset;
  for (auto &p : padded->params().paddings)
    at = b.CreateAdd(at, b.CreateShl(b.CreateLShr(offset, llvm::Log2_32(p.interval)), llvm::Log2_32(p.padding)));
  return at;
}

void SharedAccess::store(llvm::Value *base, llvm::ArrayRef<llvm::Value *> values, llvm::Value *mask) {
  if (!mask && storeMatrices(base, values)) return;
  auto &b = fl_.b;
  // Registers that hold copies (zero bases) need not be written again.
  unsigned free = 0;
  for (unsigned bit = 0, n = llvm::Log2_32(map_.inDimSize(Dim::Register)); bit < n; ++bit)
    if (map_.basis(Dim::Register, bit)[0] == 0 && (map_.numOutDims() < 2 || map_.basis(Dim::Register, bit)[1] == 0))
      free |= 1u << bit;
  for (unsigned r = 0; r < values.size(); ++r) {
    llvm::Value *inThisRepetition = nullptr;
    if (r & free || !starts(r) || !inRepetition(r, inThisRepetition)) continue;
    auto widen = [&](llvm::Value *v) { return v->getType()->isIntegerTy(1) ? b.CreateZExt(v, b.getInt8Ty()) : v; };
    llvm::Value *v;
    if (vector_ == 1)
      v = widen(values[r]);
    else {
      v = llvm::PoisonValue::get(llvm::FixedVectorType::get(element_, vector_));
      for (unsigned k = 0; k < vector_; ++k) v = b.CreateInsertElement(v, widen(values[r ^ inVector(k)]), k);
    }
    auto *writes = !inThisRepetition ? mask : mask ? b.CreateAnd(mask, inThisRepetition) : inThisRepetition;
    fl_.target.storeShared(b, address(base, r), v, vector_ * byteSize(element_), writes);
  }
}

// A matrix is 8 rows of 16 bytes; a lane has one word of it (Target::loadMatrices, storeMatrices). In the map from
// (register, lane) to offsets this shows as follows, where a word has w elements and a row 4w:
//
//   plain        registers 1 … w/2 and lanes 1, 2 step through the row; lanes 4, 8, 16 choose it
//   transposed   (w = 2) lanes 4, 8, 16 step through the row; register 1 and lanes 1, 2 choose it
//
// Everything else (the other registers: the matrices; warps) must move by whole rows. The addresses are the map again,
// with the bits that choose rows and matrices in the places of the lane that gives them.
std::optional<SharedAccess::Matrices> SharedAccess::matrices(llvm::Type *type) const {
  if (padded_ || fl_.warpSize() != 32 || map_.inDimBits(Dim::Lane) != 5) return std::nullopt;
  int64_t bytes = byteSize(element_);
  if (bytes > 4 || type->isPointerTy() || type->isIntegerTy(1)) return std::nullopt;
  Matrices m;
  unsigned perWord = 4 / bytes, registers = map_.inDimBits(Dim::Register);
  m.wordBits = llvm::Log2_32(perWord);
  if (registers < m.wordBits) return std::nullopt;
  int32_t row = 16 / bytes;
  if (view_.bits & (row - 1)) return std::nullopt;
  auto of = [&](Dim d, unsigned bit) { return map_.basis(d, bit)[0]; };
  auto steps = [&](bool transposed) {
    // (dimension, bit) of the steps through a row, in order.
    llvm::SmallVector<std::pair<Dim, unsigned>, 4> s;
    if (transposed)
      return llvm::SmallVector<std::pair<Dim, unsigned>, 4>{{Dim::Lane, 2}, {Dim::Lane, 3}, {Dim::Lane, 4}};
    for (unsigned bit = 0; bit < m.wordBits; ++bit) s.push_back({Dim::Register, bit});
    s.push_back({Dim::Lane, 0});
    s.push_back({Dim::Lane, 1});
    return s;
  };
  auto fits = [&](bool transposed) {
    auto s = steps(transposed);
    for (auto [i, at] : llvm::enumerate(s))
      if (of(at.first, at.second) != 1 << i) return false;
    for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp})
      for (unsigned bit = 0; bit < map_.inDimBits(d); ++bit)
        if (!llvm::is_contained(s, std::pair(d, bit)) && of(d, bit) % row) return false;
    return true;
  };
  if (!fits(false)) {
    if (bytes != 2 || !fits(true)) return std::nullopt;
    m.transposed = true;
  }
  // Register bits beyond the word number the matrices; copies move once.
  for (unsigned bit = m.wordBits; bit < registers; ++bit)
    if (of(Dim::Register, bit))
      m.matrixBits.push_back(bit);
    else
      m.copies |= 1u << bit;
  m.logCount = std::min<size_t>(2, m.matrixBits.size());
  m.inOne = (1u << m.wordBits) - 1;
  for (unsigned i = 0; i < m.logCount; ++i) m.inOne |= 1u << m.matrixBits[i];
  // Lane bits 0 to 2: the row; 3 and 4: the matrix.
  llvm::SmallVector<int32_t, 5> chooses =
      m.transposed ? llvm::SmallVector<int32_t, 5>{of(Dim::Register, 0), of(Dim::Lane, 0), of(Dim::Lane, 1)}
                   : llvm::SmallVector<int32_t, 5>{of(Dim::Lane, 2), of(Dim::Lane, 3), of(Dim::Lane, 4)};
  for (unsigned i = 0; i < 2; ++i) chooses.push_back(i < m.logCount ? of(Dim::Register, m.matrixBits[i]) : 0);
  LinearLayout::InDim lanes{Dim::Lane, {}}, warps{Dim::Warp, {}};
  for (auto c : chooses) {
    lanes.bases.push_back(layouts::Basis{c});
    m.threadBits |= c;
  }
  for (unsigned bit = 0; bit < map_.inDimBits(Dim::Warp); ++bit) {
    warps.bases.push_back(layouts::Basis{of(Dim::Warp, bit)});
    m.threadBits |= of(Dim::Warp, bit);
  }
  m.addresses = LinearLayout({lanes, warps}, {{Dim::Offset, map_.outs()[0].size}});
  return m;
}

unsigned SharedAccess::Matrices::firstOf(unsigned r, unsigned w) const {
  for (unsigned i = 0; i < logCount; ++i)
    if (w >> i & 1) r |= 1u << matrixBits[i];
  return r;
}

llvm::Value *SharedAccess::matrixAddress(Matrices &m, llvm::Value *base, unsigned reg) {
  auto &b = fl_.b;
  int32_t constant = offsetOf(reg);
  llvm::Value *extraXor = viewBeside(constant);
  if (!m.thread) {
    m.thread = fl_.applyLayout(m.addresses, {{Dim::Lane, fl_.laneId()}, {Dim::Warp, fl_.warpId()}})[0];
    if (extraXor) m.thread = b.CreateXor(m.thread, extraXor);
  }
  if (window_) constant %= window_;
  int32_t clash = extraXor ? constant : constant & m.threadBits;
  auto &address = m.bases[clash];
  if (!address) {
    // In bytes, so that a loop over several buffers only adds.
    llvm::Value *offset = clash ? b.CreateXor(m.thread, fl_.i32(clash)) : m.thread;
    address = b.CreateGEP(b.getInt8Ty(), base, b.CreateShl(offset, llvm::Log2_64(byteSize(element_))));
  }
  return constant == clash ? address : b.CreateConstGEP1_32(element_, address, constant - clash);
}

bool SharedAccess::loadMatrices(llvm::Value *base, llvm::Type *type, Elements &out) {
  if (!fl_.target.info().hasLdmatrix) return false;
  auto m = matrices(type);
  if (!m) return false;
  auto &b = fl_.b;
  unsigned n = map_.inDimSize(Dim::Register), perWord = 1u << m->wordBits;
  out.assign(n, nullptr);
  for (unsigned r = 0; r < n; ++r) {
    if (r & (m->inOne | m->copies)) continue;
    auto words = fl_.target.loadMatrices(b, matrixAddress(*m, base, r), 1u << m->logCount, m->transposed);
    for (auto [w, word] : llvm::enumerate(words)) {
      unsigned first = m->firstOf(r, w);
      if (perWord == 1) {
        out[first] = b.CreateBitCast(word, type);
        continue;
      }
      llvm::Value *v = b.CreateBitCast(word, llvm::FixedVectorType::get(type, perWord));
      for (unsigned k = 0; k < perWord; ++k) out[first + k] = b.CreateExtractElement(v, k);
    }
  }
  for (unsigned r = 0; r < n; ++r) out[r] = out[r & ~m->copies];
  return true;
}

// Not used if a row's 16 bytes are in one thread anyway, nor if eight rows have more bank conflicts than plain stores
// of the same bytes (the layout of shared memory was made for something else). If the tensor is stored in parts, rows
// and matrices whose addresses come from different lanes of one instruction must be in the same part.
bool SharedAccess::storeMatrices(llvm::Value *base, llvm::ArrayRef<llvm::Value *> values) {
  auto &info = fl_.target.info();
  if (!info.hasStmatrix || vector_ * byteSize(element_) >= 16) return false;
  auto m = matrices(values[0]->getType());
  if (!m || (window_ && m->threadBits >= window_)) return false;
  auto passesPerElement = [&](const LinearLayout &map, unsigned lanes, unsigned elements) {
    llvm::SmallVector<int64_t, 64> offsets;
    for (unsigned lane = 0; lane < lanes; ++lane)
      offsets.push_back(
          byteSize(element_) *
          map.apply({{Dim::Register, 0}, {Dim::Lane, int32_t(lane)}, {Dim::Warp, 0}, {Dim::Block, 0}})[0]);
    return double(layouts::countSharedPasses(offsets, byteSize(element_) * elements, info.memoryModel()).actual) /
           (lanes * elements);
  };
  auto &b = fl_.b;
  unsigned perWord = 1u << m->wordBits, count = 1u << m->logCount;
  if (passesPerElement(m->addresses, 8 * count, 4 * perWord) > passesPerElement(map_, 32, vector_)) return false;
  for (unsigned r = 0; r < values.size(); ++r) {
    if (r & (m->inOne | m->copies) || (window_ && offsetOf(r) / window_ != part_)) continue;
    llvm::SmallVector<llvm::Value *, 4> words;
    for (unsigned w = 0; w < count; ++w) {
      unsigned first = m->firstOf(r, w);
      llvm::Value *v = values[first];
      if (perWord > 1) {
        v = llvm::PoisonValue::get(llvm::FixedVectorType::get(element_, perWord));
        for (unsigned k = 0; k < perWord; ++k) v = b.CreateInsertElement(v, values[first + k], k);
      }
      words.push_back(b.CreateBitCast(v, b.getInt32Ty()));
    }
    fl_.target.storeMatrices(b, matrixAddress(*m, base, r), words, m->transposed);
  }
  return true;
}

// Reads that transpose among 16 lanes (Target::loadTransposed): each lane gives the address of 8 bytes and gets one
// element of each of as many lanes' as these are elements (layouts::canReadTransposed). Not used if they have more bank
// conflicts than plain reads.
bool SharedAccess::loadTransposed(llvm::Value *base, llvm::Type *type, Elements &out) {
  unsigned bytes = byteSize(element_);
  auto logCount = layouts::transposedReadBits(int(bytes * 8));
  if (padded_ || !fl_.target.info().hasTransposedLdsRead || !logCount) return false;
  if (!layouts::canReadTransposed(map_, int(bytes * 8))) return false;
  unsigned count = 1u << *logCount; // elements of a lane
  // Part of a buffer: the elements of a lane stay together under offsets that are multiples of their number.
  auto *part = llvm::dyn_cast_or_null<llvm::ConstantInt>(view_.value);
  if (view_.value && (!part || part->getZExtValue() % count != 0)) return false;
  int32_t offsetOfPart = part ? int32_t(part->getZExtValue()) : 0;
  bool isOfBits = type->isHalfTy() || type->isBFloatTy() || type->isIntegerTy(16) || type->isIntegerTy(8);
  if (!isOfBits || type->getPrimitiveSizeInBits() != bytes * 8) return false;
  LinearLayout addresses = *layouts::transposedReadAddresses(map_, int(bytes * 8));
  auto passesPerElement = [&](const LinearLayout &map, unsigned elements) {
    auto &info = fl_.target.info();
    llvm::SmallVector<int64_t, 64> offsets;
    for (int32_t lane = 0; lane < map.inDimSize(Dim::Lane); ++lane)
      offsets.push_back(bytes * map.apply({{Dim::Register, 0}, {Dim::Lane, lane}, {Dim::Warp, 0}, {Dim::Block, 0}})[0]);
    return double(layouts::countSharedPasses(offsets, bytes * elements, info.memoryModel()).actual) / elements;
  };
  if (passesPerElement(addresses, count) > passesPerElement(map_, vector_)) return false;
  unsigned one = 0, copies = 0;
  llvm::SmallVector<unsigned, 3> bits;
  int32_t threadBits = 0;
  for (unsigned bit = 0; bit < map_.inDimBits(Dim::Register); ++bit)
    if (!map_.basis(Dim::Register, bit)[0])
      copies |= 1u << bit;
    else if (bits.size() < *logCount) {
      one |= 1u << bit;
      bits.push_back(bit);
    }
  for (Dim d : {Dim::Lane, Dim::Warp})
    for (unsigned bit = 0; bit < addresses.inDimBits(d); ++bit) threadBits |= addresses.basis(d, bit)[0];
  auto &b = fl_.b;
  llvm::Value *thread = fl_.applyLayout(
      addresses,
      {{Dim::Register, fl_.i32(0)}, {Dim::Lane, fl_.laneId()}, {Dim::Warp, fl_.warpId()}, {Dim::Block, fl_.i32(0)}})[0];
  std::map<int32_t, llvm::Value *> bases;
  unsigned n = map_.inDimSize(Dim::Register);
  out.assign(n, nullptr);
  for (unsigned r = 0; r < n; ++r) {
    if (r & (one | copies)) continue;
    int32_t constant = map_.apply({{Dim::Register, int32_t(r)}, {Dim::Lane, 0}, {Dim::Warp, 0}, {Dim::Block, 0}})[0];
    constant ^= offsetOfPart;
    int32_t clash = constant & threadBits;
    auto &address = bases[clash];
    if (!address) address = b.CreateGEP(element_, base, clash ? b.CreateXor(thread, fl_.i32(clash)) : thread);
    llvm::Value *read = fl_.target.loadTransposed(
        b, constant == clash ? address : b.CreateConstGEP1_32(element_, address, constant - clash), type);
    for (unsigned j = 0; j < count; ++j) {
      unsigned to = r;
      for (unsigned k = 0; k < bits.size(); ++k) to |= (j >> k & 1) << bits[k];
      out[to] = b.CreateExtractElement(read, j);
    }
  }
  for (unsigned r = 0; r < n; ++r) out[r] = out[r & ~copies];
  return true;
}

Elements SharedAccess::load(llvm::Value *base, llvm::Type *type) {
  auto &b = fl_.b;
  Elements out;
  if (loadMatrices(base, type, out) || loadTransposed(base, type, out)) return out;
  out.assign(map_.inDimSize(Dim::Register), nullptr);
  for (unsigned r = 0, n = out.size(); r < n; ++r) {
    if (!starts(r)) continue;
    llvm::Type *t = vector_ == 1 ? element_ : (llvm::Type *)llvm::FixedVectorType::get(element_, vector_);
    llvm::Value *v = fl_.target.loadShared(b, address(base, r), t, vector_ * byteSize(element_));
    for (unsigned k = 0; k < vector_; ++k) {
      llvm::Value *e = vector_ == 1 ? v : b.CreateExtractElement(v, k);
      out[r ^ inVector(k)] = type->isIntegerTy(1) ? b.CreateTrunc(e, type) : e;
    }
  }
  return out;
}

absl::StatusOr<LinearLayout> sharedLayoutOf(MemDescType type) {
  return type.encoding()->toLinearLayout(type.allocShape().take_back(type.rank()));
}

ViewOffset viewOffset(Value desc, const LinearLayout &shared, FunctionLowering &fl) {
  auto &parts = fl.get(desc);
  llvm::SmallVector<std::pair<Dim, llvm::Value *>, 4> in;
  bool zero = true;
  for (unsigned d = 0; d + 1 < parts.size(); ++d) {
    in.push_back({layouts::tensorDim(d), parts[d + 1]});
    auto *c = llvm::dyn_cast<llvm::ConstantInt>(parts[d + 1]);
    zero &= c && c->isZero();
  }
  if (zero) return {};
  LinearLayout offsetOf = shared.pseudoInvert();
  ViewOffset view{fl.applyLayout(offsetOf, in)[0]};
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(view.value)) {
    view.bits = int32_t(constant->getSExtValue());
    return view;
  }
  auto type = desc.type().cast<MemDescType>(); // a part begins at multiples of its size
  for (unsigned d = 0; d < type.rank(); ++d)
    for (unsigned bit = llvm::Log2_64(uint64_t(type.dim(d))); bit < offsetOf.inDimBits(layouts::tensorDim(d)); ++bit)
      view.bits |= offsetOf.basis(layouts::tensorDim(d), bit)[0];
  return view;
}

} // namespace tessera::codegen
