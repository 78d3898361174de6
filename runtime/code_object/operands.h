// Operands and modifiers from the assembly of an instruction. Syntax: LLVM, "Syntax of AMDGPU Instruction Operands"
// and "… Modifiers".
#pragma once
#include "runtime/code_object/code.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::code_object {

struct ParsedAssembly {
  std::string mnemonic; // without the suffix of its encoding
  std::vector<Operand> operands;
  Modifiers modifiers;
};

/// `text`: one instruction ("v_add_f32_e32 v0, 1.0, v1"). Operands that are no registers or numbers become Off.
/// `firstAgpr`: the row of a0.
ParsedAssembly parseAssembly(llvm::StringRef text, unsigned firstAgpr, unsigned lanes);

/// A register's name in assembly, or in LLVM's register file ("VGPR4_VGPR5").
RegisterRange parseRegister(llvm::StringRef name);

/// Gives a literal the bits that it has as an operand of the type.
void resolveLiteral(Operand &, Type);

} // namespace tessera::code_object
