// Grouping of register elements into memory accesses (what codegen/lowering/access_plan.h promises).
//
// Addresses as a uniform base and a small offset: tt.addptr(tt.splat %p, %o) with %o a sum of splats and of integers
// whose range is known to be not negative and small. The splats go to the base, which one thread's worth of scalar
// arithmetic computes for all lanes; the rest is the 32-bit offset that buffer instructions and scalar-base addressing
// take. Splitting a 32-bit sum assumes that it does not wrap: a program whose addresses wrapped around 2^31 elements
// inside one tensor would access memory on both sides of its base 2^31 elements away. Pointers that advance with a
// loop's counter stay 64-bit pointers.
//
// Pointers into a buffer of less than 2 GiB (transforms/layout/canonicalize_pointers.cpp) are its address and their
// own offset. An offset that may be negative becomes an unsigned number: base - moved and offset + moved.
#include "codegen/lowering/access_plan.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/pointer_root.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

// ---- grouping ------------------------------------------------------------------------------------------------------

AccessPlan::AccessPlan(FunctionLowering &fl, Value ptr, Value mask, int64_t elementBytes, int64_t maxBytes)
    : fl_(fl), ptr_(ptr) {
  auto &info = fl.axisInfo();
  plan(
      ptr, mask, elementBytes, maxBytes, [&](unsigned d) { return info.alignment(ptr, d); },
      [&](unsigned d) { return fl.contiguity(ptr, d); });
}

AccessPlan::AccessPlan(FunctionLowering &fl, Value offsets, Value mask, int64_t elementBytes, int64_t maxBytes,
                       int64_t contiguity)
    : fl_(fl), ptr_(offsets) {
  auto &info = fl.axisInfo();
  // The operation's own statement holds along the dimension in which its registers run.
  auto own = [&](unsigned d) {
    int64_t inner = 1;
    auto &l = fl.layout(offsets.type());
    while (inner < contiguity && l.inDimBits(Dim::Register) > llvm::Log2_64(inner) &&
           l.basis(Dim::Register, llvm::Log2_64(inner))[d] == inner)
      inner *= 2;
    return inner;
  };
  plan(
      offsets, mask, elementBytes, maxBytes,
      [&](unsigned d) { return std::max(info.get(offsets).divisibility[d], own(d)) * elementBytes; },
      [&](unsigned d) { return std::max(fl.contiguity(offsets, d), own(d)); });
}

void AccessPlan::plan(Value value, Value mask, int64_t elementBytes, int64_t maxBytes,
                      llvm::function_ref<int64_t(unsigned)> alignmentOf,
                      llvm::function_ref<int64_t(unsigned)> contiguityOf) {
  Type type = value.type();
  if (!type.isTensor()) {
    accesses_.push_back({{0}, 0, 0});
    alignment_ = std::max<int64_t>(elementBytes, std::min<int64_t>(16, alignmentOf(0)));
    return;
  }
  auto &l = fl_.layout(type);
  // The dimension along which the widest access is possible.
  unsigned rank = l.numOutDims(), bestDim = 0;
  int64_t best = 0, bestAlignment = elementBytes;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t alignment = std::max<int64_t>(elementBytes, std::min<int64_t>(maxBytes, alignmentOf(d)));
    int64_t limit = std::min({contiguityOf(d), maxBytes / elementBytes, alignment / elementBytes});
    if (mask) limit = std::min(limit, fl_.axisInfo().maskConstancy(mask, d));
    // Registers that run along d.
    int64_t run = 1;
    auto hasBasis = [&](int64_t x) {
      for (unsigned bit = 0; bit < l.inDimBits(Dim::Register); ++bit) {
        auto basis = l.basis(Dim::Register, bit);
        bool only = basis[d] == x;
        for (unsigned o = 0; o < rank; ++o) only &= o == d || !basis[o];
        if (only) return true;
      }
      return false;
    };
    // What lanes and warps add must not reach into the vector.
    auto threadClear = [&](int64_t x) {
      for (Dim in : {Dim::Lane, Dim::Warp, Dim::Block})
        for (unsigned bit = 0; bit < l.inDimBits(in); ++bit)
          if (l.basis(in, bit)[d] & (2 * x - 1)) return false;
      return true;
    };
    while (run * 2 <= limit && hasBasis(run) && threadClear(run)) run *= 2;
    if (run > best || (run == best && contiguityOf(d) > contiguityOf(bestDim))) {
      best = run;
      bestDim = d;
      bestAlignment = alignment;
    }
  }
  alignment_ = std::min(bestAlignment, std::max(best * elementBytes, elementBytes));
  group(type, contiguityOf(bestDim), bestDim, best, elementBytes);
}

