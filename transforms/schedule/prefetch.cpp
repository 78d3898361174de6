// Pass tritongpu-prefetch: loads the first operands of a loop's dots from shared memory to registers an iteration
// ahead. At the head of an iteration a dot would wait for the barrier and then for its first operands. Instead, the
// first step along K of the next iteration's operands is loaded at the end of this one, after the same barrier, and
// carried in registers.
// Runs: both pipelines, after tritongpu-pipeline.
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
// Done for mma.sync and MFMA with both operands in buffers that the pipeliner filled (wgmma reads shared memory by
// itself), unless the accumulators leave no registers. Loops that fill two buffers through registers have it too: the
// loads are after the barrier that follows the stores, where MFMA that were issued before are still running. Not with a
// single buffer: its stores wait until all waves have read the rest of this iteration's operands, and few MFMA are left
// then. By the timing model on gfx942, 2026-11-23: GEMM of 16 x 4096 x 4096 in 19.4 us with it, 14.9 us without, of
// 4096 x 4096 x 4096 (128 x 128, f16) 228 and 220 us, blocks of experts 35.7 and 33.0 us. Nor for MFMA that accumulate
// nothing, whose result is converted or scaled and then added: the iteration ends with that, and the sums, the result
// and operands of two iterations take registers together. By the timing model, 2026-11-30, 34 such GEMMs (integers of 8
// bits into f32, a scale for a block or a row) take 1.13 times as long with it in the mean, 0.90 to 1.85 times, on
// gfx942 and gfx950.
// What is read at the end of an iteration must be what the next one would read: nothing between its head and its loads
// may write the buffers or wait for further copies. After the last iteration a buffer is read that may not have been
// filled; its index must still be within the multi-buffer. The values are not used, and copies that are masked off
// write zeros, so that they are defined.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/amd_mfma.h"
#include "layouts/dot_operand.h"
#include "layouts/nvidia_mma.h"
#include "transforms/analyses/multi_buffer_index.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"
#include "transforms/schedule/dot_slices.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

namespace {

constexpr int64_t kInstructionBits = 256; // of A along K that one mma.sync takes per row (PTX ISA, "mma")
constexpr unsigned kThreadsAlongK = 4;    // of a warp, in an operand of mma.sync
constexpr int kLeastTile = 16;            // rows and columns of MFMA whose operands' lanes all share K
constexpr unsigned kWaveLanes = 64;       // of a wave that executes MFMA
constexpr unsigned kFragmentsAlongK = 2;  // registers of a thread along K, in an operand of mma.sync

/// An operand: a load from a buffer of a multi-buffer, perhaps transposed.
struct Operand {
  ttg::LocalLoadOp load;
  ttg::MemdescIndexOp buffer;
  ttg::MemdescTransOp trans;            // of the buffer, or null
  unsigned k = 0;                       // the dimension of K
  std::optional<unsigned> carriedIndex; // which loop-carried value is the index of the buffer; none: it is a constant
};

struct PrefetchedDot {
  tt::DotOp dot;
  Operand a, b;
  int64_t step = 0; // elements along K that are prefetched
};

class Prefetching {
public:
  Prefetching(scf::ForOp loop, const Tuning &tuning, const TargetInfo *target)
      : loop_(loop), body_(*loop.body().front()), loc_(loop->loc()), tuning_(tuning), target_(target) {}

  bool run() {
    if (!loop_.body().hasOneBlock()) return false;
    for (auto &op : body_)
      if (auto dot = op.dyn<tt::DotOp>()) collect(dot);
    if (dots_.empty() || !findWait() || !mayReadEarlier()) return false;
    fillWithZeros();
    rewrite();
    return true;
  }

private:
  // ---- which dots ----

  bool leavesRegisters(TensorType accumulator, const layouts::NvidiaMmaEncoding &mma, int64_t operandBits) {
    auto layout = mma.toLinearLayout(accumulator.shape());
    if (!layout.ok()) return false;
    int64_t registersOfElement = std::max<int64_t>(1, accumulator.element().bitWidth() / 32);
    int64_t accumulators = layout->inDimSize(Dim::Register) * registersOfElement;
    return accumulators <= (operandBits < 32 ? tuning_.prefetchMaxAccumulators : tuning_.prefetchMaxAccumulators32);
  }

  /// MFMA: accumulators that leave a half of the registers that the block's warps have at least.
  bool leavesRegisters(TensorType accumulator, int64_t warps) {
    auto elements = elementsPerThread(accumulator);
    if (!target_ || !elements) return false;
    return 2 * registerBits(accumulator.element(), *elements) / 32 <=
           target_->registersPerThread(warps, RegisterSplit::Allocated);
  }

