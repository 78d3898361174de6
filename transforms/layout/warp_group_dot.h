// Dots by warp groups (wgmma): four warps multiply together, asynchronously, and read operands from shared memory.
//
//   %d = tt.dot %a, %b, %c : … -> tensor<128x256xf32, #blocked>
//   →
//   %l = ttg.local_alloc %a : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #nvmma_shared, #smem>
//   %m = ttg.local_alloc %b : (tensor<64x256xf16, #blocked>) -> !ttg.memdesc<64x256xf16, #nvmma_shared, #smem>
//   %d1 = ttng.warp_group_dot %l, %m, %c1 : … -> tensor<128x256xf32, #mma>        (%c1: %c in #mma)
//   %d = ttg.convert_layout %d1 : #mma -> #blocked
//
// The buffers are made where the operands' values are. The A operand stays in registers instead
//   - if it is computed from another dot's result. If warps stand along the columns, each has a part of its rows only,
//     and such a dot takes mma.sync;
//   - if the loop computes it elementwise from what it loads: it then passes shared memory once, not twice;
//   - if the unit cannot read it from shared memory: across K it reads 16-bit elements only.
//
// If the unit cannot read the B operand, or the dot has less than 64 rows, the transposed dot is computed:
// Dᵀ = Bᵀ · Aᵀ + Cᵀ, in which A is the B operand. B may then stay in registers.
//
// A chain of dots is never transposed. If a B operand of it lies across K, and its elements have other than 16 bits
// (the values of attention in 8-bit floats or f32), threads store it to its buffer along K. So they do with bytes where
// a dot has too few columns to be transposed, if that takes less than reading them one by one for mma.sync.
//
// Limits: no batches, decomposed f32 or clusters.
#pragma once
#include "transforms/layout/matrix_instruction_choice.h"
#include <string>

namespace tessera::transforms {

struct WarpGroupDotPlan {
  const layouts::NvidiaMmaEncoding *instructionLayout = nullptr; // of the instruction's result
  const layouts::Encoding *resultLayout = nullptr;               // of the dot's: the same, transposed back if need be
  bool transposed = false;                                       // Dᵀ = Bᵀ · Aᵀ + Cᵀ
  bool rightRewritten = false;                                   // B is stored along K, across its registers
  bool leftInRegisters = false;                                  // the instruction's A operand
  bool leftComesFromDot = false;                                 // that is why
  bool leftIsComputedFromLoad = false;                           // likewise
  const layouts::Encoding *leftLayout = nullptr;                 // of an A operand in registers
  const layouts::Encoding *leftTransposedLayout = nullptr;       // of its transpose before it is converted to that
  int bits = 0;                                                  // of an operand's element

  /// "wgmma m64n128k16".
  std::string instruction() const;
  /// The same, and how the operands get there.
  std::string description() const;
};

/// None if the dot cannot be computed by warp groups, with the reason for remarks (empty if the target has none), or is
/// better computed by mma.sync. `columnsByMmaSync`: columns of a warp there; none: it has no instruction.
std::optional<WarpGroupDotPlan> planWarpGroupDot(ir::tt::DotOp, const DotProblem &, const ir::TargetInfo &,
                                                 int64_t numWarps, std::optional<int64_t> columnsByMmaSync,
                                                 std::string &whyNot);

/// Makes the dot beside the old one, and returns its result in the old one's type. The additions around a dot of 8-bit
/// elements may become its accumulator.
ir::Value buildWarpGroupDot(ir::tt::DotOp, const DotTypes &, const WarpGroupDotPlan &);

} // namespace tessera::transforms
