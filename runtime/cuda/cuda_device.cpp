// The CUDA device: the driver API by dlopen. Only the few functions and constants used are declared here, as the CUDA
// Driver API reference gives them, so that building needs no CUDA toolkit.
#include "runtime/cuda/cuda_device.h"
#include "runtime/driver_launch.h"
#include "runtime/driver_library.h"
#include <dlfcn.h>

namespace tessera::runtime {

namespace {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct Opaque;
using Handle = Opaque *;

struct Api {
  using Pointer = CUdeviceptr;
  static constexpr const char *kEventCreate = "cuEventCreate", *kEventRecord = "cuEventRecord",
                              *kEventElapsedTime = "cuEventElapsedTime";
  CUresult (*init)(unsigned);
  CUresult (*driverGetVersion)(int *);
  CUresult (*deviceGetCount)(int *);
  CUresult (*deviceGet)(CUdevice *, int);
  CUresult (*deviceGetName)(char *, int, CUdevice);
  CUresult (*deviceGetAttribute)(int *, int, CUdevice);
  CUresult (*deviceTotalMem)(size_t *, CUdevice);
  CUresult (*primaryCtxRetain)(Handle *, CUdevice);
  CUresult (*primaryCtxRelease)(CUdevice);
  CUresult (*ctxGetCurrent)(Handle *);
  CUresult (*ctxSetCurrent)(Handle);
  CUresult (*moduleLoadData)(Handle *, const void *);
  CUresult (*moduleUnload)(Handle);
  CUresult (*moduleGetFunction)(Handle *, Handle, const char *);
  CUresult (*funcSetAttribute)(Handle, int, int);
  CUresult (*memAlloc)(CUdeviceptr *, size_t);
  CUresult (*memFree)(CUdeviceptr);
  CUresult (*memcpyHtoD)(CUdeviceptr, const void *, size_t);
  CUresult (*memcpyDtoH)(void *, CUdeviceptr, size_t);
  CUresult (*launchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                           void **, void **);
  CUresult (*ctxSynchronize)();
  CUresult (*streamCreate)(Handle *, unsigned);
  CUresult (*streamDestroy)(Handle);
  CUresult (*streamSynchronize)(Handle);
  CUresult (*streamWaitEvent)(Handle, Handle, unsigned);
  CUresult (*streamIsCapturing)(Handle, int *);
  CUresult (*exchangeCaptureMode)(int *);
  CUresult (*eventCreate)(Handle *, unsigned);
  CUresult (*eventDestroy)(Handle);
  CUresult (*eventRecord)(Handle, Handle);
  CUresult (*eventSynchronize)(Handle);
  CUresult (*eventElapsedTime)(float *, Handle, Handle);
  /// Null in drivers before CUDA 12.
  CUresult (*tensorMapEncodeTiled)(void *map, int dataType, unsigned rank, void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                   int interleave, int swizzle, int promotion, int fill);
  CUresult (*getErrorName)(CUresult, const char **);
  CUresult (*getErrorString)(CUresult, const char **);

