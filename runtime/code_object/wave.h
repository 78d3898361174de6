// A wave and its workgroup while they execute: registers, LDS, and how operands are read and results written.
#pragma once
#include "runtime/code_object/code.h"
#include "runtime/code_object/memory.h"
#include "runtime/code_object/trace.h"
#include <bit>
#include <cstring>
#include <memory>

namespace tessera::code_object {

inline constexpr unsigned kLanes = 64; // of a row of registers; a wave of 32 uses the first half
struct alignas(64) Row {
  uint32_t lane[kLanes];
};
struct alignas(64) Row64 {
  uint64_t lane[kLanes];
};

/// Where flat addresses mean LDS and scratch. Values of this model; kernels take them from src_shared_base and
/// src_private_base.
inline constexpr uint64_t kSharedBase = uint64_t(1) << 48, kPrivateBase = uint64_t(2) << 48;
/// Where the object's own segments are.
inline constexpr uint64_t kCodeBase = uint64_t(0x7e) << 40;

struct Group {
  std::array<uint32_t, 3> id{};
  std::vector<uint8_t> lds;
  const Memory *memory = nullptr;
};

/// MODE's fields that change results (ISA guides, "Mode register").
struct FloatMode {
  bool flush32 = false; // denormals of f32
  bool flush16 = false; // of f16 and f64
};

/// A load or atomic that returned the same again and again, while nothing else of the wave changed either: only others
/// can end such a loop.
struct Poll {
  uint32_t step = kNoInstruction;
  uint64_t address = 0, value = 0;
  uint64_t executed = 0, changes = 0, barriers = 0;   // of the wave, when the access was made (for the first time)
  size_t events = 0, addresses = 0, ldsAddresses = 0; // of its trace
  bool isSaved = false;
  std::vector<Row> vectors; // the wave's state
  std::array<uint32_t, kSgprs> scalars{};
  bool scc = false;
};

struct Wave {
  std::vector<Row> vectors;
  uint32_t scalars[kSgprs + 16] = {}; // with room for what a damaged instruction loads into the last one
  bool scc = false;
  FloatMode mode;
  uint32_t modeRegister = 0;
  unsigned lanes = 64;
  unsigned index = 0;
  uint32_t pc = 0; // index of the next instruction
  enum class State : uint8_t { Ready, AtBarrier, Polling, Ended, Failed } state = State::Ready;
  std::string error;
  uint64_t executed = 0, stopsAfter = ~uint64_t(0);
  uint64_t changes = 0, barriers = 0; // of memory, by this wave; that it has come to
  Poll poll;
  /// gfx9's s_set_gpr_idx_on: vector registers are indexed by M0 (ISA guides, "VGPR Indexing").
  bool indexesVectors = false;
  std::vector<uint8_t> scratch; // of all lanes, one after the other
  uint32_t scratchBytes = 0;    // of a lane
  Group *group = nullptr;
  WaveTrace *trace = nullptr;
  const Program *program = nullptr;
  Row outside{}; // what rowOutside gives
  // The rows of bits of EXEC, made when it has changed.
  Row execRow{};
  uint64_t execOfRow = 0;

  uint64_t exec() const { return pair(kExecLo); }
  uint64_t vcc() const { return pair(kVccLo); }
  uint64_t pair(unsigned index) const { return scalars[index] | uint64_t(scalars[index + 1]) << 32; }
  void setPair(unsigned index, uint64_t v) {
    scalars[index] = uint32_t(v);
    scalars[index + 1] = uint32_t(v >> 32);
  }
  uint64_t allLanes() const { return lanes == 64 ? ~uint64_t(0) : 0xffffffff; }
  void fail(std::string what) {
    if (state != State::Failed) error = std::move(what);
    state = State::Failed;
  }
  /// A register that the kernel has not allocated fails the wave.
  uint32_t *row(unsigned index) { return index < vectors.size() ? vectors[index].lane : rowOutside(index); }
  uint32_t *rowOutside(unsigned index);
  const Row &execMaskRow();
  /// An access has returned a value that others may change. A wave in a loop that does nothing else than waiting for a
  /// change stops, Polling, so that others run; of its trace one such iteration is left.
  void returned(const Step &, uint64_t address, uint64_t value);
};

// ---- scalars ----
/// The operand's low 32 or all 64 bits; literals as they are.
uint64_t readScalar(const Wave &, const Operand &, unsigned bits);
void writeScalar(Wave &, const Operand &, uint64_t value, unsigned bits);
/// One bit a lane: a pair of SGPRs in waves of 64, one in waves of 32.
uint64_t readMask(const Wave &, const Operand &);
void writeMask(Wave &, const Operand &, uint64_t);

// ---- rows of lanes ----
/// Register `at` of an operand for all lanes, without modifiers: the registers themselves or `scratch`.
const uint32_t *readRow(Wave &, const Operand &, unsigned at, Row &scratch);
/// Writes active lanes (of `mask`).
void writeRow(Wave &, const Operand &, unsigned at, const uint32_t *values, uint64_t mask);
/// Source `i` of a vector instruction as the type says, modifiers applied: 64 entries of 4 or 8 bytes.
const void *readSource(Wave &, const Step &, unsigned operand, unsigned source, Type, Row64 &scratch);
/// A result, with output modifiers.
void writeResult(Wave &, const Step &, const Operand &, Type, Row64 &values);
uint64_t writableLanes(Wave &, const Step &);

inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t asBits(float f) { return std::bit_cast<uint32_t>(f); }

} // namespace tessera::code_object
