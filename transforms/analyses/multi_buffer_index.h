// Indices into a multi-buffer (a ttg.local_alloc of N buffers of one type, of which ttg.memdesc_index selects one).
// The pipeliner lets a loop carry such an index, which counts 0, 1, …, N - 1, 0, …; later passes recognise it again:
//
//   %1 = arith.addi %i, 1 ; %2 = arith.cmpi sge, %1, N ; %next = arith.select %2, 0, %1
#pragma once
#include "ir/builder.h"
#include "ir/operation.h"
#include <optional>

namespace tessera::transforms {

struct MultiBufferStep {
  ir::Value index;     // of the buffer before
  int64_t buffers = 0; // N
};

/// Creates the index of the buffer after `index`, an i32.
ir::Value createNextBufferIndex(ir::Builder &, ir::Location, ir::Value index, int64_t buffers);

/// Creates the phase of the mbarriers of the buffer `next`, an i32: it changes where the index returns to the first
/// buffer.
ir::Value createNextPhase(ir::Builder &, ir::Location, ir::Value phase, ir::Value next);

/// Whether `next` is computed as above from `phase` and the index of the next buffer.
bool isNextPhase(ir::Value next, ir::Value phase, ir::Value nextIndex);

/// What `next` is the index after, if it is computed as above; nothing for other values.
std::optional<MultiBufferStep> multiBufferStep(ir::Value next);

/// The number of buffers through which an index that a loop carries steps, by one in each iteration.
std::optional<int64_t> buffersSteppedThrough(ir::Value argument);

/// How many steps the index `b` is always after `a`, modulo the number of buffers; nothing if that is not known. One is
/// the next one after the other; or loops carry them: they start so many steps apart, as constants, indices a step or
/// more after one another, or such indices of a loop around; and each iteration keeps the distance. One may be carried
/// for an iteration longer. Both are indices into one multi-buffer.
struct StepsApart {
  int64_t steps = 0;
  int64_t buffers = 0;
};
std::optional<StepsApart> stepsApart(ir::Value a, ir::Value b);

} // namespace tessera::transforms
