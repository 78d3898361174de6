// How many registers a kernel uses, counted in one pass: a replacement of LLVM's SIRegisterInfo::getNumUsedPhysRegs.
// The linker sends the calls of that function here (--wrap in CMakeLists.txt).
//
// LLVM queries for each register of a class, from the last one down, whether any register that overlaps it is used. A
// vector register of AMDGPU overlaps some hundred tuples, whose list LLVM builds and sorts at the first query: for the
// 600 registers that a small kernel does not use, that is 18 million instructions, two fifths of compiling a vector
// addition for gfx942. Two registers overlap if they share a register unit. So this file marks the units of all
// registers that are used; the last register of the class with a marked unit is the answer.
#include "llvm/ADT/BitVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"

#define GET_NUM_USED_PHYS_REGS                                                                                         \
  _ZNK4llvm14SIRegisterInfo18getNumUsedPhysRegsERKNS_19MachineRegisterInfoERKNS_19TargetRegisterClassEb
#define TESSERA_JOIN(A, B) A##B
#define TESSERA_NAME(PREFIX, NAME) TESSERA_JOIN(PREFIX, NAME)

/// One more than the hardware's number of the last register of the class that the function uses, 0 if it uses none;
/// with `includeCalls` also those that calls may overwrite. The first argument, an `SIRegisterInfo`, is declared in no
/// public header and is not used.
extern "C" unsigned TESSERA_NAME(__wrap_,
                                 GET_NUM_USED_PHYS_REGS)(const void *, const llvm::MachineRegisterInfo &registers,
                                                         const llvm::TargetRegisterClass &of, bool includeCalls);
unsigned TESSERA_NAME(__wrap_, GET_NUM_USED_PHYS_REGS)(const void *, const llvm::MachineRegisterInfo &registers,
                                                       const llvm::TargetRegisterClass &of, bool includeCalls) {
  const llvm::TargetRegisterInfo &info = *registers.getTargetRegisterInfo();
  llvm::BitVector used(info.getNumRegUnits());
  for (unsigned r = 1; r < info.getNumRegs(); ++r)
    if (!registers.reg_nodbg_empty(llvm::MCRegister(r)))
      for (auto unit : info.regunits(llvm::MCRegister(r))) used.set(unsigned(unit));
  auto isUsed = [&](llvm::MCRegister r) {
    return (includeCalls && registers.getUsedPhysRegsMask().test(r.id())) ||
           llvm::any_of(info.regunits(r), [&](auto unit) { return used.test(unsigned(unit)); });
  };
  // A class lists its registers by their numbers, from 0 on. Their encoding holds flags of the class as well.
  for (llvm::MCPhysReg r : llvm::reverse(of.getRegisters()))
    if (isUsed(r)) return info.getEncodingValue(r) - info.getEncodingValue(*of.begin()) + 1;
  return 0;
}
