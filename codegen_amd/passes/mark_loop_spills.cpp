// Counts the bytes of private memory that an iteration of a function's innermost loops accesses, and notes them as the
// attribute codegen::kSpilledInLoops.
//
//   loop:                                          define amdgpu_kernel void @f()
//     scratch_store_b128 off, v[0:3], off      →       "tessera-spilled-in-loops"="20" { … }
//     scratch_load_b32 v9, off, off offset:16
//
// The metadata of an object has the registers that were spilled anywhere. What is spilled around a loop costs little;
// in a loop it costs in every iteration, and each access waits for the loads from memory that were issued before it.
// The compiler tries other code then (runtime/compiler/compiler.cpp, compileWithFewerStages).
//
// Kernels have no variables in private memory (tensors are values), so that these accesses are spills. Registers that
// were spilled to accumulation registers (CDNA) access no memory.
//
// Runs: on machine code after prologues and epilogues are inserted.
#include "codegen_amd/passes/mark_loop_spills.h"
#include "codegen/object/backend.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

namespace tessera::amd {
using namespace llvm;
namespace {

/// Bytes of private memory that the instruction accesses.
int64_t privateBytes(const MachineInstr &mi) {
  for (const MachineMemOperand *m : mi.memoperands())
    if (m->getAddrSpace() == AMDGPUAS::PRIVATE_ADDRESS && m->getSize().hasValue())
      return int64_t(m->getSize().getValue().getKnownMinValue());
  return 0;
}

class MarkLoopSpills final : public MachineFunctionPass {
public:
  static char ID;
  MarkLoopSpills() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: spills in loops"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    int64_t bytes = 0;
    for (MachineLoop *loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost()) continue;
      for (MachineBasicBlock *block : loop->blocks())
        for (const MachineInstr &mi : *block) bytes += privateBytes(mi);
    }
    if (bytes) mf.getFunction().addFnAttr(codegen::kSpilledInLoops, std::to_string(bytes));
    return false;
  }
};

char MarkLoopSpills::ID = 0;

} // namespace

Pass *createMarkLoopSpills() { return new MarkLoopSpills(); }

} // namespace tessera::amd
