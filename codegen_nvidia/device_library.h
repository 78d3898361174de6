// libdevice, NVIDIA's bitcode library of math functions.
#pragma once
#include "absl/status/statusor.h"
#include <string>

namespace llvm {
class Module;
}
namespace tessera::nvidia {

/// Path of libdevice.10.bc: TESSERA_LIBDEVICE, else below CUDA_HOME, CUDA_PATH, nvcc's folder, /usr/local/cuda.
absl::StatusOr<std::string> findDeviceLibrary();
/// Resolves `__nv_*` calls (and `__ocml_*` ones that libdevice has under another name).
absl::Status linkDeviceLibrary(llvm::Module &);
/// Roots of CUDA toolkits to look into, best first.
std::vector<std::string> cudaDirectories();

} // namespace tessera::nvidia
