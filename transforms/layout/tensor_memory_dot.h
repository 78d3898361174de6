// Dots with the accumulator in tensor memory (tcgen05), as far as layouts are concerned: operands in shared memory, a
// result in registers that one access to tensor memory moves.
//
//   %d = tt.dot %a, %b, %c : … -> tensor<128x256xf32, #blocked>
//   →
//   %l = ttg.local_alloc %a : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #nvmma_shared, #smem>
//   %m = ttg.local_alloc %b : (tensor<64x256xf16, #blocked>) -> !ttg.memdesc<64x256xf16, #nvmma_shared, #smem>
//   %d1 = ttng.warp_group_dot %l, %m, %c1 : … -> tensor<128x256xf32, #rows>        (%c1: %c in #rows)
//   %d = ttg.convert_layout %d1 : #rows -> #blocked
//
// The accumulator is a value as long as layouts and software pipelines are chosen: they need to know nothing of tensor
// memory. dots-in-tensor-memory then gives it a buffer there.
//
// Limits: no batches, decomposed f32 or clusters; 64 rows and more; no operand in registers or in tensor memory.
#pragma once
#include "layouts/tensor_memory.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include <string>

namespace tessera::transforms {

struct TensorMemoryDotPlan {
  const layouts::TensorMemoryEncoding *memory = nullptr; // of the accumulator
  const layouts::Encoding *resultLayout = nullptr;       // of its registers, as an access moves them
  int64_t columns = 0;                                   // that the accumulator takes
  int64_t m = 0, n = 0, k = 0;                           // of an instruction
  bool leftRewritten = false, rightRewritten = false;    // operands that are stored along K, across their registers

  /// "tcgen05.mma m128n256k16".
  std::string instruction() const;
  /// The same, and how the operands get there.
  std::string description() const;
};

/// None if the dot cannot be computed so, with the reason for remarks (empty if the target has no tensor memory).
std::optional<TensorMemoryDotPlan> planTensorMemoryDot(ir::tt::DotOp, const DotProblem &, const ir::TargetInfo &,
                                                       int64_t numWarps, std::string &whyNot);

/// Makes the dot beside the old one, and returns its result in the old one's type.
ir::Value buildTensorMemoryDot(ir::tt::DotOp, const DotTypes &, const TensorMemoryDotPlan &);

/// The loop that carries a dot's accumulator to the dot itself, so far as the value that enters says so; else the dot.
ir::Operation *extentOfAccumulator(ir::Operation *dot, ir::Value accumulator);

} // namespace tessera::transforms
