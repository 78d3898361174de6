// Pass sccp: sparse conditional constant propagation. Values that are the same constant on every path that can be taken
// become that constant. Assumes constants until proved otherwise, and only along paths not yet known to be dead, so it
// finds constants through loops and branches where folding alone does not:
//
//   %r = scf.for … iter_args(%x = %c1) {          %r is 1: the loop-carried value starts as 1, and is only changed on a
//     %t = arith.cmpi eq, %x, %c2                 path that is taken when it is 2
//     %y = scf.if %t -> (i32) { yield %c5 } else { yield %x }
//     scf.yield %y
//   }
//
// Arguments and results of private functions are followed through their calls. The control flow itself is left to
// canonicalize. Constants are folded by the fold hooks of the op table; loops' bounds are used, ranges of integers are
// not. (Wegman and Zadeck, Constant Propagation with Conditional Branches, 1991.)
//
// Runs: TTIR.
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/symbol_table.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

namespace tessera::transforms {
using namespace ir;

namespace {

/// What is known of a value: nothing yet, one constant, or that it varies.
struct Fact {
  Attribute constant;
  bool varies = false;
  bool unknown() const { return !constant && !varies; }
};

class Propagation {
public:
  explicit Propagation(Module &m) : m_(m), symbols_(m) {}

  bool run() {
    for (auto &op : *m_.body())
      if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty() && f.symVisibility() != "private") {
        for (auto *a : f.body().front()->args()) vary(a);
        reach(f.body().front());
      }
    while (!work_.empty()) {
      Operation *op = work_.front();
      work_.pop_front();
      pending_.erase(op);
      visit(op);
    }
    return rewrite();
  }

private:
  Fact fact(Value v) { return facts_.lookup(v); }
  std::optional<bool> truth(Value v) {
    Fact f = fact(v);
    auto *bits = f.constant ? splatBits(f.constant) : nullptr;
    return bits ? std::optional(!bits->isZero()) : std::nullopt;
  }
  std::optional<llvm::APInt> number(Value v) {
    Fact f = fact(v);
    auto *bits = f.constant ? splatBits(f.constant) : nullptr;
    return bits ? std::optional(*bits) : std::nullopt;
  }

  void push(Operation *op) {
    if (pending_.insert(op).second) work_.push_back(op);
  }
  void again(Operation *op) {
    if (op->block() && reached_.contains(op->block())) push(op);
  }
  void changed(Value v) {
    for (auto *op : foldedTo_.lookup(v)) again(op);
    for (auto *u : v.users()) {
      again(u);
      // Terminators feed the operation around them.
      if (u->info().has(kTerminator) && u->parentOp()) again(u->parentOp());
    }
  }
  void vary(Value v) {
    Fact &f = facts_[v];
    if (f.varies) return;
    f = {{}, true};
    changed(v);
  }
  void join(Value v, Fact with) {
    if (with.unknown()) return;
    Fact &f = facts_[v];
    if (f.varies) return;
    if (with.varies || (f.constant && f.constant != with.constant)) return vary(v);
    if (f.constant) return;
    f = with;
    changed(v);
  }
  void join(llvm::ArrayRef<ValueImpl *> to, OperandRange from) {
    for (unsigned i = 0; i < from.size(); ++i) join(Value(to[i]), fact(from[i]));
  }
  void joinResults(Operation *op, OperandRange from) {
    for (unsigned i = 0; i < from.size(); ++i) join(op->result(i), fact(from[i]));
  }
  void varyResults(Operation *op) {
    for (auto r : op->results()) vary(r);
  }
  void reach(Block *b) {
    if (!reached_.insert(b).second) return;
    for (auto &op : *b) push(&op);
  }
  /// The terminator of a region of one block, once it is reached.
  Operation *end(Region &r) { return !r.empty() && reached_.contains(r.front()) ? r.front()->terminator() : nullptr; }

  /// What the region's reached blocks end in, by operations of the kind, becomes the results.
  template <class EndOp> void joinWithEndsOf(Region &region, Operation *op) {
    for (auto *b = region.front(); b; b = b->next())
      if (reached_.contains(b) && b->terminator() && b->terminator()->is<EndOp>())
        joinResults(op, b->terminator()->operands());
  }

  void branch(cf::CondBrOp op) {
    if (fact(op.condition()).unknown()) return;
    auto t = truth(op.condition());
    if (!t || *t) reach(op->successor(0)), join(op->successor(0)->args(), op.trueArgs());
    if (!t || !*t) reach(op->successor(1)), join(op->successor(1)->args(), op.falseArgs());
  }
  void branch(scf::IfOp op) {
    if (fact(op.condition()).unknown()) return;
    auto t = truth(op.condition());
    if (!t || *t) reach(op.thenRegion().front());
    if ((!t || !*t) && !op.elseRegion().empty()) reach(op.elseRegion().front());
    for (auto &r : op->regions())
      if (auto *y = end(r)) joinResults(op.op, y->operands());
  }
  void loop(scf::WhileOp op) {
    Block *before = op->region(0).front(), *after = op->region(1).front();
    reach(before);
    join(before->args(), op->operands());
    if (auto *y = end(op->region(1))) join(before->args(), y->operands());
    auto c = before->terminator()->dyn<scf::ConditionOp>();
    if (!c || fact(c.condition()).unknown()) return;
    auto t = truth(c.condition());
    if (!t || *t) reach(after), join(after->args(), c.args());
    if (!t || !*t) joinResults(op.op, c.args());
  }
  void call(tt::CallOp op) {
    Operation *callee = symbols_.callee(op);
    auto f = callee ? callee->dyn<tt::FuncOp>() : tt::FuncOp();
    if (!f || f.body().empty() || f.symVisibility() != "private") return varyResults(op.op);
    calls_[callee].insert(op.op);
    reach(f.body().front());
    join(f.body().front()->args(), op->operands());
    joinWithEndsOf<tt::ReturnOp>(f.body(), op.op);
  }

