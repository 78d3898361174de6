// Scalar semantics of elementwise operations on bit patterns, for the interpreter.
#pragma once
#include "ir/operation.h"

namespace tessera::runtime {

inline uint64_t lowBits(uint64_t v, unsigned width) { return width >= 64 ? v : v & ((uint64_t(1) << width) - 1); }
/// The pattern of an integer (or index) as a signed number.
int64_t signedValue(ir::Type, uint64_t bits);
/// The pattern of a float as a number, exactly.
double floatValue(ir::Type, uint64_t bits);
/// A number rounded to the float type to nearest even; the 8-bit kinds saturate.
uint64_t floatBits(ir::Type, double);
double roundTf32(double);

/// The new memory contents of an atomic.
uint64_t atomicResult(ir::RmwOp, ir::Type, uint64_t old, uint64_t value);

using ScalarOp = uint64_t (*)(ir::Operation *, llvm::ArrayRef<ir::Type> types, const uint64_t *args);
/// The function that computes result `r` of an elementwise operation, or null.
ScalarOp scalarOp(ir::Operation *, unsigned r);

} // namespace tessera::runtime
