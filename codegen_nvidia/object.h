// PTX → cubin, and what the cubin says about its kernels.
#pragma once
#include "codegen/object/backend.h"

namespace tessera::nvidia {

/// Compiles PTX: in process by libnvJitLink where it can be loaded and knows the target, else by a ptxas process.
/// Environment: TESSERA_NVJITLINK, TESSERA_PTXAS name the file to use, or a directory to look in and nowhere else.
absl::StatusOr<codegen::ObjectInfo> makeCubin(llvm::StringRef ptx, const codegen::ArchInfo &,
                                              const codegen::BackendOptions &);

/// What was found of NVIDIA's tools, one line each ("libnvJitLink 13.0: /usr/local/cuda/lib64/libnvJitLink.so.13").
std::vector<std::string> describeTools();

/// Blocks of so many warps that fit on a multiprocessor.
int occupancy(const ir::TargetInfo &, int registersPerThread, int64_t sharedBytesPerBlock, int warpsPerBlock);

} // namespace tessera::nvidia
