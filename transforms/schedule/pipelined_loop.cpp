// Building pipelined loops (see pipelined_loop.h): the producer of the first iterations, the loop with the producer
// some iterations ahead of the consumer, and what follows it: waiting, or the last iteration.
#include "transforms/schedule/pipelined_loop.h"
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "layouts/swizzled_shared.h"
#include "transforms/cleanup/carried_values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

class PipelinedLoop {
public:
  PipelinedLoop(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), plan_(plan), target_(target), c_(loop->context()), loc_(loop->loc()),
        b_(loop.op) {}

  void build() {
    allocateRings();
    openGuard();
    emitPrologue();
    emitLoop();
    emitEpilogue();
    closeGuard();
    for (auto &a : plan_.ahead)
      if (Value ring = rings_.lookup(&a)) ttg::LocalDeallocOp::create(b_, loc_, ring);
    for (unsigned i : results_) loop_->result(i).replaceAllUsesWith(finals_[i]);
    if (!plan_.background) eraseDead(*loop_->block(), loop_.op); // what the last iteration computed for a next one
    loop_->dropAllReferences();
    loop_->erase();
    dropUnneededCarriedValues(made_);
  }

private:
  void allocateRings() {
    for (auto &a : plan_.ahead) {
      if (!a.slot) continue;
      llvm::SmallVector<int64_t, 4> shape(a.slot.shape());
      shape.insert(shape.begin(), plan_.slots);
      rings_[&a] =
          ttg::LocalAllocOp::create(
              b_, a.load->loc(),
              MemDescType::get(shape, a.slot.element(), a.slot.encoding(), a.slot.memorySpace(), true), Value())
              .result();
    }
    if (!plan_.blocks) return;
    Builder before(plan_.outermost);
    describeTensors(before);
    layouts::SwizzledSharedParams plain;
    plain.vec = plain.perPhase = plain.maxPhase = 1, plain.order = {0};
    Attribute memory = sharedMemorySpace(c_);
    const layouts::Encoding *encoding = *c_.encodings().getSwizzledShared(plain);
    barrier_ = MemDescType::get({1}, c_.i64(), encoding, memory, true);
    barriers_ = ttg::LocalAllocOp::create(b_, loc_,
                                          MemDescType::get({plan_.slots, 1}, c_.i64(), encoding, memory, true), Value())
                    .result();
    for (int64_t k = 0; k < plan_.slots; ++k)
      ttng::InitBarrierOp::create(b_, loc_, barrierAt(b_, integer(b_, k)), {b_.i32Attr("count", 1)});
  }

