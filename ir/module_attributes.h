// The properties that a TTGIR module declares about itself (`ttg.num-warps`, `ttg.target`, …), read and written in one
// place. Lengths are in threads, warps and bytes.
#pragma once
#include "ir/context.h"
#include "ir/operation.h"

namespace tessera::ir {

inline constexpr llvm::StringRef kNumWarpsAttr = "ttg.num-warps", kNumCtasAttr = "ttg.num-ctas",
                                 kThreadsPerWarpAttr = "ttg.threads-per-warp", kTargetAttr = "ttg.target",
                                 kSharedAttr = "ttg.shared", kMaxRegistersAttr = "ttg.maxnreg",
                                 kTotalNumWarpsAttr = "ttg.total-num-warps",
                                 kGlobalScratchSizeAttr = "ttg.global_scratch_memory_size",
                                 kGlobalScratchAlignAttr = "ttg.global_scratch_memory_alignment";

/// Number of warps of a block; the default is Triton's when the attribute is absent.
inline int64_t moduleInt(const Operation *moduleOp, llvm::StringRef name, int64_t otherwise) {
  auto a = moduleOp->attr<IntegerAttr>(name);
  return a ? a.sext() : otherwise;
}
inline int64_t numWarps(const Operation *m) { return moduleInt(m, kNumWarpsAttr, 4); }
/// Warps of a block with those that only partitions of ttg.warp_specialize run on; known once warp groups are
/// allocated.
inline int64_t totalNumWarps(const Operation *m) { return moduleInt(m, kTotalNumWarpsAttr, numWarps(m)); }
inline int64_t numCtas(const Operation *m) { return moduleInt(m, kNumCtasAttr, 1); }
inline int64_t threadsPerWarp(const Operation *m) { return moduleInt(m, kThreadsPerWarpAttr, 32); }
/// True once tensors carry layouts (after the conversion to TTGIR).
inline bool hasLayouts(const Operation *m) { return m->hasAttr(kNumWarpsAttr); }
inline void setModuleInt(Operation *m, llvm::StringRef name, int64_t v) {
  m->setAttr(name, IntegerAttr::getI32(m->context(), v));
}

} // namespace tessera::ir
