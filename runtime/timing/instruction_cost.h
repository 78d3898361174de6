// What a decoded instruction costs on a machine: which units it occupies for how long, when its result can be read,
// which counters it increments.
#pragma once
#include "runtime/code_object/instruction.h"
#include "runtime/timing/machine.h"

namespace tessera::timing {

/// What an instruction occupies when it issues. One instruction at a time each, of a SIMD or of the compute unit.
enum class Resource : uint8_t {
  None,   // waits, barriers, s_nop: within the wave's own issue
  Scalar, // of a SIMD, as all up to Matrix
  Vector,
  Matrix,
  Branch,
  LdsIssue,
  MemoryIssue,
  ScalarMemory,
};
inline constexpr unsigned kResources = 8;
llvm::StringRef name(Resource);

/// Counters that a wait instruction waits for.
enum class Counter : uint8_t {
  Vector, // vmcnt, loadcnt
  Store,  // vscnt, storecnt; before gfx11 stores count with Vector
  Lds,    // lgkmcnt, dscnt
  Scalar, // kmcnt; before gfx12 scalar loads count with Lds
};
inline constexpr unsigned kCounters = 4;

enum class Effect : uint8_t {
  None,
  Nop,           // amount: repetitions
  Sleep,         // amount: units of sleepCycles
  SetPriority,   // amount: 0 to 3
  Wait,          // limits
  Signal,        // a barrier: arrives
  Await,         // a barrier: waits
  SignalAndWait, // s_barrier
  Branch,
  End,
};

struct InstructionCost {
  Resource resource = Resource::None;
  Effect effect = Effect::None;
  unsigned occupies = 0;          // cycles of the resource
  unsigned latency = 0;           // until another instruction reads the result; of no meaning for memory
  unsigned accumulateLatency = 0; // until a matrix instruction reads it as its accumulator; 0: as latency
  unsigned amount = 0;
  int16_t limits[kCounters] = {-1, -1, -1, -1}; // of a wait; -1: does not wait
  bool isMemory = false;                        // its completion decrements counters
  bool counts[kCounters] = {false, false, false, false};
  bool alsoVector = false; // occupies the vector unit, too (matrix instructions of RDNA)
};

/// NotFound for a matrix instruction that the machine's table lacks.
absl::StatusOr<InstructionCost> costOf(const code_object::Instruction &, const Machine &, unsigned waveSize);

} // namespace tessera::timing
