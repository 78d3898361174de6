// Twice the warps for a kernel whose object spills much of each thread's registers.
//
// more_warps.h foresees spills from the tensors that a kernel holds at dots and in loops, before code is generated.
// What else takes registers it does not see: blocks that are loaded one after the other before any is used, elements of
// 16 bits that each take a register of their own, addresses. A kernel that spills Tuning::spillBytesForMoreWarps of a
// thread is therefore compiled again, with twice the warps, and that object is taken if its threads together spill at
// most a quarter as many bytes.
//
// With MFMA, any spill is worth it where shared memory leaves room for so few blocks that schedulers have no warp: the
// new warps have them to themselves. By the timing model, multi-head latent attention that decodes 64 rows of 512 sums
// by two warps takes 730 us on gfx942, by four 220; on gfx950 247 and 123.
//
// Only complete compilations decide so, down to an object: spills are known after register allocation. TTGIR, LLVM IR
// and PTX, if they are the last stage, have the warps that more_warps.h takes.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/trials.h"

namespace tessera::runtime {

/// Whether the kernel leaves the number of warps open, may hold many registers, and becomes an object.
bool hasWarpsTrial(const ir::Module &, const ir::TargetInfo &, const CompileOptions &);

/// Compiles as requested, or otherwise with twice the warps (see compileWithTrials). @pre hasWarpsTrial
absl::StatusOr<CompileResult> compileWithWarpsTrial(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                                    ir::DiagnosticEngine &, CompileOnce);

} // namespace tessera::runtime
