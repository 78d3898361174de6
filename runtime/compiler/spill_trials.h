// Other code where the loops of a kernel with dots spill: more warps than requested, or fewer stages.
//
// Where a loop's loads are held in registers until the next iteration, the number of stages is a wish, as the number of
// warps is (more_warps.h): with the accumulators and operands of large tiles, these values can take more registers than
// a thread has. How many operands LLVM holds is known only after register allocation, so the code itself decides. If
// its innermost loops spill, it is compiled again
//
//   - with twice the warps, whose threads hold half as much of the tensors. more_warps.h does not foresee that, because
//     it does not count the operands of dots, which a code generator may read one by one;
//   - if that spills, too, is forbidden, or an iteration is so long that other waves hide its loads, with loads where
//     they are used.
//
// The code is taken whose threads together spill fewest bytes in an iteration; of two that spill none, in long
// iterations the one with fewer stages, whose warps have more of a tile each. What is spilled around a loop alone costs
// less than waiting for loads. By the timing model, tiles of 128 x 128 x 64 by four warps of a short loop with two dots
// take 43.8 us on gfx1201 without loads ahead, 22.8 by eight warps; causal attention with heads of 64, whose iterations
// have 782 instructions, 16.2 and 17.0.
//
// Not on CDNA: its loops order loads between MFMA, and by the timing model GEMMs that spill 56 to 64 bytes of a thread
// (8-bit floats that gfx942 converts) take 1 to 5 % longer without loads ahead.
//
// Loops that request stages by themselves (`tt.num_stages`) keep them. TTGIR and LLVM IR, if they are the last stage,
// are those of the requested stages, and of the warps that more_warps.h takes.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/trials.h"

namespace tessera::runtime {

/// Whether a kernel's loops may hold loads in registers, and whether the compilation gets as far as to tell.
bool hasSpillTrials(const ir::Module &, const ir::TargetInfo &, const CompileOptions &);

/// Compiles as requested, or otherwise where that spills less (see compileWithTrials). @pre hasSpillTrials
absl::StatusOr<CompileResult> compileWithSpillTrials(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                                     ir::DiagnosticEngine &, CompileOnce);

} // namespace tessera::runtime
