// Whether a launch depends on memory that nothing had written and that it reads: runtime/unwritten_values.h says how
// this is found. The first run is as any other, and ends at the first such read; the runs after it are trials.
#pragma once
#include "runtime/emulator/machine.h"
#include "runtime/unwritten_values.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::emulator {

/// The memory that a launch may change: its bytes, and which of them were written.
class MemoryContents {
public:
  explicit MemoryContents(const Launch &);

  void restore() const;
  /// What a launch that began with these contents left in bytes that still nobody has written is put back.
  void restoreUnwritten() const;
  bool isAsNow() const;

private:
  struct Piece {
    uint8_t *at;
    uint8_t *undefined; // or null
    std::vector<uint8_t> bytes, flags;
  };
  std::vector<Piece> pieces_;
};

/// What reads of unwritten memory find in one run, and where they are.
struct UnwrittenTrial {
  struct Place {
    std::string where;    // "tt.load at kernel.py:12:3", or empty
    uint32_t instruction; // the first that read there
    absl::Status failure; // what is reported of its first read
  };
  runtime::UnwrittenValue value = runtime::UnwrittenValue::Zeros;
  std::optional<size_t> only;               // the place that finds the value; the others find zeros
  bool notesPlaces = false;                 // otherwise they are known
  std::vector<Place> places;                // in the order in which they were found
  llvm::DenseMap<uint32_t, size_t> placeOf; // by instruction

  /// The lane is about to read these bytes: puts there what it is to find.
  void read(Warp &, const Instruction &, unsigned lane, const Region &, uint64_t offset, unsigned bytes);

private:
  size_t placeAt(Warp &, const Instruction &, unsigned lane, const Region &, uint64_t offset, unsigned bytes);
};

/// Runs the launch, and the trials if they are needed; the launch has the outcome. `again`: the same launch, with
/// nothing run yet.
absl::Status runWithTrials(Launch &, llvm::function_ref<std::unique_ptr<Launch>()> again,
                           llvm::function_ref<absl::Status(Launch &)> run);

} // namespace tessera::emulator
