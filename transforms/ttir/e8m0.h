// Scales of microscaled formats as floats (see e8m0.cpp).
#pragma once
#include "ir/builder.h"

namespace tessera::transforms {

/// 2^(s - 127) of bytes s, exactly, and not a number of 255: e8m0 (OCP Microscaling Formats).
/// @pre `element` is bf16 or f32
ir::Value powersOfE8m0(ir::Builder &, ir::Location, ir::Value bytes, ir::Type element);

} // namespace tessera::transforms
