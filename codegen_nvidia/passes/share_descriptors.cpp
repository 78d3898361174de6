// The descriptors of the steps of a wgmma, which differ in their addresses, are sums of the first one.
//
//   %d0 = or disjoint i64 %address, 0x4000004000010000     %d0 = asm "mov.b64" (or disjoint …)
//   %d1 = or disjoint i64 %address, 0x4000004000010002  →  %d1 = add i64 %d0, 2
//   %d2 = or disjoint i64 %address, 0x4000004000010004     %d2 = add i64 %d0, 4
//
// The instruction reads the descriptors of both operands from four uniform registers in a row. ptxas puts a constant of
// 64 bits together by halves: an `or` of the lower one, a move of the upper one, and moves to where the other operand's
// are. A sum is one instruction that writes where it is read (of 550 instructions of a loop over gradients of attention
// 26 were such moves). The descriptor is hidden from LLVM, which would add the numbers to the constant again.
#include "codegen_nvidia/passes/share_descriptors.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::nvidia {
using namespace llvm;
using namespace PatternMatch;

namespace {

constexpr unsigned kAddressBits = 14; // the lowest of a descriptor

/// A sum of an address and a constant. Two of a kind differ in the bits of the address.
struct Descriptor {
  Instruction *sum;
  uint64_t constant;
};
using Kind = std::pair<Value *, uint64_t>; // the address; the constant's other bits

std::optional<std::pair<Kind, Descriptor>> descriptor(Value *v) {
  auto *sum = dyn_cast<Instruction>(v);
  Value *address;
  ConstantInt *constant;
  if (!sum || !sum->getType()->isIntegerTy(64) || !match(sum, m_AddLike(m_Value(address), m_ConstantInt(constant))))
    return std::nullopt;
  uint64_t bits = constant->getZExtValue();
  return std::pair(Kind(address, bits >> kAddressBits), Descriptor{sum, bits});
}

/// The same value, of which LLVM knows nothing.
Value *hidden(Instruction &value) {
  IRBuilder<> b(value.getParent(), std::next(value.getIterator()));
  auto *type = FunctionType::get(value.getType(), value.getType(), /*isVarArg=*/false);
  auto *call = b.CreateCall(type, InlineAsm::get(type, "mov.b64 $0, $1;", "=l,l", /*hasSideEffects=*/false), &value);
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return call;
}

/// The first one is what the others are computed from, where it comes before them.
bool shareFirst(ArrayRef<Descriptor> descriptors, const DominatorTree &dominators) {
  Descriptor first = descriptors[0];
  SmallVector<Descriptor, 8> others;
  for (const Descriptor &d : descriptors.drop_front())
    if (dominators.dominates(first.sum, d.sum)) others.push_back(d);
  if (others.empty()) return false;
  Value *base = hidden(*first.sum);
  first.sum->replaceUsesWithIf(base, [&](const Use &use) { return use.getUser() != base; });
  for (const Descriptor &d : others) {
    IRBuilder<> b(d.sum);
    d.sum->replaceAllUsesWith(b.CreateAdd(base, b.getInt64(d.constant - first.constant)));
    d.sum->eraseFromParent();
  }
  return true;
}

} // namespace

PreservedAnalyses ShareDescriptorsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  SmallSetVector<Value *, 32> operands;
  for (Instruction &i : instructions(f))
    if (isWarpGroupDot(i))
      for (Value *operand : i.operand_values()) operands.insert(operand);
  MapVector<Kind, SmallVector<Descriptor, 8>> byKinds;
  for (Instruction &i : instructions(f)) // in the order of the code
    if (operands.contains(&i))
      if (auto found = descriptor(&i)) byKinds[found->first].push_back(found->second);
  bool changed = false;
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(f);
  for (auto &[kind, descriptors] : byKinds) changed |= shareFirst(descriptors, dominators);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::nvidia
