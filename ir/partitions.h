// Who runs an operation: all warps of a kernel, or those of one partition of a ttg.warp_specialize. The default
// region is the kernel's own warps' (`ttg.num-warps`), every other partition has warps of its own beyond those; all
// of them run at the same time, and synchronise at the beginning and at the end.
#pragma once
#include "ir/ops.h"

namespace tessera::ir {

/// Attribute of bulk copies to global memory: all warps may start parts of it. Each waits for its own
/// (ttng.async_tma_store_wait), and nothing relies on one thread having started all.
inline constexpr llvm::StringLiteral kEachWarpStartsAttr = "tessera.each_warp_starts";
/// Attribute of ttng.arrive_barrier: each warp arrives for itself, `count` times, once it has done what precedes the
/// operation in the same iteration of the innermost loop. Without it, one thread arrives for all of them, and for what
/// they did at any time before.
inline constexpr llvm::StringLiteral kEachWarpArrivesAttr = "tessera.each_warp";

struct Partition {
  ttg::WarpSpecializeOp op; // null: no part of one
  Region *region = nullptr;
  int index = -1; // -1: the default region
  explicit operator bool() const { return bool(op); }
  bool hasOwnWarps() const { return index >= 0; }
};

/// The innermost one that the operation stands in.
Partition partitionOf(Operation *);
/// The regions that run on warps of their own.
llvm::MutableArrayRef<Region> partitionRegions(ttg::WarpSpecializeOp);
/// What the partitions see through their arguments, in order.
OperandRange capturesOf(ttg::WarpSpecializeOp);
/// The value that a partition's argument stands for; null for all other values.
Value captureOf(Value);
/// The dots of a loop's body at which warp groups take turns (ping-pong): a group issues the first, the last and what
/// is between them while the others are elsewhere. Both null: they do not take turns, or something between the two
/// might wait for all warps, which could not come there.
struct DotTurn {
  Operation *first = nullptr, *last = nullptr;
  explicit operator bool() const { return first; }
};
DotTurn dotTurnOf(Operation *loop);
/// How many warps run the operation.
int64_t numWarpsAt(Operation *);
/// Whether any operation of the function is a ttg.warp_specialize.
bool specializesWarps(Operation *func);
/// Whether just one is, and every run comes to it exactly once: the warps of its partitions know what to do.
bool specializesWarpsOnce(Operation *func);

} // namespace tessera::ir
