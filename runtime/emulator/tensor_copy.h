// Bulk copies of tensors (cp.async.bulk.tensor, sm_90a and newer).
#pragma once
#include "runtime/emulator/decode.h"

namespace tessera::emulator {

struct TensorCopyOperation {
  enum Kind : uint8_t { ToShared, ToGlobal, Reduce } kind = ToShared;
  std::string reduction;                               // add, min, max, inc, dec, and, or, xor
  Row shared = kNoRow, map = kNoRow, barrier = kNoRow; // 32-bit shared addresses or generic ones; `map` has 64 bits
  uint8_t sharedBytes = 4, barrierBytes = 4;
  int64_t sharedOffset = 0, mapOffset = 0, barrierOffset = 0;
  llvm::SmallVector<Row, 5> coordinates; // i32, innermost dimension first
  Row guard = kNoRow;
  bool guardNegated = false;
};

void emitTensorCopy(Decoder &, TensorCopyOperation);
void emitTensorCopyCommit(Decoder &);
/// `readsOnly`: until the buffers have been read; else until global memory has been written, too.
void emitTensorCopyWait(Decoder &, uint64_t pending, bool readsOnly);

} // namespace tessera::emulator
