// Pass triton-decompose-scaled-dot: rewrites dots of microscaled operands (OCP Microscaling Formats: groups of elements
// along K share a scale) as plain dots, but those that the target has an instruction with scales for
// (ir/scaled_dots.h). Elements and scales are converted to a type that holds them exactly: bf16, or
// f16 if an operand is f16 (the scaled elements then have f16's range, as in Triton):
//
//   %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16
//          : tensor<MxKxi8>, tensor<Mx(K/32)xi8> * tensor<KxNxbf16> -> …
//     →
//   %x = tt.fp_to_fp (tt.bitcast %a)                      : tensor<MxKxbf16>
//   %e = 2^(%s - 127), not a number for 255               : tensor<Mx(K/32)xbf16>
//   %f = tt.reshape (tt.broadcast (tt.expand_dims %e))    : tensor<MxKxbf16>
//   %d = tt.dot (%x * %f), %b, %c
//
// tt.e2m1_to_fp converts e2m1 to that type, or to f32 at once on targets that multiply bf16 as f32: multiplied by
// scales of 8 bits these are bf16 without rounding, the upper halves of their bits.
//
// Two e2m1 ("fp4") in a byte lie side by side along K or, where the operand says so, along its other dimension; the low
// four bits come first. Scales may also be floats (e4m3), with groups of any size.
//
// A dot that stays gets its e2m1 packed along K, as instructions take them:
//
//   %d = tt.dot_scaled %a, … {lhs_k_pack = false}   →   %p = tt.reshape (tt.trans (tt.join %even, %odd))
//                                                       %d = tt.dot_scaled %p, … {lhs_k_pack = true}
//
// Limits: TTIR only (no layouts yet).
//
// Runs: TTIR.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/scaled_dots.h"
#include "transforms/passes.h"
#include "transforms/ttir/e8m0.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class ScaledDot {
public:
  ScaledDot(tt::DotScaledOp op, const TargetInfo *target)
      : op_(op), b_(op.op), loc_(op->loc()), multipliesBf16_(!target || target->hasBf16Fma) {
    auto isF16 = [](ScaleDotElemType t) { return t == ScaleDotElemType::Fp16; };
    auto &c = b_.context();
    compute_ = isF16(op.aElemType()) || isF16(op.bElemType()) ? c.f16() : c.bf16();
  }

  Value build() {
    Value a = operand(op_.a(), op_.aElemType(), op_.lhsKPack() ? 1 : 0, op_.aScale(), false);
    Value b = operand(op_.b(), op_.bElemType(), op_.rhsKPack() ? 0 : 1, op_.bScale(), true);
    return tt::DotOp::create(b_, loc_, a, b, op_.c()).d();
  }

  /// Packs e2m1 along K. Whether that changed the operation.
  bool packAlongK() {
    bool packA = op_.aElemType() == ScaleDotElemType::E2m1 && !op_.lhsKPack();
    bool packB = op_.bElemType() == ScaleDotElemType::E2m1 && !op_.rhsKPack();
    if (packA) {
      op_.setA(packedAlongK(op_.a(), 1));
      op_->setAttr("lhs_k_pack", IntegerAttr::getBool(b_.context(), true));
    }
    if (packB) {
      op_.setB(packedAlongK(op_.b(), 0));
      op_->setAttr("rhs_k_pack", IntegerAttr::getBool(b_.context(), true));
    }
    return packA || packB;
  }

