// A stand-in for the CUDA driver (see README.md): the functions that runtime/cuda uses, with the driver API's
// signatures.
#include "fake_driver.h"

using fake::Driver;
using fake::setting;
using CUdeviceptr = unsigned long long;
#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests in the same process: what is held, contexts among it, and how many calls there were.
EXPORT int fakeDriverHeld() { return Driver::get().heldNow(); }
EXPORT int fakeDriverCalls() { return Driver::get().callsSoFar(); }
EXPORT int cuInit(unsigned) {
  FAKE_CALL;
  return 0;
}
EXPORT int cuDriverGetVersion(int *v) {
  FAKE_CALL;
  *v = 12040;
  return 0;
}
EXPORT int cuDeviceGetCount(int *n) {
  FAKE_CALL;
  *n = std::atoi(setting("FAKE_DRIVER_DEVICES", "1"));
  return 0;
}
EXPORT int cuDeviceGet(int *d, int i) {
  FAKE_CALL;
  *d = i;
  return 0;
}
EXPORT int cuDeviceGetName(char *name, int size, int) {
  FAKE_CALL;
  std::snprintf(name, size, "Stand-in GPU");
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *v, int attribute, int) {
  FAKE_CALL;
  int cc = std::atoi(setting("FAKE_DRIVER_ARCH", "sm_90") + 3);
  *v = attribute == 75 ? cc / 10 : attribute == 76 ? cc % 10 : 0;
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  FAKE_CALL;
  *bytes = size_t(1) << 30;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **c, int) {
  FAKE_CALL;
  Driver::get().context(1);
  *c = &Driver::get();
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  FAKE_CALL;
  Driver::get().context(-1);
  return 0;
}
static thread_local void *currentContext = nullptr;
EXPORT int cuCtxSetCurrent(void *c) {
  FAKE_CALL;
  currentContext = c;
  return 0;
}
EXPORT int cuCtxGetCurrent(void **c) {
  FAKE_CALL;
  *c = currentContext;
  return 0;
}
EXPORT int cuModuleLoadData(void **m, const void *object) {
  FAKE_CALL;
  if (std::memcmp(object, "\177ELF", 4)) return 200; // CUDA_ERROR_INVALID_IMAGE
  *m = Driver::get().take("module");
  return 0;
}
EXPORT int cuModuleUnload(void *m) {
  FAKE_CALL;
  return Driver::get().give("module", m) ? 0 : 1;
}
EXPORT int cuModuleGetFunction(void **f, void *m, const char *name) {
  FAKE_CALL;
  Driver::get().note(std::string("function ") + name);
  *f = m;
  return Driver::get().holds("module", m) ? 0 : 1;
}
EXPORT int cuFuncSetAttribute(void *, int, int) {
  FAKE_CALL;
  return 0;
}
EXPORT int cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) {
  FAKE_WAITING_CALL;
  *p = CUdeviceptr(Driver::get().take("memory", bytes));
  return 0;
}
EXPORT int cuMemFree_v2(CUdeviceptr p) {
  FAKE_WAITING_CALL;
  return Driver::get().give("memory", reinterpret_cast<void *>(p)) ? 0 : 1;
}
EXPORT int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  FAKE_WAITING_CALL;
  if (!Driver::get().holds("memory", reinterpret_cast<void *>(to))) return 1;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  FAKE_WAITING_CALL;
  if (!Driver::get().holds("memory", reinterpret_cast<void *>(from))) return 1;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
