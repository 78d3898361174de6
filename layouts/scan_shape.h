// How the axis of a scan (prefix sum) lies in a thread's registers, the lanes and the warps, and a layout in which it
// lies as the lowering needs it.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::layouts {

struct ScanShape {
  /// Whether the index along the axis consists, from its lowest bit up, of register bits, then lane bits in ascending
  /// order, then warp bits, then register bits again, as in every blocked layout. Then each thread scans its own
  /// elements, and threads exchange totals. Scans in other layouts are converted to `scanLayout` first.
  bool inOrder = false;
  int32_t chunk = 1;  // consecutive elements along the axis in a thread: 2^(low register bits)
  int32_t chunks = 1; // chunks of a thread, with the other warps' parts between them: 2^(high register bits)
};

/// @pre 0 <= axis < source.numOutDims()
ScanShape scanShape(const LinearLayout &source, int axis);

/// A layout of the same tensor with as many registers, lanes and warps, in which the axis is in order. Positions along
/// the other dimensions stay in the same registers, lanes and warps where that is possible.
/// @post scanShape(result, axis).inOrder, unless the blocks of a cluster share the axis
LinearLayout scanLayout(const LinearLayout &source, int axis);

} // namespace tessera::layouts
