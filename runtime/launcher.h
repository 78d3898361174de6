// From a launch description to a run: argument checks, buffers, and the interpreter behind the same interface as a GPU.
#pragma once
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "runtime/device.h"
#include "runtime/interpreter/interpreter.h"
#include "runtime/launch/launch_description.h"

namespace tessera::runtime {

/// The arguments of a launch with their memory.
struct LaunchArguments {
  std::vector<std::vector<uint8_t>> buffers;              // by argument; empty for scalars
  std::vector<uint64_t> scalars;                          // bits, by argument
  std::vector<unsigned> scalarBytes;                      // 0 for buffers
  std::vector<std::optional<HostDescriptor>> descriptors; // of buffers that are passed as one; may end early
  std::vector<uint64_t> offsets; // bytes before what an argument points at, of buffers; may end early
  /// Valid as long as this.
  std::vector<LaunchValue> values();
};

/// Makes the arguments, after checking them against the kernel's (a tt.func, whose descriptors passes may have
/// expanded). Errors have the form of the description's own: all of them, each on a line with its place.
absl::StatusOr<LaunchArguments> prepareArguments(const LaunchDescription &, ir::Operation *kernel);

/// Runs the kernel on the interpreter; the buffers hold the results.
absl::Status interpretLaunch(ir::Module &, ir::Operation *kernel, const LaunchDescription &, LaunchArguments &,
                             const InterpreterOptions &, ir::DiagnosticEngine &);

} // namespace tessera::runtime
