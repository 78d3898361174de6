// Counts what functions spill (see mark_spills.cpp).
#pragma once
#include <cstdint>

namespace llvm {
class Module;
class Pass;
} // namespace llvm

namespace tessera::amd {

/// A pass on machine functions after prologues and epilogues are inserted. The caller owns it.
llvm::Pass *createMarkSpills();

/// Bytes of private memory that a lane accesses by the instructions of a module's functions, each counted once.
struct Spills {
  int64_t anywhere = 0;
  int64_t inLoops = 0; // in innermost loops
};
/// What the pass noted.
Spills spillsOf(const llvm::Module &);
/// Copies the notes to a module with the same functions.
void takeSpills(llvm::Module &to, const llvm::Module &from);

} // namespace tessera::amd
