// Accumulators that a loop carries as its dots have them (see carried_accumulators.h), a part of tritongpu-pipeline.
// A transposed dot (fewer than 64 rows, operands that wgmma cannot read) has an accumulator whose registers a loop
// carries by another name: transposed, in the layout that this is. Dots stay in flight across iterations only where the
// loop carries their results themselves.
//
//   scf.for … iter_args(%acc = %acc0) {                   %c0 = tt.trans %acc0
//     %c = tt.trans %acc                                  %r = scf.for … iter_args(%c = %c0) {
//     %d = ttng.warp_group_dot %a, %b, %c         →         %d = ttng.warp_group_dot %a, %b, %c
//     %next = tt.trans %d                                   scf.yield %d
//     scf.yield %next                                     }
//   }                                                     tt.trans %r
//
// Conversions between equal layouts stand beside the transpositions. Both are no instructions. Only dots that read both
// operands from shared memory: one whose A operand threads have read is waited for before they read the next one.
#include "transforms/schedule/carried_accumulators.h"
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"

namespace tessera::transforms {
using namespace ir;

namespace {

using Renamings = llvm::SmallVector<Operation *, 4>; // each on the result of the one before

/// The renamings between the loop-carried value and the dot that accumulates on it, which are its only uses.
Renamings renamingsToDot(const CarriedValue &c) {
  Renamings found;
  const Block *body = c.argument.ownerBlock();
  Value v = c.argument;
  while (v.hasOneUse()) {
    Operation *user = v.users().front();
    if (user->block() != body) return {};
    if (auto dot = user->dyn<ttng::WarpGroupDotOp>()) {
      bool readsBuffers = dot.a().type().isa<MemDescType>();
      return readsBuffers && dot.c() == v ? found : Renamings();
    }
    if (!renamesRegisters(*user)) return {};
    found.push_back(user);
    v = user->result();
  }
  return {};
}

/// The renamings at the end of what the loop yields.
Renamings renamingsOfYielded(const CarriedValue &c) {
  Renamings found;
  for (Operation *op = c.yielded.definingOp(); op && op->block() == c.argument.ownerBlock() && renamesRegisters(*op);
       op = op->operand(0).definingOp())
    found.insert(found.begin(), op);
  return found;
}

/// Whether a tensor is the same after both.
bool areInverse(llvm::ArrayRef<Operation *> first, llvm::ArrayRef<Operation *> second, size_t rank) {
  llvm::SmallVector<int64_t, 4> from; // of each dimension, the one of the first tensor
  for (size_t d = 0; d < rank; ++d) from.push_back(int64_t(d));
  for (Operation *op : llvm::concat<Operation *const>(first, second)) {
    auto trans = op->dyn<tt::TransOp>();
    if (!trans) continue;
    llvm::SmallVector<int64_t, 4> next;
    for (auto d : trans.order()) next.push_back(from[size_t(d)]);
    from = next;
  }
  return llvm::is_sorted(from);
}

Value copyOf(Builder &b, const Renamings &renamings, Value v) {
  ValueMap map;
  map.map(renamings.front()->operand(0), v);
  for (Operation *op : renamings) b.clone(op, map);
  return map.lookupOrSelf(renamings.back()->result());
}

bool carryAsDotDoes(const CarriedValue &c) {
  if (!c.argument.type().isTensor()) return false;
  Renamings before = renamingsToDot(c), after = renamingsOfYielded(c);
  if (before.empty() || after.empty()) return false;
  Value accumulator = before.back()->result(), next = after.front()->operand(0);
  size_t rank = tensorOf(c.argument).shape().size();
  if (accumulator.type() != next.type() || !areInverse(before, after, rank)) return false;
  Type type = accumulator.type();
  Builder above(c.loop.op);
  auto *bits = constantBits(c.init);
  c.setInit(bits ? above.constant(c.loop->loc(), type, DenseElementsAttr::get(type.cast<TensorType>(), {*bits}))
                 : copyOf(above, before, c.init));
  c.argument.setType(type);
  accumulator.replaceAllUsesWith(c.argument);
  for (Operation *op : llvm::reverse(before)) op->erase();
  c.setYielded(next);
  c.result.setType(type);
  Builder below(c.loop.op);
  below.setInsertionPointAfter(c.loop.op);
  Operation *last = c.loop.op;
  Value result = copyOf(below, after, c.result);
  llvm::SmallVector<Operation *, 4> copies;
  for (Operation *op = last->next(); copies.size() < after.size(); op = op->next()) copies.push_back(op);
  c.result.replaceUsesIf(result, [&](OpOperand &use) { return !llvm::is_contained(copies, use.owner); });
  for (Operation *op : llvm::reverse(after))
    if (op->result().useEmpty()) op->erase();
  return true;
}

} // namespace

bool carryAccumulatorsOfDots(scf::ForOp loop) {
  bool changed = false;
  for (unsigned i = 0; i < loop->numResults(); ++i) changed |= carryAsDotDoes(carried(loop, i));
  return changed;
}

} // namespace tessera::transforms
