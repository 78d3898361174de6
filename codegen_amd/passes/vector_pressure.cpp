// Counts live vector registers (see vector_pressure.h).
#include "codegen_amd/passes/vector_pressure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;

SmallVector<MachineInstr *, 0> orderOf(MachineBasicBlock &block) {
  SmallVector<MachineInstr *, 0> order;
  for (MachineInstr &mi : block) order.push_back(&mi);
  return order;
}

VectorPressure::VectorPressure(MachineFunction &mf, LiveIntervals &lis)
    : mf_(mf), mri_(mf.getRegInfo()), tri_(*mf.getSubtarget().getRegisterInfo()), lis_(lis) {}

int64_t VectorPressure::of(MachineBasicBlock &block, ArrayRef<MachineInstr *> order) {
  DenseMap<Register, int64_t> live;
  int64_t now = 0;
  for (unsigned i = 0, e = mri_.getNumVirtRegs(); i < e; ++i) {
    Register r = Register::index2VirtReg(i);
    int64_t words = wordsOf(r);
    if (!words || mri_.reg_nodbg_empty(r) || !lis_.hasInterval(r) || !lis_.isLiveOutOfMBB(lis_.getInterval(r), &block))
      continue;
    live[r] = words;
    now += words;
  }
  int64_t most = now;
  for (MachineInstr *mi : llvm::reverse(order)) {
    // A partial definition (without undef) leaves the register live.
    for (MachineOperand &o : mi->all_defs()) {
      if (!o.getReg().isVirtual() || o.readsReg()) continue;
      if (auto it = live.find(o.getReg()); it != live.end()) {
        now -= it->second;
        live.erase(it);
      }
    }
    for (MachineOperand &o : mi->operands()) {
      if (!o.isReg() || !o.getReg().isVirtual() || !o.readsReg()) continue;
      int64_t words = wordsOf(o.getReg());
      if (words && live.try_emplace(o.getReg(), words).second) now += words;
    }
    most = std::max(most, now);
  }
  return most;
}

int64_t VectorPressure::ofFunction() {
  int64_t most = 0;
  for (MachineBasicBlock &block : mf_) most = std::max(most, of(block, orderOf(block)));
  return most;
}

int64_t VectorPressure::wordsOf(Register r) const {
  const TargetRegisterClass *c = mri_.getRegClassOrNull(r);
  if (!c) return 0;
  StringRef name = tri_.getRegClassName(c);
  bool isVector = name.starts_with("V") || name.starts_with("A");
  return isVector ? tri_.getRegSizeInBits(*c) / 32 : 0;
}

} // namespace tessera::amd
