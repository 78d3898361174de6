// GPUs of the HIP runtime as devices (runtime/device.h).
#pragma once
#include "runtime/device.h"

namespace tessera::runtime {

/// NotFound with the loader's text if there is no driver.
absl::StatusOr<std::unique_ptr<Device>> openHip(int index);
absl::StatusOr<int> countHip();

} // namespace tessera::runtime
