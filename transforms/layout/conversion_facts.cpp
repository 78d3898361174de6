// See conversion_facts.h.
#include "transforms/layout/conversion_facts.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;
using layouts::LinearLayout;

static bool isMatrixLayout(const Encoding *e) {
  while (auto *s = layouts::dynCast<layouts::SliceEncoding>(e)) e = s->parent();
  return e->kind() == layouts::EncodingKind::NvidiaMma || e->kind() == layouts::EncodingKind::AmdMfma ||
         e->kind() == layouts::EncodingKind::AmdWmma;
}

bool isStronger(const Encoding *a, const Encoding *b) { return isMatrixLayout(a) && !isMatrixLayout(b); }

/// `budget`: operations that are read, beyond which all elements count.
static int64_t elementsBeforeBroadcasts(Value v, int &budget) {
  if (!v.type().isTensor()) return 1;
  int64_t all = tensorOf(v).numElements();
  Operation *op = v.definingOp();
  if (!op || --budget < 0) return all;
  if (makesAnyLayout(op)) return 1;
  bool rearranges = op->is<ttg::ConvertLayoutOp>() || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() ||
                    op->is<tt::TransOp>() || op->is<tt::ReshapeOp>() || op->is<tt::ReduceOp>();
  bool computes = (isElementwise(op) || op->is<arith::SelectOp>()) && isPure(op);
  if (!rearranges && !computes) return all;
  int64_t most = 1;
  for (auto o : op->operands()) most = std::max(most, elementsBeforeBroadcasts(o, budget));
  // A reduction of ranges is one more of those; of anything else, all of its result must be converted.
  return op->is<tt::ReduceOp>() && most > 1 ? all : most;
}

int64_t elementsBeforeBroadcasts(Value v) {
  int budget = 64; // bounds the time; what rows and columns are computed from is shorter
  return elementsBeforeBroadcasts(v, budget);
}

unsigned loopsAroundSource(Value v) {
  Operation *op = v.definingOp();
  while (op && (op->is<ttg::ConvertLayoutOp>() || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>())) {
    v = UnaryOp(op).value();
    op = v.definingOp();
  }
  unsigned loops = 0;
  for (Operation *p = op ? op->parentOp() : v.ownerBlock()->parentOp(); p; p = p->parentOp())
    loops += p->is<scf::ForOp>() || p->is<scf::WhileOp>();
  return loops;
}

bool spreadsBroadcast(tt::BroadcastOp broadcast, const Encoding *e) {
  auto narrow = tensorOf(broadcast.src()), wide = tensorOf(broadcast.result());
  auto &now = wide.encoding()->layoutOf(wide.shape());
  auto &then = e->layoutOf(wide.shape());
  if (!now.ok() || !then.ok() || then->inDimSize(Dim::Register) > now->inDimSize(Dim::Register)) return false;
  if (then->isInjective()) return true; // no two threads have the same elements
  auto hasThreadsAlong = [](const LinearLayout &l, unsigned d) {
    for (auto dim : {Dim::Lane, Dim::Warp})
      for (unsigned b = 0; b < l.inDimBits(dim); ++b)
        if (l.basis(dim, b, layouts::tensorDim(d))) return true;
    return false;
  };
  for (unsigned d = 0; d < wide.rank(); ++d) {
    bool isWidened = narrow.dim(d) < wide.dim(d);
    if (isWidened && hasThreadsAlong(*now, d) && !hasThreadsAlong(*then, d)) return false;
  }
  return true;
}

} // namespace tessera::transforms
