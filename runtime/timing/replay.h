// Replays the traces of a compute unit's waves cycle by cycle.
//
// The model: the waves of the resident workgroups are distributed over the SIMDs. A wave issues its instructions in
// order, one every `issueCycles`. In a cycle a SIMD issues at most one instruction to each of its units (scalar,
// vector, matrix, branch, LDS, memory, scalar memory), each of another wave; of several waves the one with the higher
// priority (s_setprio), then the older one. An instruction waits
//  - for the registers that vector, matrix and scalar instructions write. Those that loads write are not tracked: code
//    waits for them by counters, as hardware requires;
//  - for a unit that is occupied, and for a counter that cannot count higher;
//  - in s_waitcnt and its kin for counters, at s_barrier for the workgroup's other waves.
// LDS and the path to memory serve the compute unit's accesses in the order in which they were issued (lds_phases.h,
// memory_path.h). Not modelled: instruction fetch, conflicts between register banks, expcnt, clauses, dual issue of
// vector and transcendental instructions.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/instruction.h"
#include "runtime/code_object/trace.h"
#include "runtime/timing/instruction_cost.h"
#include "runtime/timing/memory_path.h"
#include <array>

namespace tessera::timing {

/// What an instruction waited for after the wave's earlier one.
enum class Stall : uint8_t {
  None,
  Registers,    // a result of the same wave
  Unit,         // occupied by another instruction, or a wave that has precedence
  VectorMemory, // vmcnt, loadcnt, vscnt, storecnt
  Lds,          // lgkmcnt, dscnt: LDS
  ScalarMemory, // lgkmcnt, kmcnt: scalar loads
  Barrier,
  Sleep, // s_nop, s_sleep
  Branch,
  Counter, // cannot count higher
};
inline constexpr unsigned kStalls = 10;
llvm::StringRef name(Stall);

/// One executed instruction.
struct IssueRecord {
  uint32_t instruction = 0; // index in the code
  uint16_t wave = 0;        // index in CuReplay::waves
  Stall stall = Stall::None;
  Resource resource = Resource::None;
  Cycle cycle = 0;      // of issue
  uint32_t stalled = 0; // cycles before it, for `stall` mostly
  uint32_t busy = 0;    // cycles that it occupies its unit; of memory: until its completion
};

struct InstructionTotals {
  uint64_t executions = 0;
  uint64_t occupied = 0;  // cycles of its unit, of LDS accesses those of the banks
  uint64_t conflicts = 0; // LDS cycles beyond the least
  std::array<uint64_t, kStalls> stalled{};
  uint64_t allStalled() const;
};

struct WaveResult {
  std::array<uint32_t, 3> workgroup{0, 0, 0};
  unsigned wave = 0; // in its workgroup
  unsigned simd = 0;
  Cycle start = 0, end = 0;
  std::array<uint64_t, kStalls> stalled{};
};

struct CuReplay {
  Cycle cycles = 0;
  uint64_t issued = 0;
  std::array<uint64_t, kResources> busy{}; // summed over the SIMDs
  uint64_t ldsCycles = 0;                  // of the banks, for accesses and for loads into LDS
  uint64_t ldsConflictCycles = 0;          // of these, beyond the least
  MemoryPath::Traffic traffic;
  std::array<uint64_t, kStalls> stalled{};     // summed over the waves
  std::vector<InstructionTotals> instructions; // by index in the code
  std::vector<WaveResult> waves;
  std::vector<IssueRecord> records;
  bool recordsCut = false; // there were more than the limit
};

struct ReplayInput {
  llvm::ArrayRef<code_object::Instruction> code;
  unsigned waveSize = 64;
  /// By workgroup: each one's waves follow each other. Workgroups start in this order.
  llvm::ArrayRef<const code_object::WaveTrace *> waves;
  unsigned residentWorkgroups = 1; // at a time
  MemoryShare share;
  size_t mostRecords = 0; // 0: no records
};

/// NotFound for an instruction whose timing is not known, FailedPrecondition if waves wait for a barrier forever.
absl::StatusOr<CuReplay> replay(const Machine &, const ReplayInput &);

} // namespace tessera::timing
