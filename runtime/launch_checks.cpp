// Checks of launches (see launch_checks.h).
#include "runtime/launch_checks.h"
#include "ir/diagnostic.h"
#include "runtime/interpreter/interpreter.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {

static_assert(kMaxPrograms == kMaxInterpreterPrograms);

int64_t maxGridSize(unsigned dimension, llvm::StringRef deviceSpec) {
  bool isNvidia = deviceSpec.starts_with("cuda") || deviceSpec.starts_with("emulator:sm_");
  return isNvidia && dimension ? kMaxCudaGridYZ : kMaxGridSize;
}

absl::Status checkGrid(std::array<int64_t, 3> grid, llvm::StringRef deviceSpec, int64_t scratchBytesPerProgram) {
  auto refuse = [&](const llvm::Twine &why) {
    return absl::InvalidArgumentError(
        llvm::formatv("the grid ({0}, {1}, {2}) {3}", grid[0], grid[1], grid[2], why.str()).str());
  };
  int64_t programs = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (grid[i] < 1) return refuse("is empty");
    if (int64_t most = maxGridSize(i, deviceSpec); grid[i] > most)
      return refuse("is too large for " + deviceSpec + ", which takes at most " + llvm::Twine(most) + " in " +
                    llvm::Twine("xyz"[i]));
    if (programs > kMaxPrograms / grid[i])
      return refuse("is too large: it has more than " + llvm::Twine(kMaxPrograms) + " programs");
    programs *= grid[i];
  }
  if (scratchBytesPerProgram > kMaxScratchBytes / programs) return refuse("needs too much scratch memory");
  return absl::OkStatus();
}

absl::Status checkCluster(const KernelMetadata &md) {
  int blocks = md.clusterDims[0] * md.clusterDims[1] * md.clusterDims[2];
  if (blocks == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      llvm::formatv("kernel '{0}' runs each program on a cluster of {1} blocks (ttg.num-ctas); launches have one block",
                    md.kernel, blocks)
          .str());
}

std::string wrongArgumentCount(llvm::StringRef kernel, size_t takes, llvm::StringRef given) {
  return llvm::formatv("kernel '{0}' takes {1}, but {2}", kernel, ir::counted(takes, "argument"), given).str();
}

} // namespace tessera::runtime
