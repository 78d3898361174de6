// Conflicts between ranges of shared memory, and their names in loops (see shared_ranges.h).
#include "transforms/memory/shared_ranges.h"
#include "ir/loops.h"
#include "transforms/analyses/multi_buffer_index.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Of ranges of one multi-buffer. False if nothing is known.
bool buffersDiffer(const SharedRange &a, const SharedRange &b) {
  if (!a.index || !b.index) return false;
  if (a.index == b.index) return a.steps != b.steps;
  auto x = intConstantOf(Value(a.index));
  auto y = intConstantOf(Value(b.index));
  if (x && y) return a.steps == b.steps && *x != *y;
  auto apart = stepsApart(Value(a.index), Value(b.index));
  return apart && (apart->steps + b.steps - a.steps) % apart->buffers != 0;
}

/// Names the buffer by the argument of the body that its index becomes. Whether there is one.
bool nameByArgument(SharedRange &r, scf::ForOp loop, Value CarriedValue::*incoming) {
  for (unsigned i = 0; loop && i < numCarried(loop); ++i) {
    CarriedValue c = carried(loop, i);
    auto buffers = buffersSteppedThrough(c.argument);
    bool keepsSteps = r.steps == 0 || buffersSteppedThrough(Value(r.index)) == buffers;
    if (!buffers || !keepsSteps || c.*incoming != Value(r.index)) continue;
    r.index = c.argument.impl();
    return true;
  }
  return false;
}

bool isArgumentOf(scf::ForOp loop, Value v) {
  return loop && v.isBlockArgument() && v.ownerBlock() == loop.body().front();
}

} // namespace

/// Whether both are accesses by warp groups to their parts of one buffer.
static bool areWithinGroups(const SharedRange &s, const SharedRange &r) {
  return s.by != AccessBy::Block && r.by != AccessBy::Block && s.allocation == r.allocation;
}

static bool conflict(const SharedRange &s, const SharedRange &r) {
  if (s.by == AccessBy::GroupsOrdered && areWithinGroups(s, r)) return false;
  bool bytesOverlap = s.first < r.second && r.first < s.second;
  bool differentBuffers = s.allocation == r.allocation && buffersDiffer(s, r);
  return bytesOverlap && !differentBuffers;
}

bool overlaps(const SharedRangeSet &set, const SharedRange &r) {
  return llvm::any_of(set, [&](const SharedRange &s) { return conflict(s, r); });
}

bool overlapsWithinGroups(const SharedRangeSet &set, const SharedRange &r) {
  return llvm::all_of(set, [&](const SharedRange &s) { return areWithinGroups(s, r) || !conflict(s, r); });
}

void enterLoop(SharedRange &r, scf::ForOp loop) { nameByArgument(r, loop, &CarriedValue::init); }

void enterNextIteration(SharedRange &r, scf::ForOp loop) {
  if (nameByArgument(r, loop, &CarriedValue::yielded)) return;
  auto buffers = isArgumentOf(loop, Value(r.index)) ? buffersSteppedThrough(Value(r.index)) : std::nullopt;
  if (!buffers) return r.forgetIndex();
  r.steps = (r.steps + *buffers - 1) % *buffers;
}

void leaveLoop(SharedRange &r, scf::ForOp loop) {
  if (isArgumentOf(loop, Value(r.index))) r.forgetIndex();
}

} // namespace tessera::transforms
