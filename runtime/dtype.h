// Element types of buffers, as launch descriptions and .npy files name them.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tessera::runtime {

enum class DType : uint8_t { I1, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ };

std::optional<DType> parseDType(llvm::StringRef);
llvm::StringRef dtypeName(DType);
/// Bytes of one element; i1 takes one.
unsigned dtypeBytes(DType);
bool isFloat(DType);
bool isSigned(DType);
/// The value of one element; integers beyond 2^53 round.
double toDouble(DType, const void *);
/// Writes the value rounded to nearest even (floats) or wrapped (integers).
void fromDouble(DType, double, void *);

} // namespace tessera::runtime
