// Pass drop-unit-dimensions: kernels for dots in batches load blocks with a leading dimension of one element and drop
// it for the dot (Helion writes them so). Loads and loop-carried accumulators get the shape that the dot has, so that
// copies reach it without a way through registers:
//
//   %p : tensor<1x128x64x!tt.ptr<f16>>                        %p' : tensor<128x64x!tt.ptr<f16>>, the same addresses
//   %x = tt.load %p                                      →    %a = tt.load %p'
//   %a = tt.reshape %x : … -> tensor<128x64xf16>
//
//   scf.for … iter_args(%s = %init : tensor<1x8x16xf32>)      scf.for … iter_args(%c = %init' : tensor<8x16xf32>)
//     %c = tt.reshape %s : … -> tensor<8x16xf32>         →      %d = tt.dot %a, %b, %c
//     %d = tt.dot %a, %b, %c                                    scf.yield %d
//     %t = tt.reshape %d : … -> tensor<1x8x16xf32>
//     scf.yield %t
//
// Limits: addresses, masks and other values of splats, ranges, constants and elementwise operations; loads with one
// use; accumulators that the loop uses in one other shape alone.
//
// Runs: TTIR.
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/passes.h"
#include "llvm/ADT/bit.h"
#include <map>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Which dimensions of a tensor, all of one element, are dropped: a bit for each.
struct Dropped {
  uint32_t bits = 0;

  bool any() const { return bits; }
  bool contains(unsigned d) const { return bits >> d & 1; }
  unsigned countBelow(unsigned d) const { return unsigned(llvm::popcount(bits & ((1u << d) - 1))); }
  /// The same in a tensor that does not have this dimension.
  Dropped withoutAxis(unsigned d) const {
    uint32_t below = (1u << d) - 1;
    return {(bits & below) | (bits >> 1 & ~below)};
  }
  TensorType typeOf(TensorType whole) const {
    llvm::SmallVector<int64_t, 4> shape;
    for (unsigned d = 0; d < whole.shape().size(); ++d)
      if (!contains(d)) shape.push_back(whole.dim(d));
    return whole.withShape(shape);
  }
};

/// The dimensions that the reshape drops; none if it does something else.
Dropped droppedBy(tt::ReshapeOp r) {
  auto from = tensorOf(r.src()).shape(), to = tensorOf(r.result()).shape();
  constexpr size_t kMostDimensions = 31;
  if (r.allowReorder() || from.size() <= to.size() || from.size() > kMostDimensions) return {};
  Dropped dropped;
  size_t kept = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    if (kept < to.size() && from[d] == to[kept])
      ++kept;
    else if (from[d] == 1)
      dropped.bits |= 1u << d;
    else
      return {};
  }
  return kept == to.size() && kept ? dropped : Dropped();
}

/// Makes values without some of their dimensions of one element, from what they are computed of.
class SmallerValues {
public:
  /// Whether that takes no reshape.
  bool exist(Value v, Dropped dropped, int depth = 0) const {
    constexpr int kDeepest = 32;
    Operation *op = v.definingOp();
    if (!dropped.any()) return true;
    if (!op || depth > kDeepest) return false;
    if (auto e = op->dyn<tt::ExpandDimsOp>()) return exist(e.src(), dropped.withoutAxis(e.axis()), depth + 1);
    if (auto b = op->dyn<tt::BroadcastOp>()) return exist(b.src(), dropped, depth + 1);
    if (op->is<tt::SplatOp>()) return true;
    if (op->is<arith::ConstantOp>()) return splatBits(op->attr("value")) != nullptr;
    return isComputedByElement(op) &&
           llvm::all_of(op->operands(), [&](Value o) { return !o.type().isTensor() || exist(o, dropped, depth + 1); });
  }

  /// @pre exist(v, dropped)
  Value of(Value v, Dropped dropped) {
    if (!dropped.any()) return v;
    std::pair key(v.impl(), dropped.bits);
    if (auto known = made_.find(key); known != made_.end()) return known->second;
    Value made = create(v, dropped);
    made_[key] = made;
    return made;
  }

private:
  static bool isComputedByElement(Operation *op) {
    if (op->numResults() != 1 || op->numRegions() || !isPure(op)) return false;
    return isElementwise(op) || op->is<arith::SelectOp>();
  }

