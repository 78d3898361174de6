// The numbers that formulas compute with, and what they are in the dtypes of buffers.
#pragma once
#include "runtime/launch/dtype.h"
#include "llvm/ADT/APFloat.h"

namespace tessera::conformance {

/// A 64-bit integer, or a double.
struct Number {
  bool real = false;
  int64_t integer = 0;
  double value = 0;
  double asReal() const { return real ? value : double(integer); }
  static Number of(int64_t i) { return {false, i, 0}; }
  static Number ofReal(double d) { return {true, 0, d}; }
};

// ---- in memory ----

/// The value of an element.
Number elementAt(runtime::DType, const uint8_t *);
/// Writes a number's bytes: a float rounded to nearest even (8-bit ones saturate), an integer as toInteger gives it.
void store(runtime::DType, Number, uint8_t *);

// ---- in the format of a dtype ----

/// Null for integers.
const llvm::fltSemantics *semanticsOf(runtime::DType);
/// The number in a format of floats. 8-bit formats saturate.
llvm::APFloat convert(runtime::DType, Number, llvm::RoundingMode);
double toReal(llvm::APFloat);
/// An integer dtype's value: wrapped, or from a float truncated toward zero and saturated (NaN: 0).
int64_t toInteger(runtime::DType, Number);

} // namespace tessera::conformance
