// Accesses of a workgroup's LDS that instructions of other memories make too.
#pragma once
#include "runtime/code_object/wave.h"

namespace tessera::code_object {

/// The bytes at an address of LDS; null, and the wave fails, if they are not all in it.
uint8_t *resolveLds(Wave &, uint64_t address, unsigned bytes, bool isWrite);

/// The workgroup's LDS, if it has `bytes` at each address of the lanes of a mask; else null, and nothing fails.
uint8_t *ldsOf(Wave &, const uint32_t *addresses, uint64_t mask, unsigned bytes);

} // namespace tessera::code_object
