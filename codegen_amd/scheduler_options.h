// Two settings of LLVM's scheduler for AMD, which are options of the whole process (codegen/object/process_options.h).
//
//   amdgpu-disable-clustered-low-occupancy-reschedule   Where one region of a kernel needs so many registers that
//       fewer waves fit than was aimed for, the other regions are not ordered anew with the registers of the lost
//       waves. In loops of matrix instructions that would hoist the load of every operand, for a fifth more registers
//       and no fewer instructions.
//   amdgpu-use-amdgpu-trackers   The pressure of registers is followed exactly, tuples included: loops of WMMA take up
//       to a third fewer registers (a kernel that spilled does not), in the same time. Where tensors exceed the
//       registers from the beginning of a block on (operands of fma dots, loads in flight beside large accumulators),
//       LLVM's other tracker at times finds an order without spills and this one does not: it is tried then
//       (codegen_amd/backend.cpp).
//
// They are set while AMD code is generated. A host program that shares LLVM with us and generates AMD code on another
// thread meanwhile may see them set; its code is as right.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include <cstdint>

namespace tessera::amd {

using SchedulerFlag = llvm::cl::opt<bool>;

/// LLVM's option of this name, or an error if there is none, or none that is a flag.
absl::StatusOr<SchedulerFlag *> findSchedulerFlag(llvm::StringRef name);

/// Whether LLVM has all options that withSchedulerOptions sets: another version of LLVM may have renamed one.
absl::Status checkSchedulerOptions();

/// What follows the pressure of registers: the target's tracker, exactly, or the one that all targets share.
enum class PressureTracker : uint8_t { Targets, Shared };

/// Runs `body` with the options set. Threads with the same tracker may be in it at once, others wait for each other. An
/// exception of the body passes through. Within `body` the tracker must stay the same.
void withSchedulerOptions(llvm::function_ref<void()> body, PressureTracker = PressureTracker::Targets);

} // namespace tessera::amd
