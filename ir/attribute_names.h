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
/// The program requests a producer warp for a loop (tl.range with warp_specialize=True).
inline constexpr llvm::StringRef kWarpSpecializeAttr = "tt.warp_specialize";
/// A bool: if false, the loop's copies get no producer warp.
inline constexpr llvm::StringRef kProducerWarpAttr = "tessera.warp_specialize";

// ---- order of programs (order-programs, on tt.get_program_id; the lowering reads them) ----

/// How many consecutive programs a die runs (i32); whether programs are numbered along y, too.
inline constexpr llvm::StringRef kDieWindowAttr = "tessera.die_window", kTwoAxesAttr = "tessera.two_axes";
/// The axis of the grid along which programs take longer or shorter (i32), whether longer, and how many rows of the
/// grid start their longest programs together (i32).
inline constexpr llvm::StringRef kWorkAxisAttr = "tessera.work_axis", kWorkIncreasesAttr = "tessera.work_increases",
                                 kWorkRowsAttr = "tessera.work_rows";

// ---- operations ----

/// On a dot by warp groups: it is in flight until a wait for it (a bool, see ttng.warp_group_dot in ir/ops.table).
inline constexpr llvm::StringRef kIsAsyncAttr = "isAsync";
/// On the scf.if that has two versions of a kernel's body (transforms/ttir/kernel_versions.h): the name of the first, a
/// StringAttr. The second is the general one.
inline constexpr llvm::StringRef kVersionsAttr = "tessera.versions";
/// On a barrier: it orders shared memory only.
inline constexpr llvm::StringRef kLocalBarrierAttr = "tessera.local";
/// On a barrier of a kernel's own warps: each warp group (four warps) waits for itself alone. It orders shared memory
/// only.
inline constexpr llvm::StringRef kWarpGroupBarrierAttr = "tessera.warp_group";
/// On a loop: whether warp groups take turns at its dots, if these are overlapped (a bool).
inline constexpr llvm::StringRef kDotTurnsAttr = "tessera.dot_turns";
/// On a loop: warp groups take turns at dots of its body (see dotTurnOf in ir/partitions.h).
inline constexpr llvm::StringRef kTakesDotTurnsAttr = "tessera.takes_dot_turns";
/// On the dots of such a loop with which a turn begins and ends.
inline constexpr llvm::StringRef kBeginsDotTurnAttr = "tessera.begins_dot_turn";
inline constexpr llvm::StringRef kEndsDotTurnAttr = "tessera.ends_dot_turn";
/// On a store to a buffer and on bulk copies from it: so many rows of the buffer (i32) belong to each warp group in
/// turn, which writes and copies no others.
inline constexpr llvm::StringRef kWarpGroupRowsAttr = "tessera.warp_group_rows";
/// The offset in bytes of an operation's buffer or scratch in the block's shared memory, an IntegerAttr.
inline constexpr llvm::StringRef kAllocationOffsetAttr = "allocation.offset";

} // namespace tessera::ir
