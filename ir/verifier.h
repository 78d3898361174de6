// The verifier: the law book of the IR. `verify` checks, for a module and everything nested in it:
//   structure   blocks end in a terminator and hold no other; regions are as many as the row says; single-block regions
//               have one block; entry blocks have no predecessors
//   SSA         operands are defined, in the same function, and their definitions dominate the uses; values of isolated
//               operations are not used from outside
//   rows        operands, results and attributes are as many and of the kind that ir/ops.table says; traits hold
//   ops         what each row's own hook checks (named verify_DIALECT_OP)
//   names       no two functions of a module have one
//   types       tensor dimensions are powers of two and counts of elements fit in 2^20 elements (Triton's limit);
//               layouts fit their tensors' rank, warps per CTA and threads per warp those of the module
//   stage       a module whose functions have layouts has one on every tensor
// Not checked:
//   values      ranges of integers, alignment and bounds of addresses, masks: undefined at run time, found by the
//               interpreter and the emulator
//   races       whether barriers and waits order the accesses to shared memory (the emulator finds races), and whether
//               asynchronous copies and dots are waited for before their results are used
//   target      whether a target has what an operation needs (the lowering says so), and whether registers and shared
//               memory suffice (the back end does)
//   layouts     that the layout of an operand is one that the operation's lowering takes, beyond rank, warps and lanes
//               and what the op's own hook says
//   effects     that an operation of an unknown dialect, or inline assembly, does what it declares
// Every violation is reported with the operation printed and a caret under the operand concerned; nothing is aborted.
#pragma once
#include "ir/diagnostic.h"
#include "ir/operation.h"

namespace tessera::ir {

/// True if the module is valid; otherwise every violation has been reported.
/// `maxErrors`: after so many it stops looking, with a note.
bool verify(Module &, DiagnosticEngine &, unsigned maxErrors = 20);
bool verify(Operation *, DiagnosticEngine &, unsigned maxErrors = 20);

/// For hooks: reports `'tt.load' op message` with the printed operation and a caret under operand `operand`
/// (negative: under the operation's name) and returns false.
bool opError(Operation *, DiagnosticEngine &, const llvm::Twine &message, int operand = -1);

} // namespace tessera::ir
