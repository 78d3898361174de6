// Bounds of clamps that differ in their signs, in one register.
//
//   %1 = S_MOV_B32 -448.0                                   %1 = S_MOV_B32 -448.0
//   %2 = V_MOV_B32_e32 448.0                         →      %3 = V_MED3_F32_e64 0, %0, 0, %1, 1, %1, 0, 0
//   %3 = V_MED3_F32_e64 0, %0, 0, %1, 0, %2, 0, 0
//   (the median of %0, -448 and 448)
//
// A source of such an instruction can be negated. CDNA has no constants of 32 bits there and reads one scalar register,
// so that the second bound takes a vector register; RDNA reads one constant, so that one of two takes a register. An
// instruction may read the same scalar register or constant twice.
//
// Limits: f32; medians, and the minima of maxima and maxima of minima that RDNA has.
//
// Runs: on machine code in SSA form, after LLVM has folded constants into their users.
// Source: "RDNA3 Instruction Set Architecture", section "Literal Constants"; "AMD Instinct MI300 Instruction Set
// Architecture", section "VALU Operands".
#include "codegen_amd/passes/opposite_constants.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class OppositeConstants final : public MachineFunctionPass {
public:
  static char ID;
  OppositeConstants() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: opposite constants"; }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    registers_ = &mf.getRegInfo();
    bool changed = false;
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &mi : block) changed |= share(mi);
    return changed;
  }

private:
  // Of the bounds, which are the second and third source: their modifiers and values.
  static constexpr unsigned kModifiers[] = {3, 5}, kBounds[] = {4, 6};

  static bool isClamp(StringRef name) {
    return name == "V_MED3_F32_e64" || name == "V_MAXMIN_F32_e64" || name == "V_MINMAX_F32_e64";
  }

  static MachineOperand &boundOf(MachineInstr &mi, unsigned k) { return mi.getOperand(kBounds[k]); }

  /// What moves a constant to the operand's register; null if it has none.

  MachineInstr *moveOf(const MachineOperand &o) const {
    if (!o.isReg() || !o.getReg().isVirtual() || o.getSubReg()) return nullptr;
    MachineInstr *def = registers_->getVRegDef(o.getReg());
    StringRef name = def ? tii_->getName(def->getOpcode()) : "";
    bool isMove = name == "S_MOV_B32" || name.starts_with("V_MOV_B32_e");
    return isMove && def->getOperand(1).isImm() ? def : nullptr;
  }

  std::optional<uint32_t> constantOf(const MachineOperand &o) const {
    if (o.isImm()) return uint32_t(o.getImm());
    const MachineInstr *move = moveOf(o);
    return move ? std::optional(uint32_t(move->getOperand(1).getImm())) : std::nullopt;
  }

  /// How gladly a bound is dropped: one of a register least where others read it, too, and vector registers first.
  unsigned costOf(const MachineOperand &o) const {
    enum : unsigned { InSharedScalarRegister, InInstruction, InScalarRegister, InVectorRegister };
    if (o.isImm()) return InInstruction;
    if (!tii_->getName(moveOf(o)->getOpcode()).starts_with("S_")) return InVectorRegister;
    return registers_->hasOneNonDBGUse(o.getReg()) ? InScalarRegister : InSharedScalarRegister;
  }

  bool share(MachineInstr &mi) {
    constexpr uint32_t kSign = 1u << 31;
    constexpr int64_t kNegated = 1; // as a modifier
    if (!isClamp(tii_->getName(mi.getOpcode()))) return false;
    unsigned kept = 0, dropped = 1; // of both bounds
    std::optional<uint32_t> x = constantOf(boundOf(mi, kept)), y = constantOf(boundOf(mi, dropped));
    bool isPlain = all_of(kModifiers, [&](unsigned k) { return mi.getOperand(k).getImm() == 0; });
    if (!x || !y || (*x ^ *y) != kSign || !isPlain) return false;
    if (costOf(boundOf(mi, dropped)) < costOf(boundOf(mi, kept))) std::swap(kept, dropped);
    const MachineOperand &bound = boundOf(mi, kept);
    MachineOperand &other = boundOf(mi, dropped);
    if (bound.isImm() && other.isImm()) return false; // inline constants
    MachineInstr *move = moveOf(other);
    if (bound.isImm()) {
      other.ChangeToImmediate(bound.getImm());
    } else {
      other.ChangeToRegister(bound.getReg(), /*isDef=*/false);
      registers_->clearKillFlags(bound.getReg());
    }
    mi.getOperand(kModifiers[dropped]).setImm(kNegated);
    if (move && registers_->use_nodbg_empty(move->getOperand(0).getReg())) move->eraseFromParent();
    return true;
  }

  const TargetInstrInfo *tii_ = nullptr;
  MachineRegisterInfo *registers_ = nullptr;
};

char OppositeConstants::ID = 0;

} // namespace

Pass *createOppositeConstants() { return new OppositeConstants; }

} // namespace tessera::amd
