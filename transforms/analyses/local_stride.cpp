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
    v = op->operand(0);
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
    auto in = [&](unsigned i) { return of(op->operand(i), depth); };
    auto allScaled = [&](Strides s, Stride by) {
      for (auto &x : s) x = scaled(x, by);
      return s;
    };
    switch (op->opcode()) {
    case Opcode::arith_constant: return splatOf(v) ? none : unknown;
    case Opcode::tt_splat: return none;
    case Opcode::tt_make_range: return {1};
    case Opcode::tt_expand_dims: {
      Strides s = in(0);
      s.insert(s.begin() + op->cast<tt::ExpandDimsOp>().axis(), 0);
      return s;
    }
    case Opcode::tt_trans: {
      Strides from = in(0), s;
      for (int d : op->cast<tt::TransOp>().order()) s.push_back(from[d]);
      return s;
    }
    case Opcode::tt_broadcast:
    case Opcode::ttg_convert_layout:
    case Opcode::tt_bitcast:
    case Opcode::arith_extsi:
    case Opcode::arith_extui:
    case Opcode::arith_trunci: return in(0);
    case Opcode::arith_addi:
    case Opcode::arith_subi:
    case Opcode::tt_addptr: {
      Strides a = in(0), b = in(1);
      for (auto [x, y] : llvm::zip(a, b)) x = sum(x, op->is<arith::SubiOp>() ? scaled(y, -1) : y);
      return a;
    }
    case Opcode::arith_muli:
      if (auto c = splatOf(op->operand(1))) return allScaled(in(0), c);
      if (auto c = splatOf(op->operand(0))) return allScaled(in(1), c);
      // By a number that is not known: strides of zero stay.
      if (op->operand(0).definedBy<tt::SplatOp>()) return allScaled(in(1), {});
      return op->operand(1).definedBy<tt::SplatOp>() ? allScaled(in(0), {}) : unknown;
    // A divisor that is not known is taken for larger than the strides.
    case Opcode::arith_divsi:
    case Opcode::arith_divui: {
      auto c = splatOf(op->operand(1));
      Strides s = in(0);
      if (!c && !isUniform(op->operand(1))) return unknown;
      for (auto &x : s)
        if (x) x = !c ? 0 : *c > 0 ? Stride(*x / *c) : Stride();
      return s;
    }
    case Opcode::arith_remsi:
    case Opcode::arith_remui: {
      auto c = splatOf(op->operand(1));
      Strides s = in(0);
      if (!c && isUniform(op->operand(1))) return s;
      for (auto &x : s)
        if (!c || !x || *x >= *c || *x <= -*c) x = x == 0 ? Stride(0) : Stride();
      return s;
    }
    case Opcode::arith_minsi:
    case Opcode::arith_maxsi: return splatOf(op->operand(1)) ? in(0) : splatOf(op->operand(0)) ? in(1) : unknown;
    case Opcode::arith_select: { // an index that is wrapped or clamped
      Strides a = in(1), b = in(2);
      return a == b || splatOf(op->operand(2)) ? a : splatOf(op->operand(1)) ? b : unknown;
    }
    default: return unknown;
    }
  }

  llvm::DenseMap<Value, Strides> known_;
};

} // namespace

llvm::SmallVector<std::optional<int64_t>, 4> localStrides(Value v) { return Walk().of(v); }

} // namespace tessera::transforms
