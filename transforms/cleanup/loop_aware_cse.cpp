// Values that a loop carries twice: carried values that start from the same value and are changed in the same way are
// the same in every iteration, so one stands for all of them. (Two pointers advanced side by side are often carried
// with an offset each.)
//
//   scf.for … iter_args(%i = %c0, %j = %c0) {            scf.for … iter_args(%i = %c0, %j = %c0) {
//     %a = arith.addi %i, %c1                              %a = arith.addi %i, %c1
//     %b = arith.addi %j, %c1                       →      %b = arith.addi %i, %c1
//     scf.yield %a, %b                                     scf.yield %a, %b
//
// cse and canonicalize then drop what is left over. Equality is assumed and refined: carried values with one initial
// value start in one class, and a class is split while what its members become differs under the classes; what is left
// is equal by induction over the iterations. What they become is compared through operations of the loop's body that
// have no effects and no regions. cse runs first in this pass, as it makes more operands the same.
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class Loop {
public:
  explicit Loop(scf::ForOp f) : f_(f), body_(f.body().front()), yield_(body_->terminator()), n_(f.initArgs().size()) {}

  bool run() {
    // The class of a carried value is its first member.
    for (unsigned i = 0; i < n_; ++i) {
      unsigned c = i;
      for (unsigned j = 0; j < i; ++j)
        if (f_.initArgs()[j] == f_.initArgs()[i]) {
          c = j;
          break;
        }
      class_.push_back(c);
    }
    for (bool again = true; again;) {
      again = false;
      llvm::SmallVector<unsigned, 8> next;
      for (unsigned i = 0; i < n_; ++i) {
        unsigned c = i;
        for (unsigned j = 0; j < i; ++j) {
          if (class_[j] != class_[i]) continue;
          unsigned budget = 100;
          if (next[j] == j && same(yield_->operand(j), yield_->operand(i), budget)) {
            c = j;
            break;
          }
        }
        again |= c != class_[i];
        next.push_back(c);
      }
      class_ = next;
    }
    bool changed = false;
    for (unsigned i = 0; i < n_; ++i) {
      if (class_[i] == i) continue;
      Value arg = body_->arg(i + 1), result = f_->result(i);
      changed |= !arg.useEmpty() || !result.useEmpty();
      arg.replaceAllUsesWith(body_->arg(class_[i] + 1));
      result.replaceAllUsesWith(f_->result(class_[i]));
    }
    return changed;
  }

private:
  /// Whether two values of one iteration are equal if the carried ones of each class are.
  bool same(Value a, Value b, unsigned &budget) {
    if (a == b) return true;
    if (!budget || a.type() != b.type()) return false;
    --budget;
    if (a.isBlockArgument() || b.isBlockArgument())
      return a.isBlockArgument() && b.isBlockArgument() && a.ownerBlock() == body_ && b.ownerBlock() == body_ &&
             a.index() && b.index() && class_[a.index() - 1] == class_[b.index() - 1];
    Operation *x = a.definingOp(), *y = b.definingOp();
    if (a.index() != b.index() || x->block() != body_ || y->block() != body_ || x->opcode() != y->opcode() ||
        x->opcode() == Opcode::unregistered || x->info().has(kNoCse))
      return false;
    if (x->numRegions() || !isPure(x) || !isPure(y) || x->numOperands() != y->numOperands() ||
        x->numResults() != y->numResults() || x->operandSegments() != y->operandSegments())
      return false;
    if (x->attrs().size() != y->attrs().size()) return false;
    for (auto &attr : x->attrs())
      if (y->attr(attr.name) != attr.value) return false;
    for (unsigned i = 0; i < x->numOperands(); ++i)
      if (!same(x->operand(i), y->operand(i), budget)) return false;
    return true;
  }

  scf::ForOp f_;
  Block *body_;
  Operation *yield_;
  unsigned n_;
  llvm::SmallVector<unsigned, 8> class_;
};

} // namespace

absl::StatusOr<bool> loopAwareCse(Module &m, PassContext &c) {
  auto changed = commonSubexpressions(m, c);
  if (!changed.ok()) return changed;
  bool merged = false;
  m.op()->walkPostOrder([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) merged |= Loop(f).run();
  });
  if (!merged) return changed;
  if (auto again = commonSubexpressions(m, c); !again.ok()) return again;
  return true;
}

} // namespace tessera::transforms
