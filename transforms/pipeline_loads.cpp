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
//                       bytes) D = stages - 1; the buffer is a ring of D + 1 slots, from which conversions of what was
//                       loaded read their layouts directly:
//       prologue   D times: ttg.async_copy_global_to_local into slot 0, 1, …; ttg.async_commit_group
//       body       ttg.async_wait {num = D - 1}; copy into the slot that the last iteration read; commit; consumer on
//                  its slot
//       after      ttg.async_wait {num = 0}; ttg.local_dealloc
//       One barrier an iteration, after the wait, separates the slots' writers and readers (insert-barriers). Operands that
//       fit into registers all at once are read before the copies go out (fewOperandRegisters).
//       If the multiplications are those of warp groups (ttng.warp_group_dot) and do nothing but add to values that the
//       loop carries, they run in the background as well, one iteration's beside the next one's:
//           body   ttg.async_wait {num = D - 1}; consumer on its slot, not waited for; ttng.warp_group_dot_wait {pendings =
//                  the loop's}: those of the iteration before are done; copy into the slot that these read; commit
//       Here a second barrier stands before the copies. Waiting first for the next slot would save it, but starts the
//       copies a latency later: with three stages, 0.77 of the speed on an H200.
//   through registers   D = 1: the loads of the next iteration are issued at the start of the body, and what they brought
//                       is stored at its end, into the other of two slots (or the only one, if memory is short). Loads
//                       that do not go to a buffer are carried in registers. Here the last iteration, which brings
//                       nothing, comes after the loop, so that no predicate is needed; all of it is inside an scf.if
//                       where it is not known that there is an iteration:
//       if lb < ub   loads of the first iteration; loop to ub - s: loads, consumer, stores; consumer of the last one
//
// Loops with inner loops, with atomics or barriers, with stores to what the loads may read (reachDifferentMemory), and those
// whose producer would need shared memory or a reduction are left alone. The number of stages is the option, or a loop's `tt.num_stages`.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/conversion_plan.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/register_pressure.h"
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
  ttg::LocalAllocOp alloc;   // the buffer that it fills; null: the value itself is used
  // In the background, what else reads the slot: buffers of the same type, conversions of the value, in their layouts.
  llvm::SmallVector<ttg::LocalAllocOp, 2> copies;
  llvm::SmallVector<ttg::ConvertLayoutOp, 2> conversions;
  bool isBuffer(Operation *op) const { return (alloc && alloc.op == op) || llvm::any_of(copies, [&](auto &x) { return x.op == op; }); }
  bool isConversion(Operation *op) const { return llvm::any_of(conversions, [&](auto &x) { return x.op == op; }); }
  MemDescType slot;          // the type of one slot; null: carried in registers
  Value ring;                // the buffer of all slots
};

class LoopPipelining {
public:
  LoopPipelining(scf::ForOp loop, int64_t stages, const TargetInfo &target, const AxisInfoAnalysis &axis)
      : loop_(loop), body_(*loop.body().front()), stages_(stages), target_(target), axis_(axis), c_(loop->context()) {}

  /// Why the loop was left alone; empty where that is no loss (no multiplications).
  std::string why() const { return why_; }
  /// What was done.
  std::string done() const {
    std::string s = llvm::formatv("{0} of the loop's loads run {1} iteration{2} ahead of their multiplications, {3}", ahead_.size(), distance_, distance_ == 1 ? "" : "s",
                                  background_ ? "copied to shared memory in the background" : "through registers").str();
    if (bytes_) s += llvm::formatv("; {0} slot{1} take {2} bytes of shared memory", slots_, slots_ == 1 ? "" : "s", bytes_ * slots_);
    if (!background_ && bytes_ && slots_ == 1) s += "; two do not fit into half of what a block has";
    if (overlapped_) s += "; multiplications overlap the next iteration's";
    if (background_ && distance_ < stages_ - 1) s += llvm::formatv("; {0} stages were asked for, {1} fit into the {2} bytes that a block has", stages_, distance_ + 1, target_.sharedMemoryPerBlock);
    return s;
  }
  llvm::json::Object facts() const {
    return llvm::json::Object{{"loads", int64_t(ahead_.size())}, {"distance", distance_}, {"stages", stages_}, {"slots", slots_}, {"bytes", bytes_ * slots_}, {"background", background_}, {"overlapped", overlapped_}};
  }

