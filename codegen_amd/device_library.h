// ocml, AMD's bitcode library of math functions.
#pragma once
#include "absl/status/statusor.h"
#include "codegen/object/arch_info.h"
#include <string>

namespace llvm {
class Module;
}
namespace tessera::amd {

/// Path of ocml.bc: TESSERA_DEVICE_LIBS (the file or its folder), else below ROCM_PATH, /opt/rocm, /usr.
absl::StatusOr<std::string> findDeviceLibrary();
/// Resolves `__ocml_*` calls, and `__nv_*` ones that ocml has under another name or that are one operation.
absl::Status linkDeviceLibrary(llvm::Module &, const codegen::ArchInfo &);

} // namespace tessera::amd
