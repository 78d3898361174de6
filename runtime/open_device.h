// Opens devices by name. This file alone knows which kinds of device exist; all others use the interface of device.h.
#pragma once
#include "runtime/device.h"

namespace tessera::runtime {

/// "cuda", "cuda:1", "hip:0", "emulator:sm_90a". NotFound with the loader's text if the driver is missing.
absl::StatusOr<std::unique_ptr<Device>> openDevice(llvm::StringRef spec);
/// Every GPU of this machine. Errors of installed drivers are appended to `problems`.
std::vector<std::unique_ptr<Device>> enumerateDevices(std::vector<std::string> &problems);

} // namespace tessera::runtime
