// Operands of dots in shared memory (see shared_dot_operand.h).
#include "transforms/layout/shared_dot_operand.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/dots.h"
#include "transforms/layout/convert_values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;
using layouts::NvmmaSharedEncoding;

static constexpr int32_t kNoDim = -1;
static constexpr int32_t kAnyDim = -2;

namespace {

/// A value before layout conversions and, if `transposed`, before a transposition.
struct Untransposed {
  Value value;
  bool transposed;
};

} // namespace

static Untransposed untransposed(Value v) {
  v = beforeConversions(v);
  if (auto t = v.definedBy<tt::TransOp>(); t && t.order().size() == 2 && t.order()[0] == 1)
    return {beforeConversions(t.src()), true};
  return {v, false};
}

static int32_t fastestDim(const Encoding *encoding, llvm::ArrayRef<int64_t> shape) {
  auto layout = encoding->toLinearLayout(shape);
  return layout.ok() ? layouts::storageOrderOf(encoding, *layout)[0] : kNoDim;
}

namespace {

/// The dimension along which the loads run that a tensor is computed from, element by element, in branches, or
/// rearranged (packed elements are unpacked by joins and reshapes): their layouts are chosen before those of the
/// arithmetic on them, which then follows.
class LoadsOfTensor {
public:
  /// kNoDim: the loads disagree, or the tensor is computed from something else; kAnyDim: from splats, ranges and
  /// broadcast rows alone.
  int32_t fastestDimOf(Value tensor) {
    Layout found = layoutOf(tensor);
    return found.encoding ? fastestDim(found.encoding, tensorOf(tensor).shape()) : found.none ? kNoDim : kAnyDim;
  }

private:
  /// The layout that a tensor has if the operations on what is loaded move nothing.
  struct Layout {
    const Encoding *encoding;
    bool none; // without encoding: there is none, or any will do
  };
  static constexpr Layout kNone{nullptr, true};
  static constexpr Layout kAny{nullptr, false};

  Layout layoutOf(Value v) {
    v = beforeConversions(v);
    auto [known, isNew] = layouts_.try_emplace(v, kNone);
    if (!isNew) return known->second;
    Layout found = compute(v);
    layouts_[v] = found;
    return found;
  }

  Layout compute(Value v) {
    Operation *def = v.definingOp();
    if (!def) return kNone;
    if (isLoad(def)) return {encodingOf(v), false};
    if (makesAnyLayout(def) || def->is<tt::BroadcastOp>()) return kAny;
    llvm::SmallVector<Value, 4> sources;
    if (isElementwise(def) || def->is<arith::SelectOp>()) { // a scalar condition is no source
      llvm::copy_if(def->operands(), std::back_inserter(sources), [](Value o) { return o.type().isa<TensorType>(); });
      return common(sources);
    }
    if (def->is<scf::IfOp>()) {
      for (auto &r : def->regions()) {
        if (!r.hasOneBlock()) return kNone;
        sources.push_back(r.front()->terminator()->operand(v.index()));
      }
      return common(sources);
    }
    return rearranged(def, v);
  }

  /// The layout of the first value that is computed from loads, if those of the others run along the same dimension.
  Layout common(llvm::ArrayRef<Value> values) {
    Layout first = kAny;
    for (Value v : values) {
      Layout next = layoutOf(v);
      if (next.none) return kNone;
      auto shape = tensorOf(v).shape();
      if (!next.encoding) continue;
      if (!first.encoding)
        first = next;
      else if (fastestDim(first.encoding, shape) != fastestDim(next.encoding, shape))
        return kNone;
    }
    return first;
  }

  Layout rearranged(Operation *op, Value result) {
    auto &pool = op->context().encodings();
    bool moves = !op->is<tt::JoinOp>() && !op->is<tt::TransOp>() && !op->is<tt::ReshapeOp>() && !op->is<tt::SplitOp>();
    if (moves) return kNone;
    Value source = op->operand(0);
    Layout before = op->is<tt::JoinOp>() ? common(llvm::to_vector(op->operands())) : layoutOf(source);
    if (!before.encoding) return before;
    auto shape = tensorOf(source).shape();
    const Encoding *after = nullptr;
    if (op->is<tt::JoinOp>()) after = layouts::inferJoin(pool, before.encoding, shape);
    if (op->is<tt::SplitOp>()) after = layouts::inferSplit(pool, before.encoding, shape);
    if (op->is<tt::ReshapeOp>()) after = layouts::inferReshape(pool, before.encoding, shape, tensorOf(result).shape());
    if (auto trans = op->dyn<tt::TransOp>()) {
      llvm::SmallVector<int64_t, 4> order(trans.order().begin(), trans.order().end());
      after = layouts::inferTrans(pool, before.encoding, order, shape);
    }
    return after ? Layout{after, false} : kNone;
  }

