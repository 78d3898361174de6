// LLVM's loop strength reduction, which runs while code is generated. Of a loop's addresses and counters it makes
// others, and takes them even where it expects nothing from them. With its option lsr-drop-solution the loop then stays
// as it is. Addresses of copies ahead show the difference: the reduced ones began where the copies before the loop had
// begun, and took an addition each to get from there to the iteration's.
//
// Measured: NVIDIA H200, 2026-11-30, the backward kernel of Triton's tutorial, million cycles without and with it:
// heads of 64 5.46 and 5.54, causal 3.15 and 3.11; heads of 128 5.61 and 5.51, causal 3.04 and 3.00. Of 67 other
// kernels 7 change: their loops have 0.94 to 1.05 of the instructions.
//
// It is an option of the whole process (process_options.h), set while code is generated for NVIDIA and AMD alike.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::codegen {

/// Whether this version of LLVM has the option. Without it code is right, and reduced as LLVM does.
bool canDropReductions();

/// Runs `body` with the option set, unless the program has set it itself. Threads may be in it at the same time.
void withDroppedReductions(llvm::function_ref<void()> body);

} // namespace tessera::codegen
