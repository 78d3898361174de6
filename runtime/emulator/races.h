// Queries of memory.cpp before an access of lanes: whether that is ordered after what other threads did there; and how
// errors name the other access. Errors end the launch (fail in machine.h). `changed`: which of the bytes a write
// changes; null: all.
#pragma once
#include "runtime/emulator/machine.h"
#include <cstdint>
#include <string>

namespace tessera::emulator {

/// " (tt.load at kernel.py:12:3)" of the instruction with the number, which an error about another one names; empty if
/// its place is not known.
std::string placeOf(const Warp &, uint32_t site);
/// "thread 37 (warp 1, lane 5)" of the block, or "a bulk copy".
std::string threadName(const Warp &, unsigned thread);

void checkSharedOrder(Warp &, const Instruction &, const Access &, unsigned lane, uint32_t offset, bool writes,
                      const uint8_t *changed, uint64_t now);
/// `atomic`: it races with nothing that is atomic, too.
void checkGlobalOrder(Warp &, const Instruction &, const Access &, unsigned lane, Region &, uint64_t offset,
                      bool writes, bool atomic, const uint8_t *changed, uint64_t now);

/// A bulk copy's write of this row, made at `now`, is in flight.
void beginRow(Block &, const PendingRow &, uint64_t now);
/// It is done, as a thread knows: what it wrote counts as written by that thread now.
void endRow(Block &, const PendingRow &, const Mark &);

/// Whether a read of the block is over, as far as the warp knows, which now changes what was read.
bool isReadOver(const Warp &, const Mark &read, uint64_t now);

} // namespace tessera::emulator
