// Loading a kernel's object and running it on buffers through a GPU driver: the sequence of calls that the CUDA driver and
// the HIP runtime have in common. Each is an `Api` with its own spelling of the calls (cuda/cuda_device.cpp,
// hip/hip_device.cpp): `Pointer`, the call members used below, `check(result, what)`, which makes a status of an error with
// the driver's text, and the names of the calls that make events and time them.
#pragma once
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/device.h"

namespace tessera::runtime {

#define RETURN_IF_ERROR(e)                                                                                                                                                                             \
  if (absl::Status s_ = (e); !s_.ok()) return s_

/// One run of Device::run. `driver`: its version, for messages. `prepare(function)` is called when the kernel's function is
/// known, before its launch. @pre the device is the current one.
template <class Api, class Handle>
absl::Status launchThroughDriver(const Api &a, const std::string &driver, llvm::StringRef object, const KernelMetadata &md, std::array<int64_t, 3> grid, llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *timing,
                                 llvm::function_ref<absl::Status(Handle function)> prepare) {
  using Pointer = typename Api::Pointer;
  // Everything taken is given back, however this ends.
  struct Resources {
    const Api &a;
    Handle module = nullptr, start = nullptr, stop = nullptr;
    std::vector<Pointer> memory;
    ~Resources() {
      for (auto p : memory)
        if (p) a.memFree(p);
      if (start) a.eventDestroy(start);
      if (stop) a.eventDestroy(stop);
      if (module) a.moduleUnload(module);
    }
  } r{a, nullptr, nullptr, nullptr, {}};
  std::string what = "kernel '" + md.kernel + "'";
  RETURN_IF_ERROR(a.check(a.moduleLoadData(&r.module, object.data()), "loading " + what + " (driver: " + driver + ")"));
  Handle f;
  RETURN_IF_ERROR(a.check(a.moduleGetFunction(&f, r.module, md.kernel.c_str()), "finding " + what));
  RETURN_IF_ERROR(prepare(f));
  std::vector<Pointer> pointers;
  std::vector<void *> params;
  pointers.reserve(args.size() + 2);
  auto allocate = [&](size_t bytes, const std::string &whatFor) -> absl::Status {
    Pointer p{};
    RETURN_IF_ERROR(a.check(a.memAlloc(&p, std::max<size_t>(bytes, 1)), llvm::formatv("allocating {0} bytes for {1}", bytes, whatFor)));
    r.memory.push_back(p);
    pointers.push_back(p);
    return absl::OkStatus();
  };
  auto argument = [&](const LaunchValue &v) { return llvm::formatv("argument {0} of {1}", &v - args.data(), what).str(); };
  for (auto &v : args) {
    if (!v.buffer) {
      params.push_back(&v.bits);
      continue;
    }
    RETURN_IF_ERROR(allocate(v.buffer->size(), argument(v)));
    if (!v.buffer->empty()) RETURN_IF_ERROR(a.check(a.memcpyHtoD(pointers.back(), v.buffer->data(), v.buffer->size()), "copying " + argument(v) + " to the device"));
    params.push_back(&pointers.back());
  }
  int64_t programs = grid[0] * grid[1] * grid[2];
  RETURN_IF_ERROR(allocate(md.globalScratchBytes * programs, "the scratch memory of " + what));
  params.push_back(&pointers.back());
  Pointer none{}; // of profiling
  params.push_back(&none);
  auto launch = [&] {
    return a.check(a.launchKernel(f, grid[0], grid[1], grid[2], md.threadsPerBlock, 1, 1, md.dynamicSharedBytes, nullptr, params.data(), nullptr), "launching " + what);
  };
  if (programs) {
    RETURN_IF_ERROR(launch());
    RETURN_IF_ERROR(a.check(a.ctxSynchronize(), "running " + what));
  }
  size_t k = 0;
  for (auto &v : args)
    if (v.buffer) {
      if (!v.buffer->empty()) RETURN_IF_ERROR(a.check(a.memcpyDtoH(v.buffer->data(), pointers[k], v.buffer->size()), "copying " + argument(v) + " from the device"));
      ++k;
    }
  if (reps > 0 && timing && programs) {
    auto timed = [&](const char *call) { return call + (" for timing " + what); };
    RETURN_IF_ERROR(a.check(a.eventCreate(&r.start, 0), timed(Api::kEventCreate)));
    RETURN_IF_ERROR(a.check(a.eventCreate(&r.stop, 0), timed(Api::kEventCreate)));
    std::vector<float> times;
    for (int i = 0; i < reps; ++i) {
      RETURN_IF_ERROR(a.check(a.eventRecord(r.start, nullptr), timed(Api::kEventRecord)));
      RETURN_IF_ERROR(launch());
      RETURN_IF_ERROR(a.check(a.eventRecord(r.stop, nullptr), timed(Api::kEventRecord)));
      RETURN_IF_ERROR(a.check(a.eventSynchronize(r.stop), "running " + what));
      float ms;
      RETURN_IF_ERROR(a.check(a.eventElapsedTime(&ms, r.start, r.stop), timed(Api::kEventElapsedTime)));
      times.push_back(ms);
    }
    llvm::sort(times);
    *timing = {times[times.size() / 2], times[0]};
  }
  return absl::OkStatus();
}

} // namespace tessera::runtime
