// Dots of f32 as several dots of narrower parts. Each operand is a sum of parts, largest first, of which each holds the
// next significant bits; the dots of the small parts are accumulated first:
//
//   tf32x3   a = a0 + a1   (parts of tf32)   a1·b0 + a0·b1 + a0·b0
//   bf16x3   a = a0 + a1   (parts of bf16)   a1·b0 + a0·b1 + a0·b0
//   bf16x6   a = a0 + a1 + a2                a2·b0 + a0·b2 + a1·b1 + a1·b0 + a0·b1 + a0·b0
//
// The accumulator is added last, in f32.
#pragma once
#include "ir/builder.h"
#include "transforms/layout/matrix_instruction_choice.h"

namespace tessera::transforms {

/// Width in registers of an operand's elements: 16 bits for parts of bf16, else the element type's.
unsigned bitsOfPart(DotDecomposition, ir::Type element);

/// `dot` makes one dot of parts. @pre the decomposition is not None; a, b and c are tensors of f32
ir::Value decomposedDot(ir::Builder &, ir::Location, DotDecomposition, ir::Value a, ir::Value b, ir::Value c,
                        llvm::function_ref<ir::Value(ir::Value a, ir::Value b, ir::Value accumulator)> dot);

} // namespace tessera::transforms
