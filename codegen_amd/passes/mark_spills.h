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

/// Bytes of private memory that the instructions of a module's functions access, as the pass noted.
int64_t spilledBytes(const llvm::Module &);
/// Removes the notes: other code of the module, which spills nothing, is taken.
void removeSpills(llvm::Module &);

} // namespace tessera::amd
