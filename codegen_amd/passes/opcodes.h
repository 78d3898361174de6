// LLVM's machine instructions for AMD by their names (headers with their numbers are not installed), and what passes on
// them ask of an instruction.
#pragma once
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/CodeGen/MachineBasicBlock.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"

namespace tessera::amd {

/// The number of the opcode; 0: LLVM has none of this name.
inline unsigned opcodeNamed(const llvm::TargetInstrInfo &tii, llvm::StringRef name) {
  for (unsigned o = 0; o < tii.getNumOpcodes(); ++o)
    if (tii.getName(o) == name) return o;
  return 0;
}

/// Whether the instruction loads from global or flat memory to registers.
inline bool isMemoryLoad(const llvm::MachineInstr &mi, const llvm::TargetInstrInfo &tii) {
  if (!mi.mayLoad() || mi.mayStore() || !mi.getNumOperands() || !mi.getOperand(0).isReg()) return false;
  llvm::StringRef name = tii.getName(mi.getOpcode());
  return name.starts_with("BUFFER_LOAD") || name.starts_with("GLOBAL_LOAD") || name.starts_with("FLAT_LOAD");
}

inline bool isMfma(const llvm::MachineInstr &mi, const llvm::TargetInstrInfo &tii) {
  llvm::StringRef name = tii.getName(mi.getOpcode());
  return name.starts_with("V_MFMA") || name.starts_with("V_SMFMAC"); // the second of sparse operands
}
/// Whether it is an MFMA or WMMA.
inline bool isMatrixInstruction(const llvm::MachineInstr &mi, const llvm::TargetInstrInfo &tii) {
  llvm::StringRef name = tii.getName(mi.getOpcode());
  return isMfma(mi, tii) || name.starts_with("V_WMMA") || name.starts_with("V_SWMMAC");
}
/// Whether the block has MFMA, between which order-matrices places its instructions.
inline bool hasMfma(const llvm::MachineBasicBlock &block, const llvm::TargetInstrInfo &tii) {
  return llvm::any_of(block, [&](const llvm::MachineInstr &mi) { return isMfma(mi, tii); });
}

/// Whether the instruction computes with virtual registers alone, and reads of the physical ones (what lanes are
/// active, say) only those that `mayRead` allows: it may change its place among others that do not write these.
inline bool isArithmetic(const llvm::MachineInstr &mi, llvm::function_ref<bool(llvm::Register)> mayRead) {
  if (mi.mayLoadOrStore() || mi.hasUnmodeledSideEffects() || mi.isTerminator() || mi.isCall() || mi.isInlineAsm() ||
      mi.isPosition() || mi.isDebugInstr() || mi.isConvergent() || mi.isBundle())
    return false;
  return llvm::all_of(mi.operands(), [&](const llvm::MachineOperand &o) {
    if (o.isRegMask()) return false;
    return !o.isReg() || !o.getReg().isPhysical() || (!o.isDef() && mayRead(o.getReg()));
  });
}

} // namespace tessera::amd
