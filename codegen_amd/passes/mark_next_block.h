// Notes which kernels nearly have registers for one more block on a compute unit (see mark_next_block.cpp).
#pragma once
#include "ir/target.h"
#include <cstdint>

namespace llvm {
class Module;
class Pass;
} // namespace llvm

namespace tessera::amd {

/// A pass on machine functions after prologues and epilogues are inserted. The caller owns it. The target's facts
/// outlive it.
llvm::Pass *createMarkNextBlock(const ir::TargetInfo &);

/// Of the module's kernels that are noted, the fewest blocks that would then fit on a compute unit; 0: none is noted.
int64_t blocksWithNext(const llvm::Module &);
/// Requests registers for one more block from the code of a copy of the module, for the kernels that are noted.
void requestNextBlock(llvm::Module &copy, const llvm::Module &noted);

} // namespace tessera::amd
