// The machines of the timing model: numbers of a target (machine.def), and what its instructions cost.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::timing {

enum class Family { Gfx9, Gfx11, Gfx12 };

/// Groups of lanes of a wave that LDS serves together (machine.def names where each was measured).
enum class LaneGroups {
  Neighbours32,
  Neighbours16,
  Neighbours8,
  Pairs8,   // 4 lanes and 4 others of the same 32
  Groups16, // 16 of each 32
};
struct LdsPhases {
  bool reads = false, writes = false;
  unsigned bytes = 0; // of a lane
  unsigned banks = 0; // of 4 bytes
  LaneGroups groups = LaneGroups::Neighbours32;
};

/// Cycles of the unit that executes an instruction, and until a dependent one can issue.
struct Rate {
  std::string mnemonic; // its beginning; "transcendental": all of that unit
  unsigned issue = 0, latency = 0;
};
struct MatrixRow {
  std::string mnemonic; // its beginning
  unsigned cycles = 0;
};

struct Machine {
  std::string target;
  Family family = Family::Gfx9;
#define NUMBER(name, unit, what, ...) unsigned name = 0; // what it is, unit and source: machine.def
#include "runtime/timing/machine.def"
  std::vector<MatrixRow> matrixRows;
  std::vector<Rate> rates;
  std::vector<LdsPhases> ldsPhases; // later rows replace earlier ones of the same access

  /// Cycles of the matrix unit. `formats`: 8 or more bits in an operand of …_f8f6f4. 0: the instruction is not known.
  unsigned matrixCycles(llvm::StringRef mnemonic, bool eightBitFormats) const;
  /// The row for the mnemonic, or null: full rate.
  const Rate *rate(llvm::StringRef mnemonic, bool transcendental) const;
  /// The phases of an access of a lane's bytes; narrower ones than 4 are as 4.
  const LdsPhases &phases(bool write, unsigned bytes) const;

  double cyclesPerNs() const { return clockMHz / 1000.0; }
  /// Bytes a cycle of the whole GPU.
  double cacheBytesPerCycle() const { return cacheGBs / cyclesPerNs(); }
  double memoryBytesPerCycle() const { return memoryGBs / cyclesPerNs(); }
};

/// What distinguishes a board from the one in the table; 0: as in the table.
struct MachineOverrides {
  unsigned computeUnits = 0;
  unsigned clockMHz = 0;
  /// NAME=VALUE of any row of machine.def.
  std::vector<std::string> numbers;
};

/// The targets of the table.
llvm::ArrayRef<llvm::StringRef> machineTargets();
/// NotFound for a target that the table lacks, InvalidArgument for overrides with unknown names or bad values.
absl::StatusOr<Machine> machineOf(llvm::StringRef target, const MachineOverrides & = {});

} // namespace tessera::timing
