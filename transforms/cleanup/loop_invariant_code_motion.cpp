// Loop-invariant code motion: operations without effects whose operands are defined outside a loop are moved before it.
//
//   scf.for %i = … {                         %s = tt.splat %n : i32 -> tensor<64xi32>
//     %s = tt.splat %n : …             →     scf.for %i = … {
//     …                                        …
//
// Innermost loops first, so that code can climb several levels. What must not happen where the loop does not run
// moves only out of loops that are known to run: integer divisions whose divisor may be zero (or -1, for signed
// ones), which are undefined then. A load, in a loop that writes no memory, moves out of any scf.for: where the loop
// may not run, its mask says so.
//
//   scf.for %i = %lo to %hi … {                      %runs = arith.cmpi slt, %lo, %hi
//     %v = tt.load %p                         →      %v = tt.load %p, %runs
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

static bool definedOutside(Value v, Operation *loop) {
  for (Operation *p = v.parentBlock()->parentOp(); p; p = p->parentOp())
    if (p == loop) return false;
  return true;
}

static bool runsAtLeastOnce(Operation *loop) {
  auto f = loop->dyn<scf::ForOp>();
  if (!f) return false;
  auto lo = intConstantOf(f.lowerBound()), hi = intConstantOf(f.upperBound());
  return lo && hi && *lo < *hi;
}

/// Whether the operation may be undefined where it did not run before.
static bool mayBeUndefined(Operation *op) {
  switch (op->opcode()) {
  case Opcode::arith_divsi:
  case Opcode::arith_remsi:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_floordivsi:
  case Opcode::arith_divui:
  case Opcode::arith_remui:
  case Opcode::arith_ceildivui: {
    auto divisor = integerRange(op->operand(1));
    bool isUnsigned = op->is<arith::DivuiOp>() || op->is<arith::RemuiOp>() || op->is<arith::CeildivuiOp>();
    return !divisor || !(divisor->low > 0 || divisor->high < (isUnsigned ? 0 : -1));
  }
  default: return false;
  }
}

static bool isBlockPointer(Type t) { return t.isPointer() && t.cast<PointerType>().pointee().isTensor(); }

/// The load happens only if the loop behind it runs.
static void maskByTrip(tt::LoadOp load, scf::ForOp loop) {
  Builder b(load.op);
  auto p = loop.unsignedCmp() ? CmpIPredicate::Ult : CmpIPredicate::Slt;
  Value runs = arith::CmpiOp::create(b, load.loc(), loop.lowerBound(), loop.upperBound(),
                                     {b.named("predicate", IntegerAttr::get(b.context().i64(), int64_t(p)))})
                   .result();
  if (auto t = load.ptr().type().dyn_cast<TensorType>())
    runs = tt::SplatOp::create(b, load.loc(), t.withElement(b.context().i1()), runs).result();
  if (load.mask()) runs = arith::AndiOp::create(b, load.loc(), runs, load.mask()).result();
  load->setOperandGroup(1, runs);
}

static bool hoist(Operation *loop) {
  bool changed = false, writes = effectsOf(loop) & (kWritesGlobal | kSynchronizes);
  for (auto &r : loop->regions())
    for (auto *b = r.front(); b; b = b->next()) {
      if (b != r.front()) continue; // further blocks may not run
      for (auto &op : *b) {
        if (op.info().has(kTerminator) || (op.numRegions() && !op.is<tt::ReduceOp>())) continue;
        uint8_t e = effectsOf(&op);
        bool runs = runsAtLeastOnce(loop), load = op.is<tt::LoadOp>() && !(e & ~kReadsGlobal) && !writes &&
                                                  loop->is<scf::ForOp>() && !isBlockPointer(op.operand(0).type());
        if (e != 0 && !load) continue;
        if (!runs && mayBeUndefined(&op)) continue;
        if (loop->is<scf::WhileOp>() && &r == &loop->region(1) && load) continue;
        bool invariant = true;
        for (auto v : op.operands()) invariant &= definedOutside(v, loop);
        if (op.numRegions())
          op.walk([&](Operation *inner) {
            for (auto v : inner->operands()) invariant &= definedOutside(v, loop) || !definedOutside(v, &op);
          });
        if (!invariant) continue;
        op.moveBefore(loop);
        if (load && !runs) maskByTrip(op.cast<tt::LoadOp>(), loop->cast<scf::ForOp>());
        changed = true;
      }
    }
  return changed;
}

absl::StatusOr<bool> loopInvariantCodeMotion(Module &m, PassContext &) {
  bool changed = false;
  m.op()->walkPostOrder([&](Operation *op) {
    if (op->is<scf::ForOp>() || op->is<scf::WhileOp>()) changed |= hoist(op);
  });
  return changed;
}

} // namespace tessera::transforms