  llvm::DenseMap<Value, Layout> layouts_;
};

} // namespace

/// The layout of a shared buffer for a value, cast to `element`, whose rows are as the value's lie in registers. Null
/// if the matrix unit cannot read it that way (across K it reads 16-bit elements, or bytes), or a row is too narrow.
/// `tile`: rows or columns of an instruction.
static const NvmmaSharedEncoding *bufferLayout(Value source, Type element, unsigned kDim, int64_t tile,
                                               SharedReading reading) {
  auto type = tensorOf(source).withElement(element);
  bool readsAcross = element.bitWidth() == 16 || (element.bitWidth() == 8 && reading.bytesAcross);
  int32_t fastest = readsAcross ? LoadsOfTensor().fastestDimOf(source) : kNoDim;
  if (fastest < 0) fastest = fastestDim(type.encoding(), type.shape());
  if (fastest < 0) return nullptr;
  unsigned contiguous = reading.alongK ? kDim : unsigned(fastest);
  int64_t bytes = type.element().bitWidth() / 8;
  if (contiguous != kDim && !readsAcross) return nullptr;
  // A tile may begin within a swizzled row, and be narrower: rows of 128 bytes, which are copied without bank
  // conflicts.
  int64_t rowBytes = type.dim(contiguous) * bytes;
  if (contiguous != kDim && tile * bytes < layouts::kMinSwizzleBytes) return nullptr;
  if (rowBytes < layouts::kMinSwizzleBytes || type.dim(1 - contiguous) < layouts::kSwizzleRows) return nullptr;
  layouts::NvmmaSharedParams p;
  p.swizzlingByteWidth = std::min(rowBytes, layouts::kMaxSwizzleBytes);
  p.transposed = contiguous == 0;
  p.elementBitWidth = type.element().bitWidth();
  p.cta = type.encoding()->cta();
  auto e = type.element().context()->encodings().getNvmmaShared(p);
  return e.ok() ? *e : nullptr;
}

bool isReadable(Value v, unsigned kDim, Type element, int64_t tile, SharedReading reading) {
  auto [source, swapped] = untransposed(v);
  return bufferLayout(source, element, swapped ? 1 - kDim : kDim, tile, reading);
}

bool fitTogether(llvm::ArrayRef<Value> operands, int bits, const TargetInfo &target) {
  int64_t elements = 0;
  for (Value operand : operands) elements += tensorOf(operand).numElements();
  return elements * bits / 8 <= target.sharedMemoryPerBlock;
}

Value transposedView(Builder &b, Location loc, Value buffer) {
  auto type = buffer.type().cast<MemDescType>();
  auto p = layouts::dynCast<NvmmaSharedEncoding>(type.encoding())->params();
  p.transposed = !p.transposed;
  int64_t shape[] = {type.dim(1), type.dim(0)};
  auto *layout = *b.context().encodings().getNvmmaShared(p);
  return ttg::MemdescTransOp::create(b, loc, MemDescType::get(shape, type.element(), layout, type.memorySpace(), false),
                                     buffer, {b.denseI32Attr("order", {1, 0})})
      ->result();
}

Value toShared(Location loc, Value v, unsigned kDim, Type element, int64_t tile, SharedReading reading) {
  auto [source, swapped] = untransposed(v);
  auto type = tensorOf(source).withElement(element);
  auto *layout = bufferLayout(source, element, swapped ? 1 - kDim : kDim, tile, reading);
  Operation *def = source.definingOp();
  Builder b = def ? Builder(def) : Builder(&*source.ownerBlock()->begin());
  if (def) b.setInsertionPointAfter(def);
  source = inElementType(b, loc, source, element);
  auto bufferType = MemDescType::get(type.shape(), element, layout, sharedMemorySpace(b.context()), false);
  Value buffer = ttg::LocalAllocOp::create(b, loc, bufferType, source).result();
  return swapped ? transposedView(b, loc, buffer) : buffer;
}

} // namespace tessera::transforms
