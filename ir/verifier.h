// The verifier, and the list of the invariants of the IR. `verify` checks, for a module and everything nested in it:
//   structure   blocks end in a terminator and hold no other; regions are as many as the row says; single-block regions
//               have one block; entry blocks have no predecessors
//   SSA         operands are defined, in the same function, and their definitions dominate the uses; values of isolated
//               operations are not used from outside
//   rows        operands, results and attributes are as many and of the kind that ir/ops.table says; traits hold
//   ops         what each row's own hook checks (named verify_DIALECT_OP)
//   renaming    tt.trans, tt.reshape, tt.join and tt.split give each thread elements that it holds; the operands of
//               tt.dot have the dot_op layouts of its result's (verify_layouts.cpp)
//   memories    buffers are in the memory that an operation works on, shared or tensor memory, and their layouts are
//               such (verify_memory_space.cpp)
//   views       a view of a buffer has the buffer's layout in its own shape; a part begins at multiples of its size
//   names       no two functions of a module have one
//   types       tensor dimensions are powers of two and counts of elements fit in 2^20 elements (Triton's limit);
//               layouts fit their tensors' rank, warps per CTA and threads per warp those of the module
//   layouts     a function in which one tensor has a layout has one on every tensor
//   stages      verifyStages: no operation contradicts a stage that has been established (ir/stages.h)
// Every violation is reported with the operation printed and a caret under the operand concerned; nothing is aborted.
//
// Not checked:
//   - that memory is defined when it is read, that accesses are in bounds and aligned (the interpreter and the emulator
//     check that when they run a kernel)
//   - that threads do not race, and that barriers are reached by all threads (the emulator does)
//   - that tt.assume's conditions, tt.divisibility and the other hints of the input are true
//   - that buffers with offsets do not overlap while both are live, and that the scratch of operations has an offset
//   - that an asynchronous copy or dot is waited for before its result is used
//   - that a layout can be lowered on the target: the lowering reports what it cannot do
//   - attributes that a row does not declare; unregistered operations, but for their operands and regions
#pragma once
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/stages.h"

namespace tessera::ir {

/// True if the module is valid; otherwise every violation has been reported.
/// `maxErrors`: after so many it stops looking, with a note.
bool verify(Module &, DiagnosticEngine &, unsigned maxErrors = 20);
bool verify(Operation *, DiagnosticEngine &, unsigned maxErrors = 20);
/// Whether no operation contradicts the stages; for each stage, the first that does has been reported otherwise.
bool verifyStages(Module &, IrStages, DiagnosticEngine &);

/// For hooks: reports `'tt.load' op message` with the printed operation and a caret under operand `operand`
/// (negative: under the operation's name) and returns false.
bool opError(Operation *, DiagnosticEngine &, const llvm::Twine &message, int operand = -1);

} // namespace tessera::ir
