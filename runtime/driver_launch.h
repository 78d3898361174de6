// Memory, loading and launching through a GPU driver: the calls that the CUDA driver and the HIP runtime have in
// common. Each is an `Api` with its own spelling of them (cuda/cuda_device.cpp, hip/hip_device.cpp): `Pointer`, the
// call members used below, `check(result, what)`, which makes a status of an error with the driver's text, and the
// names of the calls that make events and time them.
//
// launchOn makes the device current and launches: two calls of the driver, no allocation, no text, and no lock but for
// kernels with scratch memory. None of it synchronises, so that streams can be captured into graphs.
#pragma once
#include "runtime/device.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <mutex>
#include <thread>

namespace tessera::runtime {

#define RETURN_IF_ERROR(e)                                                                                             \
  if (absl::Status s_ = (e); !s_.ok()) return s_

/// Everything taken is given back, however a call ends.
template <class Api, class Handle> class DriverDevice : public Device {
public:
  using Pointer = typename Api::Pointer;

  absl::StatusOr<std::unique_ptr<DeviceMemory>> allocate(size_t bytes, const std::string &what) override {
    RETURN_IF_ERROR(makeCurrent(what));
    Pointer p{};
    RETURN_IF_ERROR(a_.check(a_.memAlloc(&p, std::max<size_t>(bytes, 1)),
                             llvm::formatv("allocating {0} bytes for {1}", bytes, what)));
    return std::make_unique<Memory>(*this, p, bytes);
  }
  absl::Status write(DeviceMemory &m, size_t offset, const void *from, size_t bytes, const std::string &what) override {
    if (!bytes) return absl::OkStatus();
    RETURN_IF_ERROR(makeCurrent(what));
    return a_.check(a_.memcpyHtoD(addressOf(m, offset), from, bytes), "copying " + what + " to the device");
  }
  absl::Status read(const DeviceMemory &m, size_t offset, void *to, size_t bytes, const std::string &what) override {
    if (!bytes) return absl::OkStatus();
    RETURN_IF_ERROR(makeCurrent(what));
    return a_.check(a_.memcpyDtoH(to, addressOf(m, offset), bytes), "copying " + what + " from the device");
  }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> load(llvm::StringRef object, const KernelMetadata &md) override {
    RETURN_IF_ERROR(checkCluster(md));
    auto k = std::make_unique<Kernel>(*this, md);
    RETURN_IF_ERROR(makeCurrent(k->what));
    RETURN_IF_ERROR(
        a_.check(a_.moduleLoadData(&k->module, object.data()), "loading " + k->what + " (driver: " + driver() + ")"));
    RETURN_IF_ERROR(a_.check(a_.moduleGetFunction(&k->function, k->module, md.kernel.c_str()), "finding " + k->what));
    RETURN_IF_ERROR(prepare(k->function, md));
    return k;
  }
  absl::Status launch(LoadedKernel &kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument> args) override {
    auto &k = static_cast<Kernel &>(kernel);
    std::scoped_lock lock(k.mutex);
    RETURN_IF_ERROR(makeCurrent(k.what));
    Parameters p;
    RETURN_IF_ERROR(parameters(k, nullptr, grid, args, p));
    if (!programs(grid)) return absl::OkStatus();
    RETURN_IF_ERROR(enqueue(k, nullptr, grid, p));
    return a_.check(a_.ctxSynchronize(), "running " + k.what);
  }
  absl::StatusOr<LaunchTiming> time(LoadedKernel &kernel, std::array<int64_t, 3> grid,
                                    llvm::ArrayRef<DeviceArgument> args, int reps) override {
    auto &k = static_cast<Kernel &>(kernel);
    std::scoped_lock lock(k.mutex);
    RETURN_IF_ERROR(makeCurrent(k.what));
    Parameters p;
    RETURN_IF_ERROR(parameters(k, nullptr, grid, args, p));
    if (!programs(grid)) return LaunchTiming();
    Event start(*this), stop(*this);
    auto timed = [&](const char *call) { return call + (" for timing " + k.what); };
    RETURN_IF_ERROR(a_.check(a_.eventCreate(&start.handle, 0), timed(Api::kEventCreate)));
    RETURN_IF_ERROR(a_.check(a_.eventCreate(&stop.handle, 0), timed(Api::kEventCreate)));
    std::vector<float> times;
    for (int i = 0; i < reps; ++i) {
      RETURN_IF_ERROR(a_.check(a_.eventRecord(start.handle, nullptr), timed(Api::kEventRecord)));
      RETURN_IF_ERROR(enqueue(k, nullptr, grid, p));
      RETURN_IF_ERROR(a_.check(a_.eventRecord(stop.handle, nullptr), timed(Api::kEventRecord)));
      RETURN_IF_ERROR(a_.check(a_.eventSynchronize(stop.handle), "running " + k.what));
      float ms;
      RETURN_IF_ERROR(a_.check(a_.eventElapsedTime(&ms, start.handle, stop.handle), timed(Api::kEventElapsedTime)));
      times.push_back(ms);
    }
    llvm::sort(times);
    return LaunchTiming{times[times.size() / 2], times[0]};
  }

  absl::StatusOr<std::unique_ptr<DeviceStream>> createStream() override {
    RETURN_IF_ERROR(makeCurrent("a stream"));
    auto s = std::make_unique<Stream>(*this, nullptr, true);
    // Without flags: what the default stream does, such as copies, waits for it.
    RETURN_IF_ERROR(a_.check(a_.streamCreate(&s->handle, 0), "making a stream"));
    return s;
  }
  absl::StatusOr<std::unique_ptr<DeviceStream>> adoptStream(void *native) override {
    return std::make_unique<Stream>(*this, static_cast<Handle>(native), false);
  }
  absl::Status launchOn(DeviceStream &stream, LoadedKernel &kernel, std::array<int64_t, 3> grid,
                        llvm::ArrayRef<DeviceArgument> args) override {
    auto &k = static_cast<Kernel &>(kernel);
    Handle on = static_cast<Stream &>(stream).handle;
    std::unique_lock lock(k.mutex, std::defer_lock);
    if (k.metadata.globalScratchBytes) lock.lock();
    RETURN_IF_ERROR(makeCurrent(k.what));
    Parameters p;
    RETURN_IF_ERROR(parameters(k, on, grid, args, p));
    return programs(grid) ? enqueue(k, on, grid, p) : absl::OkStatus();
  }
  absl::Status synchronize(DeviceStream &stream) override {
    RETURN_IF_ERROR(makeCurrent("a stream"));
    return a_.check(a_.streamSynchronize(static_cast<Stream &>(stream).handle),
                    "running what was launched on a stream");
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> createEvent() override {
    RETURN_IF_ERROR(makeCurrent("an event"));
    auto e = std::make_unique<Event>(*this);
    RETURN_IF_ERROR(a_.check(a_.eventCreate(&e->handle, 0), Api::kEventCreate));
    return e;
  }
  absl::Status record(DeviceEvent &event, DeviceStream &stream) override {
    RETURN_IF_ERROR(makeCurrent("an event"));
    return a_.check(a_.eventRecord(static_cast<Event &>(event).handle, static_cast<Stream &>(stream).handle),
                    Api::kEventRecord);
  }
  absl::Status waitFor(DeviceStream &stream, DeviceEvent &event) override {
    RETURN_IF_ERROR(makeCurrent("a stream"));
    return a_.check(a_.streamWaitEvent(static_cast<Stream &>(stream).handle, static_cast<Event &>(event).handle, 0),
                    "letting a stream wait for an event");
  }
  absl::StatusOr<double> millisecondsBetween(DeviceEvent &start, DeviceEvent &stop) override {
    RETURN_IF_ERROR(makeCurrent("an event"));
    RETURN_IF_ERROR(a_.check(a_.eventSynchronize(static_cast<Event &>(stop).handle), "waiting for an event"));
    float ms = 0;
    RETURN_IF_ERROR(
        a_.check(a_.eventElapsedTime(&ms, static_cast<Event &>(start).handle, static_cast<Event &>(stop).handle),
                 Api::kEventElapsedTime));
    return ms;
  }

protected:
  explicit DriverDevice(const Api &a) : a_(a) {}
  /// What follows, on this thread, is meant for this device.
  virtual absl::Status makeCurrent(const llvm::Twine &what) = 0;
  /// A kernel's function before its first launch.
  virtual absl::Status prepare(Handle function, const KernelMetadata &) { return absl::OkStatus(); }
  /// Writes the kTensorMapBytes that describe the tensor to the GPU.
  virtual absl::Status encodeTensorMap(const TensorMap &, Pointer, void *, const std::string &what) {
    return absl::UnimplementedError(spec() + " has no tensor maps, which " + what + " takes");
  }
  const Api &a_;

private:
  struct Memory final : DeviceMemory {
    Memory(DriverDevice &d, Pointer p, size_t bytes) : DeviceMemory(bytes), device(d), address(p) {}
    ~Memory() override {
      if (device.makeCurrent("").ok()) device.a_.memFree(address);
    }
    DriverDevice &device;
    Pointer address;
  };
  struct Kernel final : LoadedKernel {
    Kernel(DriverDevice &d, const KernelMetadata &md)
        : LoadedKernel(md), device(d), what("kernel '" + md.kernel + "'") {}
    ~Kernel() override {
      if (module && device.makeCurrent("").ok()) device.a_.moduleUnload(module);
    }
    DriverDevice &device;
    std::string what;
    Handle module = nullptr, function = nullptr;
    std::mutex mutex; // of launches
    // Of the launches of a stream, which follow one another, as large as the largest needed; and of each launch that
    // was captured: a graph may run beside the stream, and on others.
    std::map<std::pair<Handle, std::thread::id>, std::unique_ptr<DeviceMemory>> scratch;
    std::vector<std::unique_ptr<DeviceMemory>> scratchInGraphs;
  };
  struct Stream final : DeviceStream {
    Stream(DriverDevice &d, Handle h, bool owned) : device(d), handle(h), owned(owned) {}
    ~Stream() override {
      if (owned && handle && device.makeCurrent("").ok()) device.a_.streamDestroy(handle);
    }
    void *native() const override { return handle; }
    DriverDevice &device;
    Handle handle;
    bool owned;
  };
  struct Event final : DeviceEvent {
    explicit Event(DriverDevice &d) : device(d) {}
    ~Event() override {
      if (handle && device.makeCurrent("").ok()) device.a_.eventDestroy(handle);
    }
    DriverDevice &device;
    Handle handle = nullptr;
  };
  struct alignas(kTensorMapAlignment) TensorMapMemory {
    uint8_t bytes[kTensorMapBytes];
  };
  /// Arguments that a launch can have before its parameters need memory of the heap.
  static constexpr unsigned kUsualArguments = 24;
  static constexpr unsigned kHiddenArguments = 2; // scratch memory, and profiling's
  /// What is launched points into it.
  struct Parameters {
    llvm::SmallVector<uint64_t, kUsualArguments + kHiddenArguments> values; // scalars and addresses
    std::vector<TensorMapMemory> tensorMaps;
    llvm::SmallVector<void *, kUsualArguments + kHiddenArguments> list;
  };
  static_assert(sizeof(Pointer) == sizeof(uint64_t));
  static Pointer addressOf(const DeviceMemory &m, size_t offset) {
    return Pointer((char *)static_cast<const Memory &>(m).address + offset);
  }
  static int64_t programs(std::array<int64_t, 3> grid) { return grid[0] * grid[1] * grid[2]; }

  absl::Status parameters(Kernel &k, Handle stream, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument> args,
                          Parameters &p) {
    p.values.reserve(args.size() + kHiddenArguments); // the list points into it
    auto isMap = [&](size_t i) {
      return args[i].descriptor && i < k.metadata.args.size() && k.metadata.args[i].tensorMap;
    };
    for (auto [i, a] : llvm::enumerate(args)) {
      Pointer base = a.memory ? addressOf(*a.memory, a.bits) : Pointer(a.bits);
      if (isMap(i)) {
        p.tensorMaps.reserve(args.size()); // as above
        auto map = tensorMapOf(*a.descriptor, *k.metadata.args[i].tensorMap);
        if (!map.ok()) return map.status();
        RETURN_IF_ERROR(encodeTensorMap(*map, base, p.tensorMaps.emplace_back().bytes, k.what));
        p.list.push_back(&p.tensorMaps.back());
      } else {
        p.values.push_back(uint64_t(base));
        p.list.push_back(&p.values.back());
      }
    }
    Pointer scratch{};
    if (size_t bytes = size_t(k.metadata.globalScratchBytes) * size_t(programs(grid)))
      RETURN_IF_ERROR(scratchFor(k, stream, bytes, scratch));
    for (Pointer hidden : {scratch, Pointer{}}) {
      p.values.push_back(uint64_t(hidden));
      p.list.push_back(&p.values.back());
    }
    return absl::OkStatus();
  }
  /// Memory for a launch on the stream.
  absl::Status scratchFor(Kernel &k, Handle stream, size_t bytes, Pointer &address) {
    int captured = 0; // 0: not
    if (stream) RETURN_IF_ERROR(a_.check(a_.streamIsCapturing(stream, &captured), "querying the stream's capture"));
    if (captured) return scratchInGraph(k, bytes, address);
    // One handle stands for the streams of all threads (CU_STREAM_PER_THREAD, hipStreamPerThread).
    bool isOfThread = reinterpret_cast<uintptr_t>(stream) == 2;
    auto &memory = k.scratch[{stream, isOfThread ? std::this_thread::get_id() : std::thread::id()}];
    if (!memory || memory->bytes() < bytes) {
      memory.reset(); // the driver waits for what uses it
      auto larger = allocate(bytes, "the scratch memory of " + k.what);
      if (!larger.ok()) return larger.status();
      memory = std::move(*larger);
    }
    address = addressOf(*memory, 0);
    return absl::OkStatus();
  }
  /// Nothing is freed, which the driver would refuse, and allocating is not captured.
  absl::Status scratchInGraph(Kernel &k, size_t bytes, Pointer &address) {
    constexpr int kRelaxed = 2; // cudaStreamCaptureModeRelaxed, hipStreamCaptureModeRelaxed
    int mode = kRelaxed;
    RETURN_IF_ERROR(a_.check(a_.exchangeCaptureMode(&mode), "allocating beside a capture"));
    auto memory = allocate(bytes, "the scratch memory of " + k.what);
    RETURN_IF_ERROR(a_.check(a_.exchangeCaptureMode(&mode), "allocating beside a capture"));
    if (!memory.ok()) return memory.status();
    k.scratchInGraphs.push_back(std::move(*memory));
    address = addressOf(*k.scratchInGraphs.back(), 0);
    return absl::OkStatus();
  }
  absl::Status enqueue(Kernel &k, Handle stream, std::array<int64_t, 3> grid, Parameters &p) {
    auto &md = k.metadata;
    return a_.check(a_.launchKernel(k.function, grid[0], grid[1], grid[2], md.threadsPerBlock, 1, 1,
                                    md.dynamicSharedBytes, stream, p.list.data(), nullptr),
                    llvm::Twine("launching ") + k.what);
  }
};

} // namespace tessera::runtime
