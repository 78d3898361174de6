// Decodes the machine code of a kernel with LLVM's MC layer.
//
// Operands and modifiers are taken from the assembly that LLVM's printer makes of an instruction, whose syntax LLVM
// documents (AMDGPUOperandSyntax, AMDGPUModifierSyntax); the layout of operands in MCInst is internal to its back end
// and changes between versions.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/code_object.h"
#include "runtime/code_object/instruction.h"
#include <vector>

namespace tessera::code_object {

/// All instructions of the kernel. What does not decode is data (".long"): an error when it is executed, and so is what
/// decodes but is not known to the executor. An instruction that waits for counters that are not known is an error at
/// once: the timing model would take it for no wait.
absl::StatusOr<Program> decode(const CodeObject &, const Kernel &);

/// What an instruction of Unit::Wait waits for, by its assembly ("s_waitcnt vmcnt(3) lgkmcnt(0)",
/// "s_wait_loadcnt_dscnt 0x203") and SIMM16. Unimplemented: the instruction is not known.
absl::StatusOr<WaitCounts> waitCounts(llvm::StringRef text, uint32_t immediate);
/// The mnemonics that it knows.
std::vector<const char *> waitInstructions();

} // namespace tessera::code_object