  /// Elements along K that the longest MFMA for the dot takes: shorter steps would use slower ones.
  int64_t longestStep(tt::DotOp dot, const layouts::AmdMfmaEncoding &mfma) const {
    auto a = matrixTypeOf(tensorOf(dot.a()).element());
    auto b = matrixTypeOf(tensorOf(dot.b()).element());
    int64_t longest = 1;
    for (auto &row : target_->matrixInstructions)
      if (a == row.a && b == row.b && row.m == mfma.m() && row.n == mfma.n())
        longest = std::max<int64_t>(longest, row.k);
    return longest;
  }

  void collect(tt::DotOp dot) {
    auto accumulator = tensorOf(dot.d());
    if (!accumulator.encoding() || accumulator.rank() != 2) return;
    auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(accumulator.encoding());
    auto *mfma = layouts::dynCast<layouts::AmdMfmaEncoding>(accumulator.encoding());
    bool isMmaSync = mma && mma->versionMajor() == 2;
    bool isMfma = mfma && mfma->m() >= kLeastTile && mfma->n() >= kLeastTile;
    if (!isMmaSync && !isMfma) return;
    int64_t bits = tensorOf(dot.a()).element().bitWidth();
    bool fits = isMmaSync ? leavesRegisters(accumulator, *mma, bits)
                          : leavesRegisters(accumulator, numWarps(loop_->module().op()));
    if (!fits) return;
    if (isMfma && constantBits(dot.c())) return; // vector work on the result follows
    auto a = operand(dot.a(), 1);
    auto b = operand(dot.b(), 0);
    if (!a || !b || (isMfma && (buffersOf(*a) < 2 || buffersOf(*b) < 2))) return;
    int64_t step = isMmaSync ? kInstructionBits / bits : 1;
    int64_t threadsAlongK = isMmaSync ? kThreadsAlongK * kFragmentsAlongK : kWaveLanes / mfma->m();
    // A thread may hold more consecutive elements than one instruction takes: then a step is of several instructions.
    for (auto &o : {*a, *b}) {
      auto *layout = layouts::dynCast<layouts::DotOperandEncoding>(encodingOf(o.load.result()));
      if (!layout) return;
      if (bits < 64 || isMfma) step = std::max<int64_t>(step, threadsAlongK * layout->kWidth());
    }
    if (isMfma) step = std::max(step, longestStep(dot, *mfma));
    if (tensorOf(dot.a()).dim(1) < 2 * step) return;
    dots_.push_back({dot, *a, *b, step});
  }

  std::optional<Operand> operand(Value v, unsigned k) {
    Operand o;
    o.k = k;
    o.load = v.definedBy<ttg::LocalLoadOp>();
    if (!o.load || o.load->block() != &body_ || !v.hasOneUse()) return {};
    Value view = o.load.src();
    if ((o.trans = view.definedBy<ttg::MemdescTransOp>())) view = o.trans.src();
    o.buffer = view.definedBy<ttg::MemdescIndexOp>();
    if (!o.buffer || !isMultiBuffer(o.buffer.src())) return {};
    Value index = o.buffer.index();
    if (auto constant = intConstantOf(index))
      return *constant >= 0 && *constant < o.buffer.src().type().cast<MemDescType>().dim(0) ? std::optional(o)
                                                                                            : std::nullopt;
    bool isArgument = index.isBlockArgument() && index.ownerBlock() == &body_;
    auto carriedIndex = isArgument ? carriedByArgument(index) : std::nullopt;
    if (!carriedIndex) return {};
    llvm::SmallVector<Value, 4> visited;
    if (!isIndexWithin(index, o.buffer.src().type().cast<MemDescType>().dim(0), visited)) return {};
    o.carriedIndex = carriedIndex->index;
    return o;
  }
  static int64_t buffersOf(const Operand &o) { return o.buffer.src().type().cast<MemDescType>().dim(0); }
  bool isMultiBuffer(Value v) {
    auto alloc = v.definedBy<ttg::LocalAllocOp>();
    return alloc && !alloc.src() && !loop_->isAncestorOf(alloc.op);
  }

  /// Whether an index is one of `buffers`, in any iteration. `visited`: loop-carried values that are being followed.
  static bool isIndexWithin(Value index, int64_t buffers, llvm::SmallVectorImpl<Value> &visited) {
    if (auto c = intConstantOf(index)) return *c >= 0 && *c < buffers;
    if (auto c = carriedOf(index)) {
      if (!c->loop.body().hasOneBlock()) return false;
      if (llvm::is_contained(visited, c->argument)) return true;
      visited.push_back(c->argument);
      return isIndexWithin(c->init, buffers, visited) && isIndexWithin(c->yielded, buffers, visited);
    }
    if (index.isBlockArgument()) return false;
    auto step = multiBufferStep(index);
    return step && step->buffers <= buffers && isIndexWithin(step->index, buffers, visited);
  }

