// Which loops half of a block's waves execute one part behind the other half, so that one half accesses memory while
// the other has the matrix units (codegen_amd/passes/alternate_waves.cpp cuts such loops). The cut needs one buffer of
// LDS where other loops have two, so tritongpu-pipeline decides by the same numbers, before there are instructions: it
// estimates what the cut counts. If the two disagree, the code is right but slower: a loop with one buffer that is not
// cut, or one with two that could have been.
#pragma once
#include "ir/target.h"

namespace tessera::transforms {

/// Waves that take turns on a SIMD.
inline constexpr int64_t kAlternatingWavesOfSimd = 2;

/// Clocks that an MFMA of 16- or 8-bit types with so many rows keeps the matrix unit busy (CDNA3 ISA guide, "Dependency
/// resolution": 8 passes of 4 clocks for 32 rows, 4 passes for 16).
inline int64_t clocksOfMfma(int64_t rows) { return rows; }

/// Whether a block of so many waves has as many on each SIMD as take turns.
inline bool hasAlternatingWaves(const ir::TargetInfo &target, int64_t waves) {
  return waves == kAlternatingWavesOfSimd * target.schedulersPerMultiprocessor;
}

/// Whether an iteration's MFMA, in clocks, cover what half of the waves read from LDS and write to it, in bytes.
inline bool matricesCoverLds(const ir::TargetInfo &target, int64_t clocksOfMatrices, int64_t bytesOfHalf) {
  constexpr int64_t kLdsBytesOfClock = 128;
  const ir::Tuning &tuning = target.tuning;
  return clocksOfMatrices >= tuning.alternateLeastClocks &&
         100 * (bytesOfHalf / kLdsBytesOfClock) <= tuning.alternateMostLdsPercent * clocksOfMatrices;
}

} // namespace tessera::transforms
