// Tensor memory and dots in it (tcgen05, sm_100a). What is read and written where is stated from the manual alone, as
// in matrix.h.
#pragma once
#include "runtime/emulator/matrix.h"

namespace tessera::emulator {

/// tcgen05.ld or .st of a whole warp.
struct TensorMemoryAccessForm {
  bool isLoad = true;
  bool halves = false; // 16x32bx2: lanes 16 to 31 access lanes 0 to 15, `offset` columns further on
  unsigned offset = 0;
  Row address = kNoRow, guard = kNoRow;
  bool guardNegated = false;
  llvm::SmallVector<Row, 32> words;
};

/// tcgen05.mma of one thread.
struct TensorMemoryDotForm {
  enum class Kind : uint8_t { F16, TF32, F8F6F4, I8 } kind = Kind::F16;
  Row d = kNoRow, instruction = kNoRow, accumulate = kNoRow; // accumulate: i1
  Row aDescriptor = kNoRow, aAddress = kNoRow;               // one of them
  Row bDescriptor = kNoRow;
  Row guard = kNoRow;
  bool guardNegated = false;
};

/// An instruction whose immediate points to `form`, which the program keeps.
template <class T> void emitKept(Decoder &d, Handler run, T form) {
  auto kept = std::make_shared<T>(std::move(form));
  d.emitImmediate(run, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}

void emitTensorMemoryAlloc(Decoder &, Row word, uint64_t columns);
void emitTensorMemoryFree(Decoder &, Row address, uint64_t columns);
void emitTensorMemoryRelinquish(Decoder &);
void emitTensorMemoryAccess(Decoder &, TensorMemoryAccessForm);
void emitTensorMemoryWait(Decoder &, bool loads);
void emitTensorMemoryFence(Decoder &, bool before);
void emitTensorMemoryDot(Decoder &, TensorMemoryDotForm);
/// tcgen05.commit: an arrival at the mbarrier at that 32-bit shared address.
void emitTensorMemoryCommit(Decoder &, Row barrier, Row guard, bool guardNegated);

} // namespace tessera::emulator
