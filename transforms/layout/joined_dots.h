// Dots by mma.sync that join a chain: which of them take the warps of the chain's dots although others would suit them
// better alone. Pure analysis; tritongpu-accelerate-matmul lays them out anew.
//
// The warps of a chain through A operands stand along the rows, so that results stay in their threads. A dot outside of
// the chain takes warps with which it reads as little of its operands as possible:
//
//   %qk = tt.dot %q, %k, %zero           warps along the rows (2 by 1): %p is computed from it
//   %p  = … %qk …
//   %s  = tt.dot %q, %state, %zero       32 x 64: warps along the columns (1 by 2)
//   %c  = arith.mulf %s, %decay
//   %o  = tt.dot %p, %v, %c              2 by 1: %c would go through shared memory
//   %n  = tt.dot %k2, %v, %old           1 by 2: %v would be read in two layouts
//
// Here all four stand along the rows. Dots are joined
//   by results    if one result is another's accumulator, or two results are operands of one elementwise operation
//   by operands   if they have the same A operand, or the same B operand
// in one block. Of a group of joined dots that has a chain, the others take the chain's warps if fewer words go through
// shared memory then: what each warp reads of each operand (once, if dots share it in one layout), and results that are
// converted to another one's layout. (The work of a warp is the same: the choice of warps minimises that first.)
//
// Limits: results are followed through elementwise operations alone, not into loops.
#pragma once
#include "ir/ops.h"
#include "transforms/analyses/dots.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::transforms {

/// A dot of two dimensions by mma.sync.
struct PlacedDot {
  ir::tt::DotOp dot;
  DotOperands along = kNoOperand;             // kOperandA: in a chain, whose warps stand along the rows
  llvm::SmallVector<int32_t, 4> warps;        // along rows and columns
  llvm::SmallVector<int32_t, 4> warpsOfChain; // what they would be in a chain
};

/// Indices of the dots that take `warpsOfChain`, in ascending order.
llvm::SmallVector<unsigned, 4> dotsJoiningChains(llvm::ArrayRef<PlacedDot>);

} // namespace tessera::transforms
