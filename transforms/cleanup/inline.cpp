// Pass inline: the body of a callee that is not noinline replaces the tt.call, and locations become call sites.
//
//   %0 = tt.call @f(%x) : (i32) -> i32      →      %0 = arith.addi %x, %x : i32   loc(callsite(f's at the call's))
//
// Callees are inlined into callers bottom up. The body of a callee with several blocks becomes an scf.execute_region.
// Recursion is an error.
//
// Runs: TTIR.
#include "ir/builder.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool isNoinline(tt::FuncOp f) {
  auto a = f->attr<IntegerAttr>("noinline");
  return a && !a.value().isZero();
}

/// Makes the locations of an operation and what it holds call sites. `made`: those made before for the same call.
void relocate(Operation *op, Location call, llvm::DenseMap<const void *, Location> &made) {
  op->walk([&](Operation *o) {
    Location &callSite = made[o->loc().storage()];
    if (callSite.isUnknown()) callSite = o->context().callSiteLoc(o->loc(), call);
    o->setLoc(callSite);
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
      if (!isNoinline(f) && !f.body().empty()) inlineCall(call, f);
    }
    active_.remove(func);
    done_.insert(func);
    return true;
  }

  void inlineCall(Operation *call, tt::FuncOp callee) {
    changed_ = true;
    if (callee.body().hasOneBlock())
      inlineBlock(call, callee);
    else
      inlineRegion(call, callee);
    call->erase();
  }

  /// Clones a body of one block in front of the call.
  void inlineBlock(Operation *call, tt::FuncOp callee) {
    Builder b(call);
    ValueMap map;
    llvm::DenseMap<const void *, Location> made;
    Block *body = callee.body().front();
    for (unsigned i = 0; i < body->numArgs(); ++i) map.map(body->arg(i), call->operand(i));
    for (auto &op : *body)
      if (!op.is<tt::ReturnOp>()) relocate(b.clone(&op, map), call->loc(), made);
    Operation *exit = body->terminator();
    for (unsigned i = 0; i < call->numResults(); ++i)
      call->result(i).replaceAllUsesWith(map.lookupOrSelf(exit->operand(i)));
  }

  /// Several blocks become a region of their own, whose returns become yields.
  void inlineRegion(Operation *call, tt::FuncOp callee) {
    Builder b(call);
    ValueMap map;
    llvm::DenseMap<const void *, Location> made;
    llvm::SmallVector<Type, 2> types;
    for (auto r : call->results()) types.push_back(r.type());
    auto wrap = scf::ExecuteRegionOp::create(b, call->loc(), types);
    Operation *copy = cloneOperation(callee.op, m_, map);
    Block *entry = copy->region(0).front();
    for (unsigned i = 0; i < entry->numArgs(); ++i) entry->arg(i).replaceAllUsesWith(call->operand(i));
    while (entry->numArgs()) entry->eraseArg(entry->numArgs() - 1);
    wrap.region().takeBody(copy->region(0));
    relocate(wrap, call->loc(), made);
    for (auto *block = wrap.region().front(); block; block = block->next()) {
      Operation *exit = block->terminator();
      if (!exit || !exit->is<tt::ReturnOp>()) continue;
      Builder end(exit);
      scf::YieldOp::create(end, exit->loc(), exit->operands().vec());
      exit->erase();
    }
    call->replaceAllUsesWith(wrap->results().vec());
  }

  Module &m_;
  PassContext &c_;
  llvm::SetVector<Operation *> active_;
  llvm::SmallPtrSet<Operation *, 8> done_;
  bool changed_ = false;
};

} // namespace

absl::StatusOr<bool> inlineCalls(Module &m, PassContext &c) { return Inliner(m, c).run(); }

} // namespace tessera::transforms
