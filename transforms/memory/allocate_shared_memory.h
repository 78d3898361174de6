// Shared-memory allocation: every buffer of the module (`ttg.local_alloc`, and the scratch of operations that need
// some: reductions across warps, layout conversions through memory, scans, atomics that return a scalar) gets an
// `allocation.offset` attribute in bytes; buffers whose lives do not overlap share memory. The module gets
// `ttg.shared`, the bytes in all. Where they do not fit the target, conversions are made in several turns through
// less scratch. Buffers that do not fit even then are an error that names them, their sizes and source lines.
#pragma once
#include "ir/operation.h"
#include "layouts/conversion_plan.h"
#include "transforms/pass.h"

namespace tessera::transforms {

/// Bytes of scratch that the lowering of this operation uses in shared memory, and their alignment. Both the allocation
/// and the lowering ask this function, so that they cannot disagree.
struct Scratch {
  int64_t bytes = 0;
  int64_t alignment = 16;
};
Scratch scratchOf(ir::Operation *op, const ir::TargetInfo &);
/// The scratch of a ttg.warp_specialize holds what its partitions capture: this many bytes for each value of a thread.
constexpr int64_t kCaptureBytes = 8;
/// How a conversion between layouts (or the one within a tt.cat) is to be planned, for its scratch and its lowering:
/// under the bytes of `allocation.scratch`, which the allocation sets where a block's memory does not hold all of it.
layouts::PlanOptions planOptionsOf(ir::Operation *op);
/// Bytes of a buffer of the type (ttg.local_alloc), with the gaps of a padded encoding.
int64_t bufferBytes(ir::MemDescType);

/// Bytes that are taken while `op` (a loop of a function, or all of one) runs, but for the buffers of `without`,
/// before anything is placed for good: what a pass that adds buffers to the loop has to leave room for.
int64_t sharedBytesDuring(ir::Operation *op, llvm::ArrayRef<ir::Operation *> without, const ir::TargetInfo &);

absl::StatusOr<bool> allocateSharedMemory(ir::Module &, PassContext &);
/// Inserts `gpu.barrier` between accesses to shared memory that overlap, where a hazard is possible (read after write,
/// write after read, write after write) on any path, and nowhere else.
absl::StatusOr<bool> insertBarriers(ir::Module &, PassContext &);

} // namespace tessera::transforms
