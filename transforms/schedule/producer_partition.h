// The partition of a producer warp in a ttg.warp_specialize.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"

namespace tessera::transforms {

struct OperationWithProducer {
  ir::ttg::WarpSpecializeOp op;
  ir::Block *partition; // of the one warp
};
/// Creates the operation, which captures nothing yet, with a partition of one warp for the producer. The blocks of the
/// partition and of the default region are empty.
OperationWithProducer createWithProducer(ir::Builder &, ir::Location, llvm::ArrayRef<ir::Type> results);

/// Lets the operation capture what the partition uses from outside of it: it becomes arguments of the partition;
/// constants are copied.
void captureOuterValues(const OperationWithProducer &);

/// A loop with the bounds of `like`, on the values of the map, that carries `inits`. Its body has arguments alone.
ir::scf::ForOp createLoopLike(ir::scf::ForOp like, ir::Builder &, const ir::ValueMap &,
                              llvm::ArrayRef<ir::Value> inits);

} // namespace tessera::transforms
