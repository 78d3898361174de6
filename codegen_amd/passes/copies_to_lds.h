// Loads from memory straight into LDS (llvm.amdgcn.*.load.lds): what the order of other accesses to LDS is to them.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace tessera::amd {

/// How many loads s_waitcnt with the operand lets be in flight. @pre gfx9
unsigned loadsInFlight(unsigned waitCount);
/// Waits until at most `pending` of the wave's loads from memory, the last ones, are in flight. @pre gfx9
void waitForLoads(llvm::IRBuilder<> &, unsigned pending);

/// In a function with such loads, which are waited for by waitForLoads alone, where what they load is needed:
///   - barriers order LDS as before, but do not wait for these loads;
///   - no other access to LDS waits for them. LLVM cannot tell the buffer that a load fills from the one that is read
///     meanwhile, and would wait for all loads before every read.
/// What LLVM may not move across each other are the barriers and the waits: no access passes them.
void orderCopiesToLds(llvm::Function &);

} // namespace tessera::amd
