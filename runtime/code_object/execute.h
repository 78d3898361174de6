// Executes the machine code of a kernel, workgroup by workgroup, and records what its waves do.
//
// The waves of a workgroup take turns: each runs until it comes to a barrier or its end, or polls, which is a loop that
// reads the same again and changes nothing. Workgroups run one after the other. While one polls (split K with
// semaphores), others are started, too: first those that differ from it in one dimension of the grid, even if they are
// not to be executed otherwise. Of its wait one iteration is left in the trace.
//
// Not modelled: waits and hazards (an access has happened when its instruction has executed), caches, exceptions and
// traps, the trap handler; rounding is to nearest even whatever MODE says (a change of it is an error).
//
// Errors (FailedPrecondition for what the code does, InvalidArgument for a launch that does not fit the kernel) name
// the workgroup, the wave, the address and text of the instruction, and its source line where the object has them.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/code_object.h"
#include "runtime/code_object/instruction.h"
#include "runtime/code_object/memory.h"
#include "runtime/code_object/trace.h"
#include <functional>

namespace tessera::code_object {

struct Grid {
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workItems{64, 1, 1}; // of a workgroup
  uint32_t dynamicLdsBytes = 0;                // beside the descriptor's static ones
};

using WorkgroupId = std::array<uint32_t, 3>;

struct ExecuteOptions {
  /// The workgroups to execute, in this order; empty: all, x first.
  std::vector<WorkgroupId> workgroups;
  /// Whether the waves of an executed workgroup are traced; null: none is.
  std::function<bool(const WorkgroupId &)> isTraced;
  uint64_t maxInstructionsPerWave = uint64_t(1) << 30; // more: an error, as of an endless loop
  /// After how many instructions the waves of a workgroup stop, and the others at their next barrier; null: they
  /// execute all.
  std::function<uint64_t(const WorkgroupId &)> stopsAfter;
  uint32_t maxLdsBytes = 0;  // of a workgroup; 0: the target's
  bool reverseWaves = false; // the last wave of a workgroup runs first
  /// Called about once a second with the number of finished workgroups; true: stop with Cancelled.
  std::function<bool(uint64_t)> progress;
};

/// Addresses of scratch accesses in a trace: byte `offset` of a lane's scratch is at kScratchBase + 4 * (offset / 4 *
/// waveSize + lane) + offset % 4, as hardware interleaves the lanes ("Scratch", ISA guides); every wave has the same.
inline constexpr uint64_t kScratchBase = uint64_t(1) << 56;

/// `kernarg`: the argument segment; hidden arguments in it are filled in from the grid. Addresses in it are
/// those of `memory`.
absl::StatusOr<Trace> execute(const CodeObject &, const Kernel &, const Program &, const Grid &,
                              llvm::ArrayRef<uint8_t> kernarg, Memory &memory, const ExecuteOptions & = {});

} // namespace tessera::code_object
