// Our passes on machine code, and the variants in which a module's code can be generated.
#pragma once
#include "codegen_amd/passes/recompute_after_loops.h"
#include "codegen_amd/scheduler_options.h"
#include "ir/target.h"
#include "llvm/ADT/StringRef.h"

namespace llvm::legacy {
class PassManagerBase;
}

namespace tessera::amd {

/// What differs between the attempts at a module's code (AmdBackend::generateByTrial).
struct CodegenVariant {
  RecomputedAfter recomputed = RecomputedAfter::TwoLoops;
  PressureTracker tracker = PressureTracker::Targets;
  bool isForNextBlock = false; // one more on a compute unit
  int64_t mostRecomputed = 0;  // registers that are computed again after a loop; 0: any number
};

/// Adds those that run after the pass of LLVM whose argument it is, on the target and at the level of optimisation.
void addMachinePassesAfter(llvm::StringRef argument, const ir::TargetInfo &, int optLevel, const CodegenVariant &,
                           llvm::legacy::PassManagerBase &);

} // namespace tessera::amd
