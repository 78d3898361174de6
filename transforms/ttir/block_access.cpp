// Pointers and masks of blocks (see block_access.h).
#include "transforms/ttir/block_access.h"
#include "ir/compare.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

Value toI64(Builder &b, Location loc, Value v) {
  Type scalar = v.type().scalar();
  Type to = v.type().withScalar(b.context().i64());
  if (scalar.isIndex()) return arith::IndexCastOp::create(b, loc, to, v)->result();
  if (scalar.bitWidth() > 64) return arith::TrunciOp::create(b, loc, to, v)->result();
  return scalar.bitWidth() == 64 ? v : arith::ExtsiOp::create(b, loc, to, v)->result();
}

namespace {

class AccessBuilder {
public:
  AccessBuilder(Builder &b, Location loc, TensorType data) : b_(b), loc_(loc), data_(data) {}

  Value constant(Type t, int64_t v) { return b_.intConstant(loc_, t, v); }
  Value add(Value x, Value y) { return x ? arith::AddiOp::create(b_, loc_, x, y).result() : y; }
  Value both(Value x, Value y) { return x ? arith::AndiOp::create(b_, loc_, x, y).result() : y; }
  Value compare(CmpIPredicate p, Value x, Value y) { return ir::compare(b_, loc_, p, x, y); }
  Value splat(Value scalar, llvm::ArrayRef<int64_t> shape) {
    return tt::SplatOp::create(b_, loc_, TensorType::get(shape, scalar.type()), scalar).result();
  }

  /// A vector along an axis of the data, repeated along the others.
  Value spread(Value vector, unsigned axis) {
    llvm::SmallVector<int64_t, 4> shape{data_.dim(axis)};
    for (unsigned d = 0; d < data_.rank(); ++d) {
      if (d == axis) continue;
      shape.insert(shape.begin() + d, 1);
      vector = tt::ExpandDimsOp::create(b_, loc_, TensorType::get(shape, vector.type().scalar()), vector,
                                        b_.i32Attr("axis", d))
                   .result();
    }
    auto full = TensorType::get(data_.shape(), vector.type().scalar());
    return vector.type() == full ? vector : tt::BroadcastOp::create(b_, loc_, full, vector).result();
  }

  Value narrow(Value v) {
    if (auto extended = v.definedBy<arith::ExtsiOp>(); extended && extended.in().type() == b_.context().i32())
      return extended.in();
    return arith::TrunciOp::create(b_, loc_, b_.context().i32(), v)->result();
  }

  /// Which of the block's indices are inside, by 32-bit arithmetic.
  Value insideNarrow(const BlockDim &d, Value i) {
    Type i32 = b_.context().i32();
    Value low = constant(i32, 0), high = narrow(d.limit);
    if (d.offset) {
      // Offsets before −size are all the same: nothing is inside. So neither difference overflows.
      Value offset = arith::MaxsiOp::create(b_, loc_, narrow(d.offset), constant(i32, -d.size)).result();
      low = arith::SubiOp::create(b_, loc_, low, offset).result();
      high = arith::SubiOp::create(b_, loc_, high, offset).result();
    }
    return both(compare(CmpIPredicate::Sge, i, splat(low, d.size)),
                compare(CmpIPredicate::Slt, i, splat(high, d.size)));
  }

  /// The same by 64-bit arithmetic.
  Value insideWide(const BlockDim &d, Value i) {
    Value low = constant(b_.context().i64(), 0), high = d.limit;
    if (d.offset) {
      low = arith::SubiOp::create(b_, loc_, low, d.offset).result();
      high = arith::SubiOp::create(b_, loc_, high, d.offset).result();
    }
    return both(compare(CmpIPredicate::Sge, i, splat(low, d.size)),
                compare(CmpIPredicate::Slt, i, splat(high, d.size)));
  }

  BlockAccess build(Value base, llvm::ArrayRef<BlockDim> dims) {
    auto &c = b_.context();
    Value start, offsets, scalarMask, mask;
    bool isNarrow = llvm::all_of(dims, [](const BlockDim &d) { return d.isNarrow && !d.indices; });
    for (auto &d : dims) {
      if (d.offset) start = add(start, arith::MuliOp::create(b_, loc_, d.offset, d.stride).result());
      if (d.size == 1 && !d.indices) {
        if (!d.limit) continue;
        Value zero = constant(c.i64(), 0), x = d.offset ? d.offset : zero;
        scalarMask = both(scalarMask, compare(CmpIPredicate::Sge, x, zero));
        scalarMask = both(scalarMask, compare(CmpIPredicate::Slt, x, d.limit));
        continue;
      }
      Value i = d.indices ? d.indices
                          : tt::MakeRangeOp::create(b_, loc_, TensorType::get({d.size}, c.i32()),
                                                    {b_.i32Attr("end", d.size), b_.i32Attr("start", 0)})
                                .result();
      if (!isNarrow) i = toI64(b_, loc_, i);
      Value stride = isNarrow ? narrow(d.stride) : d.stride;
      offsets = add(offsets, spread(arith::MuliOp::create(b_, loc_, i, splat(stride, d.size)).result(), d.axis));
      if (d.limit) mask = both(mask, spread(isNarrow ? insideNarrow(d, i) : insideWide(d, i), d.axis));
    }
    if (start) base = tt::AddptrOp::create(b_, loc_, base, start).result();
    Value pointers = splat(base, data_.shape());
    if (offsets) pointers = tt::AddptrOp::create(b_, loc_, pointers, offsets).result();
    if (scalarMask) mask = both(mask, splat(scalarMask, data_.shape()));
    return {pointers, mask};
  }

private:
  Builder &b_;
  Location loc_;
  TensorType data_;
};

} // namespace

BlockAccess accessBlock(Builder &b, Location loc, Value base, llvm::ArrayRef<BlockDim> dims, TensorType data) {
  return AccessBuilder(b, loc, data).build(base, dims);
}

} // namespace tessera::transforms
