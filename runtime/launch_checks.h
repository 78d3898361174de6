// Checks of a launch's grid and arguments, whether the launch comes from a description (launcher.h, Device::run) or the
// C API (capi/launch_arguments.cpp). The interpreter, which depends on ir/ alone, checks again.
#pragma once
#include "absl/status/status.h"
#include "runtime/compiler/metadata.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera::runtime {

/// Largest sizes of a grid: along any dimension, and along y and z on NVIDIA GPUs (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability"). HIP takes more along y and z.
inline constexpr int64_t kMaxGridSize = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMaxCudaGridYZ = 65535;
/// Programs of a grid, on any device.
inline constexpr int64_t kMaxPrograms = int64_t(1) << 40;
/// Scratch memory of a grid, all programs together.
inline constexpr int64_t kMaxScratchBytes = int64_t(1) << 48;

/// The largest size of a grid's dimension (0 to 2) that a device takes, by its name: "cuda:0", "emulator:gfx942",
/// "interpreter". Emulators have the limits of their GPUs.
int64_t maxGridSize(unsigned dimension, llvm::StringRef deviceSpec);

/// InvalidArgument if the grid is empty, too large for the device or needs too much scratch memory.
absl::Status checkGrid(std::array<int64_t, 3> grid, llvm::StringRef deviceSpec, int64_t scratchBytesPerProgram);

/// InvalidArgument if a program runs on several blocks: no launch makes clusters.
absl::Status checkCluster(const KernelMetadata &);

/// "kernel 'f' takes 3 arguments, but …": `given` says how many there are.
std::string wrongArgumentCount(llvm::StringRef kernel, size_t takes, llvm::StringRef given);

} // namespace tessera::runtime
