// What ptx_arithmetic.cpp, which has the table of PTX's instructions, and ptx_modifiers.cpp, which reads their names,
// have in common.
#pragma once
#include "runtime/ptx_arithmetic.h"

namespace tessera::inline_ptx {

/// A row of the table.
struct Row {
  llvm::StringRef name;  // with the modifiers that select the function
  llvm::StringRef kinds; // of the type
  size_t operands;
  Operation::Evaluate evaluate;
};

/// Null if there is none; `isKnown`: there is one of that name.
const Row *rowOf(llvm::StringRef name, char kind, size_t operands, bool &isKnown);

// Values of Operation::variant, by instruction.
enum CompareVariant : unsigned { Eq, Ne, Lt, Le, Gt, Ge, Number, NotNumber, OrUnordered = 8 }; // the last a flag
enum RoundVariant : unsigned { NoRounding, RoundEven, RoundToZero, RoundDown, RoundUp };       // cvt to an integer
enum CarryVariant : unsigned { CarryAdd, CarrySub, CarryMadLo, CarryMadHi };

} // namespace tessera::inline_ptx