private:
  Value like(Value x, int64_t v) { return b_.intConstant(loc_, x.type(), v); }
  Value andi(Value x, int64_t v) { return arith::AndiOp::create(b_, loc_, x, like(x, v)).result(); }
  Value shl(Value x, int64_t v) { return arith::ShliOp::create(b_, loc_, x, like(x, v)).result(); }
  Value bitcast(Value x, Type element) {
    return x.type().scalar() == element ? x : tt::BitcastOp::create(b_, loc_, x.type().withScalar(element), x).result();
  }
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape) {
    return tt::ReshapeOp::create(b_, loc_, TensorType::get(shape, x.type().scalar()), x).result();
  }
  Value trans(Value x, llvm::ArrayRef<int64_t> order) {
    llvm::SmallVector<int64_t, 4> shape;
    for (int64_t d : order) shape.push_back(x.type().cast<TensorType>().dim(d));
    return tt::TransOp::create(b_, loc_, TensorType::get(shape, x.type().scalar()), x,
                               {b_.denseI32Attr("order", order)})
        .result();
  }
  Value toFloat(Value x, Type element) {
    unsigned from = x.type().scalar().bitWidth(), to = element.bitWidth();
    if (x.type().scalar() == element) return x;
    Type t = x.type().withScalar(element);
    if (from < 16) return tt::FpToFpOp::create(b_, loc_, t, x).result();
    if (from < to) return arith::ExtfOp::create(b_, loc_, t, x)->result();
    if (from > to) return arith::TruncfOp::create(b_, loc_, t, x)->result();
    return toFloat(toFloat(x, b_.context().f32()), element); // between f16 and bf16
  }

  /// An operand's elements times its scales. `packed`: which of the last two dimensions (0 or 1) the two e2m1 of a byte
  /// lie along.
  Value operand(Value v, ScaleDotElemType kind, unsigned packed, Value scale, bool isRight) {
    if (kind != ScaleDotElemType::E2m1) return scaled(numbers(v, kind), scale, isRight);
    Type element = scale && !multipliesBf16_ ? b_.context().f32() : compute_;
    auto half = [&](bool high) {
      return tt::E2m1ToFpOp::create(b_, loc_, v.type().withScalar(element), v, {b_.boolAttr("high", high)}).result();
    };
    Value low = half(false);
    Value x = interleaved(low, half(true), v.type().cast<TensorType>().rank() - 2 + packed);
    return scaled(x, scale, isRight, /*isWideE2m1=*/!multipliesBf16_);
  }

  /// The elements of an operand, which are no e2m1, in the type that is computed in.
  Value numbers(Value v, ScaleDotElemType kind) {
    auto &c = b_.context();
    switch (kind) {
    case ScaleDotElemType::E4m3: return toFloat(bitcast(v, FloatType::get(c, FloatKind::F8E4M3FN)), compute_);
    case ScaleDotElemType::E5m2: return toFloat(bitcast(v, FloatType::get(c, FloatKind::F8E5M2)), compute_);
    case ScaleDotElemType::Bf16: return toFloat(bitcast(v, c.bf16()), compute_);
    case ScaleDotElemType::Fp16: return toFloat(bitcast(v, c.f16()), compute_);
    case ScaleDotElemType::E2m1:
    case ScaleDotElemType::E2m3:
    case ScaleDotElemType::E3m2: break;
    }
    llvm_unreachable("checked before");
  }

  /// Bytes of two e2m1 along the other one of the last two dimensions as bytes of two along `k` (0 or 1 of these):
  /// the low and the high halves of two bytes that follow each other along K.
  Value packedAlongK(Value bytes, unsigned k) {
    auto shape = bytes.type().cast<TensorType>().shape().vec();
    unsigned rank = shape.size(), dimK = rank - 2 + k, dimOther = rank - 1 - k;
    // […, K, …] → […, K / 2, …, 2], the last dimension being that of neighbours along K
    auto pairs = shape;
    pairs[dimK] /= 2;
    auto halves = pairs;
    pairs.insert(pairs.begin() + dimK + 1, 2);
    Value v = reshape(bytes, pairs);
    llvm::SmallVector<int64_t, 4> order;
    for (unsigned d = 0; d <= rank; ++d)
      if (d != dimK + 1) order.push_back(d);
    order.push_back(dimK + 1);
    if (k == 0) v = trans(v, order);
    Type half = TensorType::get(halves, bytes.type().scalar());
    auto split = tt::SplitOp::create(b_, loc_, {half, half}, v);
    Value first = split->result(0), second = split->result(1);
    auto highOf = [&](Value x) { return arith::ShruiOp::create(b_, loc_, x, like(x, 4)).result(); };
    Value low = arith::OriOp::create(b_, loc_, andi(first, 15), shl(second, 4)).result();
    Value high = arith::OriOp::create(b_, loc_, highOf(first), andi(second, 0xf0)).result();
    return interleaved(low, high, dimOther);
  }

  /// Elements of two tensors in turn along a dimension.
  Value interleaved(Value even, Value odd, unsigned dim) {
    auto shape = even.type().cast<TensorType>().shape().vec();
    unsigned rank = shape.size();
    auto pairs = shape;
    pairs.push_back(2);
    Value v = tt::JoinOp::create(b_, loc_, TensorType::get(pairs, even.type().scalar()), even, odd).result();
    if (dim != rank - 1) { // the pair goes to the dimension's right
      llvm::SmallVector<int64_t, 4> order;
      for (unsigned d = 0; d < rank - 1; ++d) order.push_back(d);
      order.push_back(rank), order.push_back(rank - 1);
      v = trans(v, order);
    }
    shape[dim] *= 2;
    return reshape(v, shape);
  }

  /// e8m0: 2^(s - 127), exactly, and not a number for 255. In bf16, or in f32 where f16 is computed in: it has not
  /// the range.
  Value powers(Value scale) {
    bool wide = compute_ == b_.context().f16();
    return powersOfE8m0(b_, loc_, scale, wide ? b_.context().f32() : compute_);
  }

  /// `x` times its scales [outer, K / group], each repeated along its group; the B operand is [K, outer].
  Value scaled(Value x, Value scale, bool isRight, bool isWideE2m1 = false) {
    if (!scale) return x;
    auto type = x.type().cast<TensorType>();
    unsigned rank = type.rank();
    Value s = scale.type().scalar().isInteger() ? powers(scale) : toFloat(scale, compute_);
    auto shape = scale.type().cast<TensorType>().shape().vec();
    int64_t k = type.dim(isRight ? rank - 2 : rank - 1), groups = shape.back();
    shape.push_back(1);
    s = tt::ExpandDimsOp::create(b_, loc_, TensorType::get(shape, s.type().scalar()), s, {b_.i32Attr("axis", rank)})
            .result();
    shape.back() = k / groups;
    s = tt::BroadcastOp::create(b_, loc_, TensorType::get(shape, s.type().scalar()), s).result();
    shape.pop_back();
    shape.back() = k;
    s = reshape(s, shape);
    if (isRight) {
      llvm::SmallVector<int64_t, 4> order;
      for (unsigned d = 0; d + 2 < rank; ++d) order.push_back(d);
      order.push_back(rank - 1), order.push_back(rank - 2);
      s = trans(s, order);
    }
    bool isExact = isWideE2m1 && scale.type().scalar().bitWidth() == 8 && compute_ == b_.context().bf16();
    Type wide = isWideE2m1 ? b_.context().f32() : s.type().scalar();
    Value scaled = arith::MulfOp::create(b_, loc_, toFloat(x, wide), toFloat(s, wide)).result();
    return isExact ? upperHalf(scaled) : toFloat(scaled, compute_);
  }

  /// f32 that are bf16: numbers of two significant bits times such of four and less, down to half of 2^-127; of NaNs a
  /// scale's.
  Value upperHalf(Value x) {
    Value bits = bitcast(x, b_.context().i32());
    bits = arith::ShruiOp::create(b_, loc_, bits, like(bits, 16)).result();
    Value half = arith::TrunciOp::create(b_, loc_, bits.type().withScalar(b_.context().i16()), bits)->result();
    return bitcast(half, b_.context().bf16());
  }

  tt::DotScaledOp op_;
  Builder b_;
  Location loc_;
  Type compute_;
  bool multipliesBf16_; // or else f32 are multiplied
};

bool sixBits(ScaleDotElemType t) { return t == ScaleDotElemType::E2m3 || t == ScaleDotElemType::E3m2; }

/// Whether it was rewritten.
bool rewrite(tt::DotScaledOp dot, const TargetInfo *target) {
  if (sixBits(dot.aElemType()) || sixBits(dot.bElemType()) || dot.c().type().cast<TensorType>().encoding())
    return false;
  if (target && hasMatrixInstruction(dot, *target)) return ScaledDot(dot, target).packAlongK();
  dot.d().replaceAllUsesWith(ScaledDot(dot, target).build());
  dot->erase();
  return true;
}

} // namespace

absl::StatusOr<bool> decomposeScaledDot(Module &m, PassContext &c) {
  bool changed = false;
  for (auto dot : collect<tt::DotScaledOp>(m.op())) changed |= rewrite(dot, c.target);
  return changed;
}

} // namespace tessera::transforms
