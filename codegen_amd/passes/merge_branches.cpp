// Joins neighbouring branches under one mask. Masked accesses are lowered one operation at a time, each as a branch
// that switches lanes off; a kernel that loads, computes and stores under one mask then switches lanes three times.
// The code between two such branches has no effects, so the second can follow the first inside one:
//
//   if (m) x = load p                    if (m) {
//   y = x + 1                     →        x = load p; y = x + 1; store q, y
//   if (m) store q, y                    }
//
// Arithmetic between the branches that does not need the first one's values goes before it. What needs them is copied
// into the joined branch, and the original moves after it, where it is dead unless something later uses it; a join
// that would compute more than a few instructions twice is not made.
#include "codegen_amd/passes/merge_branches.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace tessera::amd {
using namespace llvm;

namespace {

/// head: br mask, then, after;  then: …; br after. `then` has no other way in, `after` no other than these two.
struct Diamond {
  BranchInst *branch = nullptr;
  BasicBlock *then = nullptr, *after = nullptr;

  explicit Diamond(BasicBlock *head) {
    auto *br = dyn_cast_or_null<BranchInst>(head->getTerminator());
    if (!br || !br->isConditional()) return;
    BasicBlock *t = br->getSuccessor(0), *a = br->getSuccessor(1);
    if (t == a || t->getSinglePredecessor() != head || t->getSingleSuccessor() != a || !a->hasNPredecessors(2)) return;
    branch = br;
    then = t;
    after = a;
  }
  explicit operator bool() const { return branch; }
};

class Join {
public:
  Join(BasicBlock *head, const Diamond &first, const Diamond &second) : head_(head), first_(first), second_(second) {}

  /// Whether the branches can be joined with at most so many instructions computed twice.
  bool possible(unsigned maxRepeated) {
    bool firstWrites = any_of(*first_.then, [](Instruction &i) { return i.mayWriteToMemory(); });
    for (PHINode &phi : first_.after->phis()) depends_.insert(&phi);
    for (Instruction &i : *first_.after) {
      if (isa<PHINode>(i) || i.isTerminator()) continue;
      if (i.mayHaveSideEffects() || i.isEHPad() || isa<AllocaInst>(i)) return false;
      if (auto *call = dyn_cast<CallBase>(&i); call && call->isConvergent()) return false;
      bool depends = any_of(i.operands(), [&](Value *v) { return depends_.contains(v); });
      if (i.mayReadFromMemory() && (firstWrites || depends)) return false;
      if (depends) depends_.insert(&i);
    }
    for (PHINode &phi : second_.after->phis())
      if (depends_.contains(phi.getIncomingValueForBlock(first_.after))) return false;
    // An instruction that both the joined branch and the code after it need is computed twice.
    unsigned repeated = 0;
    for (Instruction &i : *first_.after) {
      if (isa<PHINode>(i) || !depends_.contains(&i)) continue;
      bool inside = false, outside = false;
      for (User *u : i.users()) {
        auto *user = cast<Instruction>(u);
        if (user->getParent() == first_.after && depends_.contains(user)) continue; // counted itself
        if (user->getParent() == second_.then)
          inside = true;
        else
          outside = true;
      }
      repeated += inside && outside;
    }
    return repeated <= maxRepeated;
  }

  void make() {
    BasicBlock *then = first_.then, *middle = first_.after, *after = second_.after;
    ValueToValueMapTy inside; // values of the middle in the joined branch
    for (PHINode &phi : middle->phis()) inside[&phi] = phi.getIncomingValueForBlock(then);
    then->getTerminator()->eraseFromParent();
    SmallVector<Instruction *, 16> moved;
    for (Instruction &i : *middle)
      if (!isa<PHINode>(i) && !i.isTerminator()) moved.push_back(&i);
    for (Instruction *i : moved) {
      if (!depends_.contains(i)) {
        i->moveBefore(head_->getTerminator()->getIterator());
        continue;
      }
      Instruction *copy = i->clone();
      copy->insertInto(then, then->end());
      RemapInstruction(copy, inside, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
      inside[i] = copy;
    }
    // The second branch's instructions, reading the copies.
    for (Instruction &i : *second_.then) RemapInstruction(&i, inside, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
    for (PHINode &phi : after->phis()) {
      int at = phi.getBasicBlockIndex(second_.then);
      Value *v = phi.getIncomingValue(at);
      if (auto it = inside.find(v); it != inside.end()) phi.setIncomingValue(at, it->second);
      phi.setIncomingBlock(at, then);
      phi.setIncomingBlock(phi.getBasicBlockIndex(middle), head_);
    }
    then->splice(then->end(), second_.then);
    // The originals, after the joined branch.
    BasicBlock::iterator firstInstruction = after->getFirstNonPHIIt();
    for (PHINode &phi : make_early_inc_range(middle->phis())) {
      phi.moveBefore(*after, after->begin());
      // Its incoming blocks stay: the first branch and the head.
    }
    for (Instruction *i : moved)
      if (depends_.contains(i)) i->moveBefore(*after, firstInstruction);
    first_.branch->setSuccessor(1, after);
    second_.then->eraseFromParent();
    middle->eraseFromParent();
  }

private:
  BasicBlock *head_;
  Diamond first_, second_;
  SmallPtrSet<Value *, 16> depends_; // phis of the middle and what is computed from them there
};

} // namespace

void mergeBranches(Function &f, const ir::Tuning &tuning) {
  for (BasicBlock *block = &f.front(); block; block = block->getNextNode()) {
    while (Diamond first{block}) {
      Diamond second(first.after);
      if (!second || second.branch->getCondition() != first.branch->getCondition()) break;
      Join join(block, first, second);
      if (!join.possible(tuning.mergeBranchesMaxRepeated)) break;
      join.make();
    }
  }
}

} // namespace tessera::amd
