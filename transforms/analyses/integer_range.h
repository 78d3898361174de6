// Bounds of integers: the least and greatest number, as signed, that any element of a value may be. Only what is
// cheap to see by walking up definitions a few steps: constants, ranges, program ids, loop counters, and arithmetic
// on them that cannot wrap. For deciding comparisons (masks that are always true), not for proofs about loops.
#pragma once
#include "ir/operation.h"
#include <optional>

namespace tessera::transforms {

struct IntegerRange {
  int64_t low, high; // inclusive
};

/// Bounds of an integer or index value, or of a tensor's elements; at most those of its type. Nothing for integers of
/// more than 64 bits.
std::optional<IntegerRange> integerRange(ir::Value);

} // namespace tessera::transforms
