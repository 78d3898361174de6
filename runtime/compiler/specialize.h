// Kernels for what is known of their arguments at a launch, as Triton makes them: an integer that is 1 is a constant,
// and integers and pointers that 16 divides are marked so. Strides of 1 and multiples of 16 let accesses be vectorised
// and tiles be copied asynchronously.
//
//   tt.func @k(%x: !tt.ptr<f16>, %n: i32, %stride: i32)
//     →  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %stride: i32)
//          %one = arith.constant 1 : i32    // in place of %stride
//
// The arguments stay: a specialised kernel is launched as the general one is.
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::runtime {

/// What is known of an argument.
enum class ArgumentClass : uint8_t { Any, DivisibleBy16, One };

/// Changes a kernel to one for such arguments. `classes` has one for each argument; those that the argument's type does
/// not have (One: integers of more than a bit, DivisibleBy16: these and pointers) are ignored. @pre a tt.func with body
void specialize(ir::Operation *kernel, llvm::ArrayRef<ArgumentClass> classes);

} // namespace tessera::runtime
