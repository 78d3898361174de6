// Names of attributes and metadata of LLVM IR that one folder writes and another one reads; docs/architecture.md lists
// what each connects. Those that stay within a vendor's folder are declared there.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tessera::codegen {

// ---- for the emulator ----

/// Metadata of instructions: the operation that each comes from.
inline constexpr llvm::StringLiteral kOperationMetadata = "tessera.op";
/// A module flag: the emulator executes the module, and prints what it prints.
inline constexpr llvm::StringLiteral kHostPrintsFlag = "tessera.host-prints";
/// A function attribute: 32-bit offsets of its accesses are computed modulo 2^32.
inline constexpr llvm::StringLiteral kModuloOffsets = "tessera-modulo-offsets";

// ---- for back ends ----

/// A function attribute: bytes of shared memory that a block takes (AMD).
inline constexpr llvm::StringLiteral kSharedBytes = "tessera-shared-bytes";
/// A function attribute: a single tensor, or the values of a loop, do not fit into a thread's registers. LLVM's
/// register allocator would take seconds to minutes over the spills (AMDGPU: 50 s for a 4×65536 block of floats on
/// gfx1100), so such code is generated without optimisation.
inline constexpr llvm::StringLiteral kSpillsAnyway = "tessera-spills-anyway";

// ---- for runtime/compiler, after code generation (AMD) ----

/// A function attribute: bytes of spilled registers that an iteration of its innermost loops stores and loads.
inline constexpr llvm::StringLiteral kSpilledInLoops = "tessera-spilled-in-loops";
/// The number of instructions in these loops.
inline constexpr llvm::StringLiteral kInstructionsInLoops = "tessera-instructions-in-loops";

/// A function attribute: waves raise their priority in loops; its value: blocks of threads that a multiprocessor runs.
inline constexpr llvm::StringLiteral kRaisedPriorities = "tessera-raised-priorities";

/// A function attribute: the two halves of a block's waves alternate between memory and the matrix units in its loops.
inline constexpr llvm::StringLiteral kAlternatingWaves = "tessera-alternating-waves";

} // namespace tessera::codegen
