// Pass triton-combine: small rewrites on TTIR that apply to much code as Triton's frontend makes it:
//
//   tt.addptr(tt.addptr(%p, %a), %b)                   →  tt.addptr(%p, %a + %b)      (offsets of one type)
//   arith.select(%c, tt.load(%p, broadcast %c), %o)    →  tt.load(%p, broadcast %c, %o)
//   tt.dot(%a, %b, 0) + %c                             →  tt.dot(%a, %b, %c)          (tt.dot_scaled too)
//
// Pointer additions merge only when the inner one has no other use, so that shared address arithmetic stays shared,
// when one offset is constant, and when the sum of the offsets cannot wrap in their type (64 bits wrap as addresses
// do). A dot takes its addend only in its own block: it must not move into a loop.
//
// Runs: TTIR.
#include "ir/constants.h"
#include "ir/ops.h"
#include "ir/rewriter.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

static bool mergeAddptr(Operation *op, Rewriter &rw) {
  auto outer = op->cast<tt::AddptrOp>();
  auto inner = outer.ptr().definedBy<tt::AddptrOp>();
  if (!inner || inner.offset().type() != outer.offset().type() || !outer.ptr().hasOneUse()) return false;
  // Only constants or splats merge without costing an addition per element.
  if (!constantOf(inner.offset()) && !constantOf(outer.offset())) return false;
  if (unsigned width = outer.offset().type().scalar().bitWidth(); width < 64) {
    auto a = integerRange(inner.offset()), b = integerRange(outer.offset());
    if (!a || !b || !llvm::isIntN(width, a->low + b->low) || !llvm::isIntN(width, a->high + b->high)) return false;
  } else if (width > 64)
    return false;
  auto sum = arith::AddiOp::create(rw, op->loc(), inner.offset(), outer.offset());
  rw.replaceOp(op, tt::AddptrOp::create(rw, op->loc(), inner.ptr(), sum.result()).op);
  return true;
}

/// Whether the value dominates the operation, by blocks and structured regions.
static bool availableAt(Value v, Operation *op) {
  while (op && op->block() != v.parentBlock()) op = op->parentOp();
  return op && (v.isBlockArgument() || v.definingOp()->isBeforeInBlock(op));
}

static bool mergeSelectLoad(Operation *op, Rewriter &rw) {
  auto select = op->cast<arith::SelectOp>();
  auto load = select.trueValue().definedBy<tt::LoadOp>();
  if (!load || !load.mask() || load.isVolatile() || !select.trueValue().hasOneUse()) return false;
  Value mask = load.mask();
  bool same = mask == select.condition();
  if (auto splat = mask.definedBy<tt::SplatOp>()) same |= splat.src() == select.condition();
  if (auto b = mask.definedBy<tt::BroadcastOp>()) same |= b.src() == select.condition();
  if (!same || !availableAt(select.falseValue(), load)) return false;
  rw.setInsertionPoint(load);
  auto merged = tt::LoadOp::create(rw, load.loc(), load.ptr(), mask, select.falseValue(), load->attrs());
  rw.replaceOp(op, merged.op);
  return true;
}

static bool mergeDotAdd(Operation *op, Rewriter &rw) {
  constexpr unsigned kAccumulator = 2; // the operand of tt.dot and of tt.dot_scaled
  for (unsigned i = 0; i < 2; ++i) {
    Operation *dot = op->operand(i).definingOp();
    if (!dot || dot->block() != op->block() || !op->operand(i).hasOneUse()) continue;
    auto plain = dot->dyn<tt::DotOp>();
    if ((!plain && !dot->is<tt::DotScaledOp>()) || (plain && plain.maxNumImpreciseAcc() != 0)) continue;
    if (!isZero(dot->operand(kAccumulator))) continue;
    Operation *merged = rw.clone(dot);
    merged->setOperand(kAccumulator, BinaryOp(op).other(i));
    rw.replaceOp(op, merged);
    return true;
  }
  return false;
}

absl::StatusOr<bool> combine(Module &m, PassContext &) {
  static const Pattern patterns[] = {
      {Opcode::tt_addptr, mergeAddptr, "addptr of addptr"},
      {Opcode::arith_select, mergeSelectLoad, "select of load"},
      {Opcode::arith_addf, mergeDotAdd, "dot + c"},
      {Opcode::arith_addi, mergeDotAdd, "dot + c"},
  };
  return applyPatterns(m.op(), patterns);
}

} // namespace tessera::transforms