/// The last tensor map that was encoded, and whether it was launched, for tests in the same process.
static std::string lastTensorMap;
EXPORT const char *fakeDriverTensorMap() { return lastTensorMap.c_str(); }
EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const unsigned long long *size,
                                  const unsigned long long *stride, const unsigned *box, const unsigned *elementStride,
                                  int interleave, int swizzle, int promotion, int fill) {
  FAKE_CALL;
  bool aligned = reinterpret_cast<size_t>(map) % 64 == 0 && reinterpret_cast<size_t>(address) % 16 == 0;
  if (!aligned || rank < 1 || rank > 5) return 1; // CUDA_ERROR_INVALID_VALUE
  std::string s = "type " + std::to_string(type) + " rank " + std::to_string(rank);
  auto list = [&](const char *name, auto *values, unsigned count) {
    s += std::string(" ") + name;
    for (unsigned i = 0; i < count; ++i) s += " " + std::to_string(values[i]);
  };
  list("size", size, rank);
  list("stride", stride, rank - 1);
  list("box", box, rank);
  list("element stride", elementStride, rank);
  list("interleave", &interleave, 1);
  list("swizzle", &swizzle, 1);
  list("promotion", &promotion, 1);
  list("fill", &fill, 1);
  Driver::get().note("tensor map " + s);
  lastTensorMap = s;
  std::memset(map, 0, 128);
  std::strcpy(static_cast<char *>(map), "tensor map");
  return 0;
}
#ifndef FAKE_INCOMPLETE
EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **) {
  FAKE_CALL;
  char text[160];
  std::snprintf(text, sizeof text, "launch grid %u %u %u block %u %u %u shared %u", gx, gy, gz, bx, by, bz, shared);
  Driver::get().note(text);
  fake::readParameters(params, 2);
  bool takesMap = !std::strcmp(static_cast<const char *>(params[0]), "tensor map");
  if (takesMap && reinterpret_cast<size_t>(params[0]) % 64 == 0) lastTensorMap += ", launched";
  return Driver::get().holds("module", f) && (!stream || Driver::get().holds("stream", stream)) ? 0 : 1;
}
#endif
EXPORT int cuCtxSynchronize() {
  FAKE_WAITING_CALL;
  return 0;
}
EXPORT int cuStreamCreate(void **s, unsigned) {
  FAKE_CALL;
  *s = Driver::get().take("stream");
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *s) {
  FAKE_CALL;
  return Driver::get().give("stream", s) ? 0 : 1;
}
EXPORT int cuStreamSynchronize(void *s) {
  FAKE_WAITING_CALL;
  return !s || Driver::get().holds("stream", s) ? 0 : 1;
}
EXPORT int cuStreamWaitEvent(void *s, void *e, unsigned) {
  FAKE_CALL;
  return (!s || Driver::get().holds("stream", s)) && Driver::get().holds("event", e) ? 0 : 1;
}
EXPORT int cuStreamBeginCapture(void *s, int) {
  FAKE_CALL;
  Driver::get().captured = s;
  return 0;
}
EXPORT int cuStreamEndCapture(void *s, void **graph) {
  FAKE_CALL;
  *graph = nullptr;
  bool isCaptured = Driver::get().captured == s;
  Driver::get().captured = nullptr;
  return isCaptured ? 0 : 1;
}
EXPORT int cuStreamIsCapturing(void *s, int *status) {
  FAKE_CALL;
  *status = s && Driver::get().captured == s;
  return 0;
}
EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_CALL;
  std::swap(*mode, Driver::captureMode());
  return 0;
}
EXPORT int cuEventCreate(void **e, unsigned) {
  FAKE_CALL;
  *e = Driver::get().take("event");
  return 0;
}
EXPORT int cuEventDestroy_v2(void *e) {
  FAKE_CALL;
  return Driver::get().give("event", e) ? 0 : 1;
}
EXPORT int cuEventRecord(void *e, void *) {
  FAKE_CALL;
  return Driver::get().holds("event", e) ? 0 : 1;
}
EXPORT int cuEventSynchronize(void *) {
  FAKE_WAITING_CALL;
  return 0;
}
EXPORT int cuEventElapsedTime(float *ms, void *, void *) {
  FAKE_CALL;
  *ms = 0.5f;
  return 0;
}
EXPORT int cuGetErrorName(int e, const char **name) {
  *name = e == 719   ? "CUDA_ERROR_LAUNCH_FAILED"
          : e == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : e == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                     : "CUDA_ERROR_UNKNOWN";
  return 0;
}
EXPORT int cuGetErrorString(int e, const char **text) {
  *text = e == 719   ? "unspecified launch failure"
          : e == 2   ? "out of memory"
          : e == 803 ? "system has unsupported display driver / cuda driver combination"
                     : "unknown error";
  return 0;
}
