// Marks functions for which LLVM's register allocator would take long: their code is generated without optimisation.
//
//   loop: %acc0 = phi float …; … %acc800 = phi float …      →   define amdgpu_kernel void @f() "tessera-spills-anyway"
//
// Where the values that live around or through a loop do not fit into a thread's registers, the allocator splits their
// live ranges at each of their uses, again and again. The time grows with the values and with the instructions (gfx942,
// attention by one wave: 580 registers in 6,859 instructions 2 s, 804 registers in 16,670 instructions over a minute).
// Such a kernel spills whatever is done. Kernels with a single tensor that does not fit are marked by the lowering
// (AmdTarget::kernelAttributes).
//
// The estimate counts a value for its bits wherever it lives, in vector or scalar registers. Pointers, which are mostly
// scalar, and masks do not count.
#include "codegen_amd/passes/mark_slow_allocation.h"
#include "codegen/attribute_names.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::amd {
using namespace llvm;

static int64_t registersOf(const Value &v, const DataLayout &layout) {
  Type *t = v.getType();
  if (t->isPointerTy() || t->isIntegerTy(1) || !t->isSized()) return 0;
  return int64_t(divideCeil(layout.getTypeSizeInBits(t).getFixedValue(), 32));
}

/// Registers of the values that a loop carries, or uses and does not define.
static int64_t liveRegisters(const Loop &loop, const DataLayout &layout) {
  int64_t registers = 0;
  for (PHINode &phi : loop.getHeader()->phis()) registers += registersOf(phi, layout);
  DenseSet<const Value *> counted;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      if (isa<PHINode>(i) && block == loop.getHeader()) continue; // its operands become the phi
      for (Value *v : i.operands())
        if (auto *def = dyn_cast<Instruction>(v); def && !loop.contains(def) && counted.insert(def).second)
          registers += registersOf(*def, layout);
    }
  return registers;
}

PreservedAnalyses MarkSlowAllocationPass::run(Function &f, FunctionAnalysisManager &analyses) {
  int64_t instructions = int64_t(f.getInstructionCount());
  // No loop carries so many registers that a function this small takes long.
  if (instructions * info_.maxRegistersPerThread * 8 < info_.tuning.maxAllocationWork) return PreservedAnalyses::all();
  for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder()) {
    int64_t live = liveRegisters(*loop, f.getDataLayout());
    bool spills = live > info_.maxRegistersPerThread;
    if (spills && live * instructions > info_.tuning.maxAllocationWork) f.addFnAttr(codegen::kSpillsAnyway);
  }
  return PreservedAnalyses::all();
}

} // namespace tessera::amd
