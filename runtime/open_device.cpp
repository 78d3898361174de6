// The factory of devices (see open_device.h).
#include "runtime/open_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/hip/hip_device.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

namespace tessera::runtime {

absl::StatusOr<std::unique_ptr<Device>> openDevice(llvm::StringRef spec) {
  auto [kind, index] = spec.split(':');
  if (kind == "emulator") return openEmulator(index);
  if (kind != "cuda" && kind != "hip")
    return absl::InvalidArgumentError(
        ("unknown device '" + spec + "'; devices: interpreter, emulator:TARGET, cuda[:N], hip[:N]").str());
  unsigned n = 0;
  if (!index.empty() && index.getAsInteger(10, n))
    return absl::InvalidArgumentError(("'" + spec + "': the device number must be a whole number from 0 up").str());
  if (spec.ends_with(":")) return absl::InvalidArgumentError(("'" + spec + "': the device number is missing").str());
  n = std::min(n, 1u << 20); // no machine has as many; the number below is an int
  return kind == "cuda" ? openCuda(int(n)) : openHip(int(n));
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
