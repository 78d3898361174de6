// Vector registers that an order of machine instructions takes, between LLVM's scheduler and register allocation.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
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

/// A block's instructions in the order that they have.
llvm::SmallVector<llvm::MachineInstr *, 0> orderOf(llvm::MachineBasicBlock &block);

/// Counts the vector registers that are live. Keeps nothing between queries: instructions may move.
class VectorPressure {
public:
  VectorPressure(llvm::MachineFunction &mf, llvm::LiveIntervals &lis);

  /// The most vector registers that are live at once in a block, instructions in the given order. Parts of a register
  /// count as the whole.
  int64_t of(llvm::MachineBasicBlock &block, llvm::ArrayRef<llvm::MachineInstr *> order);
  /// The most of all blocks of the function, instructions in the order that they have.
  int64_t ofFunction();

private:
  int64_t wordsOf(llvm::Register r) const;

  llvm::MachineFunction &mf_;
  llvm::MachineRegisterInfo &mri_;
  const llvm::TargetRegisterInfo &tri_;
  llvm::LiveIntervals &lis_;
};

} // namespace tessera::amd
