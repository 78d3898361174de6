// The HIP device: the HIP runtime by dlopen. Only the few functions and constants used are declared here, as the HIP
// API reference gives them, so that building needs no ROCm.
#include "runtime/hip/hip_device.h"
#include "runtime/driver_launch.h"
#include "runtime/driver_library.h"
#include "llvm/ADT/StringExtras.h"
#include <dlfcn.h>

namespace tessera::runtime {

namespace {

using hipError_t = int;
using hipDevice_t = int;
using DevicePointer = void *;
struct Opaque;
using Handle = Opaque *;

struct Api {
  using Pointer = DevicePointer;
  static constexpr const char *kEventCreate = "hipEventCreateWithFlags", *kEventRecord = "hipEventRecord",
                              *kEventElapsedTime = "hipEventElapsedTime";
  hipError_t (*init)(unsigned);
  hipError_t (*driverGetVersion)(int *);
  hipError_t (*deviceGetCount)(int *);
  hipError_t (*deviceGet)(hipDevice_t *, int);
  hipError_t (*deviceGetName)(char *, int, hipDevice_t);
  hipError_t (*deviceTotalMem)(size_t *, hipDevice_t);
  hipError_t (*setDevice)(int);
  hipError_t (*getDeviceProperties)(void *, int);
  hipError_t (*moduleLoadData)(Handle *, const void *);
  hipError_t (*moduleUnload)(Handle);
  hipError_t (*moduleGetFunction)(Handle *, Handle, const char *);
  hipError_t (*memAlloc)(DevicePointer *, size_t);
  hipError_t (*memFree)(DevicePointer);
  hipError_t (*memcpyHtoD)(DevicePointer, const void *, size_t);
  hipError_t (*memcpyDtoH)(void *, DevicePointer, size_t);
  hipError_t (*launchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                             void **, void **);
  hipError_t (*ctxSynchronize)();
  hipError_t (*streamCreate)(Handle *, unsigned);
  hipError_t (*streamDestroy)(Handle);
  hipError_t (*streamSynchronize)(Handle);
  hipError_t (*streamWaitEvent)(Handle, Handle, unsigned);
  hipError_t (*streamIsCapturing)(Handle, int *);
  hipError_t (*exchangeCaptureMode)(int *);
  hipError_t (*eventCreate)(Handle *, unsigned);
  hipError_t (*eventDestroy)(Handle);
  hipError_t (*eventRecord)(Handle, Handle);
  hipError_t (*eventSynchronize)(Handle);
  hipError_t (*eventElapsedTime)(float *, Handle, Handle);
  const char *(*getErrorName)(hipError_t);
  const char *(*getErrorString)(hipError_t);

