// Numbers of formulas in the formats of dtypes. Reading and writing memory: elementAt and store of formula.h.
#pragma once
#include "conformance/formula.h"
#include "llvm/ADT/APFloat.h"

namespace tessera::conformance {

/// Null for integers.
const llvm::fltSemantics *semanticsOf(runtime::DType);
/// The number in a format of floats. 8-bit formats saturate.
llvm::APFloat convert(runtime::DType, Number, llvm::RoundingMode);
double toReal(llvm::APFloat);
/// An integer dtype's value: wrapped, or from a float truncated toward zero and saturated (NaN: 0).
int64_t toInteger(runtime::DType, Number);

} // namespace tessera::conformance
