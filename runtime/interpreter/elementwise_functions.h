// The functions of elementwise evaluation (elementwise.h states their semantics): each takes lanes of operands and
// returns the lanes of the result. An operand of one lane serves all lanes of the others. `width` is that of the
// integers in bits. An opcode that the function does not know gives empty lanes.
#pragma once
#include "ir/opcode.h"
#include "ir/operation.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/lanes.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tessera::runtime::elementwise {

// ---- integers: elementwise_integers.cpp ----

/// Sums, differences, quotients, shifts, bitwise operations, minimum and maximum.
Lanes integerArithmetic(LanePool &, ir::Opcode, unsigned width, const Lanes &a, const Lanes &b);
Lanes integerCompare(LanePool &, ir::CmpIPredicate, unsigned width, const Lanes &a, const Lanes &b);
/// The high half of the full product. @pre width <= 64
Lanes highHalf(LanePool &, bool isSigned, unsigned width, const Lanes &a, const Lanes &b);
/// Whether a sum is less than the first of the two numbers that were added: whether it wrapped.
Lanes hasWrapped(LanePool &, const Lanes &sum, const Lanes &first);
Lanes integerAbsolute(LanePool &, unsigned width, const Lanes &);
/// math.ctlz, math.cttz and math.ctpop. @pre width <= 64
Lanes countBits(LanePool &, ir::Opcode, unsigned width, const Lanes &);

// ---- floats: elementwise_floats.cpp ----

Lanes floatArithmetic(LanePool &, ir::Opcode, ir::FloatKind, const Lanes &a, const Lanes &b);
Lanes floatCompare(LanePool &, ir::CmpFPredicate, ir::FloatKind, const Lanes &a, const Lanes &b);
/// a * b + c rounded once.
Lanes fusedMultiplyAdd(LanePool &, ir::FloatKind, const Lanes &a, const Lanes &b, const Lanes &c);
Lanes clamp(LanePool &, ir::FloatKind, bool propagateNan, const Lanes &x, const Lanes &low, const Lanes &high);
/// Inverts the sign bit or clears it.
Lanes changeSign(LanePool &, ir::FloatKind, bool invert, const Lanes &);

using MathFunction = double (*)(double);
/// The function of a `math_unary` row; null for other operations. Coverage.ElementwiseOperationsAreEvaluated
/// (tests/unit/runtime_interpreter/coverage_test.cpp) fails for a row that is missing here.
MathFunction mathFunction(ir::Opcode);
/// The function applied to every element, rounded once.
Lanes mathUnary(LanePool &, MathFunction, ir::FloatKind, const Lanes &);
/// math.atan2, math.copysign and math.powf.
Lanes mathBinary(LanePool &, ir::Opcode, ir::FloatKind, const Lanes &a, const Lanes &b);
/// @pre the exponent's type is an integer of at most 64 bits
Lanes powerOfInteger(LanePool &, ir::FloatKind, const Lanes &base, const Lanes &exponent, ir::Type exponentType);

// ---- conversions: elementwise_conversions.cpp ----

Lanes signExtendLanes(LanePool &, const Lanes &, unsigned from, unsigned to);
/// Zero extension and truncation alike: bits beyond the new width are dropped.
Lanes zeroExtendLanes(LanePool &, const Lanes &, unsigned to);
Lanes convertFloat(LanePool &, const Lanes &, ir::FloatKind from, ir::FloatKind to, Rounding);
Lanes fromE2m1(LanePool &, const Lanes &bytes, bool high, ir::FloatKind to);
Lanes integerToFloat(LanePool &, const Lanes &, unsigned width, bool isSigned, ir::FloatKind to);
Lanes floatToInteger(LanePool &, const Lanes &, ir::FloatKind from, unsigned width, bool isSigned);
/// The saturating conversion of one number, truncated.
UInt128 toInteger(double, unsigned width, bool isSigned);

// ---- inline_assembly.cpp ----

/// The results of tt.elementwise_inline_asm. False with a reason for instructions that are not known.
bool evaluateInlineAssembly(ir::Operation *, llvm::ArrayRef<const Lanes *>, LanePool &, llvm::SmallVectorImpl<Lanes> &,
                            std::string &reason, uint64_t time);

} // namespace tessera::runtime::elementwise