  absl::Status check(hipError_t r, const llvm::Twine &what) const {
    return r == 0 ? absl::OkStatus() : failure(r, what); // launches come here: no text is made for them
  }
  absl::Status failure(hipError_t r, const llvm::Twine &what) const {
    const char *name = getErrorName(r), *text = getErrorString(r);
    auto message =
        llvm::formatv("HIP: {0} failed: {1} ({2})", what.str(), name ? name : "unknown error", text ? text : "").str();
    return r == 2 ? absl::ResourceExhaustedError(message) : absl::UnavailableError(message); // 2: out of memory
  }
};

absl::StatusOr<const Api *> api() {
  static Api a;
  static absl::Status status = [] {
    auto lib = openLibrary("TESSERA_HIP_LIBRARY",
                           {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
    if (!lib.ok()) return absl::NotFoundError("HIP: no driver: " + std::string(lib.status().message()));
    std::string missing;
    auto get = [&](auto &f, const char *name) {
      f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(*lib, name));
      if (!f && missing.empty()) missing = name;
    };
    get(a.init, "hipInit"), get(a.driverGetVersion, "hipDriverGetVersion"), get(a.deviceGetCount, "hipGetDeviceCount"),
        get(a.deviceGet, "hipDeviceGet"), get(a.deviceGetName, "hipDeviceGetName");
    get(a.deviceTotalMem, "hipDeviceTotalMem"), get(a.setDevice, "hipSetDevice");
    get(a.getDeviceProperties, "hipGetDevicePropertiesR0600");
    if (!a.getDeviceProperties) missing.clear(), get(a.getDeviceProperties, "hipGetDeviceProperties");
    get(a.moduleLoadData, "hipModuleLoadData"), get(a.moduleUnload, "hipModuleUnload"),
        get(a.moduleGetFunction, "hipModuleGetFunction");
    get(a.memAlloc, "hipMalloc"), get(a.memFree, "hipFree"), get(a.memcpyHtoD, "hipMemcpyHtoD"),
        get(a.memcpyDtoH, "hipMemcpyDtoH");
    get(a.launchKernel, "hipModuleLaunchKernel"), get(a.ctxSynchronize, "hipDeviceSynchronize"),
        get(a.eventCreate, "hipEventCreateWithFlags"), get(a.eventDestroy, "hipEventDestroy"),
        get(a.eventRecord, "hipEventRecord");
    get(a.eventSynchronize, "hipEventSynchronize"), get(a.eventElapsedTime, "hipEventElapsedTime"),
        get(a.getErrorName, "hipGetErrorName"), get(a.getErrorString, "hipGetErrorString");
    get(a.streamCreate, "hipStreamCreateWithFlags"), get(a.streamDestroy, "hipStreamDestroy"),
        get(a.streamSynchronize, "hipStreamSynchronize"), get(a.streamWaitEvent, "hipStreamWaitEvent");
    get(a.streamIsCapturing, "hipStreamIsCapturing"), get(a.exchangeCaptureMode, "hipThreadExchangeStreamCaptureMode");
    if (!missing.empty())
      return absl::UnavailableError("HIP: the driver's library has no " + missing +
                                    "; it is too old: version 5 or later is needed");
    return a.check(a.init(0), "hipInit");
  }();
  if (!status.ok()) return status;
  return &a;
}

class HipDevice : public DriverDevice<Api, Handle> {
public:
  HipDevice(const Api &a, hipDevice_t d, int index) : DriverDevice(a), device_(d), index_(index) {}
  absl::Status init() {
    char text[256] = {};
    RETURN_IF_ERROR(a_.check(a_.deviceGetName(text, sizeof text, device_), "hipDeviceGetName"));
    name_ = text;
    // The architecture's name ("gfx942:sramecc+:xnack-") stands in the properties, a structure whose layout changed
    // between releases: it is found by its form in a buffer larger than any of them.
    std::vector<char> properties(16384, 0);
    RETURN_IF_ERROR(a_.check(a_.getDeviceProperties(properties.data(), device_), "hipGetDeviceProperties"));
    llvm::StringRef bytes(properties.data(), properties.size());
    for (size_t at = bytes.find("gfx"); at != llvm::StringRef::npos && arch_.empty(); at = bytes.find("gfx", at + 1))
      arch_ = bytes.substr(at).take_while([](char c) { return llvm::isAlnum(c); }).str();
    if (arch_.empty()) return absl::UnavailableError("HIP: the device does not say its architecture");
    RETURN_IF_ERROR(a_.check(a_.deviceTotalMem(&memory_, device_), "hipDeviceTotalMem"));
    RETURN_IF_ERROR(a_.check(a_.driverGetVersion(&version_), "hipDriverGetVersion"));
    return a_.check(a_.setDevice(device_), "hipSetDevice");
  }
  std::string spec() const override { return "hip:" + std::to_string(index_); }
  std::string name() const override { return name_; }
  std::string target() const override { return arch_; }
  std::string driver() const override {
    return llvm::formatv("HIP {0}.{1}", version_ / 10000000, version_ / 100000 % 100);
  }
  int64_t memoryBytes() const override { return memory_; }

protected:
  absl::Status makeCurrent(const llvm::Twine &what) override {
    return a_.check(a_.setDevice(device_), "hipSetDevice for " + what);
  }

private:
  hipDevice_t device_;
  int index_;
  std::string name_, arch_;
  int version_ = 0;
  size_t memory_ = 0;
};

} // namespace

absl::StatusOr<int> countHip() {
  auto a = api();
  if (!a.ok()) return a.status();
  int n = 0;
  int r = (*a)->deviceGetCount(&n);
  if (r == 100) return 0; // hipErrorNoDevice
  RETURN_IF_ERROR((*a)->check(r, "hipGetDeviceCount"));
  return n;
}

absl::StatusOr<std::unique_ptr<Device>> openHip(int index) {
  auto n = countHip();
  if (!n.ok()) return n.status();
  if (index >= *n)
    return absl::NotFoundError(llvm::formatv("HIP: there is no device {0}; the machine has {1}", index, *n).str());
  auto a = api();
  hipDevice_t d;
  RETURN_IF_ERROR((*a)->check((*a)->deviceGet(&d, index), "hipDeviceGet"));
  auto device = std::make_unique<HipDevice>(**a, d, index);
  RETURN_IF_ERROR(device->init());
  return device;
}

} // namespace tessera::runtime