  void visit(Operation *op) {
    switch (op->opcode()) {
    case Opcode::cf_br: reach(op->successor(0)); return join(op->successor(0)->args(), op->operands());
    case Opcode::cf_cond_br: return branch(op->cast<cf::CondBrOp>());
    case Opcode::scf_if: return branch(op->cast<scf::IfOp>());
    case Opcode::scf_for: return loop(op->cast<scf::ForOp>());
    case Opcode::scf_while: return loop(op->cast<scf::WhileOp>());
    case Opcode::scf_execute_region:
      reach(op->region(0).front());
      return joinWithEndsOf<scf::YieldOp>(op->region(0), op);
    case Opcode::tt_call: return call(op->cast<tt::CallOp>());
    case Opcode::tt_return:
      for (auto *call : calls_[op->parentOp()]) again(call);
      return;
    case Opcode::scf_yield:
    case Opcode::scf_condition: return again(op->parentOp());
    default: break;
    }
    if (op->numRegions()) {
      // Regions of reductions and the like: called with anything.
      for (auto &r : op->regions())
        for (auto *b = r.front(); b; b = b->next()) {
          for (auto *a : b->args()) vary(a);
          reach(b);
        }
      return varyResults(op);
    }
    fold(op);
  }

  void loop(scf::ForOp f) {
    Block *body = f.body().front();
    Fact lo = fact(f.lowerBound()), hi = fact(f.upperBound()), st = fact(f.step());
    if (lo.unknown() || hi.unknown() || st.unknown()) return;
    auto low = number(f.lowerBound()), high = number(f.upperBound()), step = number(f.step());
    auto less = [&](const llvm::APInt &a, const llvm::APInt &b) { return f.unsignedCmp() ? a.ult(b) : a.slt(b); };
    bool runs = low && high && less(*low, *high);
    if (!runs) joinResults(f.op, f.initArgs());
    if (low && high && !runs) return;
    reach(body);
    // One iteration: the index is the lower bound.
    if (low && high && step && (*high - *low).ule(*step))
      join(inductionVariable(f), lo);
    else
      vary(inductionVariable(f));
    join(carriedArguments(*body), f.initArgs());
    if (auto *y = end(f.body())) {
      join(carriedArguments(*body), y->operands());
      joinResults(f.op, y->operands());
    }
  }

  void fold(Operation *op) {
    if (!op->numResults()) return;
    if (auto c = op->dyn<arith::ConstantOp>()) return join(op->result(), {c.value(), false});
    auto hook = op->info().fold;
    if (!hook || op->numResults() != 1) return varyResults(op);
    llvm::SmallVector<Attribute, 4> constants;
    for (auto v : op->operands()) {
      Fact f = fact(v);
      if (f.unknown()) return; // until more is known
      constants.push_back(f.constant);
    }
    llvm::SmallVector<FoldResult, 1> out;
    if (!hook(op, constants, out)) return varyResults(op);
    if (out[0].constant) return join(op->result(), {out[0].constant, false});
    // The hook may have looked through the operands: then the value is none of them, and nobody else would look here
    // again when more is known of it.
    if (!llvm::is_contained(op->operands(), out[0].value)) foldedTo_[out[0].value].insert(op);
    Fact f = fact(out[0].value);
    join(op->result(), f.unknown() ? Fact{{}, true} : f);
  }

  bool rewrite() {
    bool any = false;
    llvm::DenseMap<std::pair<Operation *, Attribute>, Value> made;
    std::vector<Operation *> dead;
    m_.op()->walk([&](Operation *op) {
      auto replace = [&](Value v) {
        Fact f = fact(v);
        if (!f.constant || v.useEmpty() || (v.definingOp() && v.definingOp()->is<arith::ConstantOp>())) return;
        Operation *scope = op;
        while (!scope->info().has(kIsolated)) scope = scope->parentOp();
        Value &c = made[{scope, f.constant}];
        if (!c) {
          Builder b = Builder::atStart(scope->region(0).front());
          c = b.constant(v.loc(), v.type(), f.constant);
        }
        v.replaceAllUsesWith(c);
        any = true;
      };
      for (auto r : op->results()) replace(r);
      for (auto &r : op->regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto *a : b->args()) replace(a);
      if (op->numResults() && op->numRegions() == 0 && isTriviallyDead(op)) dead.push_back(op);
    });
    for (auto *op : llvm::reverse(dead))
      if (op->useEmpty()) op->erase(), any = true;
    return any;
  }

  Module &m_;
  SymbolTable symbols_;
  llvm::DenseMap<Value, Fact> facts_;
  llvm::DenseSet<Block *> reached_;
  std::deque<Operation *> work_;
  llvm::DenseSet<Operation *> pending_;
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> calls_;
  llvm::DenseMap<Value, llvm::SetVector<Operation *>>
      foldedTo_; // operations that fold to a value which is no operand of theirs
};

} // namespace

absl::StatusOr<bool> sccp(Module &m, PassContext &) { return Propagation(m).run(); }

} // namespace tessera::transforms
