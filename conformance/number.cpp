// Numbers of formulas (see number.h). Conversions go through LLVM's APFloat.
#include "conformance/number.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

namespace tessera::conformance {
using runtime::DType;

const llvm::fltSemantics *semanticsOf(DType t) {
  using llvm::APFloat;
  switch (t) {
  case DType::F16: return &APFloat::IEEEhalf();
  case DType::BF16: return &APFloat::BFloat();
  case DType::F32: return &APFloat::IEEEsingle();
  case DType::F64: return &APFloat::IEEEdouble();
  case DType::F8E4M3FN: return &APFloat::Float8E4M3FN();
  case DType::F8E4M3FNUZ: return &APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2: return &APFloat::Float8E5M2();
  case DType::F8E5M2FNUZ: return &APFloat::Float8E5M2FNUZ();
  case DType::F8E4M3B11FNUZ: return &APFloat::Float8E4M3B11FNUZ();
  case DType::F8E4M3: return &APFloat::Float8E4M3();
  case DType::F8E3M4: return &APFloat::Float8E3M4();
  case DType::F8E8M0FNU: return &APFloat::Float8E8M0FNU();
  default: return nullptr;
  }
}

llvm::APFloat convert(DType t, Number v, llvm::RoundingMode mode) {
  auto *semantics = semanticsOf(t);
  bool lost;
  if (!v.real && runtime::dtypeBytes(t) > 1) {
    llvm::APFloat f(*semantics);
    f.convertFromAPInt(llvm::APInt(64, uint64_t(v.integer), true), true, mode);
    return f;
  }
  llvm::APFloat f(v.asReal());
  if (runtime::dtypeBytes(t) == 1 && !f.isNaN()) {
    auto largest = llvm::APFloat::getLargest(*semantics, f.isNegative());
    auto limit = largest;
    limit.convert(llvm::APFloat::IEEEdouble(), llvm::RoundingMode::NearestTiesToEven, &lost);
    if (std::abs(v.asReal()) >= std::abs(limit.convertToDouble())) return largest;
  }
  f.convert(*semantics, mode, &lost);
  return f;
}

double toReal(llvm::APFloat f) {
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::RoundingMode::NearestTiesToEven, &lost);
  return f.convertToDouble();
}

int64_t toInteger(DType t, Number v) {
  unsigned bits = t == DType::I1 ? 1 : 8 * runtime::dtypeBytes(t);
  bool isSigned = runtime::isSigned(t) && t != DType::I1;
  uint64_t raw = uint64_t(v.integer);
  if (v.real) {
    llvm::APSInt out(bits, !isSigned);
    bool exact;
    llvm::APFloat(v.value).convertToInteger(out, llvm::RoundingMode::TowardZero, &exact);
    raw = std::isnan(v.value) ? 0 : isSigned ? uint64_t(out.getSExtValue()) : out.getZExtValue();
  }
  if (bits == 64) return int64_t(raw);
  raw &= (uint64_t(1) << bits) - 1;
  return isSigned ? llvm::SignExtend64(raw, bits) : int64_t(raw);
}

Number elementAt(DType t, const uint8_t *p) {
  if (runtime::isFloat(t)) return Number::ofReal(runtime::toDouble(t, p));
  if (t == DType::I1) return Number::of(*p != 0);
  uint64_t raw = 0;
  std::memcpy(&raw, p, runtime::dtypeBytes(t));
  return Number::of(toInteger(t, Number::of(int64_t(raw))));
}

void store(DType t, Number v, uint8_t *p) {
  uint64_t raw = runtime::isFloat(t)
                     ? convert(t, v, llvm::RoundingMode::NearestTiesToEven).bitcastToAPInt().getZExtValue()
                     : uint64_t(toInteger(t, v));
  std::memcpy(p, &raw, runtime::dtypeBytes(t));
}

} // namespace tessera::conformance
