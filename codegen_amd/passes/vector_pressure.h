// Vector registers that an order of machine instructions takes, between LLVM's scheduler and register allocation.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/CodeGen/Register.h"
#include <cstdint>

namespace llvm {
class LiveIntervals;
class MachineBasicBlock;
class MachineFunction;
class MachineInstr;
class MachineRegisterInfo;
class TargetRegisterInfo;
} // namespace llvm

namespace tessera::amd {

class VectorPressure {
public:
  VectorPressure(llvm::MachineFunction &mf, llvm::LiveIntervals &lis);

  /// The most vector registers that are live at once in a block, instructions in the given order. Parts of a register
  /// count as the whole.
  int64_t of(llvm::MachineBasicBlock &block, llvm::ArrayRef<llvm::MachineInstr *> order);

private:
  int64_t wordsOf(llvm::Register r) const;

  llvm::MachineRegisterInfo &mri_;
  const llvm::TargetRegisterInfo &tri_;
  llvm::LiveIntervals &lis_;
};

} // namespace tessera::amd
