// GPUs of the CUDA driver as devices (runtime/device.h).
#pragma once
#include "runtime/device.h"

namespace tessera::runtime {

/// NotFound with the loader's text if there is no driver.
absl::StatusOr<std::unique_ptr<Device>> openCuda(int index);
absl::StatusOr<int> countCuda();

} // namespace tessera::runtime
