// Layouts for the states of recurrences (see state_layouts.h).
#include "transforms/layout/state_layouts.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "layouts/blocked.h"
#include "layouts/slice.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;
using layouts::BlockedEncoding;
using layouts::Encoding;

static constexpr unsigned kRank = 2;

/// The blocked layout of two dimensions that the tensor has or is a slice of; null if there is none.
static const BlockedEncoding *layoutOfState(Value v) {
  auto type = tensorOrNull(v);
  if (!type || !type.encoding()) return nullptr;
  const Encoding *e = type.encoding();
  if (auto *slice = layouts::dynCast<layouts::SliceEncoding>(e)) e = slice->parent();
  auto *blocked = layouts::dynCast<BlockedEncoding>(e);
  return blocked && blocked->order().size() == kRank ? blocked : nullptr;
}

/// Whether the operation's tensors may have any layout, if they have it together.
static bool takesAnyLayout(const Operation *op) {
  return isElementwise(op) || makesAnyLayout(op) || op->is<arith::SelectOp>() || op->is<tt::BroadcastOp>() ||
         op->is<tt::ExpandDimsOp>() || op->is<tt::ReduceOp>() || op->is<ttg::ConvertLayoutOp>() ||
         op->is<scf::ForOp>() || op->is<scf::IfOp>() || op->is<scf::YieldOp>();
}

/// The layouts that other operations, such as accesses to memory, decide.
static llvm::SmallPtrSet<const Encoding *, 8> decidedLayouts(Module &m) {
  llvm::SmallPtrSet<const Encoding *, 8> decided;
  m.op()->walk([&](Operation *op) {
    if (takesAnyLayout(op)) return;
    auto add = [&](Value v) {
      if (auto *e = layoutOfState(v)) decided.insert(e);
    };
    for (Value v : op->operands()) add(v);
    for (Value v : op->results()) add(v);
    for (unsigned r = 0; r < op->numRegions(); ++r) // a function's arguments, also those of its blocks
      for (Block *block : op->region(r).blocks())
        for (Value v : block->args()) add(v);
  });
  return decided;
}

static bool hasDot(scf::ForOp loop) {
  bool any = false;
  loop->walk([&](Operation *op) { any |= isDot(op); });
  return any;
}

namespace {
struct State {
  TensorType type;
  int axis; // that is reduced
};
} // namespace

/// The states that a loop carries, with each axis that is reduced.
static llvm::SmallVector<State, 2> statesOf(scf::ForOp loop) {
  llvm::SmallVector<State, 2> states;
  for (unsigned i = 0; i < numCarried(loop); ++i) {
    CarriedValue c = carried(loop, i);
    auto type = tensorOrNull(c.argument);
    if (!type || type.rank() != kRank || !layoutOfState(c.argument)) continue;
    auto convert = c.init.definedBy<ttg::ConvertLayoutOp>();
    Operation *first = (convert ? convert.src() : c.init).definingOp();
    if (!first || !makesAnyLayout(first)) continue;
    loop->walk([&](Operation *op) {
      auto reduce = op->dyn<tt::ReduceOp>();
      if (!reduce || tensorOf(reduce.srcs()[0]).withElement(type.element()) != type) return;
      State state{type, int(reduce.axis())};
      bool isKnown = llvm::any_of(states, [&](State s) { return s.type == state.type && s.axis == state.axis; });
      if (!isKnown) states.push_back(state);
    });
  }
  return states;
}

/// Warps and lanes beside each other along the other axis, but for `lanes` of a warp along the reduced one; null if
/// threads would have copies of each other's elements.
static const Encoding *layoutFor(Module &m, const State &state, int64_t lanes) {
  constexpr int64_t kNeighbours = kGlobalAccessBytes / 2; // of a vector of f16, loaded at once
  const int64_t warps = numWarps(m.op());
  const unsigned along = state.axis, across = 1 - along;
  auto shape = state.type.shape();
  const int64_t lanesAcross = threadsPerWarp(m.op()) / lanes;
  if (lanes > shape[along] || lanesAcross > shape[across]) return nullptr;
  const int64_t warpsAcross = std::min(warps, shape[across] / lanesAcross);
  const int64_t warpsAlong = warps / warpsAcross;
  if (lanes * warpsAlong > shape[along]) return nullptr;
  auto *now = layouts::dynCast<BlockedEncoding>(state.type.encoding());
  layouts::BlockedParams p = now->params();
  p.sizePerThread[along] = std::min(kNeighbours, shape[along] / (lanes * warpsAlong));
  p.sizePerThread[across] = 1;
  p.threadsPerWarp[along] = lanes;
  p.threadsPerWarp[across] = lanesAcross;
  p.warpsPerCta[along] = warpsAlong;
  p.warpsPerCta[across] = warpsAcross;
  p.order[0] = along;
  p.order[1] = across;
  auto e = m.context().encodings().getBlocked(std::move(p));
  return e.ok() ? *e : nullptr;
}

