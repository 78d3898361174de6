// What tensor maps can describe (see tensor_map.h).
#include "transforms/analyses/tensor_map.h"

namespace tessera::transforms {
using namespace ir;

int tensorMapElementType(Type t) {
  enum : int { kU8, kU16, kU32, kS32, kU64, kS64, kF16, kF32, kF64 = 9, kBF16 = 10, kNone = -1 };
  if (t.isFloat()) {
    switch (t.cast<FloatType>().floatKind()) {
    case FloatKind::F16: return kF16;
    case FloatKind::BF16: return kBF16;
    case FloatKind::F32: return kF32;
    case FloatKind::F64: return kF64;
    default: return t.bitWidth() == 8 ? kU8 : kNone;
    }
  }
  auto integer = t.dyn_cast<IntegerType>();
  if (!integer) return kNone;
  bool isSigned = integer.signedness() == Signedness::Signed;
  switch (integer.width()) {
  case 8: return kU8;
  case 16: return kU16;
  case 32: return isSigned ? kS32 : kU32;
  case 64: return isSigned ? kS64 : kU64;
  default: return kNone;
  }
}

int tensorMapSwizzle(const layouts::NvmmaSharedEncoding &shared) {
  enum : int { kNone, k32Bytes, k64Bytes, k128Bytes };
  switch (shared.params().swizzlingByteWidth) {
  case 128: return k128Bytes;
  case 64: return k64Bytes;
  case 32: return k32Bytes;
  default: return kNone;
  }
}

} // namespace tessera::transforms
