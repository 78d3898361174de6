// PTX → cubin, and what the cubin says about its kernels.
#pragma once
#include "codegen/object/backend.h"
#include "codegen_nvidia/occupancy.h"

namespace tessera::nvidia {

/// Compiles PTX: by ptxas, or, if none is installed or TESSERA_PTXAS is "none", in process by libnvJitLink. Compiles
/// again where that may be better (recompilation.h), and gives the best object. Environment: TESSERA_NVJITLINK,
/// TESSERA_PTXAS name the file to use, or a directory to look in and nowhere else.
absl::StatusOr<codegen::ObjectInfo> makeCubin(llvm::StringRef ptx, const codegen::ArchInfo &,
                                              const codegen::BackendOptions &, const OccupancyPlan & = {});

/// Why no two warp-group dots of a kernel run at a time, by the log of the tool that compiled it (ptxas's C7510 to
/// C7514); empty: they may.
std::string whySerialized(llvm::StringRef log);

/// InvalidArgument if an environment variable of NVIDIA's tools cannot be honoured; those that only objects need are
/// looked at if one is to be made.
absl::Status checkToolVariables(bool makesObject);

/// What was found of NVIDIA's tools, one line each ("libnvJitLink 13.0: /usr/local/cuda/lib64/libnvJitLink.so.13").
std::vector<std::string> describeTools();

} // namespace tessera::nvidia
