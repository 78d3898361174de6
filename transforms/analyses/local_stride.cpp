// Local strides by definitions (see local_stride.h), a bounded number of steps up.
#include "transforms/analyses/local_stride.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

using Stride = std::optional<int64_t>;
using Strides = llvm::SmallVector<Stride, 4>;

/// The number that all elements are equal to. Larger ones are no strides.
Stride splatOf(Value v) {
  auto n = intConstantOf(v);
  return n && llvm::isInt<32>(*n) ? n : Stride();
}

/// Whether all elements are equal, to a number that need not be known.
bool isUniform(Value v) {
  while (auto *op = v.definingOp()) {
    bool keepsUniform = op->is<arith::ExtsiOp>() || op->is<arith::ExtuiOp>() || op->is<arith::TrunciOp>() ||
                        op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() || op->is<ttg::ConvertLayoutOp>();
    if (!keepsUniform) return op->is<tt::SplatOp>();
    v = UnaryOp(op).value();
  }
  return false;
}

/// Nothing where one is not known, or the result is beyond 64 bits.
Stride sum(Stride a, Stride b) {
  int64_t r;
  return a && b && !llvm::AddOverflow(*a, *b, r) ? Stride(r) : Stride();
}
Stride scaled(Stride a, Stride by) {
  if (a == 0 || by == 0) return 0;
  int64_t r;
  return a && by && !llvm::MulOverflow(*a, *by, r) ? Stride(r) : Stride();
}

/// a + sign · b, dimension by dimension.
Strides sums(Strides a, const Strides &b, int64_t sign) {
  for (auto [x, y] : llvm::zip(a, b)) x = sum(x, sign < 0 ? scaled(y, sign) : y);
  return a;
}

Strides allScaled(Strides s, Stride by) {
  for (auto &x : s) x = scaled(x, by);
  return s;
}

class Walk {
public:
  Strides of(Value v, int depth = 24) {
    auto type = v.type().dyn_cast<TensorType>();
    if (!type) return {};
    if (auto it = known_.find(v); it != known_.end()) return it->second;
    Strides s = depth > 0 ? compute(v, type, depth - 1) : Strides(type.rank());
    known_[v] = s;
    return s;
  }

private:
  Strides compute(Value v, TensorType type, int depth) {
    Strides unknown(type.rank()), none(type.rank(), 0);
    Operation *op = v.definingOp();
    if (!op) { // loops seldom change the strides of the values that they carry
      auto value = carriedByArgument(v);
      return value ? of(value->init, depth) : unknown;
    }
    auto in = [&](Value operand) { return of(operand, depth); };
    switch (op->opcode()) {
    case Opcode::arith_constant: return splatOf(v) ? none : unknown;
    case Opcode::tt_splat: return none;
    case Opcode::tt_make_range: return {1};
    case Opcode::tt_expand_dims: {
      auto expand = op->cast<tt::ExpandDimsOp>();
      Strides s = in(expand.src());
      s.insert(s.begin() + expand.axis(), 0);
      return s;
    }
    case Opcode::tt_trans: {
      auto transpose = op->cast<tt::TransOp>();
      Strides from = in(transpose.src()), s;
      for (int d : transpose.order()) s.push_back(from[d]);
      return s;
    }
    case Opcode::tt_broadcast:
    case Opcode::ttg_convert_layout:
    case Opcode::tt_bitcast:
    case Opcode::arith_extsi:
    case Opcode::arith_extui:
    case Opcode::arith_trunci: return in(UnaryOp(op).value());
    case Opcode::tt_addptr: {
      auto add = op->cast<tt::AddptrOp>();
      Strides a = in(add.ptr()), b = in(add.offset());
      return sums(a, b, 1);
    }
    case Opcode::arith_select: { // an index that is wrapped or clamped
      auto select = op->cast<arith::SelectOp>();
      Strides a = in(select.trueValue()), b = in(select.falseValue());
      return a == b || splatOf(select.falseValue()) ? a : splatOf(select.trueValue()) ? b : unknown;
    }
    default: return op->is<BinaryOp>() ? ofArithmetic(BinaryOp(op), type, depth) : unknown;
    }
  }

  /// Of integers; nothing of other operations.
  Strides ofArithmetic(BinaryOp op, TensorType type, int depth) {
    Strides unknown(type.rank());
    Value lhs = op.lhs(), rhs = op.rhs();
    auto in = [&](Value operand) { return of(operand, depth); };
    switch (op->opcode()) {
    case Opcode::arith_addi:
    case Opcode::arith_subi: {
      Strides a = in(lhs), b = in(rhs);
      return sums(a, b, op->is<arith::SubiOp>() ? -1 : 1);
    }
    case Opcode::arith_muli:
      if (auto c = splatOf(rhs)) return allScaled(in(lhs), c);
      if (auto c = splatOf(lhs)) return allScaled(in(rhs), c);
      // By a number that is not known: strides of zero stay.
      if (lhs.definedBy<tt::SplatOp>()) return allScaled(in(rhs), {});
      return rhs.definedBy<tt::SplatOp>() ? allScaled(in(lhs), {}) : unknown;
    // A divisor that is not known is taken for larger than the strides.
    case Opcode::arith_divsi:
    case Opcode::arith_divui: {
      auto c = splatOf(rhs);
      Strides s = in(lhs);
      if (!c && !isUniform(rhs)) return unknown;
      for (auto &x : s)
        if (x) x = !c ? 0 : *c > 0 ? Stride(*x / *c) : Stride();
      return s;
    }
    case Opcode::arith_remsi:
    case Opcode::arith_remui: {
      auto c = splatOf(rhs);
      Strides s = in(lhs);
      if (!c && isUniform(rhs)) return s;
      for (auto &x : s)
        if (!c || !x || *x >= *c || *x <= -*c) x = x == 0 ? Stride(0) : Stride();
      return s;
    }
    case Opcode::arith_minsi:
    case Opcode::arith_maxsi: return splatOf(rhs) ? in(lhs) : splatOf(lhs) ? in(rhs) : unknown;
    default: return unknown;
    }
  }

  llvm::DenseMap<Value, Strides> known_;
};

} // namespace

llvm::SmallVector<std::optional<int64_t>, 4> localStrides(Value v) { return Walk().of(v); }

} // namespace tessera::transforms
