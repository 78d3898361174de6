// Matrix instructions of a warpgroup (wgmma, sm_90a) and the order between the generic and the asynchronous proxy.
// What is read where is stated from the manual alone, as in matrix.h.
#pragma once
#include "runtime/emulator/matrix.h"

namespace tessera::emulator {

/// D = A * B + D (D = A * B where the predicate `accumulate` is false): A is 64 by k in registers or shared memory, B
/// k by n in shared memory. Every warp of the four computes its own 16 rows.
struct WarpgroupOperation {
  unsigned n = 0, k = 0;
  MatrixElement a = MatrixElement::None, b = MatrixElement::None, c = MatrixElement::None;
  llvm::SmallVector<Row, 128> d;
  llvm::SmallVector<Row, 4> aRows; // empty: in shared memory
  Row aDescriptor = kNoRow, bDescriptor = kNoRow;
  Row accumulate = kNoRow; // i1
  bool negateA = false, negateB = false, transposeA = false, transposeB = false, saturate = false;
};

/// False, with the reason, if there is no such instruction.
bool emitWarpgroupOperation(Decoder &, WarpgroupOperation, std::string &why);
void emitWarpgroupFence(Decoder &);
void emitWarpgroupCommit(Decoder &);
/// Waits until at most `pending` committed groups are in flight.
void emitWarpgroupWait(Decoder &, uint64_t pending);
/// fence.proxy.async, of shared memory.
void emitProxyFence(Decoder &);
/// Copies a 4-byte row that may be an accumulator in flight.
void emitAccumulatorCopy(Decoder &, Row to, Row from);
/// Reports a read of any of these rows while it is an accumulator in flight.
void emitArrivalCheck(Decoder &, llvm::ArrayRef<Row>);

} // namespace tessera::emulator
