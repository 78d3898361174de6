// How tables of vector instructions are written: element types, and row functions and semantics from a function of
// single elements. The loops over 64 lanes have no conditions on the lane, so that the compiler vectorises them.
#pragma once
#include "runtime/code_object/wave.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::code_object {

// ---- element types ----
template <Type T, class ValueType, class StorageType = uint32_t> struct Plain {
  static constexpr Type type = T;
  using Value = ValueType;
  using Storage = StorageType;
  static Value load(Storage s) {
    if constexpr (sizeof(Value) == sizeof(Storage))
      return std::bit_cast<Value>(s);
    else
      return Value(s);
  }
  static Storage store(Value v) {
    if constexpr (sizeof(Value) == sizeof(Storage))
      return std::bit_cast<Storage>(v);
    else
      return Storage(std::make_unsigned_t<Value>(v));
  }
};
using U32 = Plain<Type::B32, uint32_t>;
using I32 = Plain<Type::B32, int32_t>;
using F32 = Plain<Type::F32, float>;
using U16 = Plain<Type::B16, uint16_t>;
using I16 = Plain<Type::B16, int16_t>;
using U64 = Plain<Type::B64, uint64_t, uint64_t>;
using I64 = Plain<Type::B64, int64_t, uint64_t>;
using F64 = Plain<Type::F64, double, uint64_t>;
struct F16 {
  static constexpr Type type = Type::F16;
  using Value = float;
  using Storage = uint32_t;
  static Value load(Storage s) { return runtime::decodeHalf(uint16_t(s)); }
  static Storage store(Value v) { return runtime::encodeHalf(v); }
};
struct BF16 {
  static constexpr Type type = Type::BF16;
  using Value = float;
  using Storage = uint32_t;
  static Value load(Storage s) { return runtime::decodeBfloat(uint16_t(s)); }
  static Storage store(Value v) { return runtime::encodeBfloat(v); }
};
struct Unused {
  static constexpr Type type = Type::None;
};

/// A mask from a 0 or 1 for each lane.
inline uint64_t gatherBits(const uint8_t *lane) {
  uint64_t out = 0;
  for (unsigned k = 0; k < kLanes / 8; ++k) {
    // The lowest bits of 8 bytes, moved side by side.
    uint64_t bytes;
    std::memcpy(&bytes, lane + 8 * k, 8);
    out |= (bytes * 0x0102040810204080 >> 56) << (8 * k);
  }
  return out;
}

/// Reads sources, computes, writes the result: the handler of instructions with a row function.
void vectorOperation(Wave &, const Step &);

// ---- rows and semantics from functions of elements ----
template <class D, class A, class F> void rows1(void *d, const void *a, const void *, const void *) {
  static_assert(std::is_empty_v<F>, "a lambda without captures");
  auto *__restrict out = static_cast<typename D::Storage *>(d);
  auto *x = static_cast<const typename A::Storage *>(a);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = D::store(typename D::Value(F{}(A::load(x[l]))));
}
template <class D, class A, class B, class F> void rows2(void *d, const void *a, const void *b, const void *) {
  static_assert(std::is_empty_v<F>, "a lambda without captures");
  auto *__restrict out = static_cast<typename D::Storage *>(d);
  auto *x = static_cast<const typename A::Storage *>(a);
  auto *y = static_cast<const typename B::Storage *>(b);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = D::store(typename D::Value(F{}(A::load(x[l]), B::load(y[l]))));
}
template <class D, class A, class B, class C, class F>
void rows3(void *d, const void *a, const void *b, const void *c) {
  static_assert(std::is_empty_v<F>, "a lambda without captures");
  auto *__restrict out = static_cast<typename D::Storage *>(d);
  auto *x = static_cast<const typename A::Storage *>(a);
  auto *y = static_cast<const typename B::Storage *>(b);
  auto *z = static_cast<const typename C::Storage *>(c);
  for (unsigned l = 0; l < kLanes; ++l)
    out[l] = D::store(typename D::Value(F{}(A::load(x[l]), B::load(y[l]), C::load(z[l]))));
}

