// Phase 2 of planning a pipelined loop (pipeline_plan.h): how the loads that phase 1 found are copied.
//
//   by warps      gfx950: a warp's lanes copy to consecutive places of LDS, if all loads have the layouts for it
//                 (warp-copy-layouts)
//   by threads    cp.async, and TMA for loads through descriptors, if each access has at least four bytes; a few
//                 narrower loads may stay in the iteration that uses them
//   by registers  otherwise: a thread holds the values for an iteration, then stores them to the buffer
//
// The first two are asynchronous. The value is then in shared memory anyway, so that everything that would put it there
// again reads the copy instead: layout conversions, and further buffers.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/schedule/pipeline_loads.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::transforms {

/// What phase 2 hands on.
struct LoopCopies {
  LoopLoads from;               // those that are still issued ahead; set: alloc, and readers of asynchronous copies
  bool asynchronous = false;    // else through registers
  bool byWarps = false;         // asynchronous, to consecutive places
  int64_t loadsInPlace = 0;     // narrow loads beside asynchronous copies, which are not issued ahead
  std::string whyNoAsyncCopies; // the reason, if the target has them; that of a load in place
};

/// Nothing if copies would cost more than they save; then `whyNot` is the reason.
std::optional<LoopCopies> chooseLoopCopies(LoopLoads, ir::scf::ForOp, const ir::TargetInfo &, const AxisInfoAnalysis &,
                                           std::string &whyNot);

} // namespace tessera::transforms
