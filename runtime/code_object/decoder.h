// Decodes the machine code of a kernel with LLVM's MC layer.
//
// Operands and modifiers are taken from the assembly that LLVM's printer makes of an instruction, whose syntax LLVM
// documents (AMDGPUOperandSyntax, AMDGPUModifierSyntax); the layout of operands in MCInst is internal to its back end
// and changes between versions.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/code_object.h"
#include "runtime/code_object/instruction.h"

namespace tessera::code_object {

/// All instructions of the kernel. What does not decode is an error with its address; what decodes but is not known to
/// the executor is an error when it is executed.
absl::StatusOr<Program> decode(const CodeObject &, const Kernel &);

} // namespace tessera::code_object
