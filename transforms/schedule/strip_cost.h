// The cost model of strip-mine: whether a group is worth cutting, and into how many strips.
#pragma once
#include "ir/target.h"
#include "transforms/schedule/strip_group.h"

namespace tessera::transforms::strips {

/// Sets the group's number of strips, a power of two, and its registers; false if it stays whole. It is cut
///
///   - if the whole block's tensors take more than `registers`, or it is too much straight-line code: into strips that
///     fit (stripRegisters, stripWork);
///   - if it takes so many that other blocks are not resident, and loads enough: into strips that leave them room
///     (stripCrowdingRegisters, stripBlockBytes).
///
/// No further than halving a strip about halves what it needs (stripHalvingRatio).
bool chooseStrips(Group &, int64_t registers, const ir::Tuning &);

/// The registers that a thread has for the tensors of a block. `target` null: as many as an instruction can address.
int64_t availableRegisters(ir::Operation *module, const ir::TargetInfo *target, const ir::Tuning &);

} // namespace tessera::transforms::strips
