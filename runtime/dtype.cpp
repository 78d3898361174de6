// Element types (see dtype.h). Small floats go through LLVM's APFloat, whose semantics are the formats' own.
#include "runtime/dtype.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

namespace tessera::runtime {

namespace {
struct Row {
  DType type;
  const char *name;
  unsigned bytes;
};
constexpr Row rows[] = {{DType::I1, "i1", 1},   {DType::I8, "i8", 1},   {DType::U8, "u8", 1},     {DType::I16, "i16", 2}, {DType::U16, "u16", 2},           {DType::I32, "i32", 4},               {DType::U32, "u32", 4},         {DType::I64, "i64", 8},
                        {DType::U64, "u64", 8}, {DType::F16, "f16", 2}, {DType::BF16, "bf16", 2}, {DType::F32, "f32", 4}, {DType::F64, "f64", 8}, {DType::F8E4M3FN, "f8E4M3FN", 1}, {DType::F8E4M3FNUZ, "f8E4M3FNUZ", 1}, {DType::F8E5M2, "f8E5M2", 1}, {DType::F8E5M2FNUZ, "f8E5M2FNUZ", 1}};

const llvm::fltSemantics &semantics(DType t) {
  switch (t) {
  case DType::F16: return llvm::APFloat::IEEEhalf();
  case DType::BF16: return llvm::APFloat::BFloat();
  case DType::F8E4M3FN: return llvm::APFloat::Float8E4M3FN();
  case DType::F8E4M3FNUZ: return llvm::APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2: return llvm::APFloat::Float8E5M2();
  case DType::F8E5M2FNUZ: return llvm::APFloat::Float8E5M2FNUZ();
  default: return llvm::APFloat::IEEEsingle();
  }
}
template <class T> T read(const void *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
} // namespace

std::optional<DType> parseDType(llvm::StringRef n) {
  for (auto &r : rows)
    if (n == r.name) return r.type;
  return std::nullopt;
}
llvm::StringRef dtypeName(DType t) { return rows[unsigned(t)].name; }
unsigned dtypeBytes(DType t) { return rows[unsigned(t)].bytes; }
bool isFloat(DType t) { return t >= DType::F16; }
bool isSigned(DType t) { return t == DType::I8 || t == DType::I16 || t == DType::I32 || t == DType::I64; }

double toDouble(DType t, const void *p) {
  switch (t) {
  case DType::I1:
  case DType::U8: return read<uint8_t>(p);
  case DType::I8: return read<int8_t>(p);
  case DType::I16: return read<int16_t>(p);
  case DType::U16: return read<uint16_t>(p);
  case DType::I32: return read<int32_t>(p);
  case DType::U32: return read<uint32_t>(p);
  case DType::I64: return double(read<int64_t>(p));
  case DType::U64: return double(read<uint64_t>(p));
  case DType::F32: return read<float>(p);
  case DType::F64: return read<double>(p);
  default: break;
  }
  unsigned bits = dtypeBytes(t) * 8;
  llvm::APFloat f(semantics(t), llvm::APInt(bits, bits == 8 ? read<uint8_t>(p) : read<uint16_t>(p)));
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

void fromDouble(DType t, double v, void *p) {
  auto put = [&](auto x) { std::memcpy(p, &x, sizeof x); };
  auto wrap = [&]() -> uint64_t { return v < 0 ? uint64_t(int64_t(v)) : uint64_t(v); };
  switch (t) {
  case DType::I1: return put(uint8_t(v != 0));
  case DType::I8:
  case DType::U8: return put(uint8_t(wrap()));
  case DType::I16:
  case DType::U16: return put(uint16_t(wrap()));
  case DType::I32:
  case DType::U32: return put(uint32_t(wrap()));
  case DType::I64:
  case DType::U64: return put(wrap());
  case DType::F32: return put(float(v));
  case DType::F64: return put(v);
  default: break;
  }
  llvm::APFloat f(v);
  bool lost;
  f.convert(semantics(t), llvm::APFloat::rmNearestTiesToEven, &lost);
  uint64_t bits = f.bitcastToAPInt().getZExtValue();
  dtypeBytes(t) == 1 ? put(uint8_t(bits)) : put(uint16_t(bits));
}

} // namespace tessera::runtime
