// What is known of a compiled kernel: what a launcher needs and what a person wants to know. `tessera compile
// --metadata` writes it as JSON.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

struct KernelMetadata {
  std::string kernel, target;
  int numWarps = 4, numCtas = 1, threadsPerWarp = 32, threadsPerBlock = 128;
  int warpsPerBlock() const {
    return threadsPerBlock / threadsPerWarp;
  } // with those that only partitions of ttg.warp_specialize run on
  std::array<int, 3> clusterDims{1, 1, 1};
  int wavesPerEu = 0, matrixInstrNonkdim = 0; // as asked for; 0: the compiler's choice
  int64_t dynamicSharedBytes = 0, staticSharedBytes = 0;
  int64_t globalScratchBytes = 0, globalScratchAlign = 1; // per program
  struct Arg {
    std::string name, type; // "*f32", "i32"
  };
  std::vector<Arg> args;
  int registers = 0, spillBytes = 0, occupancy = 0; // occupancy: blocks per multiprocessor
  std::vector<std::pair<std::string, double>> compileMs;
};

std::string toJson(const KernelMetadata &);
/// What toJson wrote, or others in its form: numbers that no kernel can have are errors, as unknown keys are not.
/// InvalidArgument with all errors, `NAME:LINE:COL: what` on a line each.
absl::StatusOr<KernelMetadata> metadataFromJson(llvm::StringRef json, llvm::StringRef name = "metadata");

} // namespace tessera::runtime
