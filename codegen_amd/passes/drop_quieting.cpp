// Minima and maxima of gfx12 without instructions that make NaNs quiet before them.
//
//   %2 = V_MAX_F32_e64 0, %1, 0, %1, 0, 0                →      %3 = V_MAX_F32_e64 0, %0, 0, %1, 0, 0
//   %3 = V_MAX_F32_e64 0, %0, 0, %2, 0, 0
//   (v_max_num_f32, the maximum with itself: %1 is loaded, or comes from another lane)
//
// LLVM makes operands of llvm.maxnum and llvm.minnum quiet unless it knows that they are no signaling NaNs, since
// targets with an IEEE mode give NaN for these. gfx12 has no such mode. Its v_max_num_f32 and the like return the
// number for a NaN of either kind, and a quiet NaN for two NaNs (llvm.maxnum allows NaN for signaling ones, too). What
// is left of a step of a reduction takes its operand from the other lane by DPP.
//
// Limits: f32, f16 and pairs of f16, quieted for minima, maxima and medians of the same kind alone.
//
// Runs: on machine code in SSA form, before LLVM combines DPP moves with their users; targets without IEEE mode.
// Source: "RDNA4 Instruction Set Architecture", V_MAX_NUM_F32, V_MIN_NUM_F32, V_MED3_NUM_F32.
#include "codegen_amd/passes/drop_quieting.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

/// Numbers that an instruction takes.
enum class Numbers : uint8_t { F32, F16, PairsOfF16 };

/// Of minima, maxima and medians that prefer numbers to NaN, by LLVM's names, which are those of older targets.
std::optional<Numbers> comparedNumbers(StringRef name) {
  if (name.starts_with("V_PK_MAX_F16") || name.starts_with("V_PK_MIN_F16")) return Numbers::PairsOfF16;
  for (StringRef operation : {"V_MAX_", "V_MIN_", "V_MED3_", "V_MAX3_", "V_MIN3_", "V_MAXMIN_", "V_MINMAX_"}) {
    StringRef rest = name;
    if (!rest.consume_front(operation)) continue;
    if (rest.starts_with("F32_")) return Numbers::F32;
    if (rest.starts_with("F16_")) return Numbers::F16;
  }
  return std::nullopt;
}

class DropQuieting final : public MachineFunctionPass {
public:
  static char ID;
  DropQuieting() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: minima and maxima of NaNs as they are"; }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    registers_ = &mf.getRegInfo();
    bool changed = false;
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &mi : make_early_inc_range(block)) changed |= drop(mi);
    return changed;
  }

private:
  StringRef nameOf(const MachineInstr &mi) const { return tii_->getName(mi.getOpcode()); }

  /// The register of which the instruction is the maximum with itself, as it is: neither negated nor clamped.
  Register quieted(const MachineInstr &mi, Numbers numbers) const {
    // Result, modifiers and register of both operands, then clamp and the like. Modifiers of pairs select halves, too.
    constexpr unsigned kModifiers[] = {1, 3}, kSources[] = {2, 4}, kOthers = 5;
    constexpr int64_t kUpperIsUpper = 8;
    if (!nameOf(mi).ends_with("_e64") && numbers != Numbers::PairsOfF16) return {};
    auto isNumber = [&](unsigned k, int64_t number) {
      return mi.getOperand(k).isImm() && mi.getOperand(k).getImm() == number;
    };
    int64_t plain = numbers == Numbers::PairsOfF16 ? kUpperIsUpper : 0;
    for (unsigned k : kModifiers)
      if (!isNumber(k, plain)) return {};
    for (unsigned k = kOthers; k < mi.getNumExplicitOperands(); ++k)
      if (!isNumber(k, 0)) return {};
    const MachineOperand &x = mi.getOperand(kSources[0]), &y = mi.getOperand(kSources[1]);
    bool isItself = x.isReg() && y.isReg() && x.getReg() == y.getReg();
    return isItself && x.getReg().isVirtual() ? x.getReg() : Register();
  }

  bool drop(MachineInstr &mi) {
    StringRef name = nameOf(mi);
    if (!name.starts_with("V_MAX_") && !name.starts_with("V_PK_MAX_")) return false;
    std::optional<Numbers> numbers = comparedNumbers(name);
    Register source = numbers ? quieted(mi, *numbers) : Register();
    if (!source) return false;
    Register result = mi.getOperand(0).getReg();
    // A scalar register could be one too many for an instruction. Registers whose parts are compared are wider.
    if (!result.isVirtual() || registers_->getRegClass(result) != registers_->getRegClass(source)) return false;
    for (const MachineInstr &user : registers_->use_nodbg_instructions(result))
      if (comparedNumbers(nameOf(user)) != numbers) return false;
    registers_->replaceRegWith(result, source);
    registers_->clearKillFlags(source);
    mi.eraseFromParent();
    return true;
  }

  const TargetInstrInfo *tii_ = nullptr;
  MachineRegisterInfo *registers_ = nullptr;
};

char DropQuieting::ID = 0;

} // namespace

Pass *createDropQuieting() { return new DropQuieting; }

} // namespace tessera::amd
