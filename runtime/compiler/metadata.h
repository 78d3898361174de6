// What is known of a compiled kernel: what a launcher needs and what a person wants to know. `tessera compile
// --metadata` writes it as JSON.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/kernel_config.h"
#include "runtime/launch/descriptor.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

/// The configuration is that of the options, except for the numbers of warps and blocks, which TTGIR with layouts
/// states itself.
struct KernelMetadata : KernelConfig {
  /// What is known, each with all before it. The rest is null in JSON.
  enum Known : uint8_t {
    Configuration, // up to TTGIR
    Launch,        // lowered: shared memory and scratch are allocated, partitions have their warps
    Resources,     // machine code: registers, spills, occupancy, static shared memory
  } known = Resources;
  std::string kernel;
  std::string target;
  int threadsPerWarp = 32;
  int threadsPerBlock = 128;
  /// Those of partitions of ttg.warp_specialize, too.
  int warpsPerBlock() const { return threadsPerBlock / threadsPerWarp; }
  std::array<int, 3> clusterDims{1, 1, 1};
  int64_t dynamicSharedBytes = 0;
  int64_t staticSharedBytes = 0;
  int64_t globalScratchBytes = 0; // per program
  int64_t globalScratchAlign = 1;
  struct Arg {
    std::string name;
    std::string type;                         // "*f32", "i32", "tensordesc<f16[64, 64]>"
    std::string descriptor;                   // of the base pointer of an expanded tensor descriptor: its type
    std::optional<TensorMapFormat> tensorMap; // of a tensor descriptor that travels as a tensor map
  };
  std::vector<Arg> args;
  int registers = 0;  // of a thread
  int spillBytes = 0; // of a thread
  int occupancy = 0;  // blocks per multiprocessor
  std::vector<std::pair<std::string, double>> compileMs;
};

std::string toJson(const KernelMetadata &);
/// What toJson wrote, or others in its form: numbers that no kernel can have are errors, as unknown keys are not.
/// InvalidArgument with all errors, `NAME:LINE:COL: what` on a line each.
absl::StatusOr<KernelMetadata> metadataFromJson(llvm::StringRef json, llvm::StringRef name = "metadata");

} // namespace tessera::runtime
