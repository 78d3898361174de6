// A zero that LLVM and ptxas do not know to be one: what is computed from it stays in its iteration of a loop.
#pragma once
#include "llvm/Analysis/LoopInfo.h"

namespace tessera::nvidia {

/// Zero, of 32 bits, computed at the head of each iteration; one for all who ask for it. The loop has a preheader and
/// one latch.
///
///   loop: %t = phi i32 [0, …], [%t1, %loop]
///         %z = asm "shr.u32 $0, $1, 1;" (%t)
///         …
///         %t1 = xor i32 %t, 1
llvm::Instruction *zeroOfIteration(const llvm::Loop &);

} // namespace tessera::nvidia
