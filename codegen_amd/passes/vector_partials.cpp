// Computes in vector registers with vectors that all lanes read from one place of LDS, such as the partial values of a
// reduction's waves.
//
//   load <4 x i32>, @smem + 16   →   %zero = mbcnt(0, 0);   load <4 x i32>, @smem + %zero + 16
//
// LLVM finds that such values are equal in all lanes and computes with integers (targets with hasScalarFloat: with f32
// too) on the scalar unit, after a v_readfirstlane for each and with several instructions for a comparison and
// selection. An address that seems to differ between the lanes prevents it: mbcnt counts lanes before this one in an
// empty mask. Values on which branches or addresses depend stay as they are.
#include "codegen_amd/passes/vector_partials.h"
#include "codegen/address_spaces.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tessera::amd {
using namespace llvm;

/// Whether all values computed from this one, at most so many, end up as data.
static bool isData(Instruction *value, size_t maxUsers) {
  SmallVector<Instruction *, 32> work{value};
  SmallPtrSet<Instruction *, 32> seen{value};
  while (!work.empty()) {
    for (Use &use : work.pop_back_val()->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (auto *store = dyn_cast<StoreInst>(user)) {
        if (use.getOperandNo() == store->getPointerOperandIndex()) return false;
        continue;
      }
      if (auto *call = dyn_cast<IntrinsicInst>(user); call && call->mayWriteToMemory() && use.getOperandNo() == 0)
        continue; // what buffer stores store
      if (user->isTerminator() || user->mayReadOrWriteMemory() || isa<GetElementPtrInst>(user)) return false;
      if (seen.insert(user).second) work.push_back(user);
    }
    if (seen.size() > maxUsers) return false;
  }
  return true;
}

PreservedAnalyses VectorPartialsPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<LoadInst *, 16> loads;
  for (Instruction &i : instructions(f))
    if (auto *load = dyn_cast<LoadInst>(&i); load && load->isSimple() && load->getType()->isVectorTy() &&
                                             load->getPointerAddressSpace() == codegen::kSharedSpace &&
                                             isa<Constant>(load->getPointerOperand()) && isData(load, maxUsers_))
      loads.push_back(load);
  const DataLayout &layout = f.getDataLayout();
  DenseMap<BasicBlock *, Value *> zeros;
  for (LoadInst *load : loads) {
    IRBuilder<> b(load);
    APInt offset(32, 0);
    Value *base =
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    Value *&zero = zeros[load->getParent()];
    if (!zero) {
      zero = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {}, {b.getInt32(0), b.getInt32(0)});
    }
    load->setOperand(0, b.CreatePtrAdd(b.CreatePtrAdd(base, zero), b.getInt32(offset.getSExtValue())));
  }
  return loads.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::amd
