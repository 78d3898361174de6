// What devices have in common (see device.h): memory of the host, streams of devices without any, and Device::run.
#include "runtime/device.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace tessera::runtime {

absl::StatusOr<std::unique_ptr<HostMemory>> HostMemory::allocate(size_t bytes, const std::string &what) {
  void *data = std::calloc(std::max<size_t>(bytes, 1), 1);
  if (!data) return absl::ResourceExhaustedError(llvm::formatv("there are no {0} bytes for {1}", bytes, what).str());
  auto m = std::make_unique<HostMemory>(static_cast<uint8_t *>(data), bytes);
  m->owned_ = true;
  return m;
}
HostMemory::~HostMemory() {
  if (owned_) std::free(data_);
}
void HostMemory::Free::operator()(uint8_t *p) const { std::free(p); }
absl::Status HostMemory::undefine(size_t offset, size_t bytes) {
  if (!bytes) return absl::OkStatus();
  if (!undefined_) undefined_.reset(static_cast<uint8_t *>(std::calloc(this->bytes(), 1)));
  if (!undefined_) return absl::ResourceExhaustedError("the host has not enough memory");
  std::memset(undefined_.get() + offset, 1, bytes);
  return absl::OkStatus();
}
void HostMemory::define(size_t offset, size_t bytes) {
  if (undefined_) std::memset(undefined_.get() + offset, 0, bytes);
}

void HostEvent::record() {
  milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

absl::StatusOr<std::unique_ptr<DeviceStream>> Device::createStream() { return std::make_unique<HostStream>(); }
absl::StatusOr<std::unique_ptr<DeviceStream>> Device::adoptStream(void *) {
  return absl::InvalidArgumentError(spec() + " has no driver whose stream could be adopted");
}
absl::Status Device::launchOn(DeviceStream &, LoadedKernel &k, std::array<int64_t, 3> grid,
                              llvm::ArrayRef<DeviceArgument> args) {
  return launch(k, grid, args);
}
absl::Status Device::synchronize(DeviceStream &) { return absl::OkStatus(); }
absl::StatusOr<std::unique_ptr<DeviceEvent>> Device::createEvent() { return std::make_unique<HostEvent>(); }
absl::Status Device::record(DeviceEvent &e, DeviceStream &) {
  static_cast<HostEvent &>(e).record();
  return absl::OkStatus();
}
absl::Status Device::waitFor(DeviceStream &, DeviceEvent &) { return absl::OkStatus(); }
absl::StatusOr<double> Device::millisecondsBetween(DeviceEvent &start, DeviceEvent &stop) {
  return static_cast<HostEvent &>(stop).milliseconds - static_cast<HostEvent &>(start).milliseconds;
}

absl::StatusOr<std::vector<DeviceArgument>> kernelArguments(const KernelMetadata &md,
                                                            llvm::ArrayRef<DeviceArgument> given) {
  llvm::SmallVector<bool> isDescriptor;
  for (auto &a : given) isDescriptor.push_back(a.descriptor);
  if (!llvm::is_contained(isDescriptor, true)) return given.vec();
  auto sources = argumentSources(md.args, isDescriptor);
  if (!sources)
    return absl::InvalidArgumentError(
        wrongArgumentCount(md.kernel, argumentsInText(md.args), std::to_string(given.size()) + " are given"));
  std::vector<DeviceArgument> out;
  for (auto &s : *sources) {
    auto &a = given[s.given];
    bool isPart = s.part && a.descriptor;
    out.push_back(isPart ? DeviceArgument{nullptr, a.descriptor->part(s.part)} : a);
  }
  return out;
}

absl::Status Device::run(llvm::StringRef object, const KernelMetadata &md, std::array<int64_t, 3> grid,
                         llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *timing) {
  if (auto s = checkGrid(grid, spec(), md.globalScratchBytes); !s.ok()) return s;
  std::string what = "kernel '" + md.kernel + "'";
  auto kernel = load(object, md);
  if (!kernel.ok()) return kernel.status();
  auto argument = [&](size_t i) { return llvm::formatv("argument {0} of {1}", i, what).str(); };
  std::vector<std::unique_ptr<DeviceMemory>> memory(args.size());
  std::vector<DeviceArgument> given;
  for (auto [i, a] : llvm::enumerate(args)) {
    if (a.buffer) {
      auto m = allocate(a.buffer->size(), argument(i));
      if (!m.ok()) return m.status();
      memory[i] = std::move(*m);
      if (auto s = write(*memory[i], 0, a.buffer->data(), a.buffer->size(), argument(i)); !s.ok()) return s;
    }
    given.push_back({memory[i].get(), a.bits, a.descriptor});
  }
  auto arguments = kernelArguments(md, given);
  if (!arguments.ok()) return arguments.status();
  if (auto s = launch(**kernel, grid, *arguments); !s.ok()) return s;
  for (auto [i, a] : llvm::enumerate(args))
    if (a.buffer)
      if (auto s = read(*memory[i], 0, a.buffer->data(), a.buffer->size(), argument(i)); !s.ok()) return s;
  if (reps > 0 && timing) {
    auto t = time(**kernel, grid, *arguments, reps);
    if (!t.ok()) return t.status();
    *timing = *t;
  }
  return absl::OkStatus();
}

} // namespace tessera::runtime
