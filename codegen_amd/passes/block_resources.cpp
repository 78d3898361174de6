// What a block of threads takes (see block_resources.h).
#include "codegen_amd/passes/block_resources.h"
#include "codegen_amd/passes/block_attributes.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;

/// Registers of a class: as many as the highest one that is used needs.
static unsigned registersOf(const MachineFunction &mf, StringRef className) {
  const MachineRegisterInfo &mri = mf.getRegInfo();
  const TargetRegisterInfo &tri = *mf.getSubtarget().getRegisterInfo();
  unsigned most = 0;
  for (const TargetRegisterClass *c : tri.regclasses()) {
    if (className != tri.getRegClassName(c)) continue;
    for (unsigned i = 0; i < c->getNumRegs(); ++i)
      if (mri.isPhysRegUsed(c->getRegister(i))) most = i + 1;
  }
  return most;
}

ir::BlockResources resourcesOf(const MachineFunction &mf, const ir::TargetInfo &info) {
  ir::BlockResources r;
  r.warps = wavesOfBlock(mf.getFunction(), info);
  r.sharedBytes = sharedBytesOfBlock(mf.getFunction());
  // Accumulation registers follow the others, from a multiple of four on.
  unsigned accumulation = registersOf(mf, "AGPR_32");
  unsigned vector = registersOf(mf, "VGPR_32");
  r.registers = int(accumulation ? alignTo(vector, 4) + accumulation : vector);
  return r;
}

} // namespace tessera::amd
