// The partition of a producer warp in a ttg.warp_specialize (see producer_partition.h).
#include "transforms/schedule/producer_partition.h"
#include "ir/loops.h"
#include "transforms/memory/warp_groups.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {
using namespace ir;

OperationWithProducer createWithProducer(Builder &b, Location loc, llvm::ArrayRef<Type> results) {
  Context &c = b.context();
  auto op = ttg::WarpSpecializeOp::create(b, loc, results, {},
                                          {{"partitionNumWarps", DenseArrayAttr::getI32(c, {1})},
                                           {"requestedRegisters", DenseArrayAttr::getI32(c, {kRegistersOfProducer})}});
  Builder holder = Builder::atEnd(op.partitionOpHolder().addBlock());
  auto partitions = ttg::WarpSpecializePartitionsOp::create(holder, loc, {}, 1);
  op.defaultRegion().addBlock();
  return {op, partitions->region(0).addBlock()};
}

void captureOuterValues(const OperationWithProducer &s) {
  Block &entry = *s.partition;
  llvm::DenseMap<Value, Value> inside;
  llvm::SmallVector<Value, 16> captures;
  Builder atStart(entry.front());
  auto isInside = [&](Value v) {
    Block *at = v.isBlockArgument() ? v.ownerBlock() : v.definingOp()->block();
    while (at && at != &entry) {
      Operation *around = at->parentOp();
      at = around ? around->block() : nullptr;
    }
    return at == &entry;
  };
  for (auto &o : entry)
    o.walk([&](Operation *inner) {
      for (unsigned i = 0; i < inner->numOperands(); ++i) {
        Value v = inner->operand(i);
        if (isInside(v)) continue;
        auto [it, isNew] = inside.insert({v, Value()});
        if (isNew && v.definedBy<arith::ConstantOp>()) {
          it->second = atStart.clone(v.definingOp())->result();
        } else if (isNew) {
          it->second = entry.addArg(v.type(), v.loc());
          captures.push_back(v);
        }
        inner->setOperand(i, it->second);
      }
    });
  s.op->setOperands(captures);
}

scf::ForOp createLoopLike(scf::ForOp like, Builder &b, const ValueMap &map, llvm::ArrayRef<Value> inits) {
  Location loc = like->loc();
  llvm::SmallVector<Type, 8> types;
  for (Value v : inits) types.push_back(v.type());
  auto loop = scf::ForOp::create(b, loc, types, map.lookupOrSelf(like.lowerBound()),
                                 map.lookupOrSelf(like.upperBound()), map.lookupOrSelf(like.step()), inits);
  Block *body = loop.body().addBlock();
  body->addArg(inductionVariable(like).type(), loc);
  for (Type t : types) body->addArg(t, loc);
  return loop;
}

} // namespace tessera::transforms
