// Runs a random kernel on the interpreter and on the emulator of a target, with every check on, and compares all
// bytes of the results.
#pragma once
#include "generator.h"
#include "ir/target.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::random {

struct Results {
  std::vector<uint8_t> y, z;
};

struct Outcome {
  enum Kind : uint8_t {
    Same,
    Refused,   // the compiler says that it cannot (shared memory of the target, …): no difference, but no test either
    Different, // in an element
    Reported,  // by a check of the emulator, or the emulator does not know something
    Broken,    // the text is invalid, the interpreter refuses it, or the compiler fails
  } kind = Same;
  std::string message;
  unsigned strips = 0, prefetches = 0, producers = 0, fullBlocks = 0; // places where the passes did that
  bool failed() const { return kind >= Different; }
};

/// Evaluates the kernel on the interpreter. The inputs depend on the seed.
Outcome reference(const Kernel &, unsigned seed, Results &);
Outcome compare(const Kernel &, unsigned seed, const Results &expected, const ir::TargetInfo &target);

/// Level and targets that a seed stands for: every third kernel is TTGIR, every sixth has
/// descriptors, every twelfth ragged blocks; the target is one of the vendor's.
Level levelOf(unsigned seed);
const ir::TargetInfo *targetOf(unsigned seed, ir::Vendor vendor);

} // namespace tessera::random