  // ---- whether the loads may be moved across the iteration's head ----

  /// Whether, from the head of the body to the last of the loads, nothing writes the buffers but the copies that the
  /// wait is for; and whether loads are the wait's only users.
  bool mayReadEarlier() {
    llvm::DenseSet<Operation *> loads;
    llvm::DenseSet<Value> multiBuffers;
    for (auto &d : dots_)
      for (auto *o : {&d.a, &d.b}) {
        loads.insert(o->load.op);
        multiBuffers.insert(o->buffer.src());
      }
    for (auto it = body_.begin(); !loads.empty(); ++it) {
      Operation *op = &*it;
      if (loads.erase(op) || op == wait_.op || op->is<ttg::AsyncCommitGroupOp>()) continue;
      uint8_t effects = effectsOf(op);
      if (effects & kSynchronizes) return false;
      if (op->is<ttg::AsyncCopyGlobalToLocalOp>()) continue; // it is waited for in a later iteration
      if ((effects & kWritesShared) && !writesOther(op, multiBuffers)) return false;
    }
    return !wait_ ||
           llvm::all_of(wait_->result().users(), [](Operation *user) { return user->is<ttg::LocalLoadOp>(); });
  }
  /// Whether the operation is a store to a multi-buffer that is none of these.
  bool writesOther(Operation *op, const llvm::DenseSet<Value> &multiBuffers) {
    auto store = op->dyn<ttg::LocalStoreOp>();
    if (!store) return false;
    Value to = store.dst();
    while (auto index = to.definedBy<ttg::MemdescIndexOp>()) to = index.src();
    return isMultiBuffer(to) && !multiBuffers.contains(to);
  }

  /// The wait of the body, which must precede everything else that has effects. False: there is one elsewhere.
  bool findWait() {
    bool hasEffectsBefore = false;
    for (auto &op : body_) {
      if (auto wait = op.dyn<ttg::AsyncWaitOp>()) {
        if (wait_ || hasEffectsBefore || wait->numOperands()) return false;
        wait_ = wait;
      } else if (!isPure(&op))
        hasEffectsBefore = true;
    }
    return true;
  }

  // ---- rewriting ----

  /// Copies into the multi-buffers write zeros where they are masked off.
  void fillWithZeros() {
    for (auto &d : dots_)
      for (auto *o : {&d.a, &d.b})
        for (auto *user : o->buffer.src().users())
          if (auto index = user->dyn<ttg::MemdescIndexOp>())
            for (auto *writer : index.result().users())
              if (auto copy = writer->dyn<ttg::AsyncCopyGlobalToLocalOp>()) fillWithZeros(copy);
  }
  static void fillWithZeros(ttg::AsyncCopyGlobalToLocalOp copy) {
    if (copy.other() || !copy.mask()) return;
    Builder b(copy.op);
    auto type = copy.result().type().cast<MemDescType>();
    auto pointers = tensorOf(copy.src());
    auto values = TensorType::get(pointers.shape(), type.element(), pointers.encoding());
    auto zeros = DenseElementsAttr::get(values, {llvm::APInt::getZero(type.element().bitWidth())});
    Value zero = b.constant(copy->loc(), values, zeros);
    auto filled = ttg::AsyncCopyGlobalToLocalOp::create(b, copy->loc(), copy.src(), copy.result(), copy.mask(), zero,
                                                        copy->attrs());
    copy.token().replaceAllUsesWith(filled.token());
    copy->erase();
  }

  /// Elements [from, from + size) along K of an operand in the buffer `index`.
  Value load(Builder &b, const Operand &o, Value index, int64_t from, int64_t size, Value token) {
    auto buffer = o.buffer;
    auto trans = o.trans;
    auto whole = o.load;
    Value view = ttg::MemdescIndexOp::create(b, buffer->loc(), buffer.result().type(), buffer.src(), index).result();
    if (trans)
      view = ttg::MemdescTransOp::create(b, trans->loc(), trans.result().type(), view, trans->attrs()).result();
    view = partOfBuffer(b, whole->loc(), view, o.k, from, size);
    auto type = tensorOf(whole.result());
    return ttg::LocalLoadOp::create(
               b, whole->loc(),
               TensorType::get(view.type().cast<MemDescType>().shape(), type.element(), type.encoding()), view, token)
        .result();
  }

  static bool onlyReadsBetween(Operation *a, Operation *b) {
    if (b->isBeforeInBlock(a)) std::swap(a, b);
    for (auto *op = a->next(); op != b; op = op->next())
      if (effectsOf(op) & (kWritesShared | kSynchronizes)) return false;
    return true;
  }

