// Where in a pipelined loop's body its asynchronous copies are issued, and which dots stay in flight meanwhile.
//
// Issuing copies and computing their addresses keeps warps busy. So they come where a matrix unit computes without the
// warps: after an asynchronous dot that the body must wait for anyway, or beside dots that it need not wait for at all,
// since they only accumulate. Dots whose operands threads read from shared memory compete with the copies for the
// load-store unit; with few warps, operands are read first.
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Sets `dotsInFlight`, `slicedDots`, `copiesAfter` and `operandsFirst` of the plan of a loop with dots.
/// @pre the plan has asynchronous copies, and their buffers are planned
void orderCopiesAndDots(ir::scf::ForOp, const ir::TargetInfo &, PipelinePlan &);

} // namespace tessera::transforms
