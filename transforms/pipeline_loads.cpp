// Pass tritongpu-pipeline: the loads that feed a loop's multiplications run some iterations ahead of them.
//
//   scf.for %i = %lb to %ub step %s iter_args(%p = %p0, %acc = %acc0) {
//     %x = tt.load %p
//     %m = ttg.local_alloc %x
//     %a = ttg.local_load %m                                        (and %b likewise)
//     %d = tt.dot %a, %b, %acc
//     %q = tt.addptr %p, %k
//     scf.yield %q, %d
//   }
//
// The body is cut in two: the *producer* (the loads and what their addresses and masks are computed from, which must not
// depend on the rest) and the consumer. The producer of iteration i + D runs in iteration i, on carried values of its own
// that are D iterations ahead; before the loop it runs D times. Where iterations end is told by a predicate, i < ub - D·s,
// which masks its loads, so that any number of iterations is right, none included. There are two ways:
//
//   in the background   (targets whose lanes copy global to shared memory by themselves, loads of at least 4 contiguous
//                       bytes) D = stages - 1; the buffer is a ring of D + 1 slots:
//       prologue   D times: ttg.async_copy_global_to_local into slot 0, 1, …; ttg.async_commit_group
//       body       ttg.async_wait {num = D - 1}; copy into the slot that the last iteration read; commit; consumer on
//                  its slot
//       after      ttg.async_wait {num = 0}; ttg.local_dealloc
//       One barrier an iteration, after the wait, separates the slots' writers and readers (insert-barriers).
//   through registers   D = 1: the loads of the next iteration are issued at the start of the body, and what they brought
//                       is stored at its end, into the other of two slots (or the only one, if memory is short). Loads
//                       that do not go to a buffer are carried in registers.
//
// Loops with inner loops, with writes to global memory or barriers, and those whose producer would need shared memory or
// a reduction are left alone. The number of stages is the option, or a loop's `tt.num_stages`.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/passes.h"
#include "transforms/shared_allocation.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

TensorType tensorOf(Value v) { return v.type().cast<TensorType>(); }

/// One load that runs ahead.
struct Ahead {
  tt::LoadOp load;
  ttg::LocalAllocOp alloc;   // the buffer that it fills and nothing else uses; null: the value itself is used
  MemDescType slot;          // the type of one slot; null: carried in registers
  Value ring;                // the buffer of all slots
};

class LoopPipelining {
public:
  LoopPipelining(scf::ForOp loop, int64_t stages, const TargetInfo &target, const AxisInfoAnalysis &axis)
      : loop_(loop), body_(*loop.body().front()), stages_(stages), target_(target), axis_(axis), c_(loop->context()) {}

  bool run() {
    if (!suitable() || !findLoads() || !findProducer()) return false;
    background_ = target_.asyncCopyAnyDestination && llvm::all_of(ahead_, [&](auto &a) { return copies(a); });
    distance_ = background_ ? stages_ - 1 : 1;
    if (!planBuffers()) return false;
    rewrite();
    return true;
  }

private:
  // ---- what can be pipelined ----

