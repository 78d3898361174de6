// Prefetch of operands from shared memory to registers. At the head of an iteration a multiplication waits for the
// barrier and then for its first operands; so the first step along k of the next iteration's operands is loaded at
// the end of this one, behind the same barrier, and carried in registers:
//
//   scf.for … iter_args(%acc, %s) {                      %a0 = first step of A[0], %b0 = of B[0]
//     ttg.async_wait                                     scf.for … iter_args(%acc, %s, %a = %a0, %b = %b0) {
//     %a = ttg.local_load A[%s]                            %a' = ttg.local_load the rest of A[%s]
//     %b = ttg.local_load B[%s]                    →       %b' = ttg.local_load the rest of B[%s]
//     %d = tt.dot %a, %b, %acc                             %c = tt.dot %a, %b, %acc
//     scf.yield %d, next(%s)                               %d = tt.dot %a', %b', %c
//   }                                                      ttg.async_wait
//                                                          %an = first step of A[next(%s)], %bn = of B[next(%s)]
//                                                          scf.yield %d, next(%s), %an, %bn
//                                                        }
//
// Done for mma.sync, where both operands come from slots of rings that the pipeline filled (wgmma reads shared memory
// by itself), unless the accumulators leave no registers. What is read at the end of an iteration must be what the
// next one would read: so nothing between its head and its loads may write the slots or wait for others. After the
// last iteration a slot is read that nothing may have filled; it must be one of the ring's. What is read is not used,
// and copies into the rings that are masked off write zeros, so that it is something.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/dot_operand.h"
#include "layouts/nvidia_mma.h"
#include "transforms/analyses/ring_step.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

namespace {

/// Accumulators that a thread may have. Measured on an H100 (mma.sync code of sm_80, 3 stages, times with and
/// without): f16 with 64 accumulators 3 to 5 % less time; with 128 from 2 % less to 6 % more; tf32 with 128, whose
/// operands come in more and narrower loads, 9 % less.
constexpr int64_t kMostAccumulators = 64, kMostAccumulatorsOf32Bits = 128;

/// An operand: `load` of a view (perhaps transposed) of the slot `index` of a ring.
struct Operand {
  ttg::LocalLoadOp load;
  ttg::MemdescIndexOp slot;
  ttg::MemdescTransOp trans; // of the slot, or null
  unsigned k = 0;            // the dimension that is summed over
  unsigned carried = 0;      // where the loop carries the slot's number
};

class Prefetching {
public:
  explicit Prefetching(scf::ForOp loop) : loop_(loop), body_(*loop.body().front()), loc_(loop->loc()) {}

  bool run() {
    if (!loop_.body().hasOneBlock()) return false;
    for (auto &op : body_)
      if (auto dot = op.dyn<tt::DotOp>()) collect(dot);
    if (found_.empty() || !findWait() || !mayReadEarlier()) return false;
    fillWithZeros();
    rewrite();
    return true;
  }

private:
  struct Found {
    tt::DotOp dot;
    Operand a, b;
    int64_t step = 0; // of k
  };

  void collect(tt::DotOp dot) {
    auto acc = dot.d().type().cast<TensorType>();
    auto *mma = acc.encoding() ? layouts::dynCast<layouts::NvidiaMmaEncoding>(acc.encoding()) : nullptr;
    if (!mma || mma->versionMajor() != 2 || acc.rank() != 2) return;
    auto type = dot.a().type().cast<TensorType>();
    int64_t bits = type.element().bitWidth(), step = 256 / bits, k = type.dim(1); // of one instruction
    auto layout = mma->toLinearLayout(acc.shape());
    if (!layout.ok() || layout->inDimSize(Dim::Register) * std::max<int64_t>(1, acc.element().bitWidth() / 32) >
                            (bits < 32 ? kMostAccumulators : kMostAccumulatorsOf32Bits))
      return;
    auto a = operand(dot.a(), 1), b = operand(dot.b(), 0);
    if (!a || !b) return;
    // A thread may hold more consecutive elements than one instruction takes: then a step is of several.
    for (auto &o : {*a, *b}) {
      auto *layout =
          layouts::dynCast<layouts::DotOperandEncoding>(o.load.result().type().cast<TensorType>().encoding());
      if (!layout) return;
      if (bits < 64) step = std::max<int64_t>(step, 8 * layout->kWidth());
    }
    if (k < 2 * step) return;
    found_.push_back({dot, *a, *b, step});
  }

  std::optional<Operand> operand(Value v, unsigned k) {
    Operand o;
    o.k = k;
    o.load = v.definedBy<ttg::LocalLoadOp>();
    if (!o.load || o.load->block() != &body_ || !v.hasOneUse()) return {};
    Value view = o.load.src();
    if ((o.trans = view.definedBy<ttg::MemdescTransOp>())) view = o.trans.src();
    o.slot = view.definedBy<ttg::MemdescIndexOp>();
    if (!o.slot || !isRing(o.slot.src())) return {};
    Value index = o.slot.index();
    if (!index.isBlockArgument() || index.ownerBlock() != &body_ || index.index() == 0) return {};
    llvm::SmallVector<Value, 4> around;
    if (!isSlot(index, o.slot.src().type().cast<MemDescType>().dim(0), around)) return {};
    o.carried = index.index() - 1;
    return o;
  }
  bool isRing(Value v) {
    auto alloc = v.definedBy<ttg::LocalAllocOp>();
    return alloc && !alloc.src() && !loop_->isAncestorOf(alloc.op);
  }

