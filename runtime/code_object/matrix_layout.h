// Where the elements of matrix instructions lie in lanes and registers, and the arithmetic on them, block by block.
// The layouts are stated from the manuals:
//   MFMA  "AMD Instinct MI300" and "CDNA4 Instruction Set Architecture", "Matrix Arithmetic Instructions"
//   WMMA  "RDNA3" and "RDNA4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"
// In all of them consecutive lanes hold consecutive columns (of A: rows), so a layout is a list of runs of lanes, made
// once for an instruction; unpacking, multiplying and packing are loops over runs, which the compiler vectorises.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::code_object {

enum class Element : uint8_t {
  None,
  F16,
  BF16,
  XF32,
  F32,
  F64,
  S8,
  U8,
  S32,
  Fp8,
  Bf8,
  Fp8Fnuz,
  Bf8Fnuz,
  Fp6,
  Bf6,
  Fp4
};
unsigned bitsOf(Element);

enum class MatrixFamily : uint8_t { Mfma, Wmma11, Wmma12 };

struct MatrixShape {
  MatrixFamily family = MatrixFamily::Mfma;
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  Element a = Element::None, b = Element::None, c = Element::None;
  bool scaled = false, mixed = false; // mixed: f8f6f4, whose formats are modifiers
  unsigned lanes() const { return family == MatrixFamily::Mfma ? 64 : 32; }
};

/// Element `element` of lanes `lane`, `lane` + 1, … is entry `to`, `to` + 1, … of an unpacked matrix.
struct LaneRun {
  uint16_t element, lane, to;
};
struct MatrixLayout {
  unsigned bits = 0;      // of an element
  unsigned length = 0;    // of a run
  unsigned registers = 0; // of a lane
  unsigned entries = 0;   // of the unpacked matrix, all blocks
  /// 16-bit accumulators of gfx11 have a register each.
  bool isSpread = false;
  std::vector<LaneRun> runs;
};

/// Unpacked: A as [block][k][row], B as [block][k][column], the accumulator as [block][row][column].
struct MatrixPlan {
  MatrixShape shape;
  /// By the bits of an element: 8 and 6 or 4 of f8f6f4 differ. See layoutOf().
  std::array<MatrixLayout, 2> a, b;
  MatrixLayout c;
  const MatrixLayout &layoutOf(bool isA, unsigned bits) const { return (isA ? a : b)[shape.mixed && bits < 8]; }
};
/// Plans are made once for each shape and live as long as the program. Thread-safe.
const MatrixPlan *planOf(const MatrixShape &);

/// Registers that the elements of a lane take.
unsigned registersOf(const MatrixLayout &, unsigned bits);

/// The numbers that the elements stand for. `rows`: the operand's registers, and one more that may be read.
void unpack(const MatrixLayout &, Element, const uint32_t *const *rows, bool isHighHalf, double *to);
/// The accumulator, rounded once to its type, into its registers.
void pack(const MatrixLayout &, Element, const double *from, bool isHighHalf, uint32_t *const *rows);

/// acc[i][j] += a[k][i] * b[k][j] for k = 0, 1, …; each sum is a double. `fuses`: what is added is exact in double, so
/// that a fused multiply-add changes nothing.
void multiplyAdd(double *acc, const double *a, const double *b, unsigned size, unsigned depth, bool fuses);

} // namespace tessera::code_object
