// Operations that act on each element alone: arithmetic, comparisons, conversions, math and device-library calls.
// They know nothing of shapes: a scalar is one lane, and an operand with one lane serves all lanes of the others. So
// a region of scalar operations (a reduction's) can be run on many elements at once.
//
// Semantics where the text leaves room (the interpreter's public header repeats them):
//   floats      f32 and f64 in their own precision; f16, bf16 and the 8-bit kinds in f32, rounded once to nearest even;
//               fma is rounded once in all; math functions are computed in f64 and rounded once
//   min, max    -0 is less than +0; maximumf and minimumf give NaN for NaN, maxnumf and minnumf the other operand
//   integers    wrap; division by zero gives all ones, the remainder the dividend (NVIDIA's code: all ones);
//               INT_MIN / -1 wraps; shifts by the width or more give 0, or the sign for shrsi
//   fptosi/ui   truncate, saturate, NaN gives 0, as PTX's cvt.rzi; to 8 bits and fewer by way of 16, as LLVM lowers it
#pragma once
#include "ir/operation.h"
#include "runtime/interpreter/lanes.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tessera::runtime {

/// Whether evaluateElementwise takes the operation.
bool isElementwise(const ir::Operation *);
/// Whether evaluateElementwise knows the opcode.
bool isEvaluatedElementwise(ir::Opcode);

/// The results of an elementwise operation. False with a reason where these types or this function are not known.
/// `time`: what the clocks of inline PTX read.
bool evaluateElementwise(ir::Operation *, llvm::ArrayRef<const Lanes *> operands, LanePool &,
                         llvm::SmallVectorImpl<Lanes> &results, std::string &reason, uint64_t time = 0);

/// Lanes of a float type as doubles and back, rounded once.
void toDoubles(const Lanes &, ir::FloatKind, double *out);
Lanes fromDoubles(LanePool &, ir::FloatKind, const double *, size_t count);

/// What an atomic read-modify-write leaves in memory. Float add and comparisons act on the type's values.
uint64_t combineAtomic(ir::RmwOp, ir::Type scalar, uint64_t old, uint64_t value);

/// The value of an undefined element: all bits set (NaN, -1, true) or zero.
Lanes undefinedLanes(LanePool &, ir::Type scalar, size_t count, bool zero);

} // namespace tessera::runtime
