// Fewer warps than requested, where most of them would have nothing to do.
//
// Each element of a tensor is computed by one thread, or by several that repeat each other. A block of 8 elements by 8
// warps has 256 threads, 248 of which repeat what others do: with one warp, four to eight times as many blocks fit on a
// multiprocessor, and each is launched faster. Autotuners do choose such blocks, where their measurements do not tell
// configurations apart.
//
// Conditions, each with its reason:
//   - the text leaves the number open: it has no layouts, and neither inline assembly nor a loop that requests a
//     producer warp, which may be written for a number of warps;
//   - no dots: matrix instructions are chosen by the warps that there are;
//   - nothing is printed: each thread prints a line for a scalar;
//   - there are fewerWarpsLeastThreads threads for each element of the largest tensor: where there are two, the gain is
//     small, and what the user asked for stays.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"

namespace tessera::runtime {

struct FewerWarps {
  int warps = 0;            // of a block: those that have something to do, or as many as are requested
  int64_t mostElements = 0; // of a tensor; 1 without tensors
};

/// @pre TTIR
FewerWarps takeFewerWarps(const ir::Module &ttir, llvm::StringRef kernel, const ir::TargetInfo &, int requestedWarps);

} // namespace tessera::runtime