  bool run() {
    if (!suitable() || !findLoads() || !findProducer() || !readsNoStores()) return false;
    background_ = target_.asyncCopyAnyDestination && llvm::all_of(ahead_, [&](auto &a) { return copies(a); });
    distance_ = background_ ? stages_ - 1 : 1;
    if (background_) findReaders();
    else if (!worthRegisters()) return false;
    if (!planBuffers()) return false;
    overlapped_ = background_ && onlyAccumulate();
    rewrite();
    return true;
  }

private:
  // ---- what can be pipelined ----

  static bool isDot(Operation *op) { return op->is<tt::DotOp>() || op->is<ttng::WarpGroupDotOp>(); }
  /// Whether what the buffer holds stays there while the next iteration begins: it is a slot of a ring, or from before the
  /// loop. A buffer that the body fills from registers is filled again by the next iteration, at once.
  bool outlivesIteration(Value buffer) {
    Operation *def = buffer.definingOp();
    while (def && def->block() == &body_ && def->is<ttg::MemdescTransOp>()) def = def->operand(0).definingOp();
    return !def || def->block() != &body_ || llvm::any_of(ahead_, [&](auto &a) { return a.isBuffer(def); });
  }
  /// Whether every multiplication is one of warp groups on shared memory that adds to a value of its own that the loop
  /// carries.
  bool onlyAccumulate() {
    for (auto &op : body_) {
      if (op.is<tt::DotOp>()) return false;
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (!outlivesIteration(dot.a()) || !outlivesIteration(dot.b())) return false;
      if (!dot.a().type().isa<MemDescType>() || dot.useC() || !dot.c().isBlockArgument() || dot.c().ownerBlock() != &body_ || !dot.c().hasOneUse() || !dot.d().hasOneUse()) return false;
      if (dot.c().index() == 0 || dot.d().users()[0] != body_.terminator() || body_.terminator()->operand(dot.c().index() - 1) != dot.d()) return false;
      // Sums of limited precision are added up after each product.
      if (dot.b().type().cast<MemDescType>().element().bitWidth() == 8 && dot.d().type().scalar().isFloat() && dot.maxNumImpreciseAcc() <= dot.b().type().cast<MemDescType>().dim(0)) return false;
    }
    return true;
  }

  /// Whether the operands are read by the threads and fit into registers all at once. Then reads come before the copies that
  /// go out in the same iteration: these keep the unit that does both busy for a while, and with few warps nothing else is
  /// there to be multiplied in the meantime.
  bool fewOperandRegisters() {
    int64_t registers = 0;
    for (auto &op : body_) {
      if (op.is<ttng::WarpGroupDotOp>()) return false;
      auto dot = op.dyn<tt::DotOp>();
      if (!dot) continue;
      for (Value v : {dot.a(), dot.b(), dot.d()}) {
        Operation *def = v.definingOp();
        if (v != dot.d() && (!def || !def->is<ttg::LocalLoadOp>() || def->block() != &body_)) return false;
        auto n = elementsPerThread(v.type());
        if (!n) return false;
        registers += registerBits(v.type().scalar(), *n) / 32;
      }
    }
    return registers && registers <= kFewRegisters; // none: the multiplications are in regions of the body
  }
  static constexpr int64_t kFewRegisters = 96, kFewWarps = 2;

  bool no(const llvm::Twine &reason) {
    why_ = reason.str();
    return false;
  }

