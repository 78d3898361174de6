// Makes a failing kernel small: tries one change after the other, each on a copy, keeps those after which the module
// still verifies and still fails, and continues until none does (delta debugging: Zeller and Hildebrandt, "Simplifying
// and Isolating Failure-Inducing Input", IEEE TSE 28, 2002). What failing means, the caller says.
//
//   passes     inline, canonicalize, cse
//   operations chunks of them, then each: results become an operand of their type, a zero, or a pointer argument
//   regions    a branch becomes one of its arms, a loop one iteration
//   carried    values that a loop carries become what they start as; reductions and scans of several operands lose some
//   operands   masks, other values and the like are left out
//   constants  0, 1, half
//   attributes hints and those that no code reads
//   shapes     a size of tensors is halved everywhere at once
//   arguments  unused ones go, from the kernel and from the launch; grid, warps and stages become 1 or half
//
// A zero never becomes a divisor, since dividing by it is left open.
#pragma once
#include "ir/operation.h"
#include "runtime/launch/launch_description.h"
#include <functional>
#include <memory>
#include <optional>

namespace tessera::runtime {

struct Failing {
  std::unique_ptr<ir::Module> module;
  std::optional<LaunchDescription> launch; // its arguments are the kernel's
  Failing copy() const { return {module->clone(), launch}; }
};

struct ReduceOptions {
  /// Whether the candidate fails as the original does. It verifies; it may be changed.
  std::function<bool(Failing &)> fails;
  /// True: no time is left.
  std::function<bool()> stop;
  /// After each check: operations that are left, checks so far.
  std::function<void(size_t operations, size_t checks)> progress;
};

struct ReduceResult {
  size_t operationsBefore = 0, operationsAfter = 0, checks = 0;
  bool finished = false; // no single change is left to try; else the time was over
};

/// Counts what a person reads: everything in the functions but their ends.
size_t countOperations(ir::Module &);

/// @pre the module verifies and fails
ReduceResult reduce(Failing &, const ReduceOptions &);

} // namespace tessera::runtime
