// Operands of dots that a matrix unit reads from shared memory itself (wgmma, tcgen05.mma), as its descriptors see
// them.
#pragma once
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"

namespace tessera::codegen {

struct SharedOperand {
  SharedMatrix matrix;          // of the view's first element; `pointer` is null yet
  layouts::LinearLayout places; // dim0, dim1 → offset in elements
  unsigned k = 0;               // the dimension that is K
  int64_t bytes = 0;            // of an element
  int64_t origin = 0;           // where the view begins in its buffer, in bytes

  /// Bytes from the buffer's first element.
  int64_t at(int32_t mn, int32_t alongK) const;
};

/// What an instruction reads of an operand.
struct SharedTile {
  int32_t extent = 0;            // across K
  int32_t depth = 0;             // along K
  bool readsBytesAcross = false; // whether it reads elements of 8 bits across K, too
};

/// The operand whose dimension `k` is K; none after a diagnostic about `op`.
std::optional<SharedOperand> sharedOperandOf(ir::Operation *op, ir::Value, unsigned k, const SharedTile &,
                                             FunctionLowering &);

} // namespace tessera::codegen