  void rewrite() {
    unsigned numOwn = numCarried(loop_); // the prefetched operands follow these
    auto loop = makeLoop();
    Block *body = loop.body().front();
    prefetchNext(body);
    for (auto [n, d] : llvm::enumerate(dots_))
      splitDot(d, carriedArgument(*body, numOwn + 2 * n), carriedArgument(*body, numOwn + 2 * n + 1));
    if (wait_) removeWait();
    for (unsigned i = 0; i < numOwn; ++i) loop_->result(i).replaceAllUsesWith(loop->result(i));
    loop_->erase();
  }

  /// The index of an operand's buffer, given the loop-carried values.
  template <class Values> Value indexAmong(Builder &b, const Values &carried, const Operand &o) {
    if (o.carriedIndex) return carried[*o.carriedIndex];
    return b.intConstant(loc_, o.buffer.index().type(), *intConstantOf(o.buffer.index()));
  }

  /// The loop with the operands of the first iteration loaded before it, and carried.
  scf::ForOp makeLoop() {
    Builder before(loop_.op);
    Value token;
    if (wait_) token = before.clone(wait_.op)->result();
    llvm::SmallVector<Value, 8> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    unsigned numOwn = inits.size();
    for (auto &d : dots_)
      for (auto *o : {&d.a, &d.b})
        inits.push_back(load(before, *o, indexAmong(before, loop_.initArgs(), *o), 0, d.step, token));
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(before, loc_, types, loop_.lowerBound(), loop_.upperBound(), loop_.step(), inits,
                                   loop_->attrs());
    loop.body().takeBody(loop_.body());
    for (unsigned i = numOwn; i < inits.size(); ++i) loop.body().front()->addArg(types[i], loc_);
    return loop;
  }

  /// At the end of the body: the next iteration's operands.
  void prefetchNext(Block *body) {
    Operation *yield = body->terminator();
    llvm::SmallVector<Value, 8> yields(yield->operands().begin(), yield->operands().end());
    Builder end(yield);
    Value token;
    if (wait_) token = end.clone(wait_.op)->result();
    for (auto &d : dots_)
      for (auto *o : {&d.a, &d.b})
        yields.push_back(load(end, *o, indexAmong(end, yield->operands(), *o), 0, d.step, token));
    scf::YieldOp::create(end, yield->loc(), yields);
    yield->erase();
  }

  /// Replaces a dot by one of the prefetched operands and some of the rest of K.
  void splitDot(PrefetchedDot &d, Value firstA, Value firstB) {
    Builder b(d.dot.op);
    int64_t k = tensorOf(d.dot.a()).dim(1);
    auto accumulate = [&](Value x, Value y, Value acc) {
      return tt::DotOp::create(b, d.dot->loc(), d.dot.d().type(), x, y, acc, d.dot->attrs()).d();
    };
    Value acc = accumulate(firstA, firstB, d.dot.c());
    // Parts of the rest that begin at multiples of their length, which memdesc_subslice needs.
    for (int64_t at = d.step; at < k;) {
      int64_t size = std::min(at & -at, k - at);
      Builder loadA(d.a.load.op);
      Builder loadB(d.b.load.op);
      if (onlyReadsBetween(d.a.load.op, d.b.load.op)) { // A and B of a part together, in the order of their use
        Operation *later = d.a.load->isBeforeInBlock(d.b.load.op) ? d.b.load.op : d.a.load.op;
        loadA.setInsertionPoint(later);
        loadB.setInsertionPoint(later);
      }
      Value x = load(loadA, d.a, d.a.buffer.index(), at, size, {});
      Value y = load(loadB, d.b, d.b.buffer.index(), at, size, {});
      acc = accumulate(x, y, acc);
      at += size;
    }
    d.dot.d().replaceAllUsesWith(acc);
    d.dot->erase();
    for (auto *o : {&d.a, &d.b}) o->load->erase();
  }

  /// Loads of other buffers stay after the wait, which is at the end of the iteration before now.
  void removeWait() {
    for (auto *user : wait_->result().users()) {
      auto other = user->cast<ttg::LocalLoadOp>();
      Builder b(user);
      other.result().replaceAllUsesWith(
          ttg::LocalLoadOp::create(b, user->loc(), other.result().type(), other.src(), Value()).result());
      user->erase();
    }
    wait_->erase();
  }

  scf::ForOp loop_;
  Block &body_;
  Location loc_;
  const Tuning &tuning_;
  const TargetInfo *target_;
  std::vector<PrefetchedDot> dots_;
  ttg::AsyncWaitOp wait_;
};

} // namespace

absl::StatusOr<bool> prefetch(Module &m, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  bool changed = false;
  for (auto f : collect<scf::ForOp>(m.op())) {
    RemarkPlace place(f.op);
    if (!Prefetching(f, tuning, c.target).run()) continue;
    c.remark({Remark::Applied,
              "",
              "Prefetched",
              place,
              "the first step of the operands of its dots is loaded from shared memory an iteration ahead",
              {}});
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