inline Semantic vectorSemantic(const char *name, RowFunction rows, Type result, std::array<Type, 3> sources) {
  Semantic s;
  s.mnemonic = name;
  s.handler = vectorOperation;
  s.rows = rows;
  s.result = result;
  s.sources = sources;
  return s;
}
template <class D, class A, class F> Semantic unary(const char *name, F) {
  return vectorSemantic(name, rows1<D, A, F>, D::type, {A::type});
}
template <class D, class A, class B, class F> Semantic binary(const char *name, F) {
  return vectorSemantic(name, rows2<D, A, B, F>, D::type, {A::type, B::type});
}
template <class D, class A, class B, class C, class F> Semantic ternary(const char *name, F) {
  return vectorSemantic(name, rows3<D, A, B, C, F>, D::type, {A::type, B::type, C::type});
}
template <class T, class F> Semantic binary(const char *name, F f) { return binary<T, T, T>(name, f); }
template <class T, class F> Semantic ternary(const char *name, F f) { return ternary<T, T, T, T>(name, f); }

/// The destination is the last source too.
inline Semantic accumulating(Semantic s) {
  s.addsToResult = true;
  return s;
}

/// A semantic with a handler of its own. Types are those of its literals.
inline Semantic special(const char *name, Handler handler, Type result = Type::None, std::array<Type, 3> sources = {},
                        uint64_t detail = 0) {
  Semantic s;
  s.mnemonic = name;
  s.handler = handler;
  s.result = result;
  s.sources = sources;
  s.detail = detail;
  return s;
}

// ---- the tables ----
std::vector<Semantic> scalarSemantics();     // semantics_scalar.cpp
std::vector<Semantic> integerSemantics();    // semantics_integer.cpp
std::vector<Semantic> floatSemantics();      // semantics_float.cpp
std::vector<Semantic> packedSemantics();     // semantics_packed.cpp
std::vector<Semantic> conversionSemantics(); // semantics_convert.cpp
std::vector<Semantic> compareSemantics();    // semantics_compare.cpp
std::vector<Semantic> laneSemantics();       // semantics_lanes.cpp
// ---- made from the parts of a name; no handler: not known ----
Semantic memorySemantic(llvm::StringRef mnemonic);                           // semantics_memory.cpp
Semantic ldsSemantic(llvm::StringRef mnemonic);                              // semantics_lds.cpp
Semantic matrixSemantic(llvm::StringRef mnemonic, llvm::StringRef target);   // semantics_matrix.cpp
Semantic scaledConversion(llvm::StringRef mnemonic, llvm::StringRef target); // semantics_convert.cpp

// ---- arithmetic with the targets' rules ----
/// Of two numbers the larger; of a NaN and a number the number; 0 is larger than -0.
template <class T> T maximumNumber(T a, T b) {
  bool takeA = b != b || a > b || (a == b && !std::signbit(a));
  return a != a ? b : takeA ? a : b;
}
template <class T> T minimumNumber(T a, T b) {
  bool takeA = b != b || a < b || (a == b && std::signbit(a));
  return a != a ? b : takeA ? a : b;
}
/// a * b + c of f16 operands, rounded once to f16.
inline float fmaHalf(float a, float b, float c) {
  double p = double(a) * b, s = p + c, t = s - p;
  double low = (p - (s - t)) + (double(c) - t); // the exact error of the sum
  double odd = runtime::roundToOdd(s, low != low ? 0 : low);
  return runtime::decodeHalf(uint16_t(runtime::encodeFloat(ir::FloatKind::F16, odd)));
}
/// `count` fused multiply-adds, rounded once.
void fmaRows(float *d, const float *a, const float *b, const float *c, unsigned count);

} // namespace tessera::code_object