  absl::Status check(CUresult r, const llvm::Twine &what) const {
    return r == 0 ? absl::OkStatus() : failure(r, what); // launches come here: no text is made for them
  }
  absl::Status failure(CUresult r, const llvm::Twine &what) const {
    const char *name = "unknown error", *text = "";
    getErrorName(r, &name);
    getErrorString(r, &text);
    auto message =
        llvm::formatv("CUDA: {0} failed: {1} ({2})", what.str(), name ? name : "unknown error", text ? text : "").str();
    return r == 2 ? absl::ResourceExhaustedError(message) : absl::UnavailableError(message); // 2: out of memory
  }
};

absl::StatusOr<const Api *> api() {
  static Api a;
  static absl::Status status = [] {
    auto lib = openLibrary("TESSERA_CUDA_LIBRARY", {"libcuda.so.1", "libcuda.so"});
    if (!lib.ok()) return absl::NotFoundError("CUDA: no driver: " + std::string(lib.status().message()));
    std::string missing;
    auto get = [&](auto &f, const char *name) {
      f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(*lib, name));
      if (!f && missing.empty()) missing = name;
    };
    get(a.init, "cuInit"), get(a.driverGetVersion, "cuDriverGetVersion"), get(a.deviceGetCount, "cuDeviceGetCount"),
        get(a.deviceGet, "cuDeviceGet"), get(a.deviceGetName, "cuDeviceGetName");
    get(a.deviceGetAttribute, "cuDeviceGetAttribute"), get(a.deviceTotalMem, "cuDeviceTotalMem_v2"),
        get(a.primaryCtxRetain, "cuDevicePrimaryCtxRetain"), get(a.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    get(a.ctxGetCurrent, "cuCtxGetCurrent"), get(a.ctxSetCurrent, "cuCtxSetCurrent"),
        get(a.moduleLoadData, "cuModuleLoadData"), get(a.moduleUnload, "cuModuleUnload"),
        get(a.moduleGetFunction, "cuModuleGetFunction");
    get(a.funcSetAttribute, "cuFuncSetAttribute"), get(a.memAlloc, "cuMemAlloc_v2"), get(a.memFree, "cuMemFree_v2"),
        get(a.memcpyHtoD, "cuMemcpyHtoD_v2"), get(a.memcpyDtoH, "cuMemcpyDtoH_v2");
    get(a.launchKernel, "cuLaunchKernel"), get(a.ctxSynchronize, "cuCtxSynchronize"),
        get(a.eventCreate, "cuEventCreate"), get(a.eventDestroy, "cuEventDestroy_v2"),
        get(a.eventRecord, "cuEventRecord");
    get(a.eventSynchronize, "cuEventSynchronize"), get(a.eventElapsedTime, "cuEventElapsedTime"),
        get(a.getErrorName, "cuGetErrorName"), get(a.getErrorString, "cuGetErrorString");
    get(a.streamCreate, "cuStreamCreate"), get(a.streamDestroy, "cuStreamDestroy_v2"),
        get(a.streamSynchronize, "cuStreamSynchronize"), get(a.streamWaitEvent, "cuStreamWaitEvent");
    get(a.streamIsCapturing, "cuStreamIsCapturing"), get(a.exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
    a.tensorMapEncodeTiled = reinterpret_cast<decltype(a.tensorMapEncodeTiled)>(dlsym(*lib, "cuTensorMapEncodeTiled"));
    if (!missing.empty())
      return absl::UnavailableError("CUDA: the driver's library has no " + missing +
                                    "; it is too old: version 11 or later is needed");
    return a.check(a.init(0), "cuInit");
  }();
  if (!status.ok()) return status;
  return &a;
}

class CudaDevice : public DriverDevice<Api, Handle> {
public:
  CudaDevice(const Api &a, CUdevice d, int index) : DriverDevice(a), device_(d), index_(index) {}
  ~CudaDevice() override {
    if (context_) a_.primaryCtxRelease(device_);
  }
  absl::Status init() {
    char text[256] = {};
    RETURN_IF_ERROR(a_.check(a_.deviceGetName(text, sizeof text, device_), "cuDeviceGetName"));
    name_ = text;
    RETURN_IF_ERROR(
        a_.check(a_.deviceGetAttribute(&major_, 75, device_), "cuDeviceGetAttribute")); // compute capability, major
    RETURN_IF_ERROR(a_.check(a_.deviceGetAttribute(&minor_, 76, device_), "cuDeviceGetAttribute")); // … minor
    RETURN_IF_ERROR(a_.check(a_.deviceTotalMem(&memory_, device_), "cuDeviceTotalMem"));
    RETURN_IF_ERROR(a_.check(a_.driverGetVersion(&version_), "cuDriverGetVersion"));
    RETURN_IF_ERROR(a_.check(a_.primaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain"));
    return a_.check(a_.ctxSetCurrent(context_), "cuCtxSetCurrent");
  }
  std::string spec() const override { return "cuda:" + std::to_string(index_); }
  std::string name() const override { return name_; }
  std::string target() const override {
    int cc = major_ * 10 + minor_;
    return "sm_" + std::to_string(cc) + (cc >= 90 ? "a" : "");
  }
  std::string driver() const override { return llvm::formatv("CUDA {0}.{1}", version_ / 1000, version_ % 1000 / 10); }
  int64_t memoryBytes() const override { return memory_; }

protected:
  absl::Status makeCurrent(const llvm::Twine &what) override {
    Handle current = nullptr;
    RETURN_IF_ERROR(a_.check(a_.ctxGetCurrent(&current), "cuCtxGetCurrent for " + what));
    if (current == context_) return absl::OkStatus();
    return a_.check(a_.ctxSetCurrent(context_), "cuCtxSetCurrent for " + what);
  }
  absl::Status prepare(Handle f, const KernelMetadata &md) override {
    if (md.dynamicSharedBytes <= 48 * 1024) return absl::OkStatus();
    return a_.check(a_.funcSetAttribute(f, 8, int(md.dynamicSharedBytes)),
                    "requesting shared memory for kernel '" + md.kernel + "'"); // max dynamic shared bytes
  }
  absl::Status encodeTensorMap(const TensorMap &m, CUdeviceptr address, void *to, const std::string &what) override {
    if (!a_.tensorMapEncodeTiled)
      return absl::UnavailableError("CUDA: the driver's library has no cuTensorMapEncodeTiled, which " + what +
                                    " needs: version 12 or later is needed");
    // As Triton's launcher encodes it: nothing interleaved, promotion to 128 bytes in L2.
    constexpr int kNoInterleave = 0, kPromotion128 = 2;
    constexpr uint32_t kElementStrides[kMaxDescriptorRank] = {1, 1, 1, 1, 1};
    // Strides may be read for all dimensions.
    uint64_t strides[kMaxDescriptorRank] = {};
    llvm::copy(m.strides, strides);
    return a_.check(a_.tensorMapEncodeTiled(to, dataTypeOf(m.elementType), unsigned(m.size.size()),
                                            reinterpret_cast<void *>(address), m.size.data(), strides, m.box.data(),
                                            kElementStrides, kNoInterleave, m.swizzle, kPromotion128, m.nanFill),
                    "cuTensorMapEncodeTiled for " + what);
  }

private:
  /// CUtensorMapDataType of the device's numbers (PTX ISA, tensormap.replace), which order three types otherwise.
  static int dataTypeOf(int elementType) {
    switch (elementType) {
    case 8: return 10; // f32.ftz
    case 9: return 8;  // f64
    case 10: return 9; // bf16
    default: return elementType;
    }
  }

  CUdevice device_;
  int index_;
  Handle context_ = nullptr;
  std::string name_;
  int major_ = 0, minor_ = 0, version_ = 0;
  size_t memory_ = 0;
};

} // namespace

absl::StatusOr<int> countCuda() {
  auto a = api();
  if (!a.ok()) return a.status();
  int n = 0;
  int r = (*a)->deviceGetCount(&n);
  if (r == 100) return 0; // CUDA_ERROR_NO_DEVICE
  RETURN_IF_ERROR((*a)->check(r, "cuDeviceGetCount"));
  return n;
}

absl::StatusOr<std::unique_ptr<Device>> openCuda(int index) {
  auto n = countCuda();
  if (!n.ok()) return n.status();
  if (index >= *n)
    return absl::NotFoundError(llvm::formatv("CUDA: there is no device {0}; the machine has {1}", index, *n).str());
  auto a = api();
  CUdevice d;
  RETURN_IF_ERROR((*a)->check((*a)->deviceGet(&d, index), "cuDeviceGet"));
  auto device = std::make_unique<CudaDevice>(**a, d, index);
  RETURN_IF_ERROR(device->init());
  return device;
}

} // namespace tessera::runtime
