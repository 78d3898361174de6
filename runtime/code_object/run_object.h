// Runs a launch description on a code object instead of a compiler's output, and checks what comes out.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/execute.h"
#include "runtime/launch/check.h"
#include "runtime/launch/launch_description.h"

namespace tessera::code_object {

struct ObjectRunOptions {
  std::string kernel; // empty: the description's, or the object's only one
  /// Work-items of a workgroup; 0: from the description's number of warps, unless the object requires another.
  uint32_t workItems = 0;
  uint32_t dynamicLdsBytes = 0;
  bool check = true; // the expected outputs
  /// Without them buffers of zeros take memory only where the kernel accesses them.
  bool keepBuffers = true;
  ExecuteOptions execute;
};

struct ObjectRun {
  std::vector<std::vector<uint8_t>> buffers; // by argument, after the launch; empty for scalars and if not kept
  std::vector<runtime::CheckResult> checks;  // by expected output; none if only some workgroups were executed
  CodeObject object;
  const Kernel *kernel = nullptr; // in `object`
  Program program;
  Grid grid;
  Trace trace;
  bool ok() const; // every check
};

/// Arguments are placed by the object's metadata; without it one after the other, each at its own alignment. Errors:
/// those of readCodeObject, decode, execute and the description's files; arguments that do not fit the kernel's.
absl::StatusOr<ObjectRun> runObject(const runtime::LaunchDescription &, llvm::StringRef hsaco,
                                    const ObjectRunOptions & = {});

} // namespace tessera::code_object
