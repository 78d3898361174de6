// Loads that warps copy straight to shared memory (layouts/warp_copy.h; AMD's loads into LDS of 16 bytes a lane).
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/analyses/axis_info.h"

namespace tessera::transforms {

/// Elements of the type that a lane's copy moves; 0: it does not consist of whole ones.
int64_t elementsOfWarpCopy(ir::Type element);
/// Whether warps can copy the load, done in the layout, to the buffer: what each lane copies is consecutive in memory
/// and has one mask, and the lanes' copies follow each other in the buffer.
bool isWarpCopy(ir::tt::LoadOp, const layouts::Encoding *, ir::MemDescType buffer, const AxisInfoAnalysis &);

/// Iterations that such copies are issued ahead, whatever the number of stages: what one iteration computes is not
/// enough to hide a latency, and more buffers would leave room for fewer blocks.
inline constexpr int64_t kWarpCopyDistance = 2;
/// Blocks that the buffers of such copies, one more than of loads through registers, leave memory for.
struct RoomForBlocks {
  int64_t wanted = 1; // those that registers leave room for, or two of enough warps (warpCopyWarpsOfScheduler)
  int64_t left = 0;
  bool isEnough() const { return left >= wanted; }
};
/// `bytes`: of one buffer for each of the loop's loads.
RoomForBlocks roomForBlocks(ir::scf::ForOp, int64_t bytes, const ir::TargetInfo &);

} // namespace tessera::transforms
