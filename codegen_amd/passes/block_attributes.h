// What a kernel's attributes say of its blocks of threads.
#pragma once
#include "codegen/attribute_names.h"
#include "ir/target.h"
#include "llvm/IR/Function.h"
#include <algorithm>

namespace tessera::amd {

/// Waves of a block (`amdgpu-flat-work-group-size`, which setKernelAttributes sets). Functions that kernels call do not
/// say: as many as a block can have.
inline int64_t wavesOfBlock(const llvm::Function &f, const ir::TargetInfo &info) {
  int64_t threads = info.maxThreadsPerBlock;
  auto range = f.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString().split(',');
  if (range.second.getAsInteger(10, threads)) threads = info.maxThreadsPerBlock;
  return std::max<int64_t>(1, threads / info.warpSize);
}

/// Bytes of LDS that a block takes (codegen::kSharedBytes).
inline int64_t sharedBytesOfBlock(const llvm::Function &f) {
  int64_t bytes = 0;
  bool isKnown = !f.getFnAttribute(codegen::kSharedBytes).getValueAsString().getAsInteger(10, bytes);
  return isKnown ? bytes : 0;
}

} // namespace tessera::amd
