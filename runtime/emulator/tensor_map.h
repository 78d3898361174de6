// Tensor maps, which describe the tensors of bulk copies (sm_90a and newer): 128 bytes of no public format. Here they
// have the format of TensorMap, which only tensor_map.cpp and the copies (tensor_copy.cpp) know.
#pragma once
#include "runtime/emulator/decode.h"
#include "runtime/float_formats.h"
#include "runtime/launch/descriptor.h"
#include <array>
#include <cstdint>

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

/// The map in this emulator's format, for a kernel's argument.
std::array<uint8_t, runtime::kTensorMapBytes> encodeTensorMap(const runtime::TensorMap &, uint64_t address);

void emitTensorMapField(Decoder &, TensorMapField);
/// tensormap.cp_fenceproxy: the map at a shared address goes to a generic one, by the whole warp.
void emitTensorMapPublish(Decoder &, Row to, Row from, uint8_t fromBytes);
/// fence.proxy.tensormap, acquire.
void emitTensorMapAcquire(Decoder &, Row map);

// ---- for the copies ----

constexpr unsigned kMapBytes = runtime::kTensorMapBytes, kMaxDimensions = runtime::kMaxDescriptorRank;

struct TensorMap {
  uint64_t address;
  uint64_t stride[kMaxDimensions - 1]; // bytes
  uint32_t size[kMaxDimensions];
  uint32_t written; // with written2, one bit for every field and ordinal that was set
  uint16_t box[kMaxDimensions];
  uint8_t elementStride[kMaxDimensions];
  uint8_t rank, elementType, interleave, swizzle, fill;
  uint32_t written2;
};
static_assert(sizeof(TensorMap) <= kMapBytes);

/// tensormap.replace's numbers of element types.
struct ElementType {
  const char *name;
  uint8_t bytes;
  FloatFormat format;
  bool isSigned;
};
inline constexpr ElementType kElementTypes[] = {
    {"u8", 1, FloatFormat::None, false},    {"u16", 2, FloatFormat::None, false},
    {"u32", 4, FloatFormat::None, false},   {"s32", 4, FloatFormat::None, true},
    {"u64", 8, FloatFormat::None, false},   {"s64", 8, FloatFormat::None, true},
    {"f16", 2, FloatFormat::F16, true},     {"f32", 4, FloatFormat::F32, true},
    {"f32.ftz", 4, FloatFormat::F32, true}, {"f64", 8, FloatFormat::F64, true},
    {"bf16", 2, FloatFormat::BF16, true},   {"tf32", 4, FloatFormat::F32, true},
    {"tf32.ftz", 4, FloatFormat::F32, true}};

/// The map at an address of global memory, for a copy of the lane; false after an error: there is none, a field that
/// copies need was never set, or it is none that the emulator knows.
bool readMap(Warp &, const Instruction &, unsigned lane, uint64_t address, uint64_t now, TensorMap &);
/// A copy of the block by the map at the address is known to be done.
void noteMapRead(Block &, uint64_t map, const Mark &);

/// Whether a predicate turns the lane's operation off.
bool isOff(const Warp &, Row guard, bool negated, unsigned lane);
/// The byte of shared memory at the lane's address; false after an error.
bool sharedByte(Warp &, const Instruction &, unsigned lane, Row row, unsigned rowBytes, int64_t offset, uint64_t bytes,
                unsigned alignment, const char *what, uint32_t &out);
/// Host memory of bytes of a buffer; null after an error.
uint8_t *globalBytes(Warp &, const Instruction &, unsigned lane, uint64_t address, uint64_t bytes, const char *what,
                     Region *&);

} // namespace tessera::emulator
