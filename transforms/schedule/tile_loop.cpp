// The loop over tiles around a pipelined loop (see tile_loop.h).
#include "transforms/schedule/tile_loop.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class TileLoopFinder {
public:
  TileLoopFinder(scf::ForOp inner, const PipelinePlan &plan, std::string &whyNot)
      : inner_(inner), plan_(plan), whyNot_(whyNot) {}

  TileLoop find() {
    auto loop = inner_->parentOp()->dyn<scf::ForOp>();
    if (!loop) return {};
    tiles_.loop = loop;
    body_ = loop.body().front();
    return isSuitable() && findAddresses() && findUpdates() && readsNothingStored() ? std::move(tiles_) : TileLoop{};
  }

private:
  bool refuse(const llvm::Twine &reason) {
    whyNot_ = reason.str();
    return false;
  }
  static std::string nameOf(const Operation *op) { return ("'" + op->name() + "' at " + describe(op->loc())).str(); }

  bool isSuitable() {
    if (tiles_.loop.unsignedCmp() || !tiles_.loop.body().hasOneBlock())
      return refuse("the loop around it has an unsigned counter or several blocks");
    for (auto &op : *body_) {
      if (&op == inner_.op || &op == body_->terminator()) continue;
      if (isLoopOrCall(&op) || isDot(&op)) return refuse("the loop around it contains " + nameOf(&op));
      if (!onlyStores(&op, stores_))
        return refuse("in the loop around it, " + nameOf(&op) + " writes memory or synchronizes");
    }
    return true;
  }
  bool readsNothingStored() {
    auto [store, load] = conflictBetween(stores_, loads_);
    return !store || refuse(nameOf(store) + " may write what " + nameOf(load) + " reads");
  }

  /// Whether it can be computed for a tile ahead: it does nothing else, and takes no shared memory.
  static bool canBeCloned(Operation *op) {
    bool needsSharedMemory = op->is<ttg::ConvertLayoutOp>() || op->is<tt::ReduceOp>() || op->is<tt::ScanOp>() ||
                             op->is<ttg::LocalAllocOp>() || op->is<tt::ReshapeOp>();
    return isPure(op) && !op->numRegions() && !isDot(op) && !needsSharedMemory;
  }
  /// Adds what the value is computed from in the body.
  bool add(Value v, BodySlice &slice) {
    Operation *refused = addToSlice(slice, *body_, v, Across::Nothing, canBeCloned);
    return !refused || refuse("an address of the next tile depends on " + nameOf(refused));
  }
  bool findAddresses() {
    llvm::SmallVector<Value, 32> needed = {inner_.lowerBound(), inner_.upperBound(), inner_.step()};
    for (unsigned i : plan_.producer.carried) needed.push_back(inner_.initArgs()[i]);
    auto addOperands = [&](Operation *op) {
      op->walk([&](Operation *nested) { needed.append(nested->operands().begin(), nested->operands().end()); });
    };
    for (auto *op : plan_.producer.operations) {
      addOperands(op);
      if (op->is<tt::LoadOp>()) loads_.push_back(op);
    }
    for (auto &load : plan_.loads) {
      addOperands(load.op);
      loads_.push_back(load.op);
    }
    // What the pipelined loop computes itself is in other blocks than the body.
    return llvm::all_of(needed, [&](Value v) { return add(v, tiles_.addresses); });
  }
  bool findUpdates() {
    BodySlice updates;
    bool found = llvm::all_of(tiles_.addresses.carried,
                              [&](unsigned i) { return add(carried(tiles_.loop, i).yielded, updates); });
    tiles_.updates = std::move(updates.operations);
    return found;
  }

  scf::ForOp inner_;
  const PipelinePlan &plan_;
  std::string &whyNot_;
  TileLoop tiles_;
  Block *body_ = nullptr;
  llvm::SmallVector<Operation *, 4> stores_; // of the body
  llvm::SmallVector<Operation *, 4> loads_;  // that are issued for the next tile
};

} // namespace

TileLoop findTileLoop(scf::ForOp inner, const PipelinePlan &plan, std::string &whyNot) {
  return TileLoopFinder(inner, plan, whyNot).find();
}

llvm::SmallVector<Value, 8> positionOfTile(const TileLoop &tiles, const Tuning &tuning) {
  auto isScalar = [](Operation *op) { return op->numResults() == 1 && op->result().type().isInteger(); };
  llvm::SmallVector<Value, 8> position;
  for (auto &op : *tiles.loop.body().front()) {
    if (!tiles.addresses.operations.contains(&op) || !isScalar(&op)) continue;
    auto isForScalar = [&](Operation *user) { return tiles.addresses.operations.contains(user) && isScalar(user); };
    if (!llvm::all_of(op.result().users(), isForScalar)) position.push_back(op.result());
  }
  if (int64_t(position.size()) > tuning.tilePositionScalars) position.clear();
  return position;
}

void cloneAddresses(Builder &b, const TileLoop &tiles, ValueMap &map, Value exists) {
  for (auto &op : *tiles.loop.body().front()) {
    if (!tiles.addresses.operations.contains(&op)) continue;
    Operation *copy = b.clone(&op, map);
    if (exists && mayBeUndefined(copy)) divideSafelyUnless(copy, exists);
  }
}

ValueMap nextTile(Builder &b, const TileLoop &tiles, Operation *inner, Value exists) {
  scf::ForOp loop = tiles.loop;
  Location loc = loop->loc();
  auto thisUnless = [&](Value next, Value current) {
    return arith::SelectOp::create(b, loc, exists, next, current).op->result();
  };
  ValueMap ofThis; // updates after `inner` are not computed yet
  for (auto &op : *loop.body().front())
    if (tiles.updates.contains(&op) && inner->isBeforeInBlock(&op)) b.clone(&op, ofThis);
  ValueMap next;
  Value counter = inductionVariable(loop);
  Value ahead = arith::AddiOp::create(b, loc, counter, loop.step()).op->result();
  next.map(counter, thisUnless(ahead, counter));
  for (unsigned i : tiles.addresses.carried) {
    auto c = carried(loop, i);
    next.map(c.argument, thisUnless(ofThis.lookupOrSelf(c.yielded), c.argument));
  }
  return next;
}

} // namespace tessera::transforms
