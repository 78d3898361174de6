// How many registers a thread holds live at one point of the code that the emulator executes: the figure that says
// whether a kernel will spill or lose occupancy, before any allocator has run. registers_live.cpp says what is
// counted.
#pragma once
#include "runtime/emulator/emulator.h"
#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class BasicBlock;
class Function;
class TargetMachine;
} // namespace llvm

namespace tessera::emulator {

/// The peaks over the points of `executed`, blocks of `f` in the program's order, which must have the entry, and with a
/// block its dominators. `machine`: the target's, which knows what addresses an instruction takes and what is uniform.
RegistersLive registersLive(llvm::Function &f, llvm::ArrayRef<const llvm::BasicBlock *> executed,
                            const ir::TargetInfo &, llvm::TargetMachine &machine);

} // namespace tessera::emulator
