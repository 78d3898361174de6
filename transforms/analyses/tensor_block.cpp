// Loads as copies of blocks (see tensor_block.h).
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
  if (auto op = v.definedBy<OpT>())
    flatten<OpT>(op->operand(0), out), flatten<OpT>(op->operand(1), out);
  else
    out.push_back(v);
}

/// A vector along one of a matrix's two dimensions, repeated along the other.
struct Spread {
  Value vector;
  unsigned axis = 0;
};
std::optional<Spread> spread(Value v) {
  if (auto b = v.definedBy<tt::BroadcastOp>()) v = b.src();
  auto e = v.definedBy<tt::ExpandDimsOp>();
  if (!e || v.type().cast<TensorType>().rank() != 2) return {};
  return Spread{e.src(), e.axis() == 1 ? 0u : 1u};
}

/// 0, 1, 2, … as i64.
bool counts(Value v) {
  if (auto e = v.definedBy<arith::ExtsiOp>()) v = e->operand(0);
  auto range = v.definedBy<tt::MakeRangeOp>();
  return range && range.start() == 0;
}
Value splatSource(Value v) {
  auto s = v.definedBy<tt::SplatOp>();
  return s ? s.src() : Value();
}

/// The i32 whose extension the i64 is.
Value narrow(Value v) {
  auto e = v.definedBy<arith::ExtsiOp>();
  return e && e->operand(0).type().isInteger(32) ? e->operand(0) : Value();
}

} // namespace

std::optional<TensorBlock> tensorBlock(tt::LoadOp load, const AxisInfoAnalysis &axis) {
  if (!load.mask() || !load.mask().type().isTensor() || load.isVolatile() || (load.other() && !isZero(load.other())))
    return {};
  auto type = load.result().type().dyn_cast<TensorType>();
  if (!type || type.rank() != 2) return {};
  TensorBlock out;
  // Pointers.
  auto pointers = load.ptr().definedBy<tt::AddptrOp>();
  Value first = pointers ? splatSource(pointers.ptr()) : Value();
  if (!first) return {};
  llvm::SmallVector<Value, 4> parts, terms;
  flatten<arith::AddiOp>(pointers.offset(), parts);
  if (parts.size() != 2) return {};
  bool rows = false, columns = false;
  for (Value p : parts) {
    auto s = spread(p);
    if (!s) return {};
    if (s->axis == 1 && counts(s->vector)) columns = true;
    if (s->axis != 0) continue;
    auto mul = s->vector.definedBy<arith::MuliOp>();
    if (!mul) return {};
    for (unsigned k : {0u, 1u})
      if (Value stride = splatSource(mul->operand(k)); stride && counts(mul->operand(1 - k)))
        out.stride = stride, rows = true;
  }
  if (!rows || !columns || !out.stride.type().isInteger(64)) return {};
  std::array<Value, 2> start; // i64
  out.base = first;
  if (auto moved = first.definedBy<tt::AddptrOp>()) {
    out.base = moved.ptr();
    flatten<arith::AddiOp>(moved.offset(), terms);
    if (terms.size() > 2) return {};
    for (Value t : terms) {
      auto mul = t.definedBy<arith::MuliOp>();
      Value row = !mul                            ? Value()
                  : mul->operand(0) == out.stride ? mul->operand(1)
                  : mul->operand(1) == out.stride ? mul->operand(0)
                                                  : Value();
      Value &at = start[row ? 0 : 1];
      if (at) return {};
      at = row ? row : t;
    }
  }
  if (out.base.type().isTensor() || out.base.definedBy<tt::AddptrOp>()) return {};
  // The mask: bounds of each dimension.
  llvm::SmallVector<Value, 4> masks;
  flatten<arith::AndiOp>(load.mask(), masks);
  std::array<bool, 2> above{}, below{};
  for (Value m : masks) {
    auto s = spread(m);
    if (!s) return {};
    llvm::SmallVector<Value, 4> bounds;
    flatten<arith::AndiOp>(s->vector, bounds);
    for (Value b : bounds) {
      auto compare = b.definedBy<arith::CmpiOp>();
      Value bound = compare && counts(compare->operand(0)) ? splatSource(compare->operand(1)) : Value();
      if (!bound || !bound.type().isInteger(64)) return {};
      auto difference = bound.definedBy<arith::SubiOp>();
      Value begins = start[s->axis];
      if (begins && (!difference || difference->operand(1) != begins)) return {};
      Value from = begins ? difference->operand(0) : bound;
      if (compare.predicate() == CmpIPredicate::Sge) {
        if (!isZero(from)) return {};
        above[s->axis] = true;
      } else if (compare.predicate() == CmpIPredicate::Slt) {
        if (below[s->axis]) return {};
        out.size[s->axis] = narrow(from);
        if (!out.size[s->axis]) return {};
        below[s->axis] = true;
      } else
        return {};
    }
  }
  for (unsigned d : {0u, 1u}) {
    if (!below[d]) return {};
    if (!start[d]) continue;
    if (!above[d] && !axis.nonNegative(start[d])) return {};
    out.start[d] = narrow(start[d]);
    if (!out.start[d]) return {};
  }
  return out;
}

} // namespace tessera::transforms
