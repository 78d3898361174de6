// Pass load-scalars-ahead: scalars that a loop with dots loads, and tensors of few repeated elements in a thread, are
// loaded an iteration ahead, into registers.
// Runs: NVIDIA pipeline, before tritongpu-pipeline.
//
//   scf.for %i = %lb to %ub step %s                  %x0 = tt.load (the address for %lb), %lb < %ub
//       iter_args(%h = %h0) {                        scf.for %i = … iter_args(%h = %h0, %x = %x0) {
//     %p = tt.addptr %g, %i                            %p1 = tt.addptr %g, %i + %s
//     %x = tt.load %p                          →       %x1 = tt.load %p1, %ub - %i > %s
//     %a = … %h … tt.splat %x                          %a = … %h … tt.splat %x
//     %h1 = tt.dot %k, %v, %a                          %h1 = tt.dot %k, %v, %a
//     scf.yield %h1                                    scf.yield %h1, %x1
//   }                                                }
//
// tritongpu-pipeline issues the loads of blocks ahead; a scalar beside them (the decay of a chunk, the scale of a block
// of 8-bit floats) would be what each iteration waits for. A register holds it, where a block needs a buffer.
//
// So are blocks that repeat the few elements that a thread loads (the scales of groups of weights, which are the same
// for many rows): a copy to shared memory would repeat them, too. And so are rows of which a thread has one element of
// less than 4 bytes, too narrow for such a copy.
//
// So are indices, of which a thread has few: pages of a cache, rows to gather. tritongpu-pipeline computes addresses of
// copies ahead, and loads what they depend on in the iteration that issues the copies: these, and all that follows in
// the iteration, would wait for the indices.
//
// Conditions: the address and the mask are computed from the counter and from carried values by pure operations; no
// store of the loop may write what the load reads; no other load's address depends on the value, but those of the
// iteration's loads that feed dots, which tritongpu-pipeline may issue ahead. For an iteration that does not exist,
// nothing is loaded and divisions are by a power of two.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/load_elements.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/predicated_load.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool loadsOrGathers(const Operation *op) { return isLoad(op) || op->is<tt::DescriptorGatherOp>(); }

class ScalarsOfLoop {
public:
  ScalarsOfLoop(scf::ForOp loop, const AxisInfoAnalysis &axis, bool hasAsyncCopies, const Tuning &tuning)
      : axis_(axis), hasAsyncCopies_(hasAsyncCopies), tuning_(tuning), loop_(loop), body_(*loop.body().front()),
        loc_(loop->loc()) {}

  /// The number of loads that are issued ahead.
  unsigned run() {
    if (!isSuitable()) return 0;
    for (auto &op : body_) {
      if (loads_.size() == tuning_.scalarsAheadMaxLoads) break;
      auto load = op.dyn<tt::LoadOp>();
      if (!load || load.isVolatile()) continue;
      bool isTensor = load.result().type().isTensor();
      AddressUse use = useInAddresses(load);
      if (use == AddressUse::Unsuitable) continue;
      if (isTensor && !(use == AddressUse::OfCopies ? hasFewIndices(load) : hasFewElements(load))) continue;
      BodySlice address;
      llvm::SmallVector<Value, 4> operands(load->operands().begin(), load->operands().end());
      bool isComputable =
          !addToSlice(address, body_, operands, Across::Iterations, isTensor ? isPlacedAndPure : isScalarAndPure);
      if (isComputable && !conflictBetween(stores_, {&op}).store) loads_.push_back({load, std::move(address)});
    }
    if (!loads_.empty()) rewrite();
    return loads_.size();
  }

private:
  struct ScalarLoad {
    tt::LoadOp load;
    BodySlice address;
  };

