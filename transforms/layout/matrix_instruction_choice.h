// Which matrix instruction computes a dot, in which element types, with which warps along its rows and columns. Pure
// functions of types, shapes and the target's table (TargetInfo::matrixInstructions); nothing here changes IR.
//
// Element types (chooseDotTypes). What no instruction takes is converted to what one takes:
//   accumulators of f16 and bf16   without an instruction of their own are f32 during the dot
//   8-bit floats                   without an instruction for the pair, and mixed kinds, become f16 or bf16, which hold
//                                  them exactly
//   f32                            by precision: tf32 uses tf32 instructions, else those of f32; tf32x3, bf16x3 and
//                                  bf16x6 are decomposed (dot_decomposition.h) if the target has the narrower
//                                  instruction, tf32x3 only if it has none of f32
//
// Tile. The instruction with the least work, work that several warps or lanes repeat included; of equal work the one
// with the largest tile; of equal tiles the longest K that the dot fills. If the user requests a tile of MFMA or WMMA
// (matrix-instruction-size), instructions of that tile come first.
//
// Warps. Those of a chain of dots stand along the dimension that the chain keeps, so that values stay in their threads;
// others such that each warp reads as little of the operands as possible.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "layouts/encoding_pool.h"
#include "transforms/analyses/dots.h"
#include <optional>

namespace tessera::transforms {

/// Dots that compute f32 from several dots of narrower elements.
enum class DotDecomposition : uint8_t { None, Tf32x3, Bf16x3, Bf16x6 };

/// The element types in which a dot is computed.
struct DotTypes {
  ir::MatrixType a, b, c;      // the instruction's
  ir::Type operandA, operandB; // what the operands are converted to first
  ir::Type accumulator;        // what the accumulator is converted to during the dot
  DotDecomposition decomposition = DotDecomposition::None;
};
/// None if the target has no instruction for the types and the precision.
std::optional<DotTypes> chooseDotTypes(ir::tt::DotOp, const ir::TargetInfo &);

/// Whether dots on registers use mma.sync. Its result is transposed with respect to its B operand, so that only
/// chains through A stay in their threads.
bool usesMmaSync(ir::MatrixUnit);
/// Whether the unit is one of AMD's, whose lanes may hold copies of others' elements: a tile may have more rows or
/// columns than the dot.
bool isMfmaOrWmma(ir::MatrixUnit);
/// The name in remarks of the unit's instruction on registers: "mma.sync", "MFMA", "WMMA"; empty: there is none.
llvm::StringRef registerInstructionName(ir::MatrixUnit);

/// A dot as far as the choice of its instruction is concerned.
struct DotProblem {
  DotTypes types;
  llvm::SmallVector<int64_t, 4> shape; // of the result: (batch,) rows, columns
  int64_t k = 0;
  bool inLoop = false; // directly in the body of a loop
  DotChain chain;
};

class MatrixInstructionChoice {
public:
  /// `tileSize`: rows and columns that the user requests; 0: none. `anyChainThroughA`: some dot of the module is in a
  /// chain through an A operand.
  MatrixInstructionChoice(const ir::TargetInfo &target, int64_t numWarps, int64_t tileSize, bool anyChainThroughA)
      : target_(target), instructions_(target.matrixInstructions), numWarps_(numWarps), tileSize_(tileSize),
        anyChainThroughA_(anyChainThroughA) {}
  /// The same among the instructions that take scales.
  static MatrixInstructionChoice withScales(const ir::TargetInfo &, int64_t numWarps, int64_t tileSize);

  /// The operand along whose dimension the warps of a dot's chain stand; kNoOperand: warps are chosen freely.
  DotOperands warpsAlong(const DotProblem &) const;
  /// A row of the target's table of instructions; null if none fits the shape.
  const ir::MatrixInstruction *instruction(const DotProblem &, DotOperands along) const;
  /// Warps along (batches,) rows and columns.
  llvm::SmallVector<int32_t, 4> warps(llvm::ArrayRef<int64_t> shape, const ir::MatrixInstruction &,
                                      DotOperands along) const;

private:
  bool fits(const ir::MatrixInstruction &, const DotProblem &) const;
  bool endsChainByItself(const DotProblem &) const;
  const ir::MatrixInstruction *instructionOfTile(const DotProblem &, DotOperands along, int64_t tileSize) const;

  const ir::TargetInfo &target_;
  llvm::ArrayRef<ir::MatrixInstruction> instructions_;
  int64_t numWarps_, tileSize_;
  bool anyChainThroughA_;
};

/// The layout of an instruction's result; null if there is none for these warps.
const layouts::Encoding *resultLayout(layouts::EncodingPool &, const ir::TargetInfo &, const ir::MatrixInstruction &,
                                      llvm::ArrayRef<int32_t> warps, const layouts::CtaLayout &);

/// How many consecutive elements of `bits` along K a lane holds of an operand. `fromResult`: this or the other operand
/// is computed from another dot's result (both have the same order along K).
int64_t operandKWidth(const ir::TargetInfo &, const ir::MatrixInstruction &, int64_t k, unsigned bits, bool fromResult);

} // namespace tessera::transforms
