// A kernel's time as text and as JSON.
#pragma once
#include "runtime/code_object/instruction.h"
#include "runtime/timing/kernel_time.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tessera::timing {

/// Tables of the kernel, its units and stalls, and of the hottest loop's instructions.
std::string reportText(const KernelTime &, const code_object::Program &);
llvm::json::Object reportJson(const KernelTime &, const code_object::Program &);

/// What bounds the kernel: a unit's name, "memory", or the stall that most cycles are spent in.
std::string bottleneck(const KernelTime &);

} // namespace tessera::timing
