// PTX → cubin, and what the cubin says about its kernels.
#pragma once
#include "codegen/object/backend.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::nvidia {

/// Emits the PTX of the same module without its request for blocks (withdrawRequests).
using EmitWithoutRequest = llvm::function_ref<absl::StatusOr<std::string>()>;

/// Compiles PTX: by ptxas, or, if ptxas is missing, in process by libnvJitLink. Compiles
/// again where the plan calls for it, and gives the best object. Environment: TESSERA_NVJITLINK, TESSERA_PTXAS name the
/// file to use, or a directory to look in and nowhere else.
/// @pre `emitWithoutRequest` is given if the plan's request may cost spills; it is called at most once.
absl::StatusOr<codegen::ObjectInfo> makeCubin(llvm::StringRef ptx, const codegen::ArchInfo &,
                                              const codegen::BackendOptions &, const OccupancyPlan & = {},
                                              EmitWithoutRequest emitWithoutRequest = nullptr);

/// What was found of NVIDIA's tools, one line each ("libnvJitLink 13.0: /usr/local/cuda/lib64/libnvJitLink.so.13").
std::vector<std::string> describeTools();

} // namespace tessera::nvidia
