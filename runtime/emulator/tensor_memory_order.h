// The order of accesses to tensor memory (tcgen05): what the files of its instructions share. The rules are at the head
// of tensor_memory.cpp.
#pragma once
#include "runtime/emulator/machine.h"

namespace tessera::emulator {

constexpr unsigned kTensorHalves = kTensorLanes / kTensorHalf;
constexpr unsigned kTensorLanesOfWarp = 32; // a warp accesses those of its number modulo 4

struct TensorAddress {
  unsigned lane, column;
  explicit TensorAddress(uint32_t bits) : lane(bits >> 16), column(bits & 0xffff) {}
};

TensorOrder &tensorOrderOf(Warp &);
/// Whether the guard of an instruction keeps the lane from executing it.
bool isGuardedOff(const Warp &, Row guard, bool negated, unsigned lane);
/// Whether columns are the block's; false after an error. `what`: the instruction.
bool checkTensorColumns(Warp &, const Instruction &, const char *what, unsigned first, unsigned count);
/// Whether the word was written; false after an error.
bool checkTensorDefined(Warp &, const Instruction &, const char *what, unsigned lane, unsigned column);

/// Accesses of one instruction to columns of tensor memory, each of 16 lanes.
class TensorCellAccess {
public:
  /// `pipeline`: of a dot, else 0.
  TensorCellAccess(Warp &w, const Instruction &i, const char *what, uint64_t pipeline)
      : w_(w), i_(i), t_(*w.block->tensor), what_(what), pipeline_(pipeline), now_(++w.block->launch->stamp) {}

  /// False after an error. @pre the column is allocated
  bool operator()(unsigned half, unsigned column, bool writes);

private:
  bool follows(const TensorMark &, bool wrote, unsigned half, unsigned column, bool writes);

  Warp &w_;
  const Instruction &i_;
  TensorMemory &t_;
  const char *what_;
  uint64_t pipeline_, now_;
};

} // namespace tessera::emulator
