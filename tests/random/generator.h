// Random kernels whose results are known bit by bit: a seed gives the same text on every platform. Integers wrap;
// floats are kept to whole numbers that the type holds exactly (a bound on their size is carried with every value),
// so add and mul may be done in any order and no tolerance is needed. What order could change is not
// generated: atomics that several threads aim at one place commute and nobody reads what was there, conversions round
// values that are given.
//
// TTIR: arithmetic, casts of all types with 8-bit floats, reductions and scans (of several operands too), transposes,
// reshapes, joins, splits, concatenations, gathers, histograms, selections, masked loads and stores, block pointers
// and tensor descriptors that reach over the edges of what they describe, dots (f16, bf16, tf32, f32, 8-bit floats,
// i8; loops with accumulators, chained, transposed, of three dimensions, attention), atomics, for, while, if and
// functions that are not inlined with any of these inside, several programs. In every third kernel arguments are views:
// they point anywhere into their buffers, and offsets are negative. Every sixteenth is of few warps and a block that a
// thread's registers do not hold. It is the same for all targets. Descriptors: TTIR whose arguments are tensor
// descriptors (descriptor_steps.cpp). Ragged: TTIR whose blocks go over an end (ragged_steps.cpp). TTGIR: the same
// values in random layouts (blocked, linear, slices, matrix layouts and their operands), handed on through
// convert_layout and shared memory of random layouts, with dots in the target's own layouts; in every third kernel also
// asynchronous copies to shared memory (async_steps.cpp) and views of it (view_steps.cpp).
#pragma once
#include "ir/target.h"
#include "runtime/launch/descriptor.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tessera::random {

enum class Level : uint8_t { Ttir, Ttgir, Descriptors, Ragged }; // Descriptors, Ragged: TTIR

constexpr unsigned kPointers = 14; // arguments of every kernel

struct Kernel {
  std::string text;
  int programs = 1, numWarps = 4, numStages = 3;
  bool hasDot = false, large = false;       // large: a block beyond the registers, stored through several outputs
  std::array<uint64_t, kPointers> starts{}; // bytes of a buffer before what its argument points at
  /// Arguments that follow those of every kernel.
  struct Parameter {
    enum Kind : uint8_t { Scalar, Pointer, Descriptor } kind = Scalar;
    runtime::HostDescriptor memory; // of a buffer of its own
    uint64_t at = 0;                // bytes of it before the tensor
    uint64_t value = 0;             // of a scalar; bytes of the buffer
  };
  std::vector<Parameter> more;
};

/// Arguments of every kernel: pointers (into the buffers, at Kernel::starts) to inputs `x` (i32: any bits), `b` (i8),
/// `h` (f16), `g` (bf16), `f` (f32), `e` (f8E4M3FN), `d` (f8E5M2): small whole numbers, kInputs each; then `y` (bytes
/// of results, kOutputBytes), `z` (bytes for atomics, kAtomicBytes), and more like `y` (of kOtherOutputBytes, in large
/// kernels), kOutputs with it.
constexpr unsigned kInputs = 16384, kOutputBytes = 1 << 19, kAtomicBytes = 1 << 16, kOutputs = 6,
                   kOtherOutputBytes = 1 << 18;
constexpr int kSmall = 3; // the inputs b, h, g, f, e, d lie in [-kSmall, kSmall]

/// @pre a target is given for TTGIR
Kernel generate(unsigned seed, Level level, const ir::TargetInfo *target);

} // namespace tessera::random
