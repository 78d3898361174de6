// Inlining of tt.call: a callee that is not noinline takes the place of the call, and locations say so.
//
//   %0 = tt.call @f(%x) : (i32) -> i32      →      %0 = arith.addi %x, %x : i32   loc(callsite(f's at the call's))
//
// Callees are inlined into callers bottom up. A callee of several blocks splits the caller's block, which is possible
// only where the call stands directly in a function; elsewhere it is wrapped in scf.execute_region. Recursion is an
// error.
#include "ir/builder.h"
#include "ir/ops.h"

#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool noinline(tt::FuncOp f) {
  auto a = f->attr<IntegerAttr>("noinline");
  return a && !a.value().isZero();
}

void relocate(Operation *op, Location call, llvm::DenseMap<const void *, Location> &memo) {
  op->walk([&](Operation *o) {
    auto &slot = memo[o->loc().storage()];
    if (slot.isUnknown()) slot = o->context().callSiteLoc(o->loc(), call);
    o->setLoc(slot);
  });
}

class Inliner {
public:
  Inliner(Module &m, PassContext &c) : m_(m), c_(c) {}

  absl::StatusOr<bool> run() {
    std::vector<Operation *> funcs;
    for (auto &op : *m_.body())
      if (op.is<tt::FuncOp>()) funcs.push_back(&op);
    for (auto *f : funcs)
      if (!visit(f)) return absl::InvalidArgumentError("recursion");
    return changed_;
  }

private:
  bool visit(Operation *func) {
    if (done_.contains(func)) return true;
    if (!active_.insert(func)) {
      c_.diagnostics.error(func->loc(), "function '@" + func->cast<tt::FuncOp>().symName() +
                                            "' calls itself; recursion is not supported");
      return false;
    }
    std::vector<Operation *> calls;
    func->walk([&](Operation *op) {
      if (op->is<tt::CallOp>()) calls.push_back(op);
    });
    for (auto *call : calls) {
      Operation *callee = m_.lookupSymbol(call->cast<tt::CallOp>().callee());
      if (!callee || !visit(callee)) return false;
      auto f = callee->cast<tt::FuncOp>();
      if (!noinline(f) && !f.body().empty()) inlineCall(call, f);
    }
    active_.remove(func);
    done_.insert(func);
    return true;
  }

  void inlineCall(Operation *call, tt::FuncOp callee) {
    changed_ = true;
    Builder b(call);
    ValueMap map;
    llvm::DenseMap<const void *, Location> memo;
    if (callee.body().hasOneBlock()) {
      Block *body = callee.body().front();
      for (unsigned i = 0; i < body->numArgs(); ++i) map.map(body->arg(i), call->operand(i));
      for (auto &op : *body) {
        if (op.is<tt::ReturnOp>()) {
          for (unsigned i = 0; i < call->numResults(); ++i)
            call->result(i).replaceAllUsesWith(map.lookupOrSelf(op.operand(i)));
          break;
        }
        relocate(b.clone(&op, map), call->loc(), memo);
      }
      call->erase();
      return;
    }
    // Several blocks: a region of their own, whose returns become yields.
    llvm::SmallVector<Type, 2> types;
    for (auto r : call->results()) types.push_back(r.type());
    auto wrap = scf::ExecuteRegionOp::create(b, call->loc(), types);
    Operation *copy = cloneOperation(callee.op, m_, map);
    Block *entry = copy->region(0).front();
    for (unsigned i = 0; i < entry->numArgs(); ++i) entry->arg(i).replaceAllUsesWith(call->operand(i));
    while (entry->numArgs()) entry->eraseArg(entry->numArgs() - 1);
    wrap.region().takeBody(copy->region(0));
    relocate(wrap, call->loc(), memo);
    for (auto *blk = wrap.region().front(); blk; blk = blk->next())
      if (auto *t = blk->terminator(); t && t->is<tt::ReturnOp>()) {
        Builder end(t);
        scf::YieldOp::create(end, t->loc(), t->operands().vec());
        t->erase();
      }
    call->replaceAllUsesWith(wrap->results().vec());
    call->erase();
  }

  Module &m_;
  PassContext &c_;
  llvm::SetVector<Operation *> active_;
  llvm::SmallPtrSet<Operation *, 8> done_;
  bool changed_ = false;
};

} // namespace

absl::StatusOr<bool> inlineCalls(Module &m, PassContext &c) { return Inliner(m, c).run(); }

absl::StatusOr<bool> symbolDce(Module &m, PassContext &) {
  bool changed = false, again = true;
  while (again) {
    again = false;
    llvm::DenseSet<llvm::StringRef> called;
    m.op()->walk([&](Operation *op) {
      if (auto c = op->dyn<tt::CallOp>()) called.insert(c.callee());
    });
    for (auto &op : *m.body()) {
      auto f = op.dyn<tt::FuncOp>();
      if (!f || f.symVisibility() != "private" || called.contains(f.symName())) continue;
      op.erase();
      changed = again = true;
    }
  }
  return changed;
}

} // namespace tessera::transforms
