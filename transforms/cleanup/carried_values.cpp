// Unused loop-carried values (see carried_values.h).
#include "transforms/cleanup/carried_values.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;

/// Erases dead operations of the block, except for its terminator.
static void sweep(Block &block) {
  for (bool again = true; again;) {
    again = false;
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : block) ops.push_back(&op);
    for (auto *op : llvm::reverse(ops))
      if (op != block.terminator() && isTriviallyDead(op)) {
        op->erase();
        again = true;
      }
  }
}

/// By index: whether a loop-carried value's result is used, or it is used by something in the body other than its own
/// update.
static llvm::SmallVector<bool, 16> neededCarriedValues(scf::ForOp loop) {
  Block &block = *loop.body().front();
  unsigned n = numCarried(loop);
  llvm::SmallVector<bool, 16> needed(n, false);
  llvm::DenseSet<Value> live;
  llvm::SmallVector<Value, 32> work;
  auto use = [&](Value v) {
    if (live.insert(v).second) work.push_back(v);
  };
  auto need = [&](unsigned i) {
    if (needed[i]) return;
    needed[i] = true;
    use(carried(loop, i).yielded);
  };
  for (unsigned i = 0; i < n; ++i)
    if (!carried(loop, i).result.useEmpty()) need(i);
  for (auto &op : block) {
    if (&op == block.terminator() || (isPure(&op) && !op.numRegions())) continue;
    op.walk([&](Operation *inner) {
      for (auto v : inner->operands()) use(v);
    });
  }
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (v.isBlockArgument()) {
      auto value = v.ownerBlock() == &block ? carriedByArgument(v) : std::nullopt;
      if (value) need(value->index);
      continue;
    }
    if (v.definingOp()->block() == &block)
      v.definingOp()->walk([&](Operation *inner) {
        for (auto o : inner->operands()) use(o);
      });
  }
  return needed;
}

void dropUnneededCarriedValues(scf::ForOp loop) {
  Block &block = *loop.body().front();
  Operation *yield = block.terminator();
  sweep(block);
  auto needed = neededCarriedValues(loop);
  unsigned n = numCarried(loop);
  if (llvm::all_of(needed, [](bool x) { return x; })) return;
  llvm::SmallVector<Value, 16> inits, yields;
  llvm::SmallVector<Type, 16> types;
  for (unsigned i = 0; i < n; ++i)
    if (needed[i]) {
      CarriedValue value = carried(loop, i);
      inits.push_back(value.init);
      types.push_back(value.init.type());
      yields.push_back(value.yielded);
    }
  // What updates the others goes first, then they have no uses but the terminator's.
  Builder b(loop.op);
  Builder last(yield);
  scf::YieldOp::create(last, yield->loc(), yields);
  yield->erase();
  sweep(block);
  auto slim = scf::ForOp::create(b, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), inits,
                                 loop->attrs());
  slim.body().takeBody(loop.body());
  for (unsigned i = n; i-- > 0;)
    if (!needed[i]) eraseCarriedArgument(*slim.body().front(), i);
  for (unsigned i = 0, k = 0; i < n; ++i)
    if (needed[i]) loop->result(i).replaceAllUsesWith(slim->result(k++));
  loop->erase();
}

CarriedValue carryMore(scf::ForOp loop, Value init) {
  Block &body = *loop.body().front();
  Operation *yield = body.terminator();
  llvm::SmallVector<Value, 16> inits(loop.initArgs().begin(), loop.initArgs().end());
  llvm::SmallVector<Value, 16> yields(yield->operands().begin(), yield->operands().end());
  inits.push_back(init);
  yields.push_back(body.addArg(init.type(), init.loc()));
  llvm::SmallVector<Type, 16> types;
  for (Value v : inits) types.push_back(v.type());
  Builder end(yield), b(loop.op);
  scf::YieldOp::create(end, yield->loc(), yields);
  yield->erase();
  auto more = scf::ForOp::create(b, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), inits,
                                 loop->attrs());
  more.body().takeBody(loop.body());
  for (unsigned i = 0; i < loop->numResults(); ++i) loop->result(i).replaceAllUsesWith(more->result(i));
  loop->erase();
  return carried(more, inits.size() - 1);
}

} // namespace tessera::transforms
