// Inline PTX as text: statements with their modifiers and operands, and the registers that they declare. What the
// statements mean is ptx_arithmetic.h for arithmetic; the emulator knows others (emulator/inline_ptx.h).
//
//   { .reg .pred p;                     register 0: pred
//     setp.gt.f32 p, $1, 0f00000000;    setp, modifiers gt f32; operands: register 0, argument 1, the number 0
//     @!p mov.b32 $0, 0; }              mov, modifier b32, guard: register 0, negated
//
// Registers of nested scopes may have equal names: each declaration has a number of its own. The text is that of LLVM's
// inline assembly: $1 or ${1} is an argument, $$ a dollar sign.
#pragma once
#include "runtime/ptx_arithmetic.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <vector>

namespace tessera::inline_ptx {

struct TextOperand {
  /// Special: %tid.x, by its name. Vector: {a, b}, a|b, and [map, {x, y}] as an address and a vector. Sink: _
  enum Kind : uint8_t { Register, Argument, Special, Integer, Real, Address, Vector, Sink } kind = Register;
  bool negated = false;           // !p
  unsigned index = 0;             // Register, Argument
  std::string name;               // Special
  uint64_t bits = 0;              // Integer; also 0f3f800000
  double real = 0;                // Real: 1.5
  int64_t offset = 0;             // Address: [parts[0] + offset]
  std::vector<TextOperand> parts; // Vector, Address
};

struct TextStatement {
  std::string text;
  std::optional<TextOperand> guard;
  llvm::StringRef opcode; // into the text, as the modifiers
  llvm::SmallVector<llvm::StringRef, 6> modifiers;
  std::vector<TextOperand> operands;
};

struct Text {
  std::vector<Type> registers;
  std::vector<std::unique_ptr<TextStatement>> statements;
};

/// False: `problem` names what is not understood: "the declaration '…' in inline PTX".
bool parseText(llvm::StringRef assembly, Text &, std::string &problem);

/// A value of a constraint string: "=r,r,0,~{memory}" has the result $0, and the operands $1 and $2, which is $0.
struct Constraint {
  bool isResult = false;
  char registers = 0;             // the letter of its registers; 0: `sameAs` says which
  std::optional<unsigned> sameAs; // the argument whose register it has
};
/// The arguments of a text, without clobbers; nothing if the string is none of LLVM's for registers.
std::optional<std::vector<Constraint>> parseConstraints(llvm::StringRef);

} // namespace tessera::inline_ptx
