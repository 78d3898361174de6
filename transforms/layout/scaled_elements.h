// Elements of microscaled formats in layouts, as f32, and their scales (OCP Microscaling Formats).
#pragma once
#include "ir/builder.h"
#include "ir/type.h"

namespace tessera::transforms {

/// Two e2m1 of each byte along the axis, as f32, in the shape and layout of `like`.
ir::Value unpackedE2m1(ir::Builder &, ir::Location, ir::Value bytes, unsigned axis, ir::TensorType like);

/// Floats of 8 or 16 bits as f32. `ofBytes`: what integers of 8 bits are.
ir::Value widenedFloats(ir::Builder &, ir::Location, ir::Value, ir::FloatKind ofBytes);

/// Scales […, m, k / group] for each of the elements that share them: […, m, k], or […, k, m] if K is not the last
/// dimension. Null if their layout gives that shape none.
ir::Value repeatedScales(ir::Builder &, ir::Location, ir::Value scales, int64_t group, bool isKLast);

/// Numbers of f32 times scales of their shape, bytes of e8m0 or floats, in the layout of the numbers, rounded to
/// `element`.
ir::Value scaledNumbers(ir::Builder &, ir::Location, ir::Value numbers, ir::Value scales, ir::Type element);

} // namespace tessera::transforms
