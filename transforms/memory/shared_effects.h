// What operations do to buffers in shared memory, one row each, for insert_barriers.cpp, to whose rules the comments
// refer.
#pragma once
#include "transforms/memory/access_state.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::transforms {

/// What an operation does to shared memory beyond what its row of ir/ops.table says.
struct SharedEffects {
  using Buffers = llvm::SmallVector<ir::Value, 2>;

  ir::Opcode opcode;
  Buffers (*reads)(ir::Operation *) = nullptr;    // rule 1
  Buffers (*writes)(ir::Operation *) = nullptr;   // rule 1
  Buffers (*copiesTo)(ir::Operation *) = nullptr; // ordered after earlier accesses, written asynchronously (rules 4, 6)
  Buffers (*readsLater)(ir::Operation *) = nullptr; // ordered after earlier writes, read asynchronously (rule 12)
  Buffers (*arrivesAt)(ir::Operation *) = nullptr;  // mbarriers, when dots are done; of one thread (rule 12)
  bool throughAsyncProxy = false; // copiesTo or else reads need a fence after ordinary writes (rule 6)
  SharedRangeSet AccessState::*startsPending = nullptr; // `reads` or `copiesTo` stay pending in this set …
  bool (*startsPendingIf)(ir::Operation *) = nullptr;   // … under this condition
  SharedRangeSet AccessState::*waitsFor = nullptr;      // pending accesses that count as made here …
  SharedRangeSet AccessState::*waitedAs = nullptr;      // … as these (rules 4 to 6)
  bool (*waitsForAll)(ir::Operation *) = nullptr;       // none of them is pending afterwards
};

/// Those of a ttng.warp_group_dot.
SharedEffects::Buffers operandsInSharedMemory(ir::Operation *dot);
/// Null: the operation does no more than its row says.
const SharedEffects *sharedEffectsOf(ir::Opcode);

} // namespace tessera::transforms
