// Notes which kernels nearly have registers for a second block (see mark_second_block.cpp).
#pragma once
#include "ir/target.h"

namespace llvm {
class Module;
class Pass;
} // namespace llvm

namespace tessera::amd {

/// A pass on machine functions after prologues and epilogues are inserted. The caller owns it. The target's facts
/// outlive it.
llvm::Pass *createMarkSecondBlock(const ir::TargetInfo &);

/// Whether a kernel of the module is noted.
bool nearlyHasSecondBlock(const llvm::Module &);
/// Requests registers for a second block from the code of a copy of the module, for the kernels that are noted.
void requestSecondBlock(llvm::Module &copy, const llvm::Module &noted);

} // namespace tessera::amd
