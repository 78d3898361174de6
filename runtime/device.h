// One interface for all GPUs: a Device has memory, loads objects and launches their kernels. Implementations: cuda/
// (the CUDA driver API) and hip/ (the HIP runtime), both opened with dlopen, so that one program runs on machines
// with either or neither, and the emulator, whose memory is the host's. open_device.h opens them by name. Errors carry
// the driver's own text and the call that failed.
//
// A device may be used from several threads at once; one kernel's launches then follow each other. Its memory and
// kernels must be gone before it is.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/compiler/metadata.h"
#include "runtime/interrupt.h"
#include "runtime/kernel_arguments.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

/// An argument of a launch: a buffer, a tensor descriptor whose base is a buffer, or a scalar of 1, 2, 4 or 8 bytes.
struct LaunchValue {
  std::vector<uint8_t> *buffer = nullptr;
  uint64_t bits = 0; // of a buffer: bytes from its start to what the argument points at
  unsigned bytes = 0;
  const HostDescriptor *descriptor = nullptr;
};

struct LaunchTiming {
  double medianMs = 0, minMs = 0;
};

/// Memory of a device; given back with the object.
class DeviceMemory {
public:
  explicit DeviceMemory(size_t bytes) : bytes_(bytes) {}
  virtual ~DeviceMemory() = default;
  size_t bytes() const { return bytes_; }

private:
  size_t bytes_;
};

/// Memory of the host as a device's, for devices that compute on the host: its own, zero at first, or a caller's.
class HostMemory final : public DeviceMemory {
public:
  /// ResourceExhausted if the machine does not have it.
  static absl::StatusOr<std::unique_ptr<HostMemory>> allocate(size_t bytes, const std::string &whatFor);
  HostMemory(uint8_t *data, size_t bytes) : DeviceMemory(bytes), data_(data) {}
  ~HostMemory() override;
  uint8_t *data() const { return data_; }
  /// These bytes count as never written: interpreter and emulators report reads of them. ResourceExhausted if the
  /// machine has no memory to note them.
  /// @pre they are in the memory
  absl::Status undefine(size_t offset, size_t bytes);
  /// The host has written them.
  void define(size_t offset, size_t bytes);
  /// By byte: 1 if it was never written; null if all were. Kernels that write it set 0.
  uint8_t *undefined() const { return undefined_.get(); }

private:
  struct Free {
    void operator()(uint8_t *p) const;
  };
  uint8_t *data_;
  std::unique_ptr<uint8_t, Free> undefined_; // zeros by calloc: only the parts that are used take memory
  bool owned_ = false;
};

/// An argument of a kernel's code: an address in a device's memory (`bits`: bytes from its start), or the bits of a
/// scalar or of an address that the device knows from elsewhere. Where the code takes a tensor map, the address is the
/// base of the descriptor, which lives until the call returns; elsewhere the descriptor has no meaning.
struct DeviceArgument {
  const DeviceMemory *memory = nullptr;
  uint64_t bits = 0;
  const HostDescriptor *descriptor = nullptr;
};

/// The arguments of a kernel's code, from those that are given for its text's (kernel_arguments.h). InvalidArgument if
/// their numbers do not fit.
absl::StatusOr<std::vector<DeviceArgument>> kernelArguments(const KernelMetadata &,
                                                            llvm::ArrayRef<DeviceArgument> given);

/// A kernel that a device has loaded; unloaded with the object.
class LoadedKernel {
public:
  explicit LoadedKernel(KernelMetadata md) : metadata(std::move(md)) {}
  virtual ~LoadedKernel() = default;
  const KernelMetadata metadata;
  Interrupts interrupts; // of launches on emulators; a GPU's driver has no such thing
};

/// Launches that follow each other, beside those of other streams.
class DeviceStream {
public:
  virtual ~DeviceStream() = default;
  /// The driver's handle (CUstream, hipStream_t); null where there is none.
  virtual void *native() const { return nullptr; }
};

/// A point between the launches of a stream, and when it was reached.
class DeviceEvent {
public:
  virtual ~DeviceEvent() = default;
};

/// On devices that compute on the host a launch has run when it returns: a stream orders nothing, an event is a time.
class HostStream final : public DeviceStream {};
class HostEvent final : public DeviceEvent {
public:
  double milliseconds = 0; // of a clock that runs evenly; 0: not recorded
  void record();
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string spec() const { return ""; } // its name for openDevice: "cuda:0"
  virtual std::string name() const = 0;           // "NVIDIA H200"
  virtual std::string target() const = 0;         // "sm_90a"
  virtual std::string driver() const = 0;         // version text
  virtual int64_t memoryBytes() const = 0;
  /// Whether load() and run() take LLVM bitcode (CompileOptions::bitcode) instead of machine code.
  virtual bool takesBitcode() const { return false; }

  /// In the following, `what` is what the memory is for, as errors call it: "argument 0 of kernel 'f'".
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> allocate(size_t bytes, const std::string &what) = 0;
  /// Copies from and to the host. @pre offset + bytes <= the memory's
  virtual absl::Status write(DeviceMemory &, size_t offset, const void *from, size_t bytes,
                             const std::string &what) = 0;
  virtual absl::Status read(const DeviceMemory &, size_t offset, void *to, size_t bytes, const std::string &what) = 0;
  /// @pre a NUL follows the object's bytes
  virtual absl::StatusOr<std::unique_ptr<LoadedKernel>> load(llvm::StringRef object, const KernelMetadata &) = 0;
  /// Launches the kernel and waits for it. Adds the two hidden pointers (scratch) itself. An empty grid does nothing.
  /// @pre an argument for each of the metadata's; the kernel and memory are this device's
  virtual absl::Status launch(LoadedKernel &, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument>) = 0;
  /// Launches it `reps` times and measures each: on GPUs by events, on an emulator by the host's clock. @pre reps > 0
  virtual absl::StatusOr<LaunchTiming> time(LoadedKernel &, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument>,
                                            int reps) = 0;

  /// What is launched on a stream follows what was launched on it before; reads and writes of memory wait for the
  /// streams that are made here. An adopted stream is the driver's own handle (null: its default stream), which stays
  /// its owner's.
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> createStream();
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> adoptStream(void *native);
  /// As launch(), without waiting: the kernel and its memory must stay until the stream is synchronized.
  virtual absl::Status launchOn(DeviceStream &, LoadedKernel &, std::array<int64_t, 3> grid,
                                llvm::ArrayRef<DeviceArgument>);
  /// Waits until what was launched has run; an error is one of these launches'.
  virtual absl::Status synchronize(DeviceStream &);
  virtual absl::StatusOr<std::unique_ptr<DeviceEvent>> createEvent();
  virtual absl::Status record(DeviceEvent &, DeviceStream &);
  /// What is launched on the stream from now on waits for the event.
  virtual absl::Status waitFor(DeviceStream &, DeviceEvent &);
  /// Waits for the second. @pre both were recorded
  virtual absl::StatusOr<double> millisecondsBetween(DeviceEvent &start, DeviceEvent &stop);

  /// All of it: loads the object, runs its kernel once on buffers of the host, and then `reps` more times for timing.
  /// The values are those that the kernel's text takes (kernel_arguments.h).
  virtual absl::Status run(llvm::StringRef object, const KernelMetadata &, std::array<int64_t, 3> grid,
                           llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *);
};

} // namespace tessera::runtime
