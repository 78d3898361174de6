// Shared memory that operations need, in bytes: the scratch of their lowering and the buffers of ttg.local_alloc. The
// allocation and the lowering use the same functions, so that they cannot disagree.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "ir/type.h"
#include "layouts/conversion_plan.h"
#include "layouts/linear_layout.h"
#include <string>

namespace tessera::transforms {

/// Size and alignment of a tensor map (CUDA driver API, CUtensorMap).
constexpr int64_t kTensorMapBytes = 128;

struct Scratch {
  int64_t bytes = 0;
  int64_t alignment = 16;
};
/// Scratch of the operation's lowering in shared memory; 0 bytes for operations that need none.
Scratch scratchOf(ir::Operation *op, const ir::TargetInfo &);
/// What the scratch of such an operation is for, for remarks: "partial results of warps", "layout conversion", …
std::string scratchPurpose(ir::Operation *op);

/// Whether the block combines the warps' partial results of a tt.reduce once (layouts/reduce_shape.h). `source`: the
/// operands' layout.
bool combinesOnce(ir::Operation *reduce, const layouts::LinearLayout &source, const ir::TargetInfo &);

/// Bytes of one element of a tensor (or of a scalar) in scratch: i1 takes one.
int64_t scratchElementBytes(ir::Type);
/// The scratch of a ttg.warp_specialize holds the values that its partitions capture: bytes of each.
constexpr int64_t kCaptureBytes = 8;

/// How a layout conversion (ttg.convert_layout, or the one within a tt.cat) is planned, for its scratch and for its
/// lowering: with at most the bytes of `allocation.scratch`, if the allocation has set that attribute.
layouts::PlanOptions planOptionsOf(ir::Operation *op, const ir::TargetInfo &);

/// Bytes of a buffer of the type (ttg.local_alloc), with the gaps of a padded encoding.
int64_t bufferBytes(ir::MemDescType);

} // namespace tessera::transforms
