// Loads as copies of blocks (see tensor_block.h): matching pointers and mask against what block_access.cpp creates.
#include "transforms/analyses/tensor_block.h"
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "transforms/analyses/axis_info.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Operands of nested operations of a kind.
template <class OpT> void flatten(Value v, llvm::SmallVectorImpl<Value> &out) {
  if (auto op = v.definedBy<OpT>()) {
    flatten<OpT>(op.lhs(), out);
    flatten<OpT>(op.rhs(), out);
  } else {
    out.push_back(v);
  }
}

/// A vector along one of a matrix's two dimensions, repeated along the other.
struct RepeatedVector {
  Value vector;
  unsigned axis = 0;
};
std::optional<RepeatedVector> repeatedVector(Value v) {
  if (auto b = v.definedBy<tt::BroadcastOp>()) v = b.src();
  auto e = v.definedBy<tt::ExpandDimsOp>();
  if (!e || v.type().cast<TensorType>().rank() != 2) return {};
  return RepeatedVector{e.src(), e.axis() == 1 ? 0u : 1u};
}

Value sourceOfExtension(Value v) {
  auto e = v.definedBy<arith::ExtsiOp>();
  return e ? e.in() : Value();
}
/// 0, 1, 2, … as i32 or extended to i64.
bool isCounting(Value v) {
  if (Value narrow = sourceOfExtension(v)) v = narrow;
  auto range = v.definedBy<tt::MakeRangeOp>();
  return range && range.start() == 0;
}
Value splatSource(Value v) {
  auto s = v.definedBy<tt::SplatOp>();
  return s ? s.src() : Value();
}
/// The i32 that the i64 is an extension of.
Value narrowed(Value v) {
  Value source = sourceOfExtension(v);
  return source && source.type().isInteger(32) ? source : Value();
}

/// One match.
class Match {
public:
  explicit Match(const AxisInfoAnalysis &axis) : axis_(axis) {}

  std::optional<TensorBlock> run(tt::LoadOp load) {
    auto pointers = load.ptr().definedBy<tt::AddptrOp>();
    Value first = pointers ? splatSource(pointers.ptr()) : Value();
    bool matches = first && matchOffsets(pointers.offset()) && matchFirst(first) && matchMask(load.mask()) && finish();
    return matches ? std::optional(block_) : std::nullopt;
  }

private:
  /// row · stride + column
  bool matchOffsets(Value offsets) {
    llvm::SmallVector<Value, 4> parts;
    flatten<arith::AddiOp>(offsets, parts);
    if (parts.size() != 2) return false;
    bool hasColumns = false;
    for (Value part : parts) {
      auto v = repeatedVector(part);
      if (!v) return false;
      if (v->axis == 1) {
        hasColumns |= isCounting(v->vector);
        continue;
      }
      auto mul = v->vector.definedBy<arith::MuliOp>();
      if (!mul) return false;
      for (auto [stride, row] : {std::pair(mul.lhs(), mul.rhs()), std::pair(mul.rhs(), mul.lhs())})
        if (Value scalar = splatSource(stride); scalar && isCounting(row)) block_.stride = scalar;
    }
    return hasColumns && block_.stride && block_.stride.type().isInteger(64);
  }

  /// base + start0 · stride + start1, both of which may be missing.
  bool matchFirst(Value first) {
    block_.base = first;
    if (auto moved = first.definedBy<tt::AddptrOp>()) {
      block_.base = moved.ptr();
      llvm::SmallVector<Value, 4> terms;
      flatten<arith::AddiOp>(moved.offset(), terms);
      if (terms.size() > 2) return false;
      for (Value term : terms) {
        Value row = coefficientOfStride(term);
        Value &start = start_[row ? 0 : 1];
        if (start) return false;
        start = row ? row : term;
      }
    }
    return !block_.base.type().isTensor() && !block_.base.definedBy<tt::AddptrOp>();
  }
  /// x of x · stride; null for other values.
  Value coefficientOfStride(Value v) {
    auto mul = v.definedBy<arith::MuliOp>();
    if (!mul) return {};
    if (mul.lhs() == block_.stride) return mul.rhs();
    if (mul.rhs() == block_.stride) return mul.lhs();
    return {};
  }

  /// Bounds of each dimension.
  bool matchMask(Value mask) {
    llvm::SmallVector<Value, 4> masks;
    flatten<arith::AndiOp>(mask, masks);
    for (Value m : masks) {
      auto v = repeatedVector(m);
      if (!v) return false;
      llvm::SmallVector<Value, 4> bounds;
      flatten<arith::AndiOp>(v->vector, bounds);
      for (Value b : bounds)
        if (!matchBound(b, v->axis)) return false;
    }
    return true;
  }
  /// index ≥ −start  or  index < size − start
  bool matchBound(Value v, unsigned axis) {
    auto compare = v.definedBy<arith::CmpiOp>();
    Value bound = compare && isCounting(compare.lhs()) ? splatSource(compare.rhs()) : Value();
    if (!bound || !bound.type().isInteger(64)) return false;
    Value start = start_[axis];
    auto difference = bound.definedBy<arith::SubiOp>();
    if (start && (!difference || difference.rhs() != start)) return false;
    Value limit = start ? difference.lhs() : bound; // of index + start
    switch (compare.predicate()) {
    case CmpIPredicate::Sge: hasLower_[axis] = true; return isZero(limit);
    case CmpIPredicate::Slt:
      if (block_.size[axis]) return false;
      block_.size[axis] = narrowed(limit);
      return bool(block_.size[axis]);
    default: return false;
    }
  }

  bool finish() {
    for (unsigned d : {0u, 1u}) {
      if (!block_.size[d]) return false;
      if (!start_[d]) continue;
      if (!hasLower_[d] && !axis_.nonNegative(start_[d])) return false;
      block_.start[d] = narrowed(start_[d]);
      if (!block_.start[d]) return false;
    }
    return true;
  }

  const AxisInfoAnalysis &axis_;
  TensorBlock block_;
  std::array<Value, 2> start_; // i64
  std::array<bool, 2> hasLower_{};
};

} // namespace

std::optional<TensorBlock> tensorBlock(tt::LoadOp load, const AxisInfoAnalysis &axis) {
  bool hasMaskPerElement = load.mask() && load.mask().type().isTensor();
  bool paddedByZeros = !load.other() || isZero(load.other());
  if (!hasMaskPerElement || !paddedByZeros || load.isVolatile()) return {};
  auto type = load.result().type().dyn_cast<TensorType>();
  if (!type || type.rank() != 2) return {};
  return Match(axis).run(load);
}

} // namespace tessera::transforms
