// Which dots of an iteration the next one can run under its own work, and what that would save (overlap_dots.cpp, which
// explains the terms and does it). Warps are specialised for loops in which it would.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// On a loop (bool): whether to overlap its dots, in place of the estimates.
inline constexpr llvm::StringLiteral kOverlapAttr = "tessera.overlap_dots";
/// On a loop that tritongpu-pipeline has made: what an iteration reads from buffers is not overwritten before the next
/// iteration has ended, and all dots of an iteration are to be issued together (PipelinePlan::keepsLastBuffers).
inline constexpr llvm::StringLiteral kKeepsLastBuffersAttr = "tessera.keeps_last_buffers";

/// A dot that is issued an iteration later.
struct DelayedDot {
  ir::ttng::WarpGroupDotOp dot;
  ir::ttng::WarpGroupDotWaitOp wait; // its own, which goes; null: the dot is synchronous
  unsigned index;                    // of the carried value that its result becomes
};

struct OverlapPlan {
  ir::ttng::WarpGroupDotOp first;
  std::vector<ir::ttng::WarpGroupDotOp> besideFirst; // dots that are issued with it, if all are gathered
  std::vector<DelayedDot> delayed;
  llvm::SetVector<ir::Operation *> views; // operations of the body that make the delayed dots' operands
  llvm::SetVector<ir::Operation *> viewsOfBesideFirst;
  llvm::SetVector<ir::Operation *> arrivals; // after delayed dots, and their views: they follow the wait for these
  llvm::SetVector<ir::Value> needed;         // values of the body that all of these use, accumulators aside
  llvm::DenseSet<ir::Operation *> last;      // what comes after the wait for the delayed dots
  bool isFilledInLoop = false;               // copies of the body write what delayed dots read
  bool sharesBuffers = false;                // other dots read what delayed dots read
  int64_t fewestBuffers = 0;                 // of the multi-buffers that delayed dots read; 0: they read none
  // Of a multiprocessor, for one block: an iteration without overlap, and parts of it.
  double cycles = 0;
  double firstCycles = 0, delayedCycles = 0, workCycles = 0;
  double cyclesOfDots = 0; // of all dots
  int64_t registers = 0;   // of a thread, estimated
};

/// None: no dot of an iteration can be delayed.
std::optional<OverlapPlan> planOverlap(ir::scf::ForOp, const ir::TargetInfo &);
/// Why the plan is not worth it; empty: it is. `registers`: what a thread has.
std::string whyNotWorth(const OverlapPlan &, const ir::Tuning &, int64_t registers);

/// Whether warp groups of `warps` warps should take turns at the first and the delayed dots.
bool shouldTakeTurns(const OverlapPlan &, const ir::TargetInfo &, int64_t warps);

/// Why no dots of an iteration would run under the work of the next one, if copies into the buffers that they read left
/// the loop; empty: they would. `registers`: of 32 bits, what a thread has.
std::string whyNoOverlapOfDots(ir::scf::ForOp, const ir::TargetInfo &, int64_t registers);

} // namespace tessera::transforms
