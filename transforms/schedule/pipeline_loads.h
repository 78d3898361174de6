// Phase 1 of planning a pipelined loop (pipeline_plan.h): which of its loads may be issued ahead, and what their
// addresses and masks are computed from.
//
// These are the loads that operands of the body's dots are computed from, not through another dot; in a loop without
// dots, those through descriptors that are bulk copies. They may be issued ahead if no store of the body may write what
// they read, and if an iteration before knows all that their addresses and masks need.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/schedule/pipeline_plan.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// What phase 1 hands on.
struct LoopLoads {
  std::vector<PipelinedLoad> loads; // in the order of the body; set: op, alloc, isBulkCopy, selectsOther
  BodySlice producer;               // what addresses and masks are computed from, across iterations
  bool hasDots = true;              // of the body; else all loads are bulk copies
};

/// Nothing if the loop cannot be pipelined; then `whyNot` is the reason, if it has dots or bulk copies.
std::optional<LoopLoads> findLoopLoads(ir::scf::ForOp, const ir::TargetInfo &, std::string &whyNot);

/// Computes the producer of the loads. A load that the address of another one needs becomes part of the producer, and
/// is removed from the loads. False: there is no producer that may run ahead, and `whyNot` is the reason.
bool findProducer(LoopLoads &, const ir::Block &body, std::string &whyNot);

/// Whether the load can fill the buffer: through a descriptor, one in the descriptor's layout alone.
bool canBeFilled(ir::ttg::LocalAllocOp, ir::Operation *load);

/// Whether masked-off elements of the load get another value than 0, which asynchronous copies write for them.
bool hasOtherThanZero(const PipelinedLoad &);

} // namespace tessera::transforms
