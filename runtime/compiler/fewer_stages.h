// Fewer stages than requested, where a loop's loads held in registers would make the loop spill.
//
// Where a loop's loads are held in registers until the next iteration, the number of stages is a wish, as the number of
// warps is (more_warps.h): with the accumulators and operands of large tiles, these values can take more registers than
// a thread has. How many operands LLVM holds is known only after register allocation, so the code itself decides: if
// its innermost loops spill, it is compiled again with loads where they are used, and the code that spills fewer bytes
// in an iteration is taken. What is spilled around a loop alone costs less than waiting for loads.
//
// Not on CDNA: its loops order loads between MFMA, and by the timing model GEMMs that spill 56 to 64 bytes of a thread
// (8-bit floats that gfx942 converts) take 1 to 5 % longer without loads ahead.
//
// Loops that request stages by themselves (`tt.num_stages`) keep them. TTGIR and LLVM IR, if they are the last stage,
// are those of the requested stages.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::runtime {

/// What one compilation made.
struct CompiledOnce {
  absl::StatusOr<CompileResult> result;
  int64_t spilledInLoops = 0; // bytes of registers that an iteration of the innermost loops stores and loads again
};
/// Compiles with exactly the options' stages.
using CompileOnce = llvm::function_ref<CompiledOnce(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                                    ir::DiagnosticEngine &)>;

/// Whether a kernel's loops may hold loads in registers, and whether the compilation gets as far as to tell.
bool mayTakeFewerStages(const ir::Module &, const ir::TargetInfo &, const CompileOptions &);

/// Compiles with the requested stages, or without loads ahead where that spills less; reports (remarks, dumps) are
/// those of the compilation that is taken. @pre mayTakeFewerStages
absl::StatusOr<CompileResult> compileWithFewerStages(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                                     ir::DiagnosticEngine &, CompileOnce);

} // namespace tessera::runtime
