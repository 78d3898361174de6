// The rules of integer facts (integer_facts.h): bounds of an operation's results from bounds of its operands, one rule
// for each operation.
#pragma once
#include "transforms/analyses/integer_facts.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::transforms::integer_rules {

/// Width of an integer or index type (or of a tensor's element); 0 for all other types.
unsigned widthOf(ir::Type, unsigned indexBits);

/// All numbers of that width. @pre 0 < width <= 64
IntegerRange allOf(unsigned width);

/// Bounds of each result of `op`, which is no operation with regions. `operand(i)` gives bounds of operand i and is
/// called for those alone that the rule needs, each an integer of at most 64 bits. Without a rule: all of the type.
/// Bounds of results hold for elements that are defined: not for quotients by zero, nor for shifts by the width or
/// more. @pre the results are integers of at most 64 bits
IntegerRange rangeOfResult(ir::Operation *op, llvm::function_ref<IntegerRange(unsigned)> operand, Overflow,
                           unsigned indexBits = 64);

/// Whether the add, sub, mul or left shift wraps around in every run: one operand is a constant, the other a constant
/// or a range (tt.make_range), moved and scaled by constants in a few operations, and the result of some element leaves
/// the type. False where that is not known, and for all other operations.
bool certainlyWraps(ir::Operation *);

} // namespace tessera::transforms::integer_rules
