// Pass inline: the body of a callee that is not noinline replaces the tt.call, and locations become call sites.
//
//   %0 = tt.call @f(%x) : (i32) -> i32      →      %0 = arith.addi %x, %x : i32   loc(callsite(f's at the call's))
//
// Callees are inlined into callers bottom up. The body of a callee with several blocks becomes an scf.execute_region.
// Recursion is an error, and so are calls whose inlining would make a function larger than any that people write.
//
// Runs: TTIR.
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/symbol_table.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <optional>
#include <vector>

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
  Inliner(Module &m, PassContext &c) : m_(m), c_(c), symbols_(m) {}

  absl::StatusOr<bool> run() {
    std::vector<Operation *> funcs;
    for (auto &op : *m_.body())
      if (op.is<tt::FuncOp>()) funcs.push_back(&op);
    for (auto *f : funcs)
      if (!inlinedSize(f)) return absl::InvalidArgumentError("calls that cannot be inlined");
    for (auto *f : funcs) inlineInto(f);
    return changed_;
  }

private:
  // Far beyond kernels that people write.
  static constexpr int64_t kMostOperations = 1 << 17; // that a function gets by inlining
  static constexpr size_t kMostNested = 500;

  static bool isInlined(tt::FuncOp callee) { return !isNoinline(callee) && !callee.body().empty(); }

  static std::vector<Operation *> callsIn(Operation *func) {
    std::vector<Operation *> calls;
    func->walk([&](Operation *op) {
      if (op->is<tt::CallOp>()) calls.push_back(op);
    });
    return calls;
  }

  Operation *calleeOf(Operation *call) { return symbols_.callee(call->cast<tt::CallOp>()); }

  std::nullopt_t refuse(Operation *func, const llvm::Twine &why) {
    c_.diagnostics.error(func->loc(), "function '@" + func->cast<tt::FuncOp>().symName() + "' " + why);
    return std::nullopt;
  }

  /// The operations that a function will have, before anything is inlined: with every level of calls they may double.
  /// None after an error was reported.
  std::optional<int64_t> inlinedSize(Operation *func) {
    if (auto known = sizes_.find(func); known != sizes_.end()) return known->second;
    bool isRecursive = !active_.insert(func);
    if (isRecursive) return refuse(func, "calls itself; recursion is not supported");
    if (active_.size() > kMostNested)
      return refuse(func, "is called through " + llvm::Twine(kMostNested) + " others; calls are nested too deeply");
    int64_t added = 0;
    for (auto *call : callsIn(func)) {
      Operation *callee = calleeOf(call);
      std::optional<int64_t> inlined = callee ? inlinedSize(callee) : std::nullopt;
      if (!inlined) return std::nullopt;
      if (isInlined(callee->cast<tt::FuncOp>())) added += *inlined;
      if (added > kMostOperations)
        return refuse(func, "has more than " + llvm::Twine(kMostOperations) + " operations once its calls are inlined");
    }
    active_.remove(func);
    int64_t own = 0;
    func->walk([&](Operation *) { ++own; });
    return sizes_[func] = own + added;
  }

  /// @pre inlinedSize has no objection
  void inlineInto(Operation *func) {
    if (!done_.insert(func).second) return;
    for (auto *call : callsIn(func)) {
      Operation *callee = calleeOf(call);
      inlineInto(callee);
      if (auto f = callee->cast<tt::FuncOp>(); isInlined(f)) inlineCall(call, f);
    }
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
  SymbolTable symbols_; // inlining erases calls, never functions
  llvm::SetVector<Operation *> active_;
  llvm::DenseMap<Operation *, int64_t> sizes_;
  llvm::SmallPtrSet<Operation *, 8> done_;
  bool changed_ = false;
};

} // namespace

absl::StatusOr<bool> inlineCalls(Module &m, PassContext &c) { return Inliner(m, c).run(); }

} // namespace tessera::transforms
