// The cost model of strip-mine: whether a group is worth cutting, and into how many strips.
#pragma once
#include "ir/target.h"
#include "transforms/schedule/strip_group.h"

namespace tessera::transforms::strips {

/// The registers that a thread has for the tensors of a block.
struct Budget {
  int64_t registers = 0;
  int64_t ofTwoBlocks = 0; // all registers of a thread where a multiprocessor runs two blocks; 0: unknown
};
/// `target` null: as many registers as an instruction can address.
Budget budgetOf(ir::Operation *module, const ir::TargetInfo *target, const ir::Tuning &tuning);

/// Sets the group's number of strips, a power of two, and its registers; false if it stays whole. It is cut
///
///   - if the whole block's tensors take more registers than there are, or it is too much straight-line code: into
///     strips that fit (stripRegisters, stripWork);
///   - if it takes so many that other blocks are not resident, and loads enough: into strips that leave them room
///     (stripCrowdingRegisters, stripBlockBytes).
///
/// No further than halving a strip about halves what it needs (stripHalvingRatio). If the strips' tensors alone take
/// the registers that a thread has with two blocks, no other block is gained, and a strip has fewer loads in flight:
/// then the block stays whole if what it loads and stores fits, as the assembler computes all between element by
/// element.
bool chooseStrips(Group &, const Budget &, const ir::Tuning &);

} // namespace tessera::transforms::strips
