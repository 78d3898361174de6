// Bank conflicts of one access to shared memory by all lanes of a warp.
//
// Model: memory is `banks` banks of words of `bankBytes`; consecutive words lie in consecutive banks. In one pass
// each bank serves one word, to as many lanes as request it. The lanes are taken in groups of neighbours, as many as
// fill one row of all banks (32 lanes of 4 bytes, 16 of 8, 8 of 16 on a machine of 32 banks); groups do not share
// passes. That is how NVIDIA's GPUs behave; AMD's order the lanes of a 16-byte access differently within a wave,
// which the model ignores.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tessera::layouts {

/// A target's shared memory, and what conversion plans weigh its accesses against.
struct MemoryModel {
  int banks = 32;
  int bankBytes = 4;
  int maxAccessBytes = 16; // widest access of one lane
  /// One instruction reads two places of a lane, of up to 8 bytes each, into registers that follow each other, the
  /// lower one first.
  bool pairsReads = false;
  /// Bytes are read by wider accesses than they are written by, where that takes fewer.
  bool widensReads = false;
  /// In shared-memory passes (ir/tuning.def): an instruction that only computes; the latency of a store, a barrier and
  /// a load.
  double instructionCost = 0.25;
  double roundTripCost = 24;
};

/// Passes over the banks (Nsight Compute: wavefronts, AMD's word for warps).
struct SharedPasses {
  int actual = 0; // that the access takes
  int least = 0;  // … without conflicts
};
/// `laneOffsets`: the byte offset that each lane accesses; `accessBytes`: consecutive bytes per lane.
SharedPasses countSharedPasses(llvm::ArrayRef<int64_t> laneOffsets, int accessBytes, const MemoryModel &);
/// Passes over the least possible, rounded up; 1: no conflicts.
int bankConflicts(llvm::ArrayRef<int64_t> laneOffsets, int accessBytes, const MemoryModel &);

} // namespace tessera::layouts
