// Element types (see dtype.h). Floats of 8 and 16 bits go through APFloat, except normal numbers of the IEEE-like
// formats, which are converted by moving their bits: buffers have tens of millions of elements.
#include "runtime/launch/dtype.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::runtime {

namespace {

struct Row {
  DType type;
  const char *name;
  unsigned bytes;
  const llvm::fltSemantics &(*semantics)(); // of floats below 32 bits
  int exponentBits, mantissaBits;           // of formats that the short cuts below may treat as IEEE-like for normals
};
using llvm::APFloat;
constexpr Row kRows[kDTypeCount] = {
    {DType::I1, "i1", 1, nullptr, 0, 0},
    {DType::I8, "i8", 1, nullptr, 0, 0},
    {DType::U8, "u8", 1, nullptr, 0, 0},
    {DType::I16, "i16", 2, nullptr, 0, 0},
    {DType::U16, "u16", 2, nullptr, 0, 0},
    {DType::I32, "i32", 4, nullptr, 0, 0},
    {DType::U32, "u32", 4, nullptr, 0, 0},
    {DType::I64, "i64", 8, nullptr, 0, 0},
    {DType::U64, "u64", 8, nullptr, 0, 0},
    {DType::F16, "f16", 2, APFloat::IEEEhalf, 5, 10},
    {DType::BF16, "bf16", 2, APFloat::BFloat, 8, 7},
    {DType::F32, "f32", 4, nullptr, 0, 0},
    {DType::F64, "f64", 8, nullptr, 0, 0},
    {DType::F8E4M3FN, "f8E4M3FN", 1, APFloat::Float8E4M3FN, 4, 3},
    {DType::F8E4M3FNUZ, "f8E4M3FNUZ", 1, APFloat::Float8E4M3FNUZ, 0, 0},
    {DType::F8E5M2, "f8E5M2", 1, APFloat::Float8E5M2, 5, 2},
    {DType::F8E5M2FNUZ, "f8E5M2FNUZ", 1, APFloat::Float8E5M2FNUZ, 0, 0},
    {DType::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1, APFloat::Float8E4M3B11FNUZ, 0, 0},
    {DType::F8E4M3, "f8E4M3", 1, APFloat::Float8E4M3, 4, 3},
    {DType::F8E3M4, "f8E3M4", 1, APFloat::Float8E3M4, 3, 4},
    {DType::F8E8M0FNU, "f8E8M0FNU", 1, APFloat::Float8E8M0FNU, 0, 0},
};
constexpr bool rowsInOrder() {
  for (unsigned i = 0; i < kDTypeCount; ++i)
    if (kRows[i].type != DType(i)) return false;
  return true;
}
static_assert(rowsInOrder());
const Row &row(DType t) { return kRows[unsigned(t)]; }

template <class T> T read(const void *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T> void write(void *p, T v) { std::memcpy(p, &v, sizeof v); }

double slowToDouble(const Row &r, uint64_t bits) {
  APFloat f(r.semantics(), llvm::APInt(r.bytes * 8, bits));
  bool lost;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

double smallToDouble(const Row &r, uint64_t bits) {
  if (r.exponentBits) {
    uint64_t mask = (1u << r.exponentBits) - 1, exponent = bits >> r.mantissaBits & mask;
    if (exponent != 0 && exponent != mask) { // a normal number in every such format
      uint64_t sign = bits >> (r.bytes * 8 - 1), mantissa = bits & ((1u << r.mantissaBits) - 1);
      uint64_t bias = mask >> 1;
      return std::bit_cast<double>(sign << 63 | (exponent + 1023 - bias) << 52 | mantissa << (52 - r.mantissaBits));
    }
  }
  return slowToDouble(r, bits);
}

uint64_t smallFromDouble(const Row &r, double v) {
  if (r.exponentBits) {
    uint64_t bits = std::bit_cast<uint64_t>(v);
    int bias = (1 << (r.exponentBits - 1)) - 1, exponent = int(bits >> 52 & 0x7FF) - 1023 + bias;
    // One below the largest exponent, so that rounding up stays normal.
    if (exponent >= 1 && exponent < (1 << r.exponentBits) - 2) {
      int drop = 52 - r.mantissaBits;
      uint64_t magnitude = uint64_t(exponent) << 52 | (bits & ((uint64_t(1) << 52) - 1));
      uint64_t half = (uint64_t(1) << (drop - 1)) - 1, odd = magnitude >> drop & 1;
      return (magnitude + half + odd) >> drop | (bits >> 63) << (r.bytes * 8 - 1);
    }
  }
  APFloat f(v);
  bool lost;
  f.convert(r.semantics(), APFloat::rmNearestTiesToEven, &lost);
  return f.bitcastToAPInt().getZExtValue();
}

} // namespace

std::optional<DType> parseDType(llvm::StringRef name) {
  for (const Row &r : kRows)
    if (name == r.name) return r.type;
  return std::nullopt;
}

llvm::StringRef dtypeName(DType t) { return row(t).name; }
unsigned dtypeBytes(DType t) { return row(t).bytes; }
bool isFloat(DType t) { return t >= DType::F16; }
bool isSigned(DType t) { return t == DType::I8 || t == DType::I16 || t == DType::I32 || t == DType::I64; }

bool mayHold(DType stored, DType elements) {
  if (stored == elements) return true;
  bool isNumpyFloat = elements == DType::F16 || elements == DType::F32 || elements == DType::F64;
  return dtypeBytes(stored) == dtypeBytes(elements) && !isNumpyFloat && !isFloat(stored);
}

std::string dtypeNames() {
  std::string all;
  for (const Row &r : kRows) (all += all.empty() ? "" : ", ") += r.name;
  return all;
}

double toDouble(DType t, const void *p) {
  switch (t) {
  case DType::I1: return read<uint8_t>(p) != 0;
  case DType::I8: return read<int8_t>(p);
  case DType::U8: return read<uint8_t>(p);
  case DType::I16: return read<int16_t>(p);
  case DType::U16: return read<uint16_t>(p);
  case DType::I32: return read<int32_t>(p);
  case DType::U32: return read<uint32_t>(p);
  case DType::I64: return double(read<int64_t>(p));
  case DType::U64: return double(read<uint64_t>(p));
  case DType::F32: return read<float>(p);
  case DType::F64: return read<double>(p);
  case DType::F16:
  case DType::BF16: return smallToDouble(row(t), read<uint16_t>(p));
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E4M3B11FNUZ:
  case DType::F8E4M3:
  case DType::F8E3M4:
  case DType::F8E8M0FNU: return smallToDouble(row(t), read<uint8_t>(p));
  }
  llvm_unreachable("dtype");
}

/// The value's low 64 bits in two's complement.
static uint64_t toInteger(double v) {
  if (std::isnan(v)) return 0;
  if (v < 0) return v <= -9223372036854775808.0 ? uint64_t(1) << 63 : uint64_t(int64_t(v));
  return v >= 18446744073709551616.0 ? ~uint64_t(0) : uint64_t(v);
}

/// To f32 without relying on more than C++ defines: beyond the largest value the hardware's conversion gives infinity,
/// but the language leaves it open.
static float toFloat(double v) {
  if (std::abs(v) <= std::numeric_limits<float>::max() || !std::isfinite(v)) return float(v);
  APFloat f(v);
  bool lost;
  f.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return f.convertToFloat();
}

void fromDouble(DType t, double v, void *p) {
  switch (t) {
  case DType::I1: return write(p, uint8_t(v != 0));
  case DType::I8:
  case DType::U8: return write(p, uint8_t(toInteger(v)));
  case DType::I16:
  case DType::U16: return write(p, uint16_t(toInteger(v)));
  case DType::I32:
  case DType::U32: return write(p, uint32_t(toInteger(v)));
  case DType::I64:
  case DType::U64: return write(p, toInteger(v));
  case DType::F32: return write(p, toFloat(v));
  case DType::F64: return write(p, v);
  case DType::F16:
  case DType::BF16: return write(p, uint16_t(smallFromDouble(row(t), v)));
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E4M3B11FNUZ:
  case DType::F8E4M3:
  case DType::F8E3M4:
  case DType::F8E8M0FNU: return write(p, uint8_t(smallFromDouble(row(t), v)));
  }
  llvm_unreachable("dtype");
}

bool holdsExactly(DType t, double v) {
  if (isFloat(t)) return true;
  if (t == DType::I1) return v == 0 || v == 1;
  if (!std::isfinite(v) || v != std::trunc(v)) return false;
  int bits = int(dtypeBytes(t)) * 8;
  return isSigned(t) ? v >= -std::ldexp(1.0, bits - 1) && v < std::ldexp(1.0, bits - 1)
                     : v >= 0 && v < std::ldexp(1.0, bits);
}

} // namespace tessera::runtime
