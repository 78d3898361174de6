// The worklist driver of pattern rewriting (see rewriter.h). Operations are visited in the order of the text at
// first; whatever changes puts itself, its users and the definers of its operands back on the list. Constants that
// folding makes are put at the entry of the nearest isolated operation, one of each.
#include "ir/rewriter.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace tessera::ir {

namespace {

class Driver : public Rewriter {
public:
  Driver(Operation *root, llvm::ArrayRef<Pattern> patterns, const RewriteOptions &o)
      : Rewriter(root->module()), root_(root), options_(o) {
    for (auto &p : patterns) byRoot_[unsigned(p.root)].push_back(p.apply);
  }

  bool run() {
    if (options_.uniqueConstants) uniqueConstants();
    root_->walk([&](Operation *op) {
      if (op != root_) push(op);
    });
    // A bound that no sound set of patterns reaches; it turns an endless rewrite into an unfinished one.
    size_t budget = 1000 + worklist_.size() * 50 * options_.maxIterations;
    while (!worklist_.empty() && budget--) {
      Operation *op = worklist_.front();
      worklist_.pop_front();
      if (!pending_.erase(op) || erased_.contains(op)) continue;
      visit(op);
    }
    if (options_.uniqueConstants) uniqueConstants(); // those that patterns made
    return changed_;
  }

  void replaceOp(Operation *op, llvm::ArrayRef<Value> by) override {
    for (unsigned i = 0; i < op->numResults(); ++i) replaceValue(op->result(i), by[i]);
    eraseOp(op);
  }
  void replaceValue(Value v, Value by) override {
    changed_ = true;
    for (auto *user : v.users()) {
      push(user);
      // What a terminator hands on concerns the operation around it.
      if (user->info().has(kTerminator) && user->parentOp() && user->parentOp() != root_) push(user->parentOp());
    }
    v.replaceAllUsesWith(by);
    if (auto *d = by.definingOp()) push(d);
  }
  void eraseOp(Operation *op) override {
    changed_ = true;
    op->walk([&](Operation *inner) {
      for (auto v : inner->operands())
        if (v && v.definingOp()) push(v.definingOp());
      erased_.insert(inner);
    });
    op->erase();
  }
  void updated(Operation *op) override {
    changed_ = true;
    push(op);
    for (auto r : op->results())
      for (auto *u : r.users()) push(u);
    for (auto v : op->operands())
      if (v.definingOp()) push(v.definingOp());
  }

private:
  void push(Operation *op) {
    if (erased_.contains(op) || !pending_.insert(op).second) return;
    worklist_.push_back(op);
  }

  void visit(Operation *op) {
    if (options_.eraseDead && isTriviallyDead(op)) return eraseOp(op);
    if (options_.fold && fold(op)) return;
    for (unsigned root : {unsigned(op->opcode()), unsigned(Opcode::unregistered)}) {
      auto it = byRoot_.find(root);
      if (it == byRoot_.end()) continue;
      for (auto f : it->second) {
        Block *was = op->block();
        setInsertionPoint(op);
        Operation *before = op->prev();
        Operation *after = op->next();
        if (f(op, *this)) {
          changed_ = true;
          // What the pattern made stands between the old neighbours.
          if (!erased_.contains(op)) {
            for (auto *n = op->prev(); n && n != before; n = n->prev()) push(n);
            push(op);
          } else if (was) {
            for (auto *n = before ? before->next() : was->front(); n && n != before; n = n->next()) {
              if (n == after || seen_.contains(n)) break;
              push(n);
            }
          }
          return;
        }
      }
    }
    seen_.insert(op);
  }

  bool fold(Operation *op) {
    auto hook = op->info().fold;
    if (!hook) return false;
    llvm::SmallVector<Attribute, 4> constants;
    for (auto v : op->operands()) constants.push_back(constantOf(v));
    // Constants to the right of commutative operations.
    if (op->info().has(kCommutative) && op->numOperands() == 2 && constants[0] && !constants[1]) {
      BinaryOp sides(op);
      Value constant = sides.lhs();
      sides.setLhs(sides.rhs());
      sides.setRhs(constant);
      std::swap(constants[0], constants[1]);
      changed_ = true;
    }
    llvm::SmallVector<FoldResult, 2> out;
    if (!hook(op, constants, out)) return false;
    llvm::SmallVector<Value, 2> values;
    for (unsigned i = 0; i < out.size(); ++i)
      values.push_back(out[i].value ? out[i].value : constantAtEntry(op, op->result(i).type(), out[i].constant));
    replaceOp(op, values);
    return true;
  }

  Operation *scopeOf(Operation *op) {
    Operation *scope = op->parentOp();
    while (scope->parentOp() && !scope->info().has(kIsolated)) scope = scope->parentOp();
    return scope;
  }

  /// The constants that are there already: to the entry, in their order, one of each.
  void uniqueConstants() {
    std::vector<Operation *> constants;
    constants_.clear();
    root_->walk([&](Operation *op) {
      if (op != root_ && op->is<arith::ConstantOp>()) constants.push_back(op);
    });
    llvm::DenseMap<Operation *, Operation *> last;
    for (auto *op : constants) {
      Operation *scope = scopeOf(op);
      if (!scope->parentOp()) continue; // directly in the module
      auto &existing = constants_[{scope, op->cast<arith::ConstantOp>().value()}];
      if (existing) {
        op->replaceAllUsesWith(existing);
        op->erase();
        changed_ = true;
        continue;
      }
      existing = op;
      Operation *&before = last[scope];
      Operation *wanted = before ? before->next() : scope->region(0).front()->front();
      if (op != wanted) {
        op->moveBefore(wanted);
        changed_ = true;
      }
      before = op;
    }
  }

  Value constantAtEntry(Operation *op, Type type, Attribute a) {
    Operation *scope = scopeOf(op);
    auto &existing = constants_[{scope, a}];
    if (existing && !erased_.contains(existing)) return existing->result();
    Builder b = Builder::atStart(scope->region(0).front());
    existing = b.constant(op->loc(), type, a).definingOp();
    return existing->result();
  }

  Operation *root_;
  RewriteOptions options_;
  llvm::DenseMap<unsigned, llvm::SmallVector<PatternFn, 4>> byRoot_;
  std::deque<Operation *> worklist_;
  llvm::DenseSet<Operation *> pending_, erased_, seen_;
  llvm::DenseMap<std::pair<Operation *, Attribute>, Operation *> constants_;
  bool changed_ = false;
};

} // namespace

bool applyPatterns(Operation *root, llvm::ArrayRef<Pattern> patterns, const RewriteOptions &o) {
  return Driver(root, patterns, o).run();
}

} // namespace tessera::ir
