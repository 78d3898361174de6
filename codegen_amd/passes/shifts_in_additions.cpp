// Additions of 64 bits that shift an operand themselves, where several share the shift.
//
//   %2 = V_LSHLREV_B64_e64 2, %1                          %3 = V_LSHL_ADD_U64_e64 %1, 2, %a
//   %3 = V_LSHL_ADD_U64_e64 %a, 0, %2              →      %4 = V_LSHL_ADD_U64_e64 %1, 2, %b
//   %4 = V_LSHL_ADD_U64_e64 %b, 0, %2
//   (the addresses of two tensors at one index)
//
// LLVM selects the shifted addition where the shift has one use. Where all uses of a shift are additions, none needs
// it.
//
// Limits: shifts by 1 to 4, which the instruction does; of vector registers, since the other operand may be a scalar
// one, of which the instruction reads one.
//
// Runs: on machine code in SSA form. Targets without v_lshl_add_u64 have nothing to change.
#include "codegen_amd/passes/shifts_in_additions.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class ShiftsInAdditions final : public MachineFunctionPass {
public:
  static char ID;
  ShiftsInAdditions() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: additions that shift"; }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    registers_ = &mf.getRegInfo();
    SmallVector<MachineInstr *, 16> shifts;
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &mi : block)
        if (tii_->getName(mi.getOpcode()) == "V_LSHLREV_B64_e64") shifts.push_back(&mi);
    bool changed = false;
    for (MachineInstr *shift : shifts) changed |= fold(*shift);
    return changed;
  }

private:
  // Operands of V_LSHL_ADD_U64_e64 behind the result.
  static constexpr unsigned kShifted = 1, kDistance = 2, kAdded = 3;

  bool isVector(Register r) const {
    const TargetRegisterInfo &tri = *registers_->getTargetRegisterInfo();
    return r.isVirtual() && StringRef(tri.getRegClassName(registers_->getRegClass(r))).starts_with("VReg_");
  }

  /// Whether the operand is one of an addition without a shift, which does not add the register to itself.
  bool isAddedAlone(const MachineOperand &use) const {
    const MachineInstr &user = *use.getParent();
    if (tii_->getName(user.getOpcode()) != "V_LSHL_ADD_U64_e64" || use.getSubReg()) return false;
    const MachineOperand &distance = user.getOperand(kDistance);
    unsigned at = use.getOperandNo();
    if (!distance.isImm() || distance.getImm() != 0 || (at != kShifted && at != kAdded)) return false;
    const MachineOperand &other = user.getOperand(at == kShifted ? kAdded : kShifted);
    return !other.isReg() || other.getReg() != use.getReg();
  }

  bool fold(MachineInstr &shift) {
    constexpr int64_t kMostDistance = 4;
    if (!shift.getOperand(1).isImm()) return false;
    int64_t distance = shift.getOperand(1).getImm();
    const MachineOperand &source = shift.getOperand(2);
    if (distance < 1 || distance > kMostDistance || !source.isReg() || source.getSubReg() || !isVector(source.getReg()))
      return false;
    Register shifted = shift.getOperand(0).getReg();
    if (!shifted.isVirtual() || registers_->use_nodbg_empty(shifted)) return false;
    if (!all_of(registers_->use_nodbg_operands(shifted), [&](const MachineOperand &o) { return isAddedAlone(o); }))
      return false;
    SmallVector<MachineOperand *, 8> uses;
    for (MachineOperand &use : registers_->use_nodbg_operands(shifted)) uses.push_back(&use);
    for (MachineOperand *use : uses) {
      MachineInstr &addition = *use->getParent();
      const MachineOperand &added = addition.getOperand(use->getOperandNo() == kShifted ? kAdded : kShifted);
      BuildMI(*addition.getParent(), addition, addition.getDebugLoc(), addition.getDesc(),
              addition.getOperand(0).getReg())
          .addReg(source.getReg())
          .addImm(distance)
          .add(added);
      addition.eraseFromParent();
    }
    registers_->clearKillFlags(source.getReg());
    shift.eraseFromParent();
    return true;
  }

  const TargetInstrInfo *tii_ = nullptr;
  MachineRegisterInfo *registers_ = nullptr;
};

char ShiftsInAdditions::ID = 0;

} // namespace

Pass *createShiftsInAdditions() { return new ShiftsInAdditions; }

} // namespace tessera::amd
