// What a scan needs to know of its operands' layout, asked by the allocation of scratch and by the lowering.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::transforms {

struct ScanShape {
  /// Whether the axis runs, from its lowest bit up, through registers, then lanes in ascending order, then warps,
  /// then registers again: what every blocked layout does. Then threads scan their own elements and exchange totals;
  /// scans in other layouts get one like that (choose_scan_layouts.cpp).
  bool inOrder = false;
  int32_t chunk = 1;  // consecutive elements of a thread: indices below it along the axis are registers
  int32_t chunks = 1; // how many such runs, all warps' parts in between, the upper registers hold
};

ScanShape scanShape(const layouts::LinearLayout &source, int axis);

/// A layout of the same tensor, threads and registers in which the axis is in order, as near to the source as that
/// allows (choose_scan_layouts.cpp). @post scanShape(result, axis).inOrder, unless blocks of a cluster share the axis
layouts::LinearLayout scanLayout(const layouts::LinearLayout &source, int axis);

} // namespace tessera::transforms
