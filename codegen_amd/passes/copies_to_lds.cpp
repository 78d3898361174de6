// See copies_to_lds.h. A fence that orders LDS in the scope of a workgroup is, to LLVM, also a wait for loads into LDS
// (LLVM's "User Guide for AMDGPU Backend", "Memory Model gfx942"). In the scope of a wave it costs nothing and keeps
// LLVM from moving accesses all the same; the wait for LDS itself is then made here.
#include "codegen_amd/passes/copies_to_lds.h"
#include "codegen/address_spaces.h"
#include "codegen_amd/passes/intrinsics.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"

namespace tessera::amd {
using namespace llvm;

namespace {

/// s_waitcnt's operand on gfx9: vmcnt in bits 0 to 3 and 14 to 15, expcnt in 4 to 6, lgkmcnt in 8 to 11. All ones: the
/// counter is not waited for. (ISA guide "AMD Instinct MI300", S_WAITCNT)
struct WaitCount {
  unsigned loads = 63, exports = 7, lds = 15;
  unsigned encoded() const { return (loads & 15) | exports << 4 | lds << 8 | (loads >> 4) << 14; }
};

void wait(IRBuilder<> &b, const WaitCount &count) {
  b.CreateIntrinsic(Intrinsic::amdgcn_s_waitcnt, {}, {b.getInt32(count.encoded())});
}

bool loadsIntoLds(const Instruction &i) {
  return isIntrinsic(i, Intrinsic::amdgcn_raw_ptr_buffer_load_lds) || isIntrinsic(i, Intrinsic::amdgcn_global_load_lds);
}

/// Whether it reads or writes LDS, and nothing else.
bool accessesLds(const Instruction &i) {
  if (auto *p = getLoadStorePointerOperand(&i)) return p->getType()->getPointerAddressSpace() == codegen::kSharedSpace;
  auto *call = dyn_cast<IntrinsicInst>(&i);
  return call && call->mayReadOrWriteMemory() && call->onlyAccessesArgMemory() && !loadsIntoLds(i) &&
         any_of(call->args(), [](const Use &u) {
           return u->getType()->isPointerTy() && u->getType()->getPointerAddressSpace() == codegen::kSharedSpace;
         });
}

/// Whether the fence orders LDS alone (AmdTarget::barrier).
bool isOfLds(const FenceInst &f) {
  auto *tags = dyn_cast_or_null<MDTuple>(f.getMetadata(LLVMContext::MD_mmra));
  return tags && tags->getNumOperands() == 2 && cast<MDString>(tags->getOperand(1))->getString() == "local";
}

} // namespace

unsigned loadsInFlight(unsigned waitCount) { return (waitCount & 15) | (waitCount >> 14 & 3) << 4; }

void waitForLoads(IRBuilder<> &b, unsigned pending) {
  WaitCount count;
  count.loads = std::min(pending, count.loads);
  wait(b, count);
}

void orderCopiesToLds(Function &f) {
  SmallVector<Instruction *, 8> copies;
  SmallVector<Instruction *, 32> others;
  SmallVector<FenceInst *, 8> fences;
  for (auto &block : f)
    for (auto &i : block) {
      if (loadsIntoLds(i))
        copies.push_back(&i);
      else if (accessesLds(i))
        others.push_back(&i);
      else if (auto *fence = dyn_cast<FenceInst>(&i); fence && isOfLds(*fence))
        fences.push_back(fence);
    }
  if (copies.empty()) return;
  LLVMContext &c = f.getContext();
  MDBuilder metadata(c);
  MDNode *domain = metadata.createAnonymousAliasScopeDomain("lds");
  MDNode *ofCopies = MDNode::get(c, metadata.createAnonymousAliasScope(domain, "copies"));
  MDNode *ofOthers = MDNode::get(c, metadata.createAnonymousAliasScope(domain, "accesses"));
  for (Instruction *i : copies) i->setMetadata(LLVMContext::MD_alias_scope, ofCopies);
  for (Instruction *i : others) {
    i->setMetadata(LLVMContext::MD_alias_scope, ofOthers);
    i->setMetadata(LLVMContext::MD_noalias, ofCopies);
  }
  IRBuilder<> b(c);
  for (FenceInst *fence : fences) {
    fence->setSyncScopeID(c.getOrInsertSyncScopeID("wavefront"));
    if (!isReleaseOrStronger(fence->getOrdering())) continue;
    b.SetInsertPoint(fence);
    WaitCount count;
    count.lds = 0;
    wait(b, count);
  }
}

} // namespace tessera::amd
