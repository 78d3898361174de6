// Reads of buffers' memory that nothing had written. Whether such a read is a mistake of its own, or a race with a
// write that comes too late, is known when the write comes or the block ends. It is put off until then:
//
//   thread 0: store %p            thread 16: load %p    (no barrier)        race, whichever the emulator runs first
//
// An error that comes in between may be due to what was read; the read is reported in its place. Without the check of
// races every such read is an error at once. Whether the launch depends on what was read is not judged here:
// unwritten_trials.h.
#pragma once
#include "runtime/emulator/machine.h"

namespace tessera::emulator {

/// Whether the lane may read these bytes; if not, it was an error.
bool mayReadUnwritten(Warp &, const Instruction &, unsigned lane, const Region &, uint64_t offset, unsigned bytes,
                      uint64_t now);
/// The lane is about to write these bytes. Whether it may; if not, a read that was put off was an error.
bool mayWriteAfterReads(Warp &, const Instruction &, unsigned lane, const Region &, uint64_t offset, unsigned bytes);
/// The block is over: whether none of its reads was put off; if not, it was an error.
bool endReads(Block &);
/// Reports a read that was put off; false if there is none.
bool reportRead(Launch &);

} // namespace tessera::emulator
