// What the executed waves of a kernel did, instruction by instruction, for a model of their timing. Compact: a wave
// executes 10^5 instructions and more.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

namespace tessera::code_object {

/// One executed instruction of a wave. Whether a branch was taken: the next event's instruction says it.
struct TraceEvent {
  /// Active lanes (EXEC). Of vector accesses to memory those that access: without lanes outside of a buffer's bounds.
  uint64_t mask = 0;
  uint32_t instruction = 0;  // index in Program::instructions
  uint32_t firstAddress = 0; // in WaveTrace::addresses
  uint32_t firstLds = 0;     // in WaveTrace::ldsAddresses
  uint16_t addressCount = 0; // one for each lane of the mask; a scalar access has one
  uint16_t ldsCount = 0;     // likewise; read2 and write2 have two, all lanes' first ones first
  uint8_t bytes = 0;         // at each address
  unsigned lanes() const { return unsigned(std::popcount(mask)); }
};

struct WaveTrace {
  std::array<uint32_t, 3> workgroup{0, 0, 0};
  uint32_t wave = 0; // in its workgroup
  std::vector<TraceEvent> events;
  std::vector<uint64_t> addresses;    // of global, flat, buffer, scratch and scalar accesses; scratch: see execute.h
  std::vector<uint32_t> ldsAddresses; // bytes from the start of the workgroup's LDS; loads into LDS have both kinds
};

struct Trace {
  std::deque<WaveTrace> waves;       // of the traced workgroups; a workgroup's waves follow each other
  uint64_t executedInstructions = 0; // by all waves of all executed workgroups
  uint64_t executedWaves = 0;
};

} // namespace tessera::code_object
