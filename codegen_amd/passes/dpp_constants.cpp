// Moves the constant that is the second source of a VOP3 instruction with DPP to a register. GFX11 takes only a vector
// register there, GFX12 a constant, too, but LLVM's pass that combines DPP moves with their users (gcn-dpp-combine)
// does not ask. The assembler refuses the text; the object would have an encoding that the ISA does not define.
//
//   %3 = V_BFE_I32_e64_dpp %2, %1, 0, 8, 177, …          →      %4 = V_MOV_B32_e32 0
//   (sign of a byte of another lane: v_bfe_i32 v, v, 0, 8)      %3 = V_BFE_I32_e64_dpp %2, %1, %4, 8, 177, …
//
// Limits: sources of 32 bits, in which LLVM combines.
//
// Runs: on machine code in SSA form, after that pass; not on targets that take constants.
// Source: "RDNA3 Instruction Set Architecture", section "Data Parallel Processing (DPP)"; LLVM, FeatureDPPSrc1SGPR.
#include "codegen_amd/passes/dpp_constants.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class DppConstants final : public MachineFunctionPass {
public:
  static char ID;
  DppConstants() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: constants beside DPP operands"; }

  bool runOnMachineFunction(MachineFunction &mf) override {
    const TargetInstrInfo &tii = *mf.getSubtarget().getInstrInfo();
    // The feature is named after scalar registers, but has constants, too.
    if (mf.getSubtarget().checkFeatures("+dpp-src1-sgpr")) return false;
    bool changed = false;
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &mi : block)
        if (tii.getName(mi.getOpcode()).ends_with("_e64_dpp")) changed |= moveConstant(mi, tii);
    return changed;
  }

private:
  /// The sources among the operands, which are registers or constants: neither modifiers nor controls, which are only
  /// numbers, nor the value that lanes without a source keep, which is tied to the result.
  static SmallVector<MachineOperand *, 3> sourcesOf(MachineInstr &mi) {
    const MCInstrDesc &description = mi.getDesc();
    SmallVector<MachineOperand *, 3> sources;
    for (unsigned k = description.getNumDefs(); k < description.getNumOperands(); ++k) {
      bool isTied = description.getOperandConstraint(k, MCOI::TIED_TO) != -1;
      if (description.operands()[k].RegClass != -1 && !isTied) sources.push_back(&mi.getOperand(k));
    }
    return sources;
  }

  bool moveConstant(MachineInstr &mi, const TargetInstrInfo &tii) {
    SmallVector<MachineOperand *, 3> sources = sourcesOf(mi);
    if (sources.size() < 2 || !sources[1]->isImm()) return false;
    MachineRegisterInfo &registers = mi.getMF()->getRegInfo();
    const MachineOperand &moved = *sources[0];
    if (!moved.isReg() || !moved.getReg().isVirtual()) return false;
    // The constant's register is like the source's, or like the part of it that is moved.
    const TargetRegisterInfo &tri = *registers.getTargetRegisterInfo();
    const TargetRegisterClass *c = registers.getRegClass(moved.getReg());
    if (moved.getSubReg()) c = tri.getSubRegisterClass(c, moved.getSubReg());
    constexpr unsigned kBits = 32;
    if (!c || tri.getRegSizeInBits(*c) != kBits) return false;
    if (!move_) move_ = opcodeNamed(tii, "V_MOV_B32_e32");
    Register constant = registers.createVirtualRegister(c);
    BuildMI(*mi.getParent(), mi, mi.getDebugLoc(), tii.get(move_), constant).addImm(sources[1]->getImm());
    sources[1]->ChangeToRegister(constant, /*isDef=*/false);
    return true;
  }

  unsigned move_ = 0; // opcode
};

char DppConstants::ID = 0;

} // namespace

Pass *createDppConstants() { return new DppConstants; }

} // namespace tessera::amd
