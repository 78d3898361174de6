// The blocks of a launch, executed (see blocks.cpp).
#pragma once
#include "runtime/emulator/machine.h"
#include <atomic>

namespace tessera::emulator {

/// Executes blocks of the launch until none is left. `next`: the first block that nobody has begun; several threads may
/// share it, each with a launch of its own. `arguments`: of the kernel, implicit ones included.
absl::Status runBlocks(Launch &, const std::vector<uint64_t> &arguments, std::atomic<uint64_t> &next);

} // namespace tessera::emulator