  Value create(Value v, Dropped dropped) {
    Operation *op = v.definingOp();
    Builder b(op);
    TensorType type = dropped.typeOf(tensorOf(v));
    if (op->is<arith::ConstantOp>())
      return b.constant(op->loc(), type, DenseElementsAttr::get(type, {*splatBits(op->attr("value"))}));
    if (auto e = op->dyn<tt::ExpandDimsOp>()) {
      Value src = of(e.src(), dropped.withoutAxis(e.axis()));
      if (dropped.contains(e.axis())) return src;
      int64_t axis = e.axis() - dropped.countBelow(e.axis());
      return tt::ExpandDimsOp::create(b, op->loc(), type, src, {b.i32Attr("axis", axis)}).result();
    }
    OperationState s(op->opcode(), op->loc());
    for (Value o : op->operands()) s.operands.push_back(o.type().isTensor() ? of(o, dropped) : o);
    s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
    s.attrs.assign(op->attrs().begin(), op->attrs().end());
    s.resultTypes.push_back(type);
    return b.create(s)->result();
  }

  std::map<std::pair<ValueImpl *, uint32_t>, Value> made_;
};

bool reshapeLoad(tt::ReshapeOp reshape, SmallerValues &smaller) {
  auto load = reshape.src().definedBy<tt::LoadOp>();
  Dropped dropped = droppedBy(reshape);
  if (!dropped.any() || !load || !load.ptr().type().isTensor() || !load.result().hasOneUse()) return false;
  auto isPossible = [&](Value v) { return !v || smaller.exist(v, dropped); };
  if (!isPossible(load.ptr()) || !isPossible(load.mask()) || !isPossible(load.other())) return false;
  auto make = [&](Value v) { return v ? smaller.of(v, dropped) : Value(); };
  Value ptr = make(load.ptr()), mask = make(load.mask()), other = make(load.other());
  Builder b(load.op);
  Value loaded = tt::LoadOp::create(b, load.loc(), reshape.result().type(), ptr, mask, other, load->attrs()).result();
  reshape.result().replaceAllUsesWith(loaded);
  reshape->erase();
  load->erase();
  return true;
}

/// The one shape, without dimensions of one element, in which the loop uses the loop-carried value; null if there is
/// none, or if it is another one at the end.
TensorType smallerShape(const CarriedValue &c) {
  auto yielded = c.yielded.definedBy<tt::ReshapeOp>();
  if (!yielded || yielded.allowReorder() || c.argument.useEmpty()) return {};
  Type smaller = yielded.src().type();
  for (Operation *user : c.argument.users()) {
    auto reshape = user->dyn<tt::ReshapeOp>();
    if (!reshape || !droppedBy(reshape).any() || reshape.result().type() != smaller) return {};
  }
  return smaller.cast<TensorType>();
}

bool reshapeCarried(const CarriedValue &c) {
  TensorType type = smallerShape(c);
  if (!type) return false;
  Type oldType = c.argument.type();
  Location loc = c.loop->loc();
  Builder before(c.loop.op);
  auto *bits = constantBits(c.init);
  c.setInit(bits ? before.constant(loc, type, DenseElementsAttr::get(type, {*bits}))
                 : tt::ReshapeOp::create(before, loc, type, c.init).result());
  c.argument.setType(type);
  llvm::SmallVector<Operation *, 2> reshapes;
  for (Operation *user : c.argument.users()) reshapes.push_back(user);
  for (Operation *r : reshapes) {
    r->result().replaceAllUsesWith(c.argument);
    r->erase();
  }
  c.setYielded(c.yielded.definingOp()->cast<tt::ReshapeOp>().src());
  c.result.setType(type);
  Builder after(c.loop.op);
  after.setInsertionPointAfter(c.loop.op);
  Value old = tt::ReshapeOp::create(after, loc, oldType, c.result).result();
  c.result.replaceUsesIf(old, [&](OpOperand &use) { return use.owner != old.definingOp(); });
  return true;
}

} // namespace

absl::StatusOr<bool> dropUnitDimensions(Module &m, PassContext &) {
  bool changed = false;
  SmallerValues smaller;
  for (auto reshape : collect<tt::ReshapeOp>(m.op())) changed |= reshapeLoad(reshape, smaller);
  for (auto loop : collect<scf::ForOp>(m.op()))
    for (unsigned i = 0; i < numCarried(loop); ++i) changed |= reshapeCarried(carried(loop, i));
  return changed;
}

} // namespace tessera::transforms