  /// Whether an index is one of a ring's, whatever iteration it is of. `around`: what loops carry and is looked at
  /// already.
  static bool isSlot(Value index, int64_t slots, llvm::SmallVectorImpl<Value> &around) {
    if (auto c = intConstantOf(index)) return *c >= 0 && *c < slots;
    if (auto loop = index.definedBy<scf::ForOp>()) index = loop.body().front()->arg(index.index() + 1);
    if (index.isBlockArgument()) {
      auto *parent = index.ownerBlock()->parentOp();
      auto loop = parent ? parent->dyn<scf::ForOp>() : scf::ForOp();
      if (!loop || index.index() == 0 || !loop.body().hasOneBlock()) return false;
      if (llvm::is_contained(around, index)) return true;
      around.push_back(index);
      return isSlot(loop.initArgs()[index.index() - 1], slots, around) &&
             isSlot(index.ownerBlock()->terminator()->operand(index.index() - 1), slots, around);
    }
    auto step = ringStep(index);
    return step && step->slots <= slots && isSlot(step->from, slots, around);
  }

  /// Whether, from the head of the body to the last of the loads, nothing makes what the slots hold but the copies
  /// that the wait waited for; and the wait tells nobody else than loads.
  bool mayReadEarlier() {
    llvm::DenseSet<Operation *> loads;
    llvm::DenseSet<Value> rings;
    for (auto &f : found_)
      for (auto *o : {&f.a, &f.b}) loads.insert(o->load.op), rings.insert(o->slot.src());
    for (auto it = body_.begin(); !loads.empty(); ++it) {
      Operation *op = &*it;
      if (loads.erase(op) || op == wait_.op || op->is<ttg::AsyncCommitGroupOp>()) continue;
      uint8_t effects = effectsOf(op);
      if (effects & kSynchronizes) return false;
      if (!(effects & kWritesShared) || op->is<ttg::AsyncCopyGlobalToLocalOp>())
        continue; // a copy is not waited for yet
      auto store = op->dyn<ttg::LocalStoreOp>();
      Value to = store ? store.dst() : Value();
      while (to && to.definingOp() && to.definingOp()->is<ttg::MemdescIndexOp>()) to = to.definingOp()->operand(0);
      if (!to || !isRing(to) || rings.contains(to)) return false;
    }
    return !wait_ ||
           llvm::all_of(wait_->result().users(), [](Operation *user) { return user->is<ttg::LocalLoadOp>(); });
  }

  /// The wait of the body, which must come before all else that has effects. False: there is one elsewhere.
  bool findWait() {
    bool effects = false;
    for (auto &op : body_) {
      if (auto wait = op.dyn<ttg::AsyncWaitOp>()) {
        if (wait_ || effects || wait->numOperands()) return false;
        wait_ = wait;
      } else if (!isPure(&op))
        effects = true;
    }
    return true;
  }

  /// Copies into the rings write zeros where they are masked off.
  void fillWithZeros() {
    for (auto &f : found_)
      for (auto *o : {&f.a, &f.b})
        for (auto *user : o->slot.src().users())
          if (auto index = user->dyn<ttg::MemdescIndexOp>())
            for (auto *filler : index.result().users()) {
              auto copy = filler->dyn<ttg::AsyncCopyGlobalToLocalOp>();
              if (!copy || copy.other() || !copy.mask()) continue;
              Builder b(copy.op);
              auto type = copy.result().type().cast<MemDescType>();
              auto pointers = copy.src().type().cast<TensorType>();
              auto values = TensorType::get(pointers.shape(), type.element(), pointers.encoding());
              Value zero =
                  b.constant(copy->loc(), values,
                             DenseElementsAttr::get(values, {llvm::APInt::getZero(type.element().bitWidth())}));
              auto filled = ttg::AsyncCopyGlobalToLocalOp::create(
                  b, copy->loc(), copy.src(), copy.result(), copy.mask(), zero,
                  llvm::SmallVector<NamedAttribute, 4>(copy->attrs().begin(), copy->attrs().end()));
              copy.token().replaceAllUsesWith(filled.token());
              copy->erase();
            }
  }

