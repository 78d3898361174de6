// A stand-in for the HIP runtime (see README.md): the functions that runtime/hip uses, with HIP's signatures.
#include "fake_driver.h"

using fake::Driver;
using fake::setting;
#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests in the same process: what is held, and how many calls there were.
EXPORT int fakeDriverHeld() { return Driver::get().heldNow(); }
EXPORT int fakeDriverCalls() { return Driver::get().callsSoFar(); }
EXPORT int hipInit(unsigned) {
  FAKE_CALL;
  return 0;
}
EXPORT int hipDriverGetVersion(int *v) {
  FAKE_CALL;
  *v = 60342131; // 6.3
  return 0;
}
EXPORT int hipGetDeviceCount(int *n) {
  FAKE_CALL;
  *n = std::atoi(setting("FAKE_DRIVER_DEVICES", "1"));
  return *n ? 0 : 100; // hipErrorNoDevice, as HIP says it
}
EXPORT int hipDeviceGet(int *d, int i) {
  FAKE_CALL;
  *d = i;
  return 0;
}
EXPORT int hipDeviceGetName(char *name, int size, int) {
  FAKE_CALL;
  std::snprintf(name, size, "Stand-in GPU");
  return 0;
}
EXPORT int hipDeviceTotalMem(size_t *bytes, int) {
  FAKE_CALL;
  *bytes = size_t(1) << 30;
  return 0;
}
EXPORT int hipSetDevice(int) {
  FAKE_CALL;
  return 0;
}
EXPORT int hipGetDevicePropertiesR0600(void *p, int) {
  FAKE_CALL;
  std::snprintf(static_cast<char *>(p) + 1160, 256, "%s:sramecc+:xnack-", setting("FAKE_DRIVER_ARCH", "gfx942"));
  return 0;
}
EXPORT int hipModuleLoadData(void **m, const void *object) {
  FAKE_CALL;
  if (std::memcmp(object, "\177ELF", 4)) return 209; // hipErrorNoBinaryForGpu
  *m = Driver::get().take("module");
  return 0;
}
EXPORT int hipModuleUnload(void *m) {
  FAKE_CALL;
  return Driver::get().give("module", m) ? 0 : 1;
}
EXPORT int hipModuleGetFunction(void **f, void *m, const char *name) {
  FAKE_CALL;
  Driver::get().note(std::string("function ") + name);
  *f = m;
  return Driver::get().holds("module", m) ? 0 : 1;
}
EXPORT int hipMalloc(void **p, size_t bytes) {
  FAKE_WAITING_CALL;
  *p = Driver::get().take("memory", bytes);
  return 0;
}
EXPORT int hipFree(void *p) {
  FAKE_WAITING_CALL;
  return Driver::get().give("memory", p) ? 0 : 1;
}
EXPORT int hipMemcpyHtoD(void *to, const void *from, size_t bytes) {
  FAKE_WAITING_CALL;
  if (!Driver::get().holds("memory", to)) return 1;
  std::memcpy(to, from, bytes);
  return 0;
}
EXPORT int hipMemcpyDtoH(void *to, void *from, size_t bytes) {
  FAKE_WAITING_CALL;
  if (!Driver::get().holds("memory", from)) return 1;
  std::memcpy(to, from, bytes);
  return 0;
}
#ifndef FAKE_INCOMPLETE
EXPORT int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned shared, void *stream, void **params, void **) {
  FAKE_CALL;
  char text[160];
  std::snprintf(text, sizeof text, "launch grid %u %u %u block %u %u %u shared %u", gx, gy, gz, bx, by, bz, shared);
  Driver::get().note(text);
  fake::readParameters(params, 2);
  return Driver::get().holds("module", f) && (!stream || Driver::get().holds("stream", stream)) ? 0 : 1;
}
#endif
EXPORT int hipDeviceSynchronize() {
  FAKE_WAITING_CALL;
  return 0;
}
EXPORT int hipStreamCreateWithFlags(void **s, unsigned) {
  FAKE_CALL;
  *s = Driver::get().take("stream");
  return 0;
}
EXPORT int hipStreamDestroy(void *s) {
  FAKE_CALL;
  return Driver::get().give("stream", s) ? 0 : 1;
}
EXPORT int hipStreamSynchronize(void *s) {
  FAKE_WAITING_CALL;
  return !s || Driver::get().holds("stream", s) ? 0 : 1;
}
EXPORT int hipStreamWaitEvent(void *s, void *e, unsigned) {
  FAKE_CALL;
  return (!s || Driver::get().holds("stream", s)) && Driver::get().holds("event", e) ? 0 : 1;
}
EXPORT int hipStreamBeginCapture(void *s, int) {
  FAKE_CALL;
  Driver::get().captured = s;
  return 0;
}
EXPORT int hipStreamEndCapture(void *s, void **graph) {
  FAKE_CALL;
  *graph = nullptr;
  bool isCaptured = Driver::get().captured == s;
  Driver::get().captured = nullptr;
  return isCaptured ? 0 : 1;
}
EXPORT int hipStreamIsCapturing(void *s, int *status) {
  FAKE_CALL;
  *status = s && Driver::get().captured == s;
  return 0;
}
EXPORT int hipThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_CALL;
  std::swap(*mode, Driver::captureMode());
  return 0;
}
EXPORT int hipEventCreateWithFlags(void **e, unsigned) {
  FAKE_CALL;
  *e = Driver::get().take("event");
  return 0;
}
EXPORT int hipEventDestroy(void *e) {
  FAKE_CALL;
  return Driver::get().give("event", e) ? 0 : 1;
}
EXPORT int hipEventRecord(void *e, void *) {
  FAKE_CALL;
  return Driver::get().holds("event", e) ? 0 : 1;
}
EXPORT int hipEventSynchronize(void *) {
  FAKE_WAITING_CALL;
  return 0;
}
EXPORT int hipEventElapsedTime(float *ms, void *, void *) {
  FAKE_CALL;
  *ms = 0.5f;
  return 0;
}
EXPORT const char *hipGetErrorName(int e) {
  return e == 719   ? "hipErrorLaunchFailure"
         : e == 100 ? "hipErrorNoDevice"
         : e == 2   ? "hipErrorOutOfMemory"
                    : "hipErrorUnknown";
}
EXPORT const char *hipGetErrorString(int e) {
  return e == 719   ? "unspecified launch failure"
         : e == 100 ? "no ROCm-capable device is detected"
         : e == 2   ? "out of memory"
                    : "unknown error";
}