std::vector<const Encoding *> otherStateLayouts(Module &m) {
  llvm::SetVector<const Encoding *> found;
  auto decided = decidedLayouts(m);
  for (auto loop : collect<scf::ForOp>(m.op())) {
    if (hasDot(loop)) continue;
    for (const State &state : statesOf(loop)) {
      if (decided.contains(state.type.encoding())) continue;
      for (int64_t lanes = 1; lanes <= threadsPerWarp(m.op()); lanes *= 2)
        if (auto *e = layoutFor(m, state, lanes)) found.insert(e);
    }
  }
  return {found.begin(), found.end()};
}

// ---- giving a layout ------------------------------------------------------------------------------------------------

namespace {
/// What is computed from a vector, element by element, up to the tensors of which it becomes a part.
struct VectorUses {
  std::optional<int> addedDimension; // that it gets beside its own there; none if there are two, or none
  llvm::SmallSetVector<Operation *, 8> operations;
};
} // namespace

static VectorUses usesOfVector(Value vector) {
  constexpr unsigned kMost = 64; // operations
  VectorUses uses;
  llvm::SmallSetVector<Value, 8> values;
  values.insert(vector);
  for (unsigned i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].users()) {
      if (auto expand = user->dyn<tt::ExpandDimsOp>()) {
        if (uses.addedDimension && *uses.addedDimension != expand.axis()) return {};
        uses.addedDimension = expand.axis();
        continue;
      }
      bool isPart = isElementwise(user) && isPure(user);
      if (isPart || user->is<tt::ReduceOp>()) uses.operations.insert(user);
      if (isPart || user->is<ttg::ConvertLayoutOp>()) values.insert(user->result());
      if (uses.operations.size() > kMost) return {};
    }
  return uses;
}

/// A loop carries a value in another layout, and converts it for its users.
static void carryIn(const CarriedValue &c, const Encoding *e) {
  Builder before(c.loop.op), atEnd(c.loop.body().front()->terminator());
  c.setInit(inLayout(before, c.init.loc(), c.init, e));
  c.setYielded(inLayout(atEnd, c.yielded.loc(), c.yielded, e));
  changeLayout(c.argument, e);
  changeLayout(c.result, e);
}

void giveStateLayout(Module &m, const Encoding *to) {
  auto decided = decidedLayouts(m);
  auto give = [&](Value v) {
    auto *e = layoutOfState(v);
    if (!e || decided.contains(e)) return;
    auto *slice = layouts::dynCast<layouts::SliceEncoding>(encodingOf(v));
    v.setType(tensorOf(v).withEncoding(slice ? *m.context().encodings().getSlice(slice->dim(), to) : to));
  };
  m.op()->walk([&](Operation *op) {
    for (Value v : op->results()) give(v);
    if (auto elements = op->attr<DenseElementsAttr>("value"); elements && op->is<arith::ConstantOp>())
      op->setAttr("value", elements.withType(tensorOf(op->result())));
    for (unsigned r = 0; r < op->numRegions(); ++r)
      for (Block *block : op->region(r).blocks())
        for (Value v : block->args()) give(v);
  });
  const GlobalAccesses memory(m);
  const int64_t threads = numWarps(m.op()) * threadsPerWarp(m.op());
  for (auto load : collect<tt::LoadOp>(m.op())) {
    auto type = tensorOrNull(load.result());
    if (!type || type.rank() != 1 || !isInLoop(load.op) || !isNarrowLoad(load.op, threads, memory)) continue;
    VectorUses uses = usesOfVector(load.result());
    if (!uses.addedDimension) continue;
    auto *slice = *m.context().encodings().getSlice(*uses.addedDimension, to);
    if (auto pointers = carriedByArgument(load.ptr())) carryIn(*pointers, slice);
    computeInLayout(load.op, slice);
    for (Operation *op : uses.operations) computeInLayout(op, slice);
  }
}

} // namespace tessera::transforms
