// Accesses of a workgroup's LDS that instructions of other memories make too.
#pragma once
#include "runtime/code_object/wave.h"

namespace tessera::code_object {

/// The bytes at an address of LDS; null, and the wave fails, if they are not all in it.
uint8_t *resolveLds(Wave &, uint64_t address, unsigned bytes, bool isWrite);

} // namespace tessera::code_object