  /// Elements [from, from + size) along k of an operand in that slot.
  Value load(Builder &b, const Operand &o, Value index, int64_t from, int64_t size, Value token) {
    Value view = ttg::MemdescIndexOp::create(b, o.slot->loc(), o.slot.result().type(), o.slot.src(), index).result();
    if (o.trans)
      view = ttg::MemdescTransOp::create(
                 b, o.trans->loc(), o.trans.result().type(), view,
                 llvm::SmallVector<NamedAttribute, 1>(o.trans->attrs().begin(), o.trans->attrs().end()))
                 .result();
    auto whole = view.type().cast<MemDescType>();
    llvm::SmallVector<int64_t, 2> shape(whole.shape()), offsets(whole.rank(), 0);
    shape[o.k] = size, offsets[o.k] = from;
    auto part = MemDescType::get(shape, whole.element(), whole.encoding(), whole.memorySpace(), whole.isMutable(),
                                 whole.allocShape());
    view = ttg::MemdescSubsliceOp::create(b, o.load->loc(), part, view, {b.denseI32Attr("offsets", offsets)}).result();
    auto type = o.load.result().type().cast<TensorType>();
    return ttg::LocalLoadOp::create(b, o.load->loc(), TensorType::get(shape, type.element(), type.encoding()), view,
                                    token)
        .result();
  }

  static bool onlyReadsBetween(Operation *a, Operation *b) {
    if (b->isBeforeInBlock(a)) std::swap(a, b);
    for (auto *op = a->next(); op != b; op = op->next())
      if (effectsOf(op) & (kWritesShared | kSynchronizes)) return false;
    return true;
  }

  void rewrite() {
    // Before the loop: the first iteration's.
    Builder before(loop_.op);
    Value token;
    if (wait_) token = before.clone(wait_.op)->result();
    llvm::SmallVector<Value, 8> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    unsigned own = inits.size();
    for (auto &f : found_)
      for (auto *o : {&f.a, &f.b}) inits.push_back(load(before, *o, loop_.initArgs()[o->carried], 0, f.step, token));
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(before, loc_, types, loop_.lowerBound(), loop_.upperBound(), loop_.step(), inits,
                                   llvm::SmallVector<NamedAttribute, 4>(loop_->attrs().begin(), loop_->attrs().end()));
    loop.body().takeBody(loop_.body());
    Block *body = loop.body().front();
    for (unsigned i = own; i < inits.size(); ++i) body->addArg(types[i], loc_);

    // At its end: the next iteration's.
    Operation *yield = body->terminator();
    llvm::SmallVector<Value, 8> yields(yield->operands().begin(), yield->operands().end());
    Builder end(yield);
    if (wait_) token = end.clone(wait_.op)->result();
    for (auto &f : found_)
      for (auto *o : {&f.a, &f.b}) yields.push_back(load(end, *o, yield->operand(o->carried), 0, f.step, token));
    scf::YieldOp::create(end, yield->loc(), yields);
    yield->erase();

    // In it: the first step with what is carried, and the rest.
    for (auto [n, f] : llvm::enumerate(found_)) {
      Builder b(f.dot.op);
      int64_t k = f.dot.a().type().cast<TensorType>().dim(1);
      auto multiply = [&](Value x, Value y, Value acc) {
        return tt::DotOp::create(b, f.dot->loc(), f.dot.d().type(), x, y, acc,
                                 llvm::SmallVector<NamedAttribute, 4>(f.dot->attrs().begin(), f.dot->attrs().end()))
            .d();
      };
      Value acc = multiply(body->arg(1 + own + 2 * n), body->arg(2 + own + 2 * n), f.dot.c());
      // Pieces that lie at multiples of their length.
      for (int64_t at = f.step; at < k;) {
        int64_t size = std::min(at & -at, k - at);
        Builder loadA(f.a.load.op), loadB(f.b.load.op);
        if (onlyReadsBetween(f.a.load.op, f.b.load.op)) { // the pieces that are multiplied first first
          Operation *later = f.a.load->isBeforeInBlock(f.b.load.op) ? f.b.load.op : f.a.load.op;
          loadA.setInsertionPoint(later), loadB.setInsertionPoint(later);
        }
        Value x = load(loadA, f.a, f.a.slot.index(), at, size, {}),
              y = load(loadB, f.b, f.b.slot.index(), at, size, {});
        acc = multiply(x, y, acc);
        at += size;
      }
      f.dot.d().replaceAllUsesWith(acc);
      f.dot->erase();
      for (auto *o : {&f.a, &f.b}) o->load->erase();
    }
    if (wait_) {
      for (auto *user : wait_->result().users()) { // loads of other buffers: the wait stands before them still
        auto other = user->cast<ttg::LocalLoadOp>();
        Builder b(user);
        other.result().replaceAllUsesWith(
            ttg::LocalLoadOp::create(b, user->loc(), other.result().type(), other.src(), Value()).result());
        user->erase();
      }
      wait_->erase();
    }
    for (unsigned i = 0; i < own; ++i) loop_->result(i).replaceAllUsesWith(loop->result(i));
    loop_->erase();
  }

  scf::ForOp loop_;
  Block &body_;
  Location loc_;
  std::vector<Found> found_;
  ttg::AsyncWaitOp wait_;
};

} // namespace

absl::StatusOr<bool> prefetch(Module &m, PassContext &c) {
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  bool changed = false;
  for (auto f : loops) {
    Location loc = f->loc();
    if (!Prefetching(f).run()) continue;
    c.remark({Remark::Applied,
              "",
              "Prefetched",
              loc,
              "the first step of the operands of its multiplications is loaded an iteration ahead",
              {}});
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