void AccessPlan::group(Type type, int64_t contiguity, unsigned dim, unsigned vector, int64_t elementBytes) {
  auto &l = fl_.layout(type);
  unsigned n = l.inDimSize(Dim::Register), free = fl_.freeRegisters(type);
  int32_t threadBits = 0;
  for (Dim in : {Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < l.inDimBits(in); ++bit) threadBits |= l.basis(in, bit)[dim];
  // Constants that may be added to a pointer of the same contiguous group: below the group's size, and outside the bits
  // that the thread sets (there, the register's part is not added but xor-ed).
  int32_t addable = int32_t(std::min<int64_t>(contiguity, l.outs()[dim].size) - 1) & ~threadBits;
  std::map<layouts::Basis, unsigned> byIndex;
  for (unsigned r = 0; r < n; ++r)
    if (!(r & free)) byIndex.try_emplace(l.apply({{Dim::Register, int32_t(r)}}), r);
  for (unsigned r = 0; r < n; ++r) {
    if (r & free) continue;
    auto index = l.apply({{Dim::Register, int32_t(r)}});
    if (index[dim] & int32_t(vector - 1)) continue; // inside another's vector
    VectorAccess a;
    bool whole = true;
    for (unsigned k = 0; k < vector; ++k) {
      auto at = index;
      at[dim] += k;
      auto it = byIndex.find(at);
      whole &= it != byIndex.end();
      if (whole) a.registers.push_back(it->second);
    }
    a.baseRegister = r;
    auto base = index;
    base[dim] &= ~addable;
    if (auto it = byIndex.find(base); it != byIndex.end()) {
      a.baseRegister = it->second;
      a.constant = int64_t(index[dim] - base[dim]) * elementBytes;
    }
    accesses_.push_back(std::move(a));
  }
}

// ---- addresses -----------------------------------------------------------------------------------------------------

namespace {

/// Offsets from the base stay below this many bytes, with room for the constants of accesses in one group.
constexpr int64_t kMaxOffset = (int64_t(1) << 31) - 64;
/// Definitions that are followed for the bounds of an offset: more than canonicalize follows, as this is done once.
constexpr int kOffsetDepth = 12;

/// Whether an offset is a sum with a multiple of a loop's counter. Such pointers advance by a constant per iteration:
/// LLVM (loop strength reduction) keeps a few 64-bit pointers and reaches the others by immediate offsets. From a
/// uniform base and 32-bit offsets it makes a 64-bit pointer for every access (sums of the rows of 256 x 128 floats:
/// 10 % more instructions executed on gfx1200, 52 registers instead of 34 on gfx90a).
bool advancesWithCounter(Value v, int depth) {
  if (isInductionVariable(v)) return true;
  Operation *op = v.definingOp();
  if (!op || depth == 0) return false;
  switch (op->opcode()) {
  case Opcode::tt_splat:
  case Opcode::tt_broadcast:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_trans:
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi:
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli: break;
  default: return false;
  }
  return llvm::any_of(op->operands(), [&](Value operand) { return advancesWithCounter(operand, depth - 1); });
}

/// The parts of a tensor of pointers: base + uniform offset (bytes) + sum of terms.
struct Split {
  FunctionLowering &fl;
  Type type; // the tensor's
  Split(FunctionLowering &fl, Type type) : fl(fl), type(type) {}
  llvm::Value *base = nullptr;
  llvm::SmallVector<std::pair<llvm::Value *, int64_t>, 4> uniform; // integer and its scale
  int64_t uniformConstant = 0;                                     // modulo 2^64
  llvm::SmallVector<std::pair<Value, int64_t>, 4> terms;
  int64_t maxOffset = 0;

  bool sameRegisters(Value v) const {
    return v.type().isTensor() && v.type().cast<TensorType>().encoding() == type.cast<TensorType>().encoding() &&
           v.type().cast<TensorType>().shape() == type.cast<TensorType>().shape();
  }

  void addConstant(uint64_t bytes) { uniformConstant = int64_t(uint64_t(uniformConstant) + bytes); }

  bool offset(Value v, int64_t scale) {
    if (const llvm::APInt *bits = splatBits(constantOf(v))) {
      addConstant(uint64_t(bits->getSExtValue()) * uint64_t(scale));
      return true;
    }
    Operation *op = v.definingOp();
    if (auto splat = v.definedBy<tt::SplatOp>()) {
      uniform.push_back({fl.scalar(splat.src()), scale});
      return true;
    }
    // Narrower sums wrap: 8 and 16 bits are too few for indices.
    auto add = v.definedBy<arith::AddiOp>();
    bool isIndexSum = add && v.type().scalar().bitWidth() >= 32;
    if (isIndexSum) return offset(add.lhs(), scale) && offset(add.rhs(), scale);
    if (auto extension = v.definedBy<arith::ExtsiOp>()) return offset(extension.in(), scale);
    // A broadcast of something that is uniform after all.
    if (op && (op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() || op->is<ttg::ConvertLayoutOp>())) {
      Value source = UnaryOp(op).value();
      size_t before = terms.size();
      Split inner(fl, source.type());
      if (inner.offset(source, scale) && inner.terms.empty()) {
        uniform.append(inner.uniform.begin(), inner.uniform.end());
        addConstant(uint64_t(inner.uniformConstant));
        return true;
      }
      terms.resize(before);
    }
    if (!sameRegisters(v) || advancesWithCounter(v, kOffsetDepth)) return false;
    auto range = transforms::integerRange(v, {.depth = kOffsetDepth, .indexBits = 32});
    if (!range || range->low < 0 || range->high >= kMaxOffset) return false;
    maxOffset += range->high * scale;
    terms.push_back({v, scale});
    return maxOffset < kMaxOffset;
  }

  bool pointer(Value p) {
    Operation *op = p.definingOp();
    if (!op) return false;
    if (auto splat = op->dyn<tt::SplatOp>()) {
      base = fl.scalar(splat.src());
      return base->getType()->getPointerAddressSpace() == kGlobalSpace;
    }
    if (auto add = op->dyn<tt::AddptrOp>()) {
      int64_t bytes = pointeeBytes(p);
      return pointer(add.ptr()) && offset(add.offset(), bytes);
    }
    if (auto cast = op->dyn<tt::BitcastOp>()) return pointer(cast.src());
    if (op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>()) {
      Value source = UnaryOp(op).value();
      Split inner(fl, source.type());
      if (!inner.pointer(source) || !inner.terms.empty()) return false;
      base = inner.base;
      uniform = inner.uniform;
      uniformConstant = inner.uniformConstant;
      return true;
    }
    return false;
  }
};

/// By how much a tensor of integers grows from one index to the next along a dimension, modulo 2^32, where that is the
/// same number everywhere.
std::optional<int64_t> strideOf(Value v, unsigned dim, int depth) {
  Operation *op = v.definingOp();
  if (v.type().scalar().bitWidth() < 32) return std::nullopt;
  if (splatBits(constantOf(v)) || v.definedBy<tt::SplatOp>()) return 0;
  if (!op || depth == 0) return std::nullopt;
  auto of = [&](unsigned operand) { return strideOf(op->operand(operand), dim, depth - 1); };
  switch (op->opcode()) {
  case Opcode::tt_make_range: return 1;
  case Opcode::tt_expand_dims: {
    unsigned axis = unsigned(op->cast<tt::ExpandDimsOp>().axis());
    return dim == axis ? 0 : strideOf(op->operand(0), dim - (dim > axis), depth - 1);
  }
  case Opcode::tt_broadcast: return op->operand(0).type().cast<TensorType>().shape()[dim] == 1 ? 0 : of(0);
  case Opcode::arith_extsi:
  case Opcode::ttg_convert_layout: return of(0);
  case Opcode::arith_addi: {
    auto left = of(0), right = left ? of(1) : std::nullopt;
    return right ? std::optional(*left + *right) : std::nullopt;
  }
  case Opcode::arith_muli: {
    for (unsigned k : {0, 1})
      if (const llvm::APInt *bits = splatBits(constantOf(op->operand(k))); bits && bits->isSignedIntN(32)) {
        auto other = of(1 - k);
        return other ? std::optional(*other * bits->getSExtValue()) : std::nullopt;
      }
    return of(0) == 0 && of(1) == 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

} // namespace

/// Finds accesses that lie constants apart along dimensions with a constant stride (joinRows).
void AccessPlan::shareRows() {
  auto &l = fl_.layout(ptr_.type());
  unsigned rank = l.numOutDims();
  llvm::SmallVector<int64_t, 4> strides(rank); // 0: not one number, or not positive
  for (unsigned d = 0; d < rank; ++d)
    for (auto [v, scale] : terms_) {
      auto own = strideOf(v, d, kOffsetDepth);
      bool isSmall = own && *own >= 0 && *own < kMaxOffset && strides[d] + *own * scale < kMaxOffset;
      if (!isSmall) {
        strides[d] = 0;
        break;
      }
      strides[d] += *own * scale;
    }
  auto indexOf = [&](const VectorAccess &a) { return l.apply({{Dim::Register, int32_t(a.baseRegister)}}); };
  std::map<layouts::Basis, unsigned> registers;
  int64_t farthest = 0;
  for (auto &a : accesses_) {
    registers.try_emplace(indexOf(a), a.baseRegister);
    farthest = std::max(farthest, a.constant);
  }
  auto threadsHave = [&](unsigned d, int32_t bit) {
    for (Dim in : {Dim::Lane, Dim::Warp, Dim::Block})
      for (unsigned k = 0; k < l.inDimBits(in); ++k)
        if (l.basis(in, k)[d] & bit) return true;
    return false;
  };
  // Bits of an index that no thread sets: what they stand for is added to the offset without them.
  std::multimap<int64_t, std::pair<unsigned, int32_t>> bits; // by distance in bytes: dimension and bit
  for (unsigned d = 0; d < rank; ++d)
    for (int32_t bit = 1; strides[d] > 0 && bit < l.outs()[d].size; bit *= 2)
      if (!threadsHave(d, bit) && llvm::any_of(registers, [&](auto &r) { return r.first[d] & bit; }))
        bits.insert({bit * strides[d], {d, bit}});
  llvm::SmallVector<int32_t, 4> added(rank);
  for (auto [distance, bit] : bits) {
    if ((farthest += distance) >= fl_.target.info().addressImmediateBytes) break;
    added[bit.first] |= bit.second;
  }
  for (auto &a : accesses_) {
    auto index = indexOf(a), shared = index;
    int64_t constant = a.constant;
    for (unsigned d = 0; d < rank; ++d) {
      shared[d] &= ~added[d];
      constant += (index[d] - shared[d]) * strides[d];
    }
    auto it = registers.find(shared);
    if (it == registers.end()) continue;
    a.baseRegister = it->second;
    a.constant = constant;
  }
}

void AccessPlan::address(BufferAddress &buffer, const VectorAccess &v, MemoryAccess &a) {
  auto &b = fl_.b;
  llvm::Value *&offset = buffer.bytes[v.baseRegister];
  if (!offset) offset = b.CreateMul(fl_.get(buffer.offsets)[v.baseRegister], fl_.i32(buffer.elementBytes));
  a.alignment = alignment_;
  a.base = buffer.base;
  a.offset = offset;
  a.constant = v.constant;
  llvm::Value *whole = b.CreateZExt(offset, b.getInt64Ty());
  a.pointer = b.CreateConstGEP1_64(b.getInt8Ty(), b.CreateGEP(b.getInt8Ty(), buffer.base, whole), v.constant);
}

void AccessPlan::address(const VectorAccess &a, MemoryAccess &out) {
  auto &b = fl_.b;
  out.alignment = alignment_;
  const Elements &pointers = fl_.get(ptr_);
  auto setPointer = [&] {
    llvm::Value *p = pointers[a.baseRegister];
    out.pointer = a.constant ? b.CreateConstGEP1_64(b.getInt8Ty(), p, a.constant) : p;
  };
  if (!fl_.target.info().hasBufferOps) return setPointer();
  if (!splitTried_) {
    splitTried_ = true;
    Split s(fl_, ptr_.type());
    Value small = transforms::smallBuffer(ptr_);
    bool mayBeNegative = small && !transforms::hasNonNegativeOffset(ptr_);
    // The emulator's check for overflows heeds this.
    if (small) b.GetInsertBlock()->getParent()->addFnAttr(kModuloOffsets);
    // The scalar unit adds numbers of 64 bits, of either sign, anyway.
    if (mayBeNegative && !ptr_.type().isTensor()) return setPointer();
    if (small) {
      base_ = fl_.scalar(small);
      terms_.push_back({ptr_.definedBy<tt::AddptrOp>().offset(), pointeeBytes(ptr_)});
      wraps_ = true;
    }
    if (mayBeNegative) {
      moved_ = fl_.axisInfo().alignment(small, 0) >= 16 ? kMovedBytes : uint32_t(1) << 31;
      base_ = b.CreateConstGEP1_64(b.getInt8Ty(), base_, uint64_t(-int64_t(moved_)));
    }
    if (!small && ptr_.type().isTensor() && s.pointer(ptr_)) {
      base_ = s.base;
      for (auto [v, scale] : s.uniform) {
        // Parts of 64 bits may wrap around, where the rest of the sum brings them back.
        bool cannotWrap = v->getType()->getIntegerBitWidth() <= 32;
        llvm::Value *bytes =
            b.CreateMul(b.CreateSExt(v, b.getInt64Ty()), b.getInt64(scale), "", /*HasNUW=*/false, cannotWrap);
        base_ = b.CreateGEP(b.getInt8Ty(), base_, bytes);
      }
      if (s.uniformConstant) base_ = b.CreateConstGEP1_64(b.getInt8Ty(), base_, s.uniformConstant);
      terms_ = s.terms;
    }
    if (base_ && joinsRows_ && ptr_.type().isTensor()) shareRows();
  }
  setPointer();
  if (!base_) return;
  llvm::Value *&offset = offsets_[a.baseRegister];
  if (!offset) {
    offset = fl_.i32(moved_);
    for (auto [v, scale] : terms_) {
      llvm::Value *e = b.CreateZExtOrTrunc(fl_.get(v)[a.baseRegister], b.getInt32Ty());
      offset = b.CreateAdd(offset, b.CreateMul(e, fl_.i32(scale), "", !wraps_, !wraps_), "", !wraps_, !wraps_);
    }
  }
  out.base = base_;
  out.offset = offset;
  out.wraps = wraps_;
  out.moved = moved_;
  out.constant = a.constant;
}

} // namespace tessera::codegen
