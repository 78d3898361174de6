// Pass canonicalize: folding, one of each constant at the entry of its function, dead code, and three groups of
// patterns, until nothing changes. What the groups do stands at the head of their files:
//
//   canonicalize_arithmetic.cpp     integers, comparisons, selects, conversions
//   canonicalize_control_flow.cpp   scf and cf: constant conditions, loops that run once or never, loop-carried values
//                                   without uses, blocks
//   canonicalize_tensors.cpp        splats through shapes, constant masks, redundant layout conversions
//
//   %c = arith.constant dense<true> : tensor<64xi1>             %v = tt.load %p : tensor<64x!tt.ptr<f32>>
//   %v = tt.load %p, %c : tensor<64x!tt.ptr<f32>>         →     tt.store %q, %v : tensor<64x!tt.ptr<f32>>
//   scf.if %true { tt.store %q, %v : … }
//
// Floats keep IEEE semantics: nothing here changes a NaN or the sign of a zero, whatever fast-math flags say.
//
// Runs: TTIR, NVIDIA pipeline, AMD pipeline.
#include "ir/rewriter.h"
#include "transforms/cleanup/canonicalize_patterns.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

absl::StatusOr<bool> canonicalize(Module &m, PassContext &) {
  llvm::SmallVector<Pattern, 64> patterns;
  for (auto group : {arithmeticPatterns(), controlFlowPatterns(), tensorPatterns()})
    patterns.append(group.begin(), group.end());
  RewriteOptions options;
  options.uniqueConstants = true;
  bool changed = false;
  // Blocks merged may show more to the patterns, and conditions folded more blocks.
  do changed |= applyPatterns(m.op(), patterns, options);
  while (simplifyBlocks(m) && (changed = true));
  return changed;
}

} // namespace tessera::transforms
