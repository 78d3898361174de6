// Names of attributes that several folders read and write, beside those that ir/ops.table declares and those of modules
// (ir/module_attributes.h). docs/architecture.md lists what each connects.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tessera::ir {

// ---- arguments of kernels ----

/// On the base pointer that a tensor descriptor was expanded to: the descriptor's type (a TypeAttr). The arguments that
/// follow are its shape and strides (i64 each) and whether its padding is NaN (i1).
inline constexpr llvm::StringRef kDescriptorArgumentAttr = "tessera.descriptor";
/// What divides an integer, or a pointer's address in bytes (an IntegerAttr, a power of two).
inline constexpr llvm::StringRef kDivisibilityAttr = "tt.divisibility";
/// How many consecutive integers, and how many equal values, a tensor is made of along each dimension.
inline constexpr llvm::StringRef kContiguityAttr = "tt.contiguity", kConstancyAttr = "tt.constancy";
/// The divisor that launches distinguish: Triton's launchers compile kernels for arguments that it divides.
inline constexpr int64_t kLaunchDivisor = 16;

// ---- loops ----

/// The number of stages that the program requests for a loop (tl.range), an IntegerAttr.
inline constexpr llvm::StringRef kNumStagesAttr = "tt.num_stages";

// ---- operations ----

/// The offset in bytes of an operation's buffer or scratch in the block's shared memory, an IntegerAttr.
inline constexpr llvm::StringRef kAllocationOffsetAttr = "allocation.offset";

} // namespace tessera::ir
