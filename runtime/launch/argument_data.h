// What a launch description's arguments hold: made before the launch, from files, random numbers or one value, and
// compared after it with the expected outputs.
#pragma once
#include "runtime/launch/check.h"
#include "runtime/launch/launch_description.h"

namespace tessera::runtime {

/// The bytes of a buffer argument before the launch, as they lie in memory. ResourceExhausted if the machine does not
/// have the memory.
absl::StatusOr<std::vector<uint8_t>> materialize(const LaunchDescription &, unsigned arg);
/// A buffer's memory without what lies between the rows of a tensor descriptor.
std::vector<uint8_t> withoutGaps(const LaunchArg &, llvm::ArrayRef<uint8_t> memory);
/// A scalar argument's bits as the IR's type has them, and its width. i1 takes one byte.
struct ScalarBits {
  uint64_t bits;
  unsigned bytes;
};
ScalarBits scalarBits(const LaunchArg &);

/// Compares a buffer after the launch with what is expected. An error is about the expected file.
absl::StatusOr<CheckResult> check(const LaunchDescription &, const ExpectedOutput &, llvm::ArrayRef<uint8_t> actual);

} // namespace tessera::runtime
