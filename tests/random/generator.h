// Random kernels whose results are known bit by bit: a seed gives the same text on every platform. Integers wrap; floats
// are kept to whole numbers that the type holds exactly (a bound on their size is carried with every value), so sums and
// products may be taken in any order and no tolerance is needed. What order could change is not generated: atomics that
// several threads aim at one place commute and nobody reads what was there, conversions round values that are given.
//
// TTIR: arithmetic, casts of all types with 8-bit floats, reductions (of several operands too), scans, transposes, reshapes,
// joins, splits, gathers, histograms, selections, masked loads and stores, dots (f16, bf16, tf32, f32, i8; loops with
// accumulators, chained, transposed), atomics, for, while and if with any of these inside, several programs. It is the same for all targets.
// TTGIR: the same values in random layouts (blocked, linear, slices, matrix layouts and their operands), handed on through
// convert_layout and shared memory of random layouts, with dots in the target's own layouts.
#pragma once
#include "ir/target.h"
#include <memory>
#include <string>

namespace tessera::random {

enum class Level : uint8_t { Ttir, Ttgir };

struct Kernel {
  std::string text;
  int programs = 1, numWarps = 4;
  bool hasDot = false;
};

/// Arguments of every kernel: pointers to inputs `x` (i32: any bits), `b` (i8), `h` (f16), `g` (bf16), `f` (f32): small whole
/// numbers, kInputs each; then `y` (bytes of results, kOutputBytes) and `z` (bytes for atomics, kAtomicBytes).
constexpr unsigned kInputs = 16384, kOutputBytes = 1 << 19, kAtomicBytes = 1 << 16;
constexpr int kSmall = 3; // the inputs b, h, g, f lie in [-kSmall, kSmall]

/// @pre a target is given for TTGIR
Kernel generate(unsigned seed, Level level, const ir::TargetInfo *target);

} // namespace tessera::random
