// The emulator as a Device (runtime/device.h): `emulator:TARGET`.
#pragma once
#include "runtime/device.h"
#include "runtime/emulator/emulator.h"

namespace tessera::runtime {

/// An emulated GPU of the target. Launch sizes come with each launch; checks, counters and limits from the options.
/// What was counted goes to `report`, if given, which outlives the device. InvalidArgument for an unknown target.
absl::StatusOr<std::unique_ptr<Device>> openEmulator(llvm::StringRef target, const emulator::Options & = {},
                                                     emulator::Report *report = nullptr);

} // namespace tessera::runtime
