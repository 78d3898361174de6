// The layouts of operands (see operand_layouts.h).
#include "transforms/layout/operand_layouts.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/dots.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

const Encoding *operandLayoutFor(layouts::EncodingPool &pool, Operation *op, const Encoding *e) {
  if (op->is<ttg::ConvertLayoutOp>() || op->is<tt::BroadcastOp>()) return e;
  if (auto x = op->dyn<tt::ExpandDimsOp>()) {
    auto slice = pool.getSlice(x.axis(), e);
    return slice.ok() ? *slice : nullptr;
  }
  if (auto x = op->dyn<tt::TransOp>()) {
    auto order = x.order();
    llvm::SmallVector<int64_t, 4> inverse(order.size());
    for (auto [i, o] : llvm::enumerate(order)) inverse[o] = i;
    auto *in = layouts::inferTrans(pool, e, inverse, tensorOf(x.result()).shape());
    return in && layouts::inferTrans(pool, in, order, tensorOf(x.src()).shape()) == e ? in : nullptr;
  }
  if (auto x = op->dyn<tt::ReshapeOp>()) {
    if (x.allowReorder()) return nullptr;
    auto from = tensorOf(x.src()).shape(), to = tensorOf(x.result()).shape();
    auto *in = layouts::inferReshape(pool, e, to, from);
    // Of a few elements that all threads hold, `in` may say the same in other words than the way back gives.
    return in && layouts::sameLayout(layouts::inferReshape(pool, in, from, to), e, to) ? in : nullptr;
  }
  if (auto x = op->dyn<tt::JoinOp>()) return layouts::inferSplit(pool, e, tensorOf(x.result()).shape());
  if (auto x = op->dyn<tt::ScanOp>()) {
    auto &layout = e->layoutOf(tensorOf(op->result(0)).shape());
    bool canBeLowered = !isDotOperand(e) && layout.ok() && layouts::scanShape(*layout, x.axis()).inOrder;
    return op->numOperands() == 1 && canBeLowered ? e : nullptr;
  }
  return nullptr;
}

/// Whether a thread's first registers hold at least `n` consecutive elements along the dimension.
static bool beginsWithRun(TensorType type, const Encoding *e, int64_t n, unsigned dim) {
  auto &layout = e->layoutOf(type.shape());
  return layout.ok() && layouts::consecutiveElements(*layout, dim) >= n;
}
static bool beginsWithRun(TensorType type, const Encoding *e, int64_t n) {
  for (unsigned d = 0; d < type.rank(); ++d)
    if (beginsWithRun(type, e, n, d)) return true;
  return false;
}

bool holdsPacks(TensorType type, const Encoding *e, int64_t pack) {
  return pack == 1 || beginsWithRun(type, e, pack, type.rank() - 1);
}

/// Whether a thread holds runs of at least `n` consecutive elements along some dimension, in any of its registers.
static bool holdsRuns(TensorType type, const Encoding *e, int64_t n) {
  using layouts::Dim;
  auto &layout = e->layoutOf(type.shape());
  if (!layout.ok()) return false;
  for (unsigned d = 0; d < type.rank(); ++d) {
    layouts::Basis step(type.rank(), 0);
    int64_t run = 1;
    for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit) {
      step[d] = run;
      // Larger steps may come first.
      for (unsigned b = 0; b < layout->inDimBits(Dim::Register); ++b)
        if (llvm::equal(layout->basis(Dim::Register, b), step)) {
          run *= 2;
          break;
        }
    }
    if (run >= n) return true;
  }
  return false;
}

bool keepsPackedElements(Operation *op, const Encoding *e, const Encoding *now) {
  auto assembly = op->dyn<tt::ElementwiseInlineAsmOp>();
  int64_t n = assembly ? assembly.packedElement() : 1;
  if (n <= 1) return true;
  auto type = tensorOrNull(op->result(0));
  if (!type || !beginsWithRun(type, e, n)) return !type;
  if (!now || !beginsWithRun(type, now, n)) return true;
  for (unsigned d = 0; d < type.rank(); ++d)
    if (beginsWithRun(type, now, n, d) && beginsWithRun(type, e, n, d)) return true;
  return false;
}

namespace {

/// The search of isComputedFromWords.
class WordsSearch {
public:
  WordsSearch(Value wanted, Block *body, int64_t narrowFraction)
      : pool_(wanted.definingOp()->context().encodings()), body_(body),
        narrowElements_(tensorOf(wanted).numElements() / narrowFraction) {}

  bool isComputed(Value v, const Encoding *e) {
    constexpr int kMaxValues = 200;
    if (!seen_.insert({v, e}).second) return true;
    if (seen_.size() > kMaxValues) return false;
    auto type = tensorOf(v);
    Operation *def = v.definingOp();
    if (def && makesAnyLayout(def)) return true;
    if (type.numElements() <= narrowElements_) return true; // it may be converted
    if (!def || def->block() != body_) return false;
    if (isLoad(def)) {
      bool isOnlyOne = !load_ || load_ == def;
      load_ = def;
      return isOnlyOne && holdsRuns(type, e, kWordBits / bitsOf(v));
    }
    if (def->is<tt::ScanOp>() || !isPure(def)) return false;
    const Encoding *in = operandLayoutFor(pool_, def, e);
    if (!in) {
      bool isInPlace = def->info().has(kElementwise) || def->is<arith::SelectOp>();
      if (!isInPlace || def->numRegions() || !keepsPackedElements(def, e, nullptr)) return false;
      computes_ = true;
      in = e;
    }
    return llvm::all_of(def->operands(), [&](Value o) { return !o.type().isTensor() || isComputed(o, in); });
  }
  bool computesFromLoad() const { return load_ && computes_; }

private:
  layouts::EncodingPool &pool_;
  Block *body_;
  int64_t narrowElements_;
  Operation *load_ = nullptr;
  bool computes_ = false;
  llvm::DenseSet<std::pair<Value, const Encoding *>> seen_;
};

} // namespace

bool isComputedFromWords(Value v, const Encoding *e, Block *body, int64_t narrowFraction) {
  if (!body->parentOp()->is<scf::ForOp>() || !v.definingOp()) return false;
  WordsSearch search(v, body, narrowFraction);
  return search.isComputed(v, e) && search.computesFromLoad();
}

} // namespace tessera::transforms
