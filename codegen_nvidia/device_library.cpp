// Links the functions of libdevice that a module calls. Nothing is opened when it calls none.
// Source: NVIDIA "libdevice User's Guide".
#include "codegen_nvidia/device_library.h"
#include "absl/status/status.h"
#include "codegen/object/backend.h"
#include "codegen/object/device_functions.h"
#include "codegen/object/toolchain.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace tessera::nvidia {

std::vector<std::string> cudaDirectories() {
  std::vector<std::string> directories = codegen::environmentDirectories({"CUDA_HOME", "CUDA_PATH"});
  if (auto nvcc = llvm::sys::findProgramByName("nvcc"))
    directories.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(*nvcc)).str());
  directories.push_back("/usr/local/cuda");
  return directories;
}

absl::StatusOr<std::string> findDeviceLibrary() {
  return codegen::findToolFile("libdevice.10.bc (CUDA toolkit)", "TESSERA_LIBDEVICE", cudaDirectories(),
                               {"nvvm/libdevice/libdevice.10.bc"});
}

absl::Status linkDeviceLibrary(llvm::Module &module) {
  std::vector<std::string> undefined = codegen::undefinedLibraryFunctions(module);
  if (undefined.empty()) return absl::OkStatus();
  for (const std::string &name : undefined) {
    if (llvm::StringRef(name).starts_with("__nv_")) continue;
    std::string equivalent = codegen::libdeviceEquivalent(name);
    if (equivalent.empty()) return codegen::functionError(name, "of ocml has no equivalent in NVIDIA's libdevice");
    codegen::renameDeclaration(module, name, equivalent);
  }
  absl::StatusOr<std::string> path = findDeviceLibrary();
  if (!path.ok())
    return absl::NotFoundError("'" + undefined.front() + "' is called: " + std::string(path.status().message()));
  return codegen::linkBitcodeLibrary(module, *path, "__nv_");
}

} // namespace tessera::nvidia
