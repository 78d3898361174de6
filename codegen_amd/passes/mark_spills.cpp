// Counts the bytes of private memory that a function's instructions access, anywhere and in its innermost loops, and
// the instructions in these loops, and notes them as attributes.
//
//   loop:                                          define amdgpu_kernel void @f()
//     scratch_store_b128 off, v[0:3], off      →       "tessera-spilled"="20" "tessera-spilled-in-loops"="20" { … }
//     scratch_load_b32 v9, off, off offset:16
//
// The metadata of an object has the registers that were spilled anywhere. What is spilled around a loop costs little;
// in a loop it costs in every iteration, and each access waits for the loads from memory that were issued before it.
// The compiler tries other code then: with more warps, or without loads ahead (runtime/compiler/spill_trials.h), or
// with values computed again after loops (codegen_amd/backend.cpp).
//
// Kernels have no variables in private memory (tensors are values), so that these accesses are spills. Registers that
// were spilled to accumulation registers (CDNA) access no memory.
//
// Runs: on machine code after prologues and epilogues are inserted.
#include "codegen_amd/passes/mark_spills.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/IR/Module.h"

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr StringLiteral kSpilled = "tessera-spilled";

/// Bytes of private memory that the instruction accesses.
int64_t privateBytes(const MachineInstr &mi) {
  for (const MachineMemOperand *m : mi.memoperands())
    if (m->getAddrSpace() == codegen::kPrivateSpace && m->getSize().hasValue())
      return int64_t(m->getSize().getValue().getKnownMinValue());
  return 0;
}

class MarkSpills final : public MachineFunctionPass {
public:
  static char ID;
  MarkSpills() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: spills"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    int64_t anywhere = 0;
    int64_t inLoops = 0;
    int64_t instructions = 0;
    for (MachineBasicBlock &block : mf) {
      const MachineLoop *loop = loops.getLoopFor(&block);
      bool isInnermost = loop && loop->isInnermost();
      for (const MachineInstr &mi : block) {
        int64_t bytes = privateBytes(mi);
        anywhere += bytes;
        if (!isInnermost) continue;
        inLoops += bytes;
        instructions += !mi.isMetaInstruction();
      }
    }
    Function &f = mf.getFunction();
    if (anywhere) f.addFnAttr(kSpilled, std::to_string(anywhere));
    if (inLoops) f.addFnAttr(codegen::kSpilledInLoops, std::to_string(inLoops));
    if (instructions) f.addFnAttr(codegen::kInstructionsInLoops, std::to_string(instructions));
    return false;
  }
};

char MarkSpills::ID = 0;

} // namespace

Pass *createMarkSpills() { return new MarkSpills(); }

int64_t spilledBytes(const Module &module) {
  int64_t bytes = 0;
  for (const Function &f : module) bytes += int64_t(f.getFnAttributeAsParsedInteger(kSpilled));
  return bytes;
}

void removeSpills(Module &module) {
  for (Function &f : module) {
    f.removeFnAttr(kSpilled);
    f.removeFnAttr(codegen::kSpilledInLoops);
  }
}

} // namespace tessera::amd
