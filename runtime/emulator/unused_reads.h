// Races whose read has no effect. Where a tensor has fewer elements than a block has threads, several threads hold
// copies of one element: all of them load it, and one stores the result. A kernel that works in place then stores
// what the copies' owners may not have loaded yet, and no barrier is needed: what they load reaches no memory.
//
// A read counts as unused as long as its warp has executed nothing with an effect (a store or an atomic operation
// with an active lane, a barrier) that the loaded value reaches. Values reach instructions through registers, and
// through branches all that the branch decides on: the blocks between it and its postdominator, and what is chosen
// there. Such a race is put aside, and reported as soon as its value does have an effect.
//
// The other way round, a read whose value has had an effect is over. Barriers that order shared memory alone wait for
// no loads from buffers, but a warp that has stored what it made of a loaded value, and then comes to such a barrier,
// has waited for the load:
//
//   %s = load %scale;  store shared, f(%s);  barrier (shared memory);  store %scale by another warp       no race
#pragma once
#include "runtime/emulator/machine.h"

namespace tessera::emulator {

/// The instruction has an effect in this warp now; a race that was put aside may be one (false: it was reported).
bool noteEffect(Warp &, const Instruction &);

/// Whether no effect of the warp depends on what it loaded at `site` in this block so far.
bool isUnused(Warp &, uint32_t site);

/// Whether the warp's `read` of a buffer was over at the block's last barrier, whatever memory that orders: what was
/// read had had an effect.
bool wasUsedBeforeBarrier(Warp &, const Mark &read);

/// Puts the race aside: `text` is its message, about a lane of the load at `site`.
void putAside(Warp &, uint32_t site, unsigned lane, const std::string &text);

} // namespace tessera::emulator
