// Local strides by definitions (see local_stride.h), a bounded number of steps up.
#include "transforms/analyses/local_stride.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

using Stride = std::optional<int64_t>;
using Strides = llvm::SmallVector<Stride, 4>;

/// The number that all elements are.
Stride splatOf(Value v) {
  auto c = v.definedBy<arith::ConstantOp>();
  if (!c) return {};
  Attribute a = c.value();
  if (auto d = a.dyn_cast<DenseElementsAttr>(); d && !d.isSplat()) return {};
  auto range = a.dyn_cast<DenseElementsAttr>() ? a.cast<DenseElementsAttr>().storage()->elements : a.storage()->bits;
  if (range.empty() || range[0].getSignificantBits() > 32) return {};
  return range[0].getSExtValue();
}

/// One number for all elements, known or not.
bool isUniform(Value v) {
  while (auto *op = v.definingOp())
    if (op->is<arith::ExtsiOp>() || op->is<arith::ExtuiOp>() || op->is<arith::TrunciOp>() ||
        op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() || op->is<ttg::ConvertLayoutOp>())
      v = op->operand(0);
    else
      return op->is<tt::SplatOp>();
  return false;
}

/// Nothing where one is not known, or the result is beyond 64 bits.
Stride sum(Stride a, Stride b) {
  int64_t r;
  return a && b && !llvm::AddOverflow(*a, *b, r) ? Stride(r) : Stride();
}
Stride product(Stride a, Stride b) {
  int64_t r;
  return a == 0 || b == 0 ? Stride(0) : a && b && !llvm::MulOverflow(*a, *b, r) ? Stride(r) : Stride();
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
    if (!op) { // what a loop carries lies as what it starts with
      auto loop = v.isBlockArgument() ? v.ownerBlock()->parentOp()->dyn<scf::ForOp>() : scf::ForOp();
      return loop && v.index() > 0 ? of(loop.initArgs()[v.index() - 1], depth) : unknown;
    }
    auto in = [&](unsigned i) { return of(op->operand(i), depth); };
    auto scaled = [&](Strides s, Stride by) {
      for (auto &x : s) x = product(x, by);
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
      for (auto [x, y] : llvm::zip(a, b)) x = sum(x, op->is<arith::SubiOp>() ? product(y, -1) : y);
      return a;
    }
    case Opcode::arith_muli:
      if (auto c = splatOf(op->operand(1))) return scaled(in(0), c);
      if (auto c = splatOf(op->operand(0))) return scaled(in(1), c);
      return op->operand(0).definedBy<tt::SplatOp>()   ? scaled(in(1), {})
             : op->operand(1).definedBy<tt::SplatOp>() ? scaled(in(0), {})
                                                       : unknown;
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