  /// Whether all that the operation writes in global memory are plain stores; notes these.
  bool onlyStores(Operation *op) {
    if (!(effectsOf(op) & (kWritesGlobal | kSynchronizes))) return true;
    if (auto store = op->dyn<tt::StoreOp>()) {
      stores_.push_back(store);
      return true;
    }
    if (!op->numRegions() || op->info().effects & (kWritesGlobal | kSynchronizes)) return false;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto &inner : *b)
          if (!onlyStores(&inner)) return false;
    return true;
  }
  /// Whether no load that would run ahead reads what the body stores.
  bool readsNoStores() {
    llvm::SmallVector<tt::LoadOp, 8> early;
    for (auto &a : ahead_) early.push_back(a.load);
    for (auto *op : producer_)
      if (auto load = op->dyn<tt::LoadOp>()) early.push_back(load);
    for (auto store : stores_)
      for (auto load : early)
        if (!reachDifferentMemory(store.ptr(), load.ptr())) return no("'tt.store' at " + describe(store->loc()) + " may write what 'tt.load' at " + describe(load->loc()) + " reads");
    return true;
  }

  bool suitable() {
    bool dots = false;
    for (auto &op : body_) dots |= isDot(&op);
    if (!dots) return false;
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return no("it counts unsigned or has several blocks");
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (op.is<scf::ForOp>() || op.is<scf::WhileOp>() || op.is<tt::CallOp>()) return no("it holds '" + op.name() + "' at " + describe(op.loc()));
      if (!onlyStores(&op)) return no("'" + op.name() + "' at " + describe(op.loc()) + " writes memory or synchronizes");
      if (op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>()) return false; // done already
      for (auto &r : op.regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto &inner : *b)
            if (inner.is<scf::ForOp>() || inner.is<scf::WhileOp>() || inner.is<tt::CallOp>()) return no("it holds '" + inner.name() + "' at " + describe(inner.loc()));
    }
    return true;
  }

  /// The loads that reach an operand of a multiplication of the body, not through another multiplication.
  bool findLoads() {
    llvm::SetVector<Operation *> found;
    llvm::DenseSet<Operation *> seen;
    llvm::SmallVector<Value, 16> work;
    for (auto &op : body_)
      if (isDot(&op)) work.append({op.operand(0), op.operand(1)});
    while (!work.empty()) {
      Operation *def = work.pop_back_val().definingOp();
      if (!def || def->block() != &body_ || isDot(def) || !seen.insert(def).second) continue;
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
          if (auto alloc = a.load.result().users()[0]->dyn<ttg::LocalAllocOp>(); alloc && alloc->block() == &body_ && isOnlyRead(alloc.result()))
            a.alloc = alloc;
        ahead_.push_back(a);
      }
    return !ahead_.empty() || no("no load of the loop feeds a multiplication");
  }

  /// Whether it is a branch that only computes: the next tile's number, say, at the end of one in a loop over all tiles.
  static bool isPureBranch(Operation *op) {
    bool pure = op->is<scf::IfOp>();
    op->walk([&](Operation *inner) { pure &= inner == op || inner->is<scf::YieldOp>() || (isPure(inner) && !inner->numRegions() && !isDot(inner) && !inner->is<ttg::ConvertLayoutOp>() && !inner->is<tt::ReduceOp>() && !inner->is<tt::ScanOp>()); });
    return pure;
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
          if (ahead_.empty()) return no("each load's address depends on another load");
          again = true;
          break;
        }
        bool load = def->is<tt::LoadOp>() && !def->cast<tt::LoadOp>().isVolatile();
        if ((def->numRegions() && !isPureBranch(def)) || (effectsOf(def) && !load) || isDot(def) || def->is<ttg::LocalAllocOp>()) return no("an address or mask depends on '" + def->name() + "' at " + describe(def->loc()));
        producer_.insert(def);
        // A branch needs what its operations use, too; values of its own are in other blocks.
        def->walk([&](Operation *op) {
          for (auto o : op->operands()) work.push_back(o);
        });
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
    return bytesOfAccess(load) >= 4;
  }

  /// Bytes that one access of a thread brings.
  int64_t bytesOfAccess(tt::LoadOp load) const {
    auto type = tensorOf(load.result());
    int64_t bits = type.element().bitWidth(), best = 1;
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return bits / 8;
    for (unsigned d = 0; d < type.rank(); ++d) {
      int64_t run = 1;
      for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit)
        if (layout->basis(Dim::Register, bit, layouts::tensorDim(d)) == run) run *= 2;
      run = std::min(run, axis_.contiguousElements(load.ptr(), d));
      if (load.mask() && load.mask().type().isTensor()) run = std::min(run, axis_.maskConstancy(load.mask(), d));
      best = std::max(best, run);
    }
    return best * bits / 8;
  }

  /// Whether the threads should carry what the loads bring. Where the target could copy in the background but for accesses of
  /// less than a register, each of these takes a register, an address and a predicate. Assemblers then bring the loads down
  /// to where their values are stored, and nothing is gained: on an H200, products of bf16 with rows of odd length take 9.7 µs
  /// without, and 20.9 µs with 64 such loads in each thread.
  bool worthRegisters() {
    if (!target_.asyncCopyAnyDestination) return true;
    int64_t small = 0;
    for (auto &a : ahead_)
      if (int64_t bytes = bytesOfAccess(a.load); bytes < 4)
        if (auto n = elementsPerThread(tensorOf(a.load.result()))) small += *n * std::max<int64_t>(1, tensorOf(a.load.result()).element().bitWidth() / 8) / std::max<int64_t>(1, bytes);
    return small < kManySmallLoads || no("threads would carry what " + llvm::Twine(small) + " loads of less than 4 bytes bring");
  }
  static constexpr int64_t kManySmallLoads = 48;

  static bool isReadByFma(Value buffer) {
    return llvm::any_of(buffer.users(), [](Operation *u) {
      if (u->is<ttg::MemdescTransOp>()) return isReadByFma(u->result());
      auto *operand = u->is<ttg::LocalLoadOp>() ? layouts::dynCast<layouts::DotOperandEncoding>(tensorOf(u->result()).encoding()) : nullptr;
      return operand && operand->parent()->kind() == layouts::EncodingKind::Blocked;
    });
  }
  /// What reads the slots of copies in the background: what is used in several ways is in shared memory already.
  void findReaders() {
    for (auto &a : ahead_) {
      for (auto *user : a.load.result().users()) {
        if (user->block() != &body_) continue;
        if (auto c = user->dyn<ttg::ConvertLayoutOp>()) a.conversions.push_back(c);
        auto buffer = user->dyn<ttg::LocalAllocOp>();
        if (!buffer || buffer.op == a.alloc.op || buffer.result().type().cast<MemDescType>().isMutable() || !isOnlyRead(buffer.result())) continue;
        // By fma, a thread reads more of an operand than it can hold; the barrier behind the buffer's store keeps these reads late.
        if (isReadByFma(buffer.result()))
          continue;
        if (!a.alloc) a.alloc = buffer;
        else if (buffer.result().type() == a.alloc.result().type()) a.copies.push_back(buffer);
      }
    }
  }

  /// The layout of a slot whose value is read by plain loads. If it comes back to the threads that copied it, rows as they
  /// lie; else one in which both the copies and the reads of the first other layout are free of conflicts, if that leaves
  /// the copies whole, or rows swizzled in pieces of 16 bytes.
  const Encoding *slotLayout(Ahead &a) {
    auto type = tensorOf(a.load.result());
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return nullptr;
    int64_t bytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
    layouts::SwizzledSharedParams p;
    p.order = layouts::orderOf(*layout);
    p.cta = type.encoding()->cta();
    if (!a.conversions.empty() && type.rank() == 2) {
      auto into = tensorOf(a.conversions[0].result()).encoding()->toLinearLayout(type.shape());
      int64_t piece = 1; // what a thread copies at once
      for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register) && layout->basis(Dim::Register, bit, layouts::tensorDim(p.order[0])) == piece && piece * bytes < 16; ++bit) piece *= 2;
      if (into.ok())
        if (auto plan = layouts::planConversion(*layout, *into, type.element().bitWidth(), {target_.sharedMemoryBanks, target_.sharedMemoryBankBytes, target_.maxSharedAccessBytes}); plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory && plan->writeVector >= piece) {
          layouts::LinearLayout shared = plan->shared;
          if (!shared.hasInDim(Dim::Block)) {
            llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins(shared.ins());
            ins.push_back({Dim::Block, {}});
            shared = layouts::LinearLayout(ins, llvm::SmallVector<layouts::LinearLayout::OutDim, 4>(shared.outs()));
          }
          if (auto e = c_.encodings().getSharedLinear(shared); e.ok()) return *e;
        }
      int64_t rowBytes = type.dim(p.order[0]) * bytes, allBanks = int64_t(target_.sharedMemoryBanks) * target_.sharedMemoryBankBytes;
      p.vec = std::max<int64_t>(1, std::min<int64_t>(16 / bytes, type.dim(p.order[0])));
      p.perPhase = std::max<int64_t>(1, allBanks / rowBytes);
      p.maxPhase = std::max<int64_t>(1, std::min<int64_t>(std::min<int64_t>(8, std::min(rowBytes, allBanks) / (p.vec * bytes)), type.dim(p.order[1]) / p.perPhase));
    }
    auto e = c_.encodings().getSwizzledShared(p);
    return e.ok() ? *e : nullptr;
  }

  /// The buffers' types, and a distance for which they fit.
  bool planBuffers() {
    int64_t one = 0;
    for (auto &a : ahead_) {
      auto type = tensorOf(a.load.result());
      Attribute memory = OpaqueAttr::get(c_, "#ttg.shared_memory");
      const Encoding *shared = nullptr;
      if (a.alloc) shared = a.alloc.result().type().cast<MemDescType>().encoding();
      else if (background_) {
        shared = slotLayout(a);
        if (!shared) return false;
      } else continue;
      a.slot = MemDescType::get(type.shape(), type.element(), shared, memory, true);
      one += type.numElements() * type.element().bitWidth() / 8;
    }
    llvm::SmallVector<Operation *, 4> replaced;
    for (auto &a : ahead_)
      for (auto &op : body_)
        if (a.isBuffer(&op)) replaced.push_back(&op);
    int64_t room = target_.sharedMemoryPerBlock - sharedBytesDuring(loop_.op, replaced, target_);
    bytes_ = one;
    if (background_) {
      while (distance_ > 0 && (distance_ + 1) * one > room) --distance_;
      slots_ = distance_ + 1;
      return distance_ > 0 || no(llvm::formatv("two slots of {0} bytes do not fit into the {1} bytes of shared memory that are left", one, room).str());
    }
    slots_ = 2 * one <= room && 2 * one <= target_.sharedMemoryPerBlock / 2 ? 2 : 1;
    return one <= room || no(llvm::formatv("a slot of {0} bytes does not fit into the {1} bytes of shared memory that are left", one, room).str());
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
      Value exact = make<arith::MaxsiOp>(b, make<arith::SubiOp>(b, wide(bound), ahead), b.intConstant(loc_, c_.i64(), least));
      return arith::TrunciOp::create(b, loc_, type, exact).op->result();
    }
    Value before = make<arith::SubiOp>(b, bound, steps(b, iterations));
    return arith::SelectOp::create(b, loc_, compare(b, CmpIPredicate::Sgt, before, bound), b.intConstant(loc_, type, least), before).op->result();
  }
  Value slotAt(Builder &b, const Ahead &a, Value index) { return ttg::MemdescIndexOp::create(b, loc_, a.slot, a.ring, index).op->result(); }
  Value maskOf(Builder &b, Value ptr, Value mask, Value predicate) {
    if (!predicate) return mask;
    if (mask && !mask.type().isTensor() && ptr.type().isTensor()) return make<arith::AndiOp>(b, mask, predicate);
    if (ptr.type().isTensor()) predicate = tt::SplatOp::create(b, loc_, tensorOf(ptr).withElement(c_.i1()), predicate).result();
    return mask ? make<arith::AndiOp>(b, mask, predicate) : predicate;
  }

  /// The producer's operations on the values of `map`; those of its loads that only addresses need are masked
  /// by the predicate, if there is one.
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

  /// The loads, masked by the predicate if there is one. (A branch around them would merge their values element by element.)
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
    llvm::SmallVector<unsigned, 8> results; // those that have uses
    for (unsigned i = 0; i < loop_->numResults(); ++i)
      if (!loop_->result(i).useEmpty()) results.push_back(i);
    scf::IfOp any; // around everything, if there may be no iteration
    if (!background_ && !runs()) {
      llvm::SmallVector<Type, 8> types;
      for (unsigned i : results) types.push_back(loop_->result(i).type());
      any = scf::IfOp::create(b, loc_, types, compare(b, CmpIPredicate::Slt, loop_.lowerBound(), bound));
      b.setInsertionPointToEnd(any.thenRegion().addBlock());
    }
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
      Value predicate;
      if (background_) predicate = compare(b, CmpIPredicate::Slt, loop_.lowerBound(), boundBefore(b, d));
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
    unsigned lastAt = inits.size(); // the next iteration's number: that of the last one, after the loop
    if (!background_) inits.push_back(loop_.lowerBound());
    for (auto v : inits) types.push_back(v.type());
    Value stepsAhead = steps(b, distance_);
    // Where the loop runs at all, from a start that is not negative, the bound is positive and one step less is a number.
    bool simple = !background_ && splatOf(loop_.lowerBound(), [](const llvm::APInt &x) { return x.isNonNegative(); });
    Value boundAhead = simple ? make<arith::SubiOp>(b, bound, stepsAhead) : boundBefore(b, distance_);
    auto loop = scf::ForOp::create(b, loc_, types, loop_.lowerBound(), background_ ? bound : boundAhead, loop_.step(), inits, attrsOf(loop_.op));
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
    // The carried values that multiplications in the background add to.
    llvm::SmallVector<unsigned, 2> accumulators;
    if (overlapped_)
      for (auto &op : body_)
        if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) accumulators.push_back(dot.c().index() - 1);
    auto produce = [&] {
      if (background_) fills = block->arg(slotsAt + 2);
      Value predicate;
      if (background_) predicate = compare(in, CmpIPredicate::Slt, newIv, boundAhead);
      for (unsigned k = 0; k < state.size(); ++k) state[k] = block->arg(producerAt + k + 1);
      begin(ahead, make<arith::AddiOp>(in, newIv, stepsAhead));
      emitProducer(in, ahead, predicate);
      if (background_) emitCopies(in, ahead, predicate, fills);
      else brought = emitLoads(in, ahead, predicate);
      advance(ahead);
    };
    if (background_) token = ttg::AsyncWaitOp::create(in, loc_, {}, {in.i32Attr("num", distance_ - 1)}).op->result();
    bool readsFirst = background_ && !overlapped_ && distance_ > 1 && numWarps(loop_->module().op()) <= kFewWarps && fewOperandRegisters();
    if (!overlapped_ && !readsFirst) produce();
    llvm::SmallVector<Value, 4> values;
    for (unsigned i = valuesAt; i < lastAt; ++i) values.push_back(block->arg(i + 1));
    emitConsumer(in, map, reads, values, token);
    if (readsFirst) {
      in.setInsertionPoint(&*llvm::find_if(*block, [](Operation &op) { return op.is<tt::DotOp>(); }));
      produce();
      in.setInsertionPointToEnd(block);
    }
    if (overlapped_) {
      // What this iteration started goes on; what the one before it did is done.
      llvm::SmallVector<Value, 2> products;
      for (auto i : accumulators) products.push_back(map.lookupOrSelf(yield->operand(i)));
      auto done = waitFor(in, products, products.size());
      for (auto [k, i] : llvm::enumerate(accumulators)) map.map(yield->operand(i), done[k]);
      produce();
    }
    llvm::SmallVector<Value, 16> yields;
    for (auto v : yield->operands()) yields.push_back(map.lookupOrSelf(v));
    yields.append(state.begin(), state.end());
    Value nextReads = ring ? next(reads) : Value();
    if (ring) yields.push_back(nextReads);
    if (ring && background_) yields.push_back(next(fills));
    // The stores wait for the loads: they stay behind the multiplications.
    if (!background_ && target_.hasScheduleBarriers && llvm::any_of(ahead_, [](auto &a) { return bool(a.slot); })) rocdl::SchedBarrierOp::create(in, loc_, {in.i32Attr("mask", 0)});
    if (!background_)
      for (auto [a, v] : llvm::zip(ahead_, brought)) {
        if (a.slot) ttg::LocalStoreOp::create(in, loc_, v, slotAt(in, a, ring ? nextReads : reads));
        else yields.push_back(v);
      }
    if (!background_) yields.push_back(ahead.lookupOrSelf(iv));
    scf::YieldOp::create(in, yield->loc(), yields);

    b.setInsertionPointAfter(loop.op);
    llvm::SmallVector<Value, 8> finals(loop_->numResults());
    for (unsigned i : results) finals[i] = loop->result(i);
    if (overlapped_) {
      llvm::SmallVector<Value, 2> products;
      for (auto i : accumulators) products.push_back(loop->result(i));
      auto done = waitFor(b, products, 0);
      for (auto [k, i] : llvm::enumerate(accumulators)) finals[i] = done[k];
    }
    if (background_) {
      ttg::AsyncWaitOp::create(b, loc_, {}, {b.i32Attr("num", 0)});
    } else {
      // The last iteration.
      ValueMap last;
      last.map(iv, loop->result(lastAt));
      for (unsigned i = 0; i < own; ++i) last.map(body_.arg(i + 1), loop->result(i));
      values.clear();
      for (unsigned i = valuesAt; i < lastAt; ++i) values.push_back(loop->result(i));
      emitConsumer(b, last, ring ? loop->result(slotsAt) : integer(b, 0), values, Value());
      for (unsigned i : results) finals[i] = last.lookupOrSelf(yield->operand(i));
    }
    if (any) {
      llvm::SmallVector<Value, 8> then, otherwise;
      for (unsigned i : results) then.push_back(finals[i]), otherwise.push_back(loop_.initArgs()[i]);
      scf::YieldOp::create(b, yield->loc(), then);
      Builder other = Builder::atEnd(any.elseRegion().addBlock());
      scf::YieldOp::create(other, yield->loc(), otherwise);
      for (auto [k, i] : llvm::enumerate(results)) finals[i] = any->result(k);
      b.setInsertionPointAfter(any.op);
    }
    for (auto &a : ahead_)
      if (a.ring) ttg::LocalDeallocOp::create(b, loc_, a.ring);
    for (unsigned i : results) loop_->result(i).replaceAllUsesWith(finals[i]);
    if (!background_) eraseDead(*loop->block(), loop.op); // what the last iteration computed for a next one
    loop_->dropAllReferences();
    loop_->erase();
    simplify(loop);
  }

  /// Whether there surely is an iteration.
  bool runs() {
    auto lower = constantOf(loop_.lowerBound()), upper = constantOf(loop_.upperBound());
    auto *l = lower ? splatBits(lower) : nullptr, *u = upper ? splatBits(upper) : nullptr;
    return l && u && l->slt(*u);
  }
  static bool splatOf(Value v, llvm::function_ref<bool(const llvm::APInt &)> holds) {
    auto attr = constantOf(v);
    auto *bits = attr ? splatBits(attr) : nullptr;
    return bits && holds(*bits);
  }

  /// The body without the producer's loads, on the values of `map`: what they brought is in the slot `reads`, or in
  /// `values`, one for each load without a buffer.
  void emitConsumer(Builder &b, ValueMap &map, Value reads, llvm::ArrayRef<Value> values, Value token) {
    unsigned value = 0;
    llvm::DenseSet<Operation *> done; // loads of buffers that were made with the buffer's slot
    for (auto &op : body_) {
      if (&op == body_.terminator() || done.contains(&op)) continue;
      auto converted = llvm::find_if(ahead_, [&](auto &a) { return a.slot && a.isConversion(&op); });
      if (converted != ahead_.end()) {
        map.map(op.result(), ttg::LocalLoadOp::create(b, op.loc(), op.result().type(), slotAt(b, *converted, reads), token).result());
        continue;
      }
      auto it = llvm::find_if(ahead_, [&](auto &a) { return a.load.op == &op || a.isBuffer(&op); });
      if (it == ahead_.end()) {
        Operation *copy = b.clone(&op, map);
        if (overlapped_ && copy->is<ttng::WarpGroupDotOp>()) copy->setAttr("isAsync", IntegerAttr::getBool(c_, true));
        continue;
      }
      Ahead &a = *it;
      if (a.isBuffer(&op)) {
        Value view = slotAt(b, a, reads);
        map.map(op.result(), view); // for multiplications by warp groups and their views
        for (auto *user : op.result().users()) {
          if (!user->is<ttg::LocalLoadOp>()) continue;
          auto loaded = ttg::LocalLoadOp::create(b, user->loc(), user->result().type(), view, token);
          map.map(user->result(), loaded.result());
          done.insert(user);
        }
      } else if (!a.slot || llvm::any_of(op.result().users(), [&](Operation *u) { return !a.isBuffer(u) && !a.isConversion(u); })) {
        Value v = a.slot ? ttg::LocalLoadOp::create(b, op.loc(), op.result().type(), slotAt(b, a, reads), token).result() : values[value++];
        map.map(op.result(), v);
      }
    }
  }

  /// Erases what is without uses after an operation of the block.
  static void eraseDead(Block &block, Operation *after) {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto *op = after->next(); op; op = op->next()) ops.push_back(op);
    for (auto *op : llvm::reverse(ops))
      if (op != block.terminator() && isTriviallyDead(op)) op->erase();
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
  llvm::SmallVector<tt::StoreOp, 4> stores_; // of the body
  llvm::SetVector<Operation *> producer_;
  llvm::SetVector<unsigned> carried_;
  bool background_ = false, overlapped_ = false;
  int64_t distance_ = 1, slots_ = 1, bytes_ = 0; // bytes of one slot of all buffers
  std::string why_;
};

} // namespace

absl::StatusOr<bool> pipelineLoads(Module &m, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-pipeline needs a target");
    return absl::InvalidArgumentError("no target");
  }
  int64_t stages = c.options.getInt("num-stages", 3, /*least=*/1);
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  AxisInfoAnalysis axis(m);
  bool changed = false;
  for (auto f : loops) {
    auto own = f->attr<IntegerAttr>("tt.num_stages");
    int64_t n = own ? own.sext() : stages;
    if (n <= 1) continue;
    Location loc = f->loc();
    LoopPipelining pipelining(f, std::min<int64_t>(n, 16), *c.target, axis);
    if (pipelining.run()) {
      changed = true;
      c.remark({Remark::Applied, "", "LoopPipelined", loc, pipelining.done(), pipelining.facts()});
    } else if (!pipelining.why().empty()) {
      c.remark({Remark::Missed, "", "LoopPipelined", loc, "the loop's loads do not run ahead: " + pipelining.why(), {}});
    }
  }
  return changed;
}

} // namespace tessera::transforms
