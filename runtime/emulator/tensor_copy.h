// Bulk copies of tensors (cp.async.bulk.tensor, sm_90a and newer) and the tensor maps that describe them.
#pragma once
#include "runtime/emulator/decode.h"
#include "runtime/launch/descriptor.h"

namespace tessera::emulator {

/// tensormap.replace: one field of the 128 bytes at a shared address.
struct TensorMapField {
  enum Field : uint8_t {
    Address,
    Rank,
    BoxSize,
    Size,
    Stride,
    ElementStride,
    ElementType,
    Interleave,
    Swizzle,
    Fill
  } field = Address;
  unsigned ordinal = 0;
  Row address = kNoRow; // 32-bit shared address, or generic
  uint8_t addressBytes = 4;
  int64_t offset = 0;
  Row value = kNoRow; // i64: Address and Stride; i32 the others
  Row guard = kNoRow; // i1
  bool guardNegated = false;
};

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

/// The map in this emulator's format (tensor_copy.cpp), for a kernel's argument.
std::array<uint8_t, runtime::kTensorMapBytes> encodeTensorMap(const runtime::TensorMap &, uint64_t address);

void emitTensorMapField(Decoder &, TensorMapField);
/// tensormap.cp_fenceproxy: the map at a shared address goes to a generic one, by the whole warp.
void emitTensorMapPublish(Decoder &, Row to, Row from, uint8_t fromBytes);
/// fence.proxy.tensormap, acquire.
void emitTensorMapAcquire(Decoder &, Row map);
void emitTensorCopy(Decoder &, TensorCopyOperation);
void emitTensorCopyCommit(Decoder &);
/// `readsOnly`: until the buffers have been read; else until global memory has been written, too.
void emitTensorCopyWait(Decoder &, uint64_t pending, bool readsOnly);

} // namespace tessera::emulator
