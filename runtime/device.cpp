// Finding devices (see device.h).
#include "runtime/device.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/emulator/emulator_device.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

namespace tessera::runtime {

absl::StatusOr<void *> openLibrary(const char *variable, llvm::ArrayRef<const char *> names) {
  if (const char *path = std::getenv(variable); path && *path) {
    if (void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return h;
    return absl::NotFoundError(llvm::formatv("{0} names a library that does not load: {1}", variable, dlerror()).str());
  }
  std::string first;
  for (auto *n : names) {
    if (void *h = dlopen(n, RTLD_NOW | RTLD_LOCAL)) return h;
    if (first.empty()) first = dlerror();
  }
  return absl::NotFoundError(first);
}

absl::StatusOr<std::unique_ptr<Device>> openDevice(llvm::StringRef spec) {
  auto [kind, index] = spec.split(':');
  if (kind == "emulator") return openEmulator(index);
  unsigned n = 0;
  if (!index.empty() && index.getAsInteger(10, n))
    return absl::InvalidArgumentError(("'" + spec + "': the device number must be an integer").str());
  if (spec.ends_with(":")) return absl::InvalidArgumentError(("'" + spec + "': the device number is missing").str());
  n = std::min(n, 1u << 20); // above any machine's
  if (kind == "cuda") return openCuda(n);
  if (kind == "hip") return openHip(n);
  return absl::InvalidArgumentError(("unknown device '" + spec + "'; devices: interpreter, emulator:TARGET, cuda[:N], hip[:N]").str());
}

std::vector<std::unique_ptr<Device>> enumerateDevices(std::vector<std::string> &problems) {
  std::vector<std::unique_ptr<Device>> out;
  using Count = absl::StatusOr<int> (*)();
  using Open = absl::StatusOr<std::unique_ptr<Device>> (*)(int);
  for (auto [count, open] : {std::pair<Count, Open>(countCuda, openCuda), std::pair<Count, Open>(countHip, openHip)}) {
    auto n = count();
    if (!n.ok()) {
      problems.push_back(std::string(n.status().message()));
      continue;
    }
    for (int i = 0; i < *n; ++i) {
      auto d = open(i);
      if (d.ok())
        out.push_back(std::move(*d));
      else
        problems.push_back(std::string(d.status().message()));
    }
  }
  return out;
}

} // namespace tessera::runtime