  /// Puts an scf.if around everything that follows, if there may be no iteration and the last one comes after the loop.
  void openGuard() {
    for (unsigned i = 0; i < loop_->numResults(); ++i)
      if (!loop_->result(i).useEmpty()) results_.push_back(i);
    if (plan_.background || runs()) return;
    llvm::SmallVector<Type, 8> types;
    for (unsigned i : results_) types.push_back(loop_->result(i).type());
    guard_ =
        scf::IfOp::create(b_, loc_, types, compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), loop_.upperBound()));
    b_.setInsertionPointToEnd(guard_.thenRegion().addBlock());
  }
  void closeGuard() {
    if (!guard_) return;
    Location at = body_.terminator()->loc();
    llvm::SmallVector<Value, 8> then, otherwise;
    for (unsigned i : results_) then.push_back(finals_[i]), otherwise.push_back(loop_.initArgs()[i]);
    scf::YieldOp::create(b_, at, then);
    Builder other = Builder::atEnd(guard_.elseRegion().addBlock());
    scf::YieldOp::create(other, at, otherwise);
    for (auto [k, i] : llvm::enumerate(results_)) finals_[i] = guard_->result(k);
    b_.setInsertionPointAfter(guard_.op);
  }

  /// The producer's carried values stand for the iteration that it is at: begin() maps them and the counter,
  /// advance() takes them to the next one.
  void begin(ValueMap &map, Value at) {
    map.map(body_.arg(0), at);
    for (auto [k, i] : llvm::enumerate(plan_.carried)) map.map(body_.arg(i + 1), state_[k]);
  }
  void advance(ValueMap &map) {
    for (auto [k, i] : llvm::enumerate(plan_.carried)) state_[k] = map.lookupOrSelf(body_.terminator()->operand(i));
  }

  /// The producer of the first iterations.
  void emitPrologue() {
    for (auto i : plan_.carried) state_.push_back(loop_.initArgs()[i]);
    for (int64_t d = 0; d < plan_.distance; ++d) {
      ValueMap map;
      begin(map, d ? make<arith::AddiOp>(b_, loop_.lowerBound(), steps(b_, d)) : loop_.lowerBound());
      Value predicate;
      if (plan_.background) predicate = compare(b_, CmpIPredicate::Slt, loop_.lowerBound(), boundBefore(b_, d));
      emitProducer(b_, map, predicate);
      if (plan_.background)
        emitCopies(b_, map, predicate, integer(b_, d));
      else {
        brought_ = emitLoads(b_, map, predicate);
        for (auto [a, v] : llvm::zip(plan_.ahead, brought_))
          if (a.slot) ttg::LocalStoreOp::create(b_, loc_, v, slotAt(b_, a, integer(b_, 0)));
      }
      advance(map);
    }
  }

  /// The loop carries its own values, the producer's, the slot to read (and to fill), values in registers, the next
  /// iteration's number, and which round of the ring the slot to read is in.
  llvm::SmallVector<Value, 16> carriedValues() {
    llvm::SmallVector<Value, 16> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    own_ = inits.size(), slotsAt_ = own_ + state_.size();
    inits.append(state_.begin(), state_.end());
    ring_ = plan_.slots > 1 && usesSlots();
    if (ring_) inits.push_back(integer(b_, 0));
    if (ring_ && plan_.background) inits.push_back(integer(b_, plan_.distance));
    valuesAt_ = inits.size();
    if (!plan_.background)
      for (auto [a, v] : llvm::zip(plan_.ahead, brought_))
        if (!a.slot) inits.push_back(v);
    lastAt_ = inits.size();
    if (!plan_.background) inits.push_back(loop_.lowerBound());
    parityAt_ = inits.size();
    if (plan_.blocks) inits.push_back(integer(b_, 0));
    if (plan_.overlapped)
      for (auto &op : body_)
        if (auto dot = op.dyn<ttng::WarpGroupDotOp>())
          products_.push_back(dot.d()), accumulators_.push_back(dot.c().index() - 1);
    return inits;
  }
  bool usesSlots() const {
    return llvm::any_of(plan_.ahead, [](auto &a) { return bool(a.slot); });
  }

  void emitLoop() {
    auto inits = carriedValues();
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());
    Value stepsAhead = steps(b_, plan_.distance), bound = loop_.upperBound();
    // Where the loop runs at all, from a start that is not negative, the bound is positive and one step less is a
    // number.
    bool simple =
        !plan_.background && splatOf(loop_.lowerBound(), [](const llvm::APInt &x) { return x.isNonNegative(); });
    Value boundAhead = simple ? make<arith::SubiOp>(b_, bound, stepsAhead) : boundBefore(b_, plan_.distance);
    made_ = scf::ForOp::create(b_, loc_, types, loop_.lowerBound(), plan_.background ? bound : boundAhead, loop_.step(),
                               inits, attrsOf(loop_.op));
    Block *block = made_.body().addBlock();
    block->addArg(body_.arg(0).type(), body_.arg(0).loc());
    for (auto [i, t] : llvm::enumerate(types)) block->addArg(t, i < own_ ? body_.arg(i + 1).loc() : loc_);
    emitBody(*block, stepsAhead, boundAhead);
  }

  void emitBody(Block &block, Value stepsAhead, Value boundAhead) {
    Builder in = Builder::atEnd(&block);
    Operation *yield = body_.terminator();
    ValueMap map, ahead;
    map.map(body_.arg(0), block.arg(0));
    for (unsigned i = 0; i < own_; ++i) map.map(body_.arg(i + 1), block.arg(i + 1));
    auto beside = plan_.beside;
    Value reads = ring_ ? block.arg(slotsAt_ + 1) : integer(in, 0), fills, token;
    auto produce = [&] {
      if (plan_.background) fills = block.arg(slotsAt_ + 2);
      Value predicate;
      if (plan_.background) predicate = compare(in, CmpIPredicate::Slt, block.arg(0), boundAhead);
      for (unsigned k = 0; k < state_.size(); ++k) state_[k] = block.arg(own_ + k + 1);
      begin(ahead, make<arith::AddiOp>(in, block.arg(0), stepsAhead));
      emitProducer(in, ahead, predicate);
      if (plan_.background)
        emitCopies(in, ahead, predicate, fills);
      else
        brought_ = emitLoads(in, ahead, predicate);
      advance(ahead);
    };
    if (plan_.blocks)
      ttng::WaitBarrierOp::create(in, loc_, barrierAt(in, reads), block.arg(parityAt_ + 1), Value(), {});
    else if (plan_.background)
      token = ttg::AsyncWaitOp::create(in, loc_, {}, {in.i32Attr("num", plan_.distance - 1)}).op->result();
    if (!plan_.overlapped && !plan_.readsFirst && !plan_.beside) produce();
    llvm::SmallVector<Value, 4> values;
    for (unsigned i = valuesAt_; i < lastAt_; ++i) values.push_back(block.arg(i + 1));
    emitConsumer(in, map, reads, values, token);
    if (plan_.readsFirst) {
      in.setInsertionPoint(&*llvm::find_if(block, [](Operation &op) { return op.is<tt::DotOp>(); }));
      produce();
      in.setInsertionPointToEnd(&block);
    }
    if (plan_.beside) {
      auto product = map.lookupOrSelf(beside.d()).definingOp()->cast<ttng::WarpGroupDotOp>();
      product->setAttr("isAsync", IntegerAttr::getBool(c_, true));
      in.setInsertionPointAfter(product.op);
      produce();
      Value done = waitFor(in, {product.d()}, 0)[0];
      product.d().replaceUsesIf(done, [&](OpOperand &use) { return use.owner != done.definingOp(); });
      map.map(beside.d(), done);
      in.setInsertionPointToEnd(&block);
    }
    if (plan_.overlapped) {
      // What this iteration started goes on; what the one before it did is done. Branches that look at products come
      // behind.
      llvm::SmallVector<Value, 2> products;
      for (auto v : products_) products.push_back(map.lookupOrSelf(v));
      if (llvm::any_of(products, [](Value v) { return !v.useEmpty(); })) in.setInsertionPointAfter(lastOf(products));
      auto done = waitFor(in, products, products.size());
      for (auto [k, v] : llvm::enumerate(products_)) {
        products[k].replaceUsesIf(done[k], [&](OpOperand &use) { return use.owner != done[k].definingOp(); });
        map.map(v, done[k]);
      }
      produce();
      in.setInsertionPointToEnd(&block);
    }
    auto next = [&](Value slot) {
      Value up = make<arith::AddiOp>(in, slot, integer(in, 1));
      return arith::SelectOp::create(in, loc_, compare(in, CmpIPredicate::Sge, up, integer(in, plan_.slots)),
                                     integer(in, 0), up)
          .op->result();
    };
    llvm::SmallVector<Value, 16> yields;
    for (auto v : yield->operands()) yields.push_back(map.lookupOrSelf(v));
    yields.append(state_.begin(), state_.end());
    Value nextReads = ring_ ? next(reads) : Value();
    if (ring_) yields.push_back(nextReads);
    if (ring_ && plan_.background) yields.push_back(next(fills));
    if (!plan_.background) {
      // The stores wait for the loads: they stay behind the multiplications.
      if (target_.hasScheduleBarriers && usesSlots()) rocdl::SchedBarrierOp::create(in, loc_, {in.i32Attr("mask", 0)});
      for (auto [a, v] : llvm::zip(plan_.ahead, brought_)) {
        if (a.slot)
          ttg::LocalStoreOp::create(in, loc_, v, slotAt(in, a, ring_ ? nextReads : reads));
        else
          yields.push_back(v);
      }
      yields.push_back(ahead.lookupOrSelf(body_.arg(0)));
    }
    if (plan_.blocks) { // it changes with every round of the ring
      Value parity = block.arg(parityAt_ + 1), again = compare(in, CmpIPredicate::Eq, nextReads, integer(in, 0));
      yields.push_back(arith::SelectOp::create(in, loc_, again, make<arith::XoriOp>(in, parity, integer(in, 1)), parity)
                           .op->result());
    }
    scf::YieldOp::create(in, yield->loc(), yields);
  }

  /// What follows the loop: waiting for all that is in the background, or the last iteration. Fills finals_.
  void emitEpilogue() {
    b_.setInsertionPointAfter(made_.op);
    finals_.resize(loop_->numResults());
    for (unsigned i : results_) finals_[i] = made_->result(i);
    if (plan_.overlapped) {
      llvm::SmallVector<Value, 2> products;
      for (auto i : accumulators_) products.push_back(made_->result(i));
      auto done = waitFor(b_, products, 0);
      for (auto [k, i] : llvm::enumerate(accumulators_)) finals_[i] = done[k];
    }
    if (plan_.blocks) {
      for (int64_t k = 0; k < plan_.slots; ++k) ttng::InvalBarrierOp::create(b_, loc_, barrierAt(b_, integer(b_, k)));
      ttg::LocalDeallocOp::create(b_, loc_, barriers_);
      return;
    }
    if (plan_.background) {
      ttg::AsyncWaitOp::create(b_, loc_, {}, {b_.i32Attr("num", 0)});
      return;
    }
    ValueMap last;
    last.map(body_.arg(0), made_->result(lastAt_));
    for (unsigned i = 0; i < own_; ++i) last.map(body_.arg(i + 1), made_->result(i));
    llvm::SmallVector<Value, 4> values;
    for (unsigned i = valuesAt_; i < lastAt_; ++i) values.push_back(made_->result(i));
    emitConsumer(b_, last, ring_ ? made_->result(slotsAt_) : integer(b_, 0), values, Value());
    for (unsigned i : results_) finals_[i] = last.lookupOrSelf(body_.terminator()->operand(i));
  }

  /// Whether there surely is an iteration.
  bool runs() {
    auto *lower = constantBits(loop_.lowerBound()), *upper = constantBits(loop_.upperBound());
    return lower && upper && lower->slt(*upper);
  }
  static bool splatOf(Value v, llvm::function_ref<bool(const llvm::APInt &)> holds) {
    auto *bits = constantBits(v);
    return bits && holds(*bits);
  }

  /// The body without the producer's loads, on the values of `map`: what they brought is in the slot `reads`, or in
  /// `values`, one for each load without a buffer.
  void emitConsumer(Builder &b, ValueMap &map, Value reads, llvm::ArrayRef<Value> values, Value token) {
    unsigned value = 0;
    llvm::DenseSet<Operation *> done; // loads of buffers that were made with the buffer's slot
    for (auto &op : body_) {
      if (&op == body_.terminator() || done.contains(&op)) continue;
      auto converted = llvm::find_if(plan_.ahead, [&](auto &a) { return a.slot && a.isConversion(&op); });
      if (converted != plan_.ahead.end()) {
        map.map(
            op.result(),
            ttg::LocalLoadOp::create(b, op.loc(), op.result().type(), slotAt(b, *converted, reads), token).result());
        continue;
      }
      auto it = llvm::find_if(plan_.ahead, [&](auto &a) { return a.load.op == &op || a.isBuffer(&op); });
      if (it == plan_.ahead.end()) {
        Operation *copy = b.clone(&op, map);
        if (plan_.overlapped && copy->is<ttng::WarpGroupDotOp>())
          copy->setAttr("isAsync", IntegerAttr::getBool(c_, true));
        continue;
      }
      auto &a = *it;
      if (a.isBuffer(&op)) {
        Value view = slotAt(b, a, reads);
        map.map(op.result(), view); // for multiplications by warp groups and their views
        for (auto *user : op.result().users()) {
          if (!user->is<ttg::LocalLoadOp>()) continue;
          auto loaded = ttg::LocalLoadOp::create(b, user->loc(), user->result().type(), view, token);
          map.map(user->result(), loaded.result());
          done.insert(user);
        }
      } else if (!a.slot || llvm::any_of(op.result().users(),
                                         [&](Operation *u) { return !a.isBuffer(u) && !a.isConversion(u); })) {
        Value v = a.slot
                      ? ttg::LocalLoadOp::create(b, op.loc(), op.result().type(), slotAt(b, a, reads), token).result()
                      : values[value++];
        map.map(op.result(), v);
      }
    }
  }

  /// @pre all are of one block
  static Operation *lastOf(llvm::ArrayRef<Value> values) {
    Operation *last = values[0].definingOp();
    for (auto v : values.drop_front())
      if (last->isBeforeInBlock(v.definingOp())) last = v.definingOp();
    return last;
  }

  /// Erases what is without uses after an operation of the block.
  static void eraseDead(Block &block, Operation *after) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto *op = after->next(); op; op = op->next()) ops.push_back(op);
    for (auto *op : llvm::reverse(ops))
      if (op != block.terminator() && isTriviallyDead(op)) op->erase();
  }

  // ---- values and operations ----

  Value integer(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  template <class OpT> Value make(Builder &b, Value x, Value y) { return OpT::create(b, loc_, x, y).op->result(); }
  Value compare(Builder &b, CmpIPredicate p, Value x, Value y) {
    return arith::CmpiOp::create(b, loc_, x, y, {b.named("predicate", IntegerAttr::get(c_.i64(), int(p)))})
        .op->result();
  }
  /// iterations · step
  Value steps(Builder &b, int64_t iterations) {
    if (iterations == 1) return loop_.step();
    return make<arith::MuliOp>(b, loop_.step(), b.intConstant(loc_, loop_.step().type(), iterations));
  }
  llvm::SmallVector<Value, 2> waitFor(Builder &b, llvm::ArrayRef<Value> products, unsigned pending) {
    llvm::SmallVector<Type, 2> types;
    for (auto v : products) types.push_back(v.type());
    auto wait = ttng::WarpGroupDotWaitOp::create(b, loc_, types, products, {b.i32Attr("pendings", pending)});
    return llvm::SmallVector<Value, 2>(wait->results().begin(), wait->results().end());
  }
  /// ub − iterations · step, which no counter is below where that is less than its type holds.
  Value boundBefore(Builder &b, int64_t iterations) {
    Value bound = loop_.upperBound();
    if (!iterations) return bound;
    Type type = bound.type();
    unsigned bits = type.isInteger() ? type.bitWidth() : 64;
    int64_t least = bits < 64 ? -(int64_t(1) << (bits - 1)) : std::numeric_limits<int64_t>::min();
    if (bits < 64) {
      auto wide = [&](Value v) { return arith::ExtsiOp::create(b, loc_, c_.i64(), v).op->result(); };
      Value ahead = make<arith::MuliOp>(b, wide(loop_.step()), b.intConstant(loc_, c_.i64(), iterations));
      Value exact =
          make<arith::MaxsiOp>(b, make<arith::SubiOp>(b, wide(bound), ahead), b.intConstant(loc_, c_.i64(), least));
      return arith::TrunciOp::create(b, loc_, type, exact).op->result();
    }
    Value before = make<arith::SubiOp>(b, bound, steps(b, iterations));
    return arith::SelectOp::create(b, loc_, compare(b, CmpIPredicate::Sgt, before, bound),
                                   b.intConstant(loc_, type, least), before)
        .op->result();
  }
  Value slotAt(Builder &b, const AheadLoad &a, Value index) {
    return ttg::MemdescIndexOp::create(b, loc_, a.slot, rings_.lookup(&a), index).op->result();
  }
  Value maskOf(Builder &b, Value ptr, Value mask, Value predicate) {
    if (!predicate) return mask;
    if (mask && !mask.type().isTensor() && ptr.type().isTensor()) return make<arith::AndiOp>(b, mask, predicate);
    if (ptr.type().isTensor())
      predicate = tt::SplatOp::create(b, loc_, tensorOf(ptr).withElement(c_.i1()), predicate).result();
    return mask ? make<arith::AndiOp>(b, mask, predicate) : predicate;
  }

  /// The producer's operations on the values of `map`; those of its loads that only addresses need are masked
  /// by the predicate, if there is one.
  void emitProducer(Builder &b, ValueMap &map, Value predicate) {
    for (auto &op : body_) {
      if (!plan_.producer.contains(&op)) continue;
      if (auto load = op.dyn<tt::LoadOp>()) {
        Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
        auto copy = tt::LoadOp::create(b, op.loc(), op.result().type(), ptr, maskOf(b, ptr, mask, predicate),
                                       load.other() ? map.lookupOrSelf(load.other()) : Value(), attrsOf(load.op));
        map.map(op.result(), copy.result());
        continue;
      }
      b.clone(&op, map);
    }
  }
  static llvm::SmallVector<NamedAttribute, 4> attrsOf(Operation *op) {
    return llvm::SmallVector<NamedAttribute, 4>(op->attrs().begin(), op->attrs().end());
  }

  /// Copies into the slot and closes their group.
  void emitCopies(Builder &b, ValueMap &map, Value predicate, Value slot) {
    if (plan_.blocks) return emitBlockCopies(b, map, predicate, slot);
    llvm::SmallVector<Value, 4> tokens;
    for (auto &a : plan_.ahead) {
      auto load = a.load;
      Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
      llvm::SmallVector<NamedAttribute, 4> attrs;
      for (auto &x : load->attrs())
        if (x.name == "cache" || x.name == "evict") attrs.push_back(x);
      tokens.push_back(ttg::AsyncCopyGlobalToLocalOp::create(
                           b, load->loc(), ptr, slotAt(b, a, slot), maskOf(b, ptr, mask, predicate),
                           load.other() ? map.lookupOrSelf(load.other()) : Value(), attrs)
                           .token());
    }
    ttg::AsyncCommitGroupOp::create(b, loc_, tokens);
  }

  /// The loads, masked by the predicate if there is one. (A branch around them would merge their values element by
  /// element.)
  llvm::SmallVector<Value, 4> emitLoads(Builder &b, ValueMap &map, Value predicate) {
    llvm::SmallVector<Value, 4> values;
    for (auto &a : plan_.ahead) {
      auto load = a.load;
      Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
      values.push_back(tt::LoadOp::create(b, load->loc(), load.result().type(), ptr, maskOf(b, ptr, mask, predicate),
                                          load.other() ? map.lookupOrSelf(load.other()) : Value(), attrsOf(load.op))
                           .result());
    }
    return values;
  }

  // ---- blocks of tensors ----

  struct Description {
    Value map;
    std::array<Value, 2> empty; // i1: whether the tensor has nothing along a dimension; null: it has
  };
  void describeTensors(Builder &b) {
    auto i32 = [&](int64_t v) { return integer(b, v); };
    for (auto &a : plan_.ahead) {
      auto type = tensorOf(a.load.result());
      auto *shared = layouts::dynCast<layouts::NvmmaSharedEncoding>(a.slot.encoding());
      auto box = *shared->copyBox(type.shape());
      Value raw = ttg::GlobalScratchAllocOp::create(b, loc_, PointerType::get(IntegerType::get(c_, 8)),
                                                    {b.i32Attr("nbytes", 128), b.i32Attr("alignment", 128)})
                      .result();
      // A description has at least one element along a dimension. Where the tensor has none, copies begin far behind
      // it.
      Description &described = descriptions_[&a];
      std::array<Value, 2> size = a.block.size;
      for (unsigned d : {0u, 1u})
        if (auto n = intConstantOf(size[d]); !n || *n < 1) {
          described.empty[d] = compare(b, CmpIPredicate::Slt, size[d], i32(1));
          size[d] = make<arith::MaxsiOp>(b, size[d], i32(1));
        }
      Value stride =
          make<arith::MuliOp>(b, a.block.stride, b.intConstant(loc_, c_.i64(), type.element().bitWidth() / 8));
      int swizzle = shared->params().swizzlingByteWidth == 128 ? 3 : shared->params().swizzlingByteWidth == 64 ? 2 : 1;
      ttng::TensormapCreateOp::create(
          b, loc_, raw, a.block.base, {i32(box[1]), i32(box[0])}, {size[1], size[0]}, {stride}, {i32(1), i32(1)},
          {b.i32Attr("elem_type", tensormapElementType(type.element())), b.i32Attr("interleave_layout", 0),
           b.i32Attr("swizzle_mode", swizzle), b.i32Attr("fill_mode", 0)});
      ttng::TensormapFenceproxyAcquireOp::create(b, loc_, raw);
      described.map = ttng::ReinterpretTensorDescriptorOp::create(
                          b, loc_, TensorDescType::get(type.shape(), type.element(), a.slot.encoding()), raw)
                          .result();
    }
  }
  static constexpr int64_t kFarBehind = 1 << 30;
  Value barrierAt(Builder &b, Value index) {
    return ttg::MemdescIndexOp::create(b, loc_, barrier_, barriers_, index).op->result();
  }
  void emitBlockCopies(Builder &b, ValueMap &map, Value predicate, Value slot) {
    Value barrier = barrierAt(b, slot);
    ttng::BarrierExpectOp::create(b, loc_, barrier, predicate, {b.i32Attr("size", plan_.bytes)});
    for (auto &a : plan_.ahead) {
      const Description &described = descriptions_.find(&a)->second;
      llvm::SmallVector<Value, 2> coordinates;
      for (unsigned d : {0u, 1u}) {
        Value v = a.block.start[d] ? map.lookupOrSelf(a.block.start[d]) : integer(b, 0);
        if (described.empty[d])
          v = arith::SelectOp::create(b, loc_, described.empty[d], integer(b, kFarBehind), v).op->result();
        coordinates.push_back(v);
      }
      ttng::AsyncTmaCopyGlobalToLocalOp::create(b, a.load->loc(), described.map, coordinates, {}, barrier,
                                                slotAt(b, a, slot), predicate, {});
    }
  }

  scf::ForOp loop_;
  Block &body_;
  const PipelinePlan &plan_;
  const TargetInfo &target_;
  Context &c_;
  Location loc_;
  Builder b_;                                      // around the loop
  llvm::DenseMap<const AheadLoad *, Value> rings_; // the buffers of all slots
  llvm::DenseMap<const AheadLoad *, Description> descriptions_;
  MemDescType barrier_; // of a slot, where blocks are copied
  Value barriers_;
  scf::IfOp guard_;
  scf::ForOp made_;
  llvm::SmallVector<unsigned, 8> results_; // of the loop that have uses
  llvm::SmallVector<Value, 8> finals_;     // what stands for them
  llvm::SmallVector<Value, 8> state_;   // the producer's carried values, as they stand for the iteration that it is at
  llvm::SmallVector<Value, 4> brought_; // by the loads through registers
  // Where a kind of carried values begins.
  unsigned own_ = 0, slotsAt_ = 0, valuesAt_ = 0, lastAt_ = 0, parityAt_ = 0;
  bool ring_ = false;                           // whether slots are told apart by carried numbers
  llvm::SmallVector<Value, 2> products_;        // PipelinePlan::overlapped: of the old body
  llvm::SmallVector<unsigned, 2> accumulators_; // the carried values that they become
};

} // namespace

void buildPipelinedLoop(scf::ForOp loop, const PipelinePlan &plan, const TargetInfo &target) {
  PipelinedLoop(loop, plan, target).build();
}

} // namespace tessera::transforms