  bool suitable() {
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return false;
    bool dots = false;
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (op.is<scf::ForOp>() || op.is<scf::WhileOp>() || op.is<tt::CallOp>()) return false;
      if (effectsOf(&op) & (kWritesGlobal | kSynchronizes)) return false;
      if (op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>()) return false; // done already
      dots |= op.is<tt::DotOp>();
      for (auto &r : op.regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto &inner : *b)
            if (inner.is<scf::ForOp>() || inner.is<scf::WhileOp>() || inner.is<tt::CallOp>()) return false;
    }
    return dots;
  }

  /// The loads that reach an operand of a multiplication of the body, not through another multiplication.
  bool findLoads() {
    llvm::SetVector<Operation *> found;
    llvm::DenseSet<Operation *> seen;
    llvm::SmallVector<Value, 16> work;
    for (auto &op : body_)
      if (auto d = op.dyn<tt::DotOp>()) work.append({d.a(), d.b()});
    while (!work.empty()) {
      Operation *def = work.pop_back_val().definingOp();
      if (!def || def->block() != &body_ || def->is<tt::DotOp>() || !seen.insert(def).second) continue;
      if (auto load = def->dyn<tt::LoadOp>()) {
        if (load.ptr().type().isTensor() && !load.isVolatile() && load.ptr().type().scalar().cast<PointerType>().pointee().bitWidth() >= 8) found.insert(def);
        continue;
      }
      if (def->numRegions()) continue;
      for (auto v : def->operands()) work.push_back(v);
    }
    for (auto &op : body_) // in the order of the text
      if (found.contains(&op)) {
        Ahead a;
        a.load = op.cast<tt::LoadOp>();
        if (a.load.result().hasOneUse())
          if (auto alloc = a.load.result().users()[0]->dyn<ttg::LocalAllocOp>(); alloc && alloc->block() == &body_ && llvm::all_of(alloc.result().users(), [](Operation *u) { return u->is<ttg::LocalLoadOp>(); }))
            a.alloc = alloc;
        ahead_.push_back(a);
      }
    return !ahead_.empty();
  }

  /// What addresses and masks are made from, around the loop: fills producer_ (operations of the body) and carried_
  /// (numbers of the carried values that it needs).
  bool findProducer() {
    while (true) {
      producer_.clear(), carried_.clear();
      llvm::SmallVector<Value, 16> work;
      for (auto &a : ahead_)
        for (auto v : a.load->operands()) work.push_back(v);
      bool again = false;
      while (!work.empty() && !again) {
        Value v = work.pop_back_val();
        if (v.isBlockArgument()) {
          if (v.ownerBlock() == &body_ && v.index() > 0 && carried_.insert(v.index() - 1)) work.push_back(body_.terminator()->operand(v.index() - 1));
          continue;
        }
        Operation *def = v.definingOp();
        if (def->block() != &body_ || producer_.contains(def)) continue;
        // A load that another load's address needs is done when the address is.
        auto it = llvm::find_if(ahead_, [&](auto &a) { return a.load.op == def; });
        if (it != ahead_.end()) {
          ahead_.erase(it);
          if (ahead_.empty()) return false;
          again = true;
          break;
        }
        bool load = def->is<tt::LoadOp>() && !def->cast<tt::LoadOp>().isVolatile();
        if (def->numRegions() || (effectsOf(def) && !load) || def->is<tt::DotOp>() || def->is<ttg::LocalAllocOp>()) return false;
        producer_.insert(def);
        for (auto o : def->operands()) work.push_back(o);
      }
      if (!again) return true;
    }
  }

  /// Whether a copy in the background can do the load: no value for masked-off elements but zero, pieces of 4 bytes.
  bool copies(const Ahead &a) {
    auto load = a.load;
    if (load.other()) {
      auto attr = constantOf(load.other());
      auto *bits = attr ? splatBits(attr) : nullptr;
      if (!bits || !bits->isZero()) return false;
    }
    auto type = tensorOf(load.result());
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok() || !layout->inDimBits(Dim::Register)) return type.element().bitWidth() >= 32;
    int64_t best = 1;
    for (unsigned d = 0; d < type.rank(); ++d) {
      int64_t run = 1;
      for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit)
        if (layout->basis(Dim::Register, bit, layouts::tensorDim(d)) == run) run *= 2;
      run = std::min(run, axis_.contiguousElements(load.ptr(), d));
      if (load.mask() && load.mask().type().isTensor()) run = std::min(run, axis_.maskConstancy(load.mask(), d));
      best = std::max(best, run);
    }
    return best * type.element().bitWidth() >= 32;
  }

  /// The buffers' types, and a distance for which they fit.
  bool planBuffers() {
    int64_t one = 0, others = 0;
    for (auto &a : ahead_) {
      auto type = tensorOf(a.load.result());
      Attribute memory = OpaqueAttr::get(c_, "#ttg.shared_memory");
      const Encoding *shared = nullptr;
      if (a.alloc) shared = a.alloc.result().type().cast<MemDescType>().encoding();
      else if (background_) {
        // The value comes back to the threads that copied it: rows as they lie.
        layouts::SwizzledSharedParams p;
        auto layout = *type.encoding()->toLinearLayout(type.shape());
        for (Dim in : {Dim::Register, Dim::Lane, Dim::Warp})
          for (unsigned bit = 0; bit < layout.inDimBits(in); ++bit)
            for (unsigned d = 0; d < type.rank(); ++d)
              if (layout.basis(in, bit)[d] && !llvm::is_contained(p.order, int32_t(d))) p.order.push_back(d);
        for (unsigned d = type.rank(); d-- > 0;)
          if (!llvm::is_contained(p.order, int32_t(d))) p.order.push_back(d);
        p.cta = type.encoding()->cta();
        auto e = c_.encodings().getSwizzledShared(p);
        if (!e.ok()) return false;
        shared = *e;
      } else continue;
      a.slot = MemDescType::get(type.shape(), type.element(), shared, memory, true);
      one += type.numElements() * type.element().bitWidth() / 8;
    }
    Operation *func = loop_->parentOfType<tt::FuncOp>().op;
    int64_t scratch = 0;
    func->walk([&](Operation *op) {
      if (auto x = op->dyn<ttg::LocalAllocOp>()) {
        auto type = x.result().type().cast<MemDescType>();
        if (llvm::none_of(ahead_, [&](auto &a) { return a.alloc.op == op; })) others += type.numElements() * std::max<int64_t>(8, type.element().bitWidth()) / 8;
      } else if (loop_->isAncestorOf(op)) {
        scratch = std::max(scratch, scratchOf(op, target_).bytes);
      }
    });
    int64_t room = target_.sharedMemoryPerBlock - others - scratch;
    if (background_) {
      while (distance_ > 0 && (distance_ + 1) * one > room) --distance_;
      slots_ = distance_ + 1;
      return distance_ > 0;
    }
    slots_ = 2 * one <= room && 2 * one <= target_.sharedMemoryPerBlock / 2 ? 2 : 1;
    return one <= room;
  }

  // ---- rewriting ----

  Value integer(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i32(), v); }
  template <class OpT> Value make(Builder &b, Value x, Value y) { return OpT::create(b, loc_, x, y).op->result(); }
  Value compare(Builder &b, CmpIPredicate p, Value x, Value y) {
    return arith::CmpiOp::create(b, loc_, x, y, {b.named("predicate", IntegerAttr::get(c_.i64(), int(p)))}).op->result();
  }
  /// iterations · step
  Value steps(Builder &b, int64_t iterations) {
    if (iterations == 1) return loop_.step();
    return make<arith::MuliOp>(b, loop_.step(), b.intConstant(loc_, loop_.step().type(), iterations));
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
      Value exact = make<arith::MaxsiOp>(b, make<arith::SubiOp>(b, wide(bound), ahead), b.intConstant(loc_, c_.i64(), least));
      return arith::TrunciOp::create(b, loc_, type, exact).op->result();
    }
    Value before = make<arith::SubiOp>(b, bound, steps(b, iterations));
    return arith::SelectOp::create(b, loc_, compare(b, CmpIPredicate::Sgt, before, bound), b.intConstant(loc_, type, least), before).op->result();
  }
  Value slotAt(Builder &b, const Ahead &a, Value index) { return ttg::MemdescIndexOp::create(b, loc_, a.slot, a.ring, index).op->result(); }
  Value maskOf(Builder &b, Value ptr, Value mask, Value predicate) {
    if (mask && !mask.type().isTensor() && ptr.type().isTensor()) return make<arith::AndiOp>(b, mask, predicate);
    if (ptr.type().isTensor()) predicate = tt::SplatOp::create(b, loc_, tensorOf(ptr).withElement(c_.i1()), predicate).result();
    return mask ? make<arith::AndiOp>(b, mask, predicate) : predicate;
  }

  /// The producer's operations on the values of `map`; those of its loads that only addresses need are masked.
  void emitProducer(Builder &b, ValueMap &map, Value predicate) {
    for (auto &op : body_) {
      if (!producer_.contains(&op)) continue;
      if (auto load = op.dyn<tt::LoadOp>()) {
        Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
        auto copy = tt::LoadOp::create(b, op.loc(), op.result().type(), ptr, maskOf(b, ptr, mask, predicate), load.other() ? map.lookupOrSelf(load.other()) : Value(), attrsOf(load.op));
        map.map(op.result(), copy.result());
        continue;
      }
      b.clone(&op, map);
    }
  }
  static llvm::SmallVector<NamedAttribute, 4> attrsOf(Operation *op) { return llvm::SmallVector<NamedAttribute, 4>(op->attrs().begin(), op->attrs().end()); }

  /// Copies into the slot and closes their group.
  void emitCopies(Builder &b, ValueMap &map, Value predicate, Value slot) {
    llvm::SmallVector<Value, 4> tokens;
    for (auto &a : ahead_) {
      auto load = a.load;
      Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
      llvm::SmallVector<NamedAttribute, 4> attrs;
      for (auto &x : load->attrs())
        if (x.name == "cache" || x.name == "evict") attrs.push_back(x);
      tokens.push_back(ttg::AsyncCopyGlobalToLocalOp::create(b, load->loc(), ptr, slotAt(b, a, slot), maskOf(b, ptr, mask, predicate), load.other() ? map.lookupOrSelf(load.other()) : Value(), attrs).token());
    }
    ttg::AsyncCommitGroupOp::create(b, loc_, tokens);
  }

  /// The loads, masked by the predicate. (A branch around them would merge their values element by element.)
  llvm::SmallVector<Value, 4> emitLoads(Builder &b, ValueMap &map, Value predicate) {
    llvm::SmallVector<Value, 4> values;
    for (auto &a : ahead_) {
      auto load = a.load;
      Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value();
      values.push_back(tt::LoadOp::create(b, load->loc(), load.result().type(), ptr, maskOf(b, ptr, mask, predicate), load.other() ? map.lookupOrSelf(load.other()) : Value(), attrsOf(load.op)).result());
    }
    return values;
  }

  void rewrite() {
    loc_ = loop_->loc();
    Builder b(loop_.op);
    for (auto &a : ahead_) {
      if (!a.slot) continue;
      llvm::SmallVector<int64_t, 4> shape(a.slot.shape());
      shape.insert(shape.begin(), slots_);
      a.ring = ttg::LocalAllocOp::create(b, a.load->loc(), MemDescType::get(shape, a.slot.element(), a.slot.encoding(), a.slot.memorySpace(), true), Value()).result();
    }
    // The producer's carried values, as they stand for the iteration it is at.
    llvm::SmallVector<Value, 8> state;
    for (auto i : carried_) state.push_back(loop_.initArgs()[i]);
    Operation *yield = body_.terminator();
    Value iv = body_.arg(0), bound = loop_.upperBound();
    auto advance = [&](ValueMap &map) {
      for (auto [k, i] : llvm::enumerate(carried_)) state[k] = map.lookupOrSelf(yield->operand(i));
    };
    auto begin = [&](ValueMap &map, Value at) {
      map.map(iv, at);
      for (auto [k, i] : llvm::enumerate(carried_)) map.map(body_.arg(i + 1), state[k]);
    };
    llvm::SmallVector<Value, 4> brought;
    for (int64_t d = 0; d < distance_; ++d) {
      ValueMap map;
      Value at = d ? make<arith::AddiOp>(b, loop_.lowerBound(), steps(b, d)) : loop_.lowerBound();
      begin(map, at);
      Value predicate = compare(b, CmpIPredicate::Slt, loop_.lowerBound(), boundBefore(b, d));
      emitProducer(b, map, predicate);
      if (background_) emitCopies(b, map, predicate, integer(b, d));
      else {
        brought = emitLoads(b, map, predicate);
        for (auto [a, v] : llvm::zip(ahead_, brought))
          if (a.slot) ttg::LocalStoreOp::create(b, loc_, v, slotAt(b, a, integer(b, 0)));
      }
      advance(map);
    }

    // The loop: its own carried values, the producer's, the slot to read (and to fill), values carried in registers.
    llvm::SmallVector<Value, 16> inits = loop_.initArgs().vec().size() ? llvm::SmallVector<Value, 16>(loop_.initArgs().begin(), loop_.initArgs().end()) : llvm::SmallVector<Value, 16>();
    unsigned own = inits.size(), producerAt = own, slotsAt = own + state.size();
    inits.append(state.begin(), state.end());
    bool ring = slots_ > 1 && llvm::any_of(ahead_, [](auto &a) { return bool(a.slot); });
    if (ring) inits.push_back(integer(b, 0));
    if (ring && background_) inits.push_back(integer(b, distance_));
    unsigned valuesAt = inits.size();
    if (!background_)
      for (auto [a, v] : llvm::zip(ahead_, brought))
        if (!a.slot) inits.push_back(v);
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());
    Value boundAhead = boundBefore(b, distance_), stepsAhead = steps(b, distance_);
    auto loop = scf::ForOp::create(b, loc_, types, loop_.lowerBound(), bound, loop_.step(), inits, attrsOf(loop_.op));
    Block *block = loop.body().addBlock();
    Value newIv = block->addArg(iv.type(), iv.loc());
    for (auto [i, t] : llvm::enumerate(types)) block->addArg(t, i < own ? body_.arg(i + 1).loc() : loc_);
    Builder in = Builder::atEnd(block);

    ValueMap map, ahead;
    map.map(iv, newIv);
    for (unsigned i = 0; i < own; ++i) map.map(body_.arg(i + 1), block->arg(i + 1));
    auto next = [&](Value slot) {
      Value up = make<arith::AddiOp>(in, slot, integer(in, 1));
      return arith::SelectOp::create(in, loc_, compare(in, CmpIPredicate::Sge, up, integer(in, slots_)), integer(in, 0), up).op->result();
    };
    Value reads = ring ? block->arg(slotsAt + 1) : integer(in, 0), fills;
    Value token;
    if (background_) token = ttg::AsyncWaitOp::create(in, loc_, {}, {in.i32Attr("num", distance_ - 1)}).op->result();
    Value predicate = compare(in, CmpIPredicate::Slt, newIv, boundAhead);
    for (unsigned k = 0; k < state.size(); ++k) state[k] = block->arg(producerAt + k + 1);
    begin(ahead, make<arith::AddiOp>(in, newIv, stepsAhead));
    emitProducer(in, ahead, predicate);
    if (background_) {
      fills = block->arg(slotsAt + 2);
      emitCopies(in, ahead, predicate, fills);
    } else {
      brought = emitLoads(in, ahead, predicate);
    }
    advance(ahead);
    // The consumer.
    unsigned value = 0;
    for (auto &op : body_) {
      if (&op == yield) continue;
      if (done_.contains(&op)) continue;
      auto it = llvm::find_if(ahead_, [&](auto &a) { return a.load.op == &op || a.alloc.op == &op; });
      if (it == ahead_.end()) {
        in.clone(&op, map);
        continue;
      }
      Ahead &a = *it;
      if (a.alloc.op == &op) {
        Value view = slotAt(in, a, reads);
        for (auto *user : op.result().users()) {
          auto loaded = ttg::LocalLoadOp::create(in, user->loc(), user->result().type(), view, token);
          map.map(user->result(), loaded.result());
          done_.insert(user);
        }
      } else if (!a.alloc) {
        Value v = a.slot ? ttg::LocalLoadOp::create(in, op.loc(), op.result().type(), slotAt(in, a, reads), token).result() : Value(block->arg(valuesAt + value++ + 1));
        map.map(op.result(), v);
      }
    }
    llvm::SmallVector<Value, 16> yields;
    for (auto v : yield->operands()) yields.push_back(map.lookupOrSelf(v));
    yields.append(state.begin(), state.end());
    Value nextReads = ring ? next(reads) : Value();
    if (ring) yields.push_back(nextReads);
    if (ring && background_) yields.push_back(next(fills));
    if (!background_)
      for (auto [a, v] : llvm::zip(ahead_, brought)) {
        if (a.slot) ttg::LocalStoreOp::create(in, loc_, v, slotAt(in, a, ring ? nextReads : reads));
        else yields.push_back(v);
      }
    scf::YieldOp::create(in, yield->loc(), yields);

    b.setInsertionPointAfter(loop.op);
    if (background_) ttg::AsyncWaitOp::create(b, loc_, {}, {b.i32Attr("num", 0)});
    for (auto &a : ahead_)
      if (a.ring) ttg::LocalDeallocOp::create(b, loc_, a.ring);
    for (unsigned i = 0; i < own; ++i) loop_->result(i).replaceAllUsesWith(loop->result(i));
    loop_->dropAllReferences();
    loop_->erase();
    simplify(loop);
  }

  /// Takes out what only the loads used: their own carried values and what they were computed from.
  void simplify(scf::ForOp loop) {
    Block &block = *loop.body().front();
    Operation *yield = block.terminator();
    auto sweep = [&] {
      for (bool again = true; again;) {
        again = false;
        llvm::SmallVector<Operation *, 64> ops;
        for (auto &op : block) ops.push_back(&op);
        for (auto *op : llvm::reverse(ops))
          if (op != yield && isTriviallyDead(op)) op->erase(), again = true;
      }
    };
    sweep();
    // A carried value is needed if its result is, or something in the body other than its own update.
    unsigned n = loop->numResults();
    llvm::SmallVector<bool, 16> needed(n, false);
    llvm::DenseSet<Value> live;
    llvm::SmallVector<Value, 32> work;
    auto use = [&](Value v) {
      if (live.insert(v).second) work.push_back(v);
    };
    auto need = [&](unsigned i) {
      if (needed[i]) return;
      needed[i] = true;
      use(yield->operand(i));
    };
    for (unsigned i = 0; i < n; ++i)
      if (!loop->result(i).useEmpty()) need(i);
    for (auto &op : block) {
      if (&op == yield || (isPure(&op) && !op.numRegions())) continue;
      op.walk([&](Operation *inner) {
        for (auto v : inner->operands()) use(v);
      });
    }
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (v.isBlockArgument()) {
        if (v.ownerBlock() == &block && v.index() > 0) need(v.index() - 1);
        continue;
      }
      if (v.definingOp()->block() == &block)
        v.definingOp()->walk([&](Operation *inner) {
          for (auto o : inner->operands()) use(o);
        });
    }
    if (llvm::all_of(needed, [](bool x) { return x; })) return;
    llvm::SmallVector<Value, 16> inits, yields;
    llvm::SmallVector<Type, 16> types;
    for (unsigned i = 0; i < n; ++i)
      if (needed[i]) {
        inits.push_back(loop.initArgs()[i]);
        types.push_back(inits.back().type());
        yields.push_back(yield->operand(i));
      }
    // What updates the others goes first, then they have no uses but the terminator's.
    Builder b(loop.op);
    Builder last(yield);
    scf::YieldOp::create(last, yield->loc(), yields);
    yield->erase();
    for (bool again = true; again;) {
      again = false;
      llvm::SmallVector<Operation *, 64> ops;
      for (auto &op : block) ops.push_back(&op);
      for (auto *op : llvm::reverse(ops))
        if (op != block.terminator() && isTriviallyDead(op)) op->erase(), again = true;
    }
    auto slim = scf::ForOp::create(b, loop->loc(), types, loop.lowerBound(), loop.upperBound(), loop.step(), inits, attrsOf(loop.op));
    slim.body().takeBody(loop.body());
    for (unsigned i = n; i-- > 0;)
      if (!needed[i]) slim.body().front()->eraseArg(i + 1);
    for (unsigned i = 0, k = 0; i < n; ++i)
      if (needed[i]) loop->result(i).replaceAllUsesWith(slim->result(k++));
    loop->erase();
  }

  scf::ForOp loop_;
  Block &body_;
  int64_t stages_;
  const TargetInfo &target_;
  const AxisInfoAnalysis &axis_;
  Context &c_;
  Location loc_;
  std::vector<Ahead> ahead_;
  llvm::SetVector<Operation *> producer_;
  llvm::SetVector<unsigned> carried_;
  llvm::DenseSet<Operation *> done_; // loads of buffers that were made with the buffer's slot
  bool background_ = false;
  int64_t distance_ = 1, slots_ = 1;
};

} // namespace

absl::StatusOr<bool> pipelineLoads(Module &m, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-pipeline needs a target");
    return absl::InvalidArgumentError("no target");
  }
  int64_t stages = c.options.getInt("num-stages", 3);
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  AxisInfoAnalysis axis(m);
  bool changed = false;
  for (auto f : loops) {
    auto own = f->attr<IntegerAttr>("tt.num_stages");
    int64_t n = own ? own.sext() : stages;
    if (n > 1) changed |= LoopPipelining(f, std::min<int64_t>(n, 16), *c.target, axis).run();
  }
  return changed;
}

} // namespace tessera::transforms
