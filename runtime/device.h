// One launcher for all GPUs: a Device loads an object and runs its kernel on buffers. Implementations: cuda/ (the CUDA
// driver API) and hip/ (the HIP runtime), both opened with dlopen, so that one program runs on machines with either or
// neither. Errors carry the driver's own text and the call that failed.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/metadata.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

struct LaunchBuffer {
  std::vector<uint8_t> *host; // copied in before the launch and out after it
};
/// A kernel argument: a buffer, or a scalar of 1, 2, 4 or 8 bytes.
struct LaunchValue {
  std::vector<uint8_t> *buffer = nullptr;
  uint64_t bits = 0;
  unsigned bytes = 0;
};

struct LaunchTiming {
  double medianMs = 0, minMs = 0;
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string spec() const { return ""; } // as openDevice takes it: "cuda:0"
  virtual std::string name() const = 0;   // "NVIDIA H200"
  virtual std::string target() const = 0; // "sm_90a"
  virtual std::string driver() const = 0; // version text
  virtual int64_t memoryBytes() const = 0;
  /// Whether run() takes LLVM bitcode (CompileOptions::bitcode) instead of machine code.
  virtual bool takesBitcode() const { return false; }
  /// Runs the object's kernel once, then `reps` more times for timing. Adds the two hidden pointers (scratch) itself.
  virtual absl::Status run(llvm::StringRef object, const KernelMetadata &, std::array<int64_t, 3> grid, llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *) = 0;
};

/// "cuda", "cuda:1", "hip:0", "emulator:sm_90a". NotFound with the loader's text where the driver is missing.
absl::StatusOr<std::unique_ptr<Device>> openDevice(llvm::StringRef spec);
/// Every GPU that a driver on this machine shows; what went wrong with a driver that is there goes to `problems`.
std::vector<std::unique_ptr<Device>> enumerateDevices(std::vector<std::string> &problems);

absl::StatusOr<std::unique_ptr<Device>> openCuda(int index);
absl::StatusOr<int> countCuda();
absl::StatusOr<std::unique_ptr<Device>> openHip(int index);
absl::StatusOr<int> countHip();

/// A shared library by the first of several names that loads; `variable` (environment) overrides them.
absl::StatusOr<void *> openLibrary(const char *variable, llvm::ArrayRef<const char *> names);

} // namespace tessera::runtime
