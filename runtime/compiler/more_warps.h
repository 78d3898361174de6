// More warps than requested, where tensors would not fit into the registers of a thread.
//
// The requested number of warps is a wish: a kernel that keeps two accumulators of 128 x 128 f32 over a loop holds 256
// registers in each thread of 4 warps, where 255 exist, and spills them in every iteration. 8 warps hold 128. The
// decision is made from the TTGIR (transforms::heldRegisters), so that it is the same for every stage that is made, and
// known before code is generated.
//
// Conditions, each with its reason:
//   - the text leaves the number open: it has no layouts, and neither inline assembly nor ttg.warp_specialize, which
//     may be written for a number of warps;
//   - the target's estimate predicts spills in loops (Tuning::moreWarpsHeldPercent), or many outside of them
//     (Tuning::straightLineHeldPercent): half as many blocks fit then, and a spill that is paid for once costs less;
//   - twice, four or eight times as many warps are a block that the target can have, and their share of the register
//     file holds the tensors: a layout that repeats values in the new warps gains nothing;
//   - the candidate keeps its asynchronous dots: dots of too few rows for more groups of four warps would become
//     slower ones;
//   - it goes through all passes up to the lowering: more warps may need more shared memory.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "transforms/pipelines.h"
#include <memory>

namespace tessera::runtime {

/// A kernel has at most so many times the requested warps.
inline constexpr int kMostTimesWarps = 8;

/// Whether the kernel leaves the number of warps open, and may hold many registers. @pre TTIR
bool mayTakeMoreWarps(const ir::Module &ttir, llvm::StringRef kernel);

/// A kernel with more warps than requested.
struct MoreWarps {
  int warps = 0;
  int64_t heldBefore = 0; // registers that tensors hold in a thread, with the requested warps
  int64_t held = 0;       // and with these
  std::unique_ptr<ir::Module> ttgir;
};

/// The fewest warps, of twice, four and eight times o.numWarps, with which the tensors fit; null in `ttgir` if they fit
/// as they are, or with none of these. `requested` is what the pipeline makes of `ttir` with o.numWarps warps.
/// @pre mayTakeMoreWarps(ttir, kernel)
MoreWarps takeMoreWarps(const ir::Module &ttir, const ir::Module &requested, llvm::StringRef kernel,
                        const ir::TargetInfo &, const transforms::TtgirPipelineOptions &o);

/// The module after a pipeline that reports nothing; null if a pass fails.
std::unique_ptr<ir::Module> runWithoutReports(std::unique_ptr<ir::Module>, const transforms::Pipeline &,
                                              const ir::TargetInfo &);

} // namespace tessera::runtime
