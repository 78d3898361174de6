// The time of a kernel of a code object, launched as a description says: reads the object, chooses a sample of the
// grid, executes it (runtime/code_object), and times the trace.
#pragma once
#include "runtime/code_object/run_object.h"
#include "runtime/timing/kernel_time.h"

namespace tessera::timing {

struct TimeObjectOptions {
  std::string kernel;           // empty: the description's, or the object's only one
  uint32_t workItems = 0;       // of a workgroup; 0: what the object requires, else the description's number of warps
  uint32_t dynamicLdsBytes = 0; // beside those that the object states
  TimeOptions time;
  /// Called about once a second with the number of executed workgroups and how many there are; true: stop.
  std::function<bool(uint64_t, uint64_t)> progress;
};

struct TimedObject {
  KernelTime time;
  code_object::Program program;
};

/// Errors: InvalidArgument for an object or a description that is at fault, NotFound for a target or an instruction
/// without timing, ResourceExhausted if no workgroup fits a compute unit, FailedPrecondition for what the code does.
absl::StatusOr<TimedObject> timeObject(const runtime::LaunchDescription &, llvm::StringRef hsaco,
                                       const TimeObjectOptions & = {});

} // namespace tessera::timing
