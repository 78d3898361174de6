// Dots whose A operand is converted in registers, in slices along K, so that a slice is converted while the matrix
// unit multiplies those before it. Part of tritongpu-pipeline (PipelinePlan::slicedDots).
//
//   %r = ttg.local_load %a                       for each slice k of the instruction's length along K:
//   %f = arith.sitofp %r                           %r' = ttg.local_load of columns k + 1 of %a
//   %d = ttng.warp_group_dot %f, %b, %acc    →     %f = arith.sitofp %r
//                                                  %acc = ttng.warp_group_dot %f, rows k of %b, %acc  {isAsync}
//
// wgmma reads registers of A while it runs. The slices of an iteration are in flight together, and the iteration waits
// for all of them at its end. ptxas does not surely keep the registers of a dot that runs on into the next one
// (measured: NVIDIA H200, 2026-11-30, tf32 128x256x32, 8 warps, both operands transposed: behind a wait that left the
// last slice pending, its registers got the next iteration's addresses, and every result was wrong).
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include <optional>

namespace tessera::transforms {

struct SlicedDot {
  ir::ttng::WarpGroupDotOp dot;
  ir::ttg::LocalLoadOp read;                        // of the A operand's buffer, by the dot's conversion alone
  llvm::SmallVector<ir::Operation *, 4> conversion; // what computes the A operand from it, and splats for that
  int64_t slices = 0;

  /// Whether the operation of the body is emitted with the slices alone. Splats may have other users.
  bool replaces(ir::Operation *) const;
};

/// The slices of a dot whose A operand is in registers, computed element by element from what one ttg.local_load of
/// the same block reads and from splats; none if it is not, or if there is only one slice.
std::optional<SlicedDot> sliceAlongK(ir::ttng::WarpGroupDotOp);

/// Emits the slices for the operands that `map` has. `token`: of the wait for the A operand's copy, or
/// null. Returns the accumulator.
ir::Value emitSlices(ir::Builder &, const SlicedDot &, ir::ValueMap map, ir::Value token);

/// Elements [from, from + size) of a buffer along a dimension.
ir::Value partOfBuffer(ir::Builder &, ir::Location, ir::Value buffer, unsigned dim, int64_t from, int64_t size);

} // namespace tessera::transforms
