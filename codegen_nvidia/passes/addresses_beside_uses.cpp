// In functions with many unrelated addresses each is computed at its access:
//
//   %i = mul i32 %a, %s                %i = mul i32 %a, %s
//   %j = mul i32 %b, %s                %p = getelementptr float, ptr %x, i32 %i
//   %p = getelementptr float … %i      store float %v, ptr %p
//   %q = getelementptr float … %j  →   %j = mul i32 %b, %s
//   store float %v, ptr %p             %q = getelementptr float, ptr %x, i32 %j
//   store float %w, ptr %q             store float %w, ptr %q
//
// The lowering computes all addresses of a tensor before the first access, and ptxas keeps them in registers: a gather
// of 64 x 128 elements by four warps spills 428 bytes so, and none with the addresses at the loads.
//
// It saves time, too. LLVM's straight-line strength reduction (slsr), which code generation begins with, compares each
// address with those from the same pointer, each addition or multiplication with those that share an operand, and
// queries for each pair whether one may be poison. LLVM looks for an access below that the poison would make undefined,
// 32 instructions far; without one it queries the operands. That takes 30 microseconds a pair, and 64 unrelated
// addresses make 8,000 pairs. Their number is also what selects the functions; others stay as they are.
#include "codegen_nvidia/passes/addresses_beside_uses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

namespace tessera::nvidia {

using namespace llvm;

namespace {

bool isArithmetic(const Instruction &i) {
  if (isa<ZExtInst, SExtInst, TruncInst>(i)) return true;
  return isa<BinaryOperator>(i) && i.getType()->isIntegerTy() && !i.isIntDivRem();
}

/// Address computations of a function: of pointers, and the arithmetic of which nothing else is made.
class Addresses {
public:
  explicit Addresses(const Function &f) {
    for (const BasicBlock *block : post_order(&f)) // uses before what they use, but for phis, which are none
      for (const Instruction &i : reverse(*block))
        if (isa<GetElementPtrInst>(i) ||
            (isArithmetic(i) && all_of(i.users(), [&](const User *u) { return all_.contains(cast<Instruction>(u)); })))
          all_.insert(&i);
  }
  bool contains(const Instruction &i) const { return all_.contains(&i); }
  /// Pairs that slsr compares.
  uint64_t countPairs() const {
    uint64_t pairs = 0;
    DenseMap<std::pair<const Value *, unsigned>, uint64_t> seen; // by operand and opcode
    for (const Instruction *i : all_)
      for (const Value *key : keysOf(*i)) pairs += seen[{key, i->getOpcode()}]++;
    return pairs;
  }

private:
  /// The operands by which slsr finds what an instruction is compared with.
  static SmallVector<const Value *, 2> keysOf(const Instruction &i) {
    if (const auto *address = dyn_cast<GetElementPtrInst>(&i)) {
      if (address->hasAllConstantIndices()) return {};
      return {address->getPointerOperand()};
    }
    bool isSum = i.getOpcode() == Instruction::Add;
    if (const auto *either = dyn_cast<PossiblyDisjointInst>(&i)) isSum = either->isDisjoint();
    if (!isSum && i.getOpcode() != Instruction::Mul) return {};
    return {i.getOperand(0), i.getOperand(1)};
  }

  DenseSet<const Instruction *> all_;
};

/// Places addresses before their first use in the block, and those that have none there at the block's end.
class Order {
public:
  Order(BasicBlock &block, const Addresses &addresses) : block_(block), addresses_(addresses) {}

  void run() {
    SmallVector<Instruction *> fixed, movable;
    for (Instruction &i : block_) (addresses_.contains(i) ? movable : fixed).push_back(&i);
    for (Instruction *i : fixed) {
      if (i->isTerminator())
        for (Instruction *m : movable) place(m, i);
      if (!isa<PHINode>(i)) placeOperands(i, i);
    }
  }

private:
  void place(Instruction *i, Instruction *before) {
    if (i->getParent() != &block_ || !addresses_.contains(*i) || !placed_.insert(i).second) return;
    placeOperands(i, before);
    i->moveBefore(before->getIterator());
  }
  void placeOperands(Instruction *of, Instruction *before) {
    for (Value *operand : of->operands())
      if (auto *i = dyn_cast<Instruction>(operand)) place(i, before);
  }

  BasicBlock &block_;
  const Addresses &addresses_;
  SmallPtrSet<Instruction *, 32> placed_;
};

} // namespace

PreservedAnalyses AddressesBesideUsesPass::run(Function &f, FunctionAnalysisManager &) {
  constexpr uint64_t kManyPairs = 4096;
  Addresses addresses(f);
  if (addresses.countPairs() <= kManyPairs) return PreservedAnalyses::all();
  for (BasicBlock &block : f) Order(block, addresses).run();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tessera::nvidia
