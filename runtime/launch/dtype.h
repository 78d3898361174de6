// Element types of buffers, as launch descriptions name them: their width, and their values as double.
//
// The names are the IR's (MLIR's): i1 i8 … f64, bf16 and the 8-bit floats. Unsigned integers exist here although the IR
// has none, because a description or a .npy file may want to be read as unsigned. A dtype without a numpy type (bf16,
// the 8-bit floats) travels in .npy files as the integer of its width.
//
// Conversions have the semantics of LLVM's APFloat for each format: f8E4M3FN and the FNUZ kinds have no infinities,
// what is beyond their largest value becomes NaN (they do not saturate); f8E8M0FNU is a bare power of two without zero.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::runtime {

enum class DType : uint8_t {
  I1,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E4M3B11FNUZ,
  F8E4M3,
  F8E3M4,
  F8E8M0FNU,
};
inline constexpr unsigned kDTypeCount = unsigned(DType::F8E8M0FNU) + 1;

std::optional<DType> parseDType(llvm::StringRef name);
llvm::StringRef dtypeName(DType);
/// Every name, as "i1, i8, …".
std::string dtypeNames();
/// Bytes of one element; i1 takes one.
unsigned dtypeBytes(DType);
bool isFloat(DType);
bool isSigned(DType);
/// Whether an array of type `stored` may hold elements of type `elements`: of the same type; of an integer of the same
/// width and another sign; or, where numpy lacks a float type, of an integer of its width, which carries the bits.
bool mayHold(DType stored, DType elements);
/// The value of one element at an address of any alignment; i64 and u64 beyond 2^53 round to nearest even. An i1 is
/// true (1) if any bit of its byte is set.
double toDouble(DType, const void *);
/// Writes the value: floats rounded to nearest even; integers truncated toward zero and then wrapped to the width
/// (beyond 64 bits clamped, NaN is 0); i1 is whether the value is not zero.
void fromDouble(DType, double, void *);
/// True if the value is one of an integer dtype's (or 0 or 1 for i1). Always true of floats.
bool holdsExactly(DType, double);

} // namespace tessera::runtime
