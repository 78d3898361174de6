// Barrier objects in shared memory (mbarrier, sm_80 and newer) and elect.sync.
#pragma once
#include "runtime/emulator/decode.h"

namespace tessera::emulator {

struct MbarrierOperation {
  enum class Kind : uint8_t { Init, Invalidate, Arrive, ExpectTx, CompleteTx, Wait, WaitParity } kind = Kind::Init;
  Row address = kNoRow; // 32-bit shared address, or generic
  uint8_t addressBytes = 4;
  int64_t offset = 0;
  Row guard = kNoRow; // i1
  bool guardNegated = false;
  Row count = kNoRow;     // i32: of Init and Arrive (kNoRow: 1), bytes of ExpectTx and CompleteTx
  bool expectsTx = false; // Arrive: `count` is the number of bytes, one arrival
  Row state = kNoRow;     // i64: result of Arrive (may be none), operand of Wait; i32: parity
  Row complete = kNoRow;  // i1: result of the waits
};

void emitMbarrier(Decoder &, MbarrierOperation);
/// A tcgen05.commit of the lane: one arrival at the mbarrier at this 32-bit shared address, which vouches for the dots
/// that the warp issued up to the stamp.
void arriveForDots(Warp &, const Instruction &, unsigned lane, uint64_t address, uint64_t stamp);
/// elect.sync: the leading lane of the members, and whether a lane is it; either may be kNoRow.
void emitElect(Decoder &, Row leader, Row isLeader, Row members);

} // namespace tessera::emulator