  bool isSuitable() {
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return false;
    bool hasDots = false;
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (isLoopOrCall(&op) || !onlyStores(&op, stores_)) return false;
      hasDots |= isDot(&op);
    }
    feedingDots_ = loadsFeedingDots(body_);
    return hasDots;
  }

  static bool isScalarAndPure(Operation *op) {
    bool hasTensors = llvm::any_of(op->results(), [](Value r) { return r.type().isTensor(); });
    return !op->numRegions() && isPure(op) && !hasTensors;
  }

  /// Pure operations in which no data move between threads, and that are defined for an iteration that does not exist.
  static bool isPlacedAndPure(Operation *op) {
    bool moves = op->is<ttg::ConvertLayoutOp>() || op->is<tt::ReduceOp>() || op->is<tt::ScanOp>() ||
                 op->is<tt::GatherOp>() || op->is<ttg::LocalAllocOp>() || isDot(op);
    bool hasTensors = llvm::any_of(op->results(), [](Value r) { return r.type().isTensor(); });
    return !op->numRegions() && isPure(op) && !moves && !(hasTensors && mayBeUndefined(op));
  }

  /// Whether a thread loads few different elements of a block, several times each, or a single one that is too narrow
  /// for an asynchronous copy; and threads compute with them.
  bool hasFewElements(tt::LoadOp load) {
    auto type = tensorOf(load.result());
    if (!hasAsyncCopies_ || !load.ptr().type().isTensor() || !type.encoding()) return false;
    bool isStored = llvm::any_of(load.result().users(), [](Operation *user) { return user->is<ttg::LocalAllocOp>(); });
    auto &layout = type.encoding()->layoutOf(type.shape());
    if (!layout.ok() || isStored) return false;
    int64_t all = layout->inDimSize(layouts::Dim::Register), different = differentElements(axis_, load, *layout);
    bool isRepeated = different < all && different <= tuning_.scalarsAheadMaxElements;
    return isRepeated || (all == 1 && bitsOf(load.result()) < 8 * kMinAsyncCopyBytes);
  }

  /// How other loads' operands depend on a loaded value.
  enum class AddressUse {
    None,
    OfCopies,   // those of its iteration that feed dots: the pipeline computes their addresses ahead
    Unsuitable, // of others, or in a later iteration, which is ahead already; branches count as such
  };
  AddressUse useInAddresses(tt::LoadOp load) {
    bool isNeeded = false;
    auto isCopied = [&](Operation *other) {
      isNeeded = true;
      return other->is<tt::LoadOp>() && llvm::is_contained(feedingDots_, other);
    };
    llvm::SetVector<Value> reached, later;
    reached.insert(load.result());
    if (!follow(reached, later, isCopied)) return AddressUse::Unsuitable;
    if (!follow(later, later, [](Operation *) { return false; })) return AddressUse::Unsuitable;
    return isNeeded ? AddressUse::OfCopies : AddressUse::None;
  }

  /// Adds what the body computes from the values to them, and what the next iteration gets of it to `next`. False if a
  /// branch depends on them, or a load that `mayLoad` refuses.
  bool follow(llvm::SetVector<Value> &reached, llvm::SetVector<Value> &next,
              llvm::function_ref<bool(Operation *)> mayLoad) {
    for (unsigned i = 0; i < reached.size(); ++i)
      for (OpOperand *use : reached[i].uses()) {
        Operation *user = use->owner;
        bool isBranch = user->numRegions() && !user->is<tt::ReduceOp>() && !user->is<tt::ScanOp>();
        if (user->block() != &body_ || isBranch) return false;
        if (loadsOrGathers(user)) {
          if (!mayLoad(user)) return false;
          continue;
        }
        if (user == body_.terminator()) next.insert(carried(loop_, use->index()).argument);
        for (auto r : user->results()) reached.insert(r);
      }
    return true;
  }

  /// Whether a thread has few elements of the indices, each in a register.
  bool hasFewIndices(tt::LoadOp load) {
    auto elements = elementsPerThread(load.result().type());
    return hasAsyncCopies_ && elements && *elements <= tuning_.scalarsAheadMaxElements;
  }

  /// Clones the operations of an address in the order of the body, for an iteration that may not be there if `exists`
  /// is given.
  void emit(Builder &b, const BodySlice &address, ValueMap &map, Value exists = {}) {
    for (auto &op : body_) {
      if (!address.operations.contains(&op)) continue;
      Operation *copy = b.clone(&op, map);
      if (exists && mayBeUndefined(copy)) divideSafelyUnless(copy, exists);
    }
  }

  /// The load on the values of `map`, where the iteration `exists`.
  Value emitLoad(Builder &b, const ScalarLoad &s, ValueMap &map, Value exists) {
    emit(b, s.address, map, exists);
    return cloneLoad(b, loc_, s.load, map, exists);
  }

  Value firstValue(const ScalarLoad &s) {
    Builder b(loop_.op);
    ValueMap map;
    map.map(inductionVariable(loop_), loop_.lowerBound());
    for (unsigned i : s.address.carried) map.map(carried(loop_, i).argument, carried(loop_, i).init);
    Value exists = compare(b, loc_, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound());
    return emitLoad(b, s, map, exists);
  }

  Value nextValue(const ScalarLoad &s) {
    Builder b(s.load.op);
    ValueMap now, next; // what is yielded may be computed later in the body: here, it is computed from copies
    emit(b, s.address, now);
    Value counter = inductionVariable(loop_);
    next.map(counter, arith::AddiOp::create(b, loc_, counter, loop_.step()).op->result());
    for (unsigned i : s.address.carried)
      next.map(carried(loop_, i).argument, now.lookupOrSelf(carried(loop_, i).yielded));
    // The counter is below the bound here, so that their difference does not wrap as an unsigned number.
    Value left = arith::SubiOp::create(b, loc_, loop_.upperBound(), counter).op->result();
    return emitLoad(b, s, next, compare(b, loc_, CmpIPredicate::Ugt, left, loop_.step()));
  }

  void rewrite() {
    llvm::SmallVector<Value, 8> inits(loop_.initArgs().begin(), loop_.initArgs().end()), yields;
    Operation *yield = body_.terminator();
    yields.append(yield->operands().begin(), yield->operands().end());
    for (auto &s : loads_) {
      inits.push_back(firstValue(s));
      yields.push_back(nextValue(s));
    }
    for (auto &s : loads_) {
      Value value = s.load.result();
      value.replaceAllUsesWith(body_.addArg(value.type(), value.loc()));
      for (auto &y : yields)
        if (y == value) y = body_.args().back();
      s.load->erase();
    }
    Builder atEnd(yield);
    scf::YieldOp::create(atEnd, yield->loc(), yields);
    yield->erase();
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    Builder b(loop_.op);
    auto loop =
        scf::ForOp::create(b, loc_, types, loop_.lowerBound(), loop_.upperBound(), loop_.step(), inits, loop_->attrs());
    loop.body().takeBody(loop_.body());
    for (unsigned i = 0; i < loop_->numResults(); ++i) loop_->result(i).replaceAllUsesWith(loop->result(i));
    loop_->erase();
  }

  const AxisInfoAnalysis &axis_;
  bool hasAsyncCopies_;
  const Tuning &tuning_;
  scf::ForOp loop_;
  Block &body_;
  Location loc_;
  llvm::SmallVector<Operation *, 4> stores_;
  llvm::SmallVector<Operation *, 4> feedingDots_; // loads that dots are computed from
  llvm::SmallVector<ScalarLoad, 4> loads_;
};

} // namespace

absl::StatusOr<bool> loadScalarsAhead(Module &m, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  const bool hasAsyncCopies = c.target && c.target->hasPerLaneAsyncCopy;
  AxisInfoAnalysis axis(m);
  bool changed = false;
  for (auto loop : collect<scf::ForOp>(m.op())) {
    RemarkPlace place(loop.op);
    unsigned count = ScalarsOfLoop(loop, axis, hasAsyncCopies, tuning).run();
    if (!count) continue;
    changed = true;
    std::string text =
        llvm::formatv("{0} of the loop's scalars and repeated values are loaded an iteration ahead", count).str();
    c.remark({Remark::Applied, "", "ScalarsAhead", place, text, llvm::json::Object{{"loads", int64_t(count)}}});
  }
  return changed;
}

} // namespace tessera::transforms
