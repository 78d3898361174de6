// Stages against blocks: how many stages a loop of tritongpu-pipeline gives up so that more blocks fit on a
// multiprocessor, and where it takes one more than requested because too few blocks fit.
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Lowers the plan's distance, and marks loads as late, if more blocks fit for it. Only for loops with asynchronous
/// copies.
void leaveMemoryForBlocks(PipelinePlan &, ir::scf::ForOp, const ir::TargetInfo &);

/// The blocks of a multiprocessor that shared memory with so many buffers of each load leaves room for, and the
/// registers of tensors with so many of operands that are read from shared memory, up to as many as overlap well.
int64_t blocksThatFit(const PipelinePlan &, ir::scf::ForOp, const ir::TargetInfo &, int64_t buffers,
                      int64_t ofOperands);

/// Whether the tensors of a loop as in attention, a dot of which needs another one's result, do not fit into registers,
/// and the loop has so many copies that their addresses matter.
bool spillsAnyway(const PipelinePlan &, ir::scf::ForOp, const ir::TargetInfo &);

/// Whether a loop that is not to be pipelined (one stage) leaves multiprocessors idle: it has warp-group dots, and the
/// registers of its tensors leave room for so few warps that hardly one computes while another waits for its loads.
bool waitsForLoads(ir::scf::ForOp, const ir::TargetInfo &);
/// Whether the plan's buffers take none of the blocks that the tensors' registers leave room for.
bool keepsBlocks(const PipelinePlan &, ir::scf::ForOp, const ir::TargetInfo &);

} // namespace tessera::transforms
