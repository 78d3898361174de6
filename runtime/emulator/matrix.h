// Matrix instructions of a warp: mma.sync (NVIDIA), MFMA and WMMA (AMD). Which lane and register holds which
// element is stated here from the manuals alone, not by way of layouts/, so that running a kernel checks the one
// against the other.
#pragma once
#include "runtime/emulator/decode.h"

namespace tessera::emulator {

enum class MatrixElement : uint8_t { None, F16, BF16, TF32, F32, F64, S8, U8, S32, E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ };
enum class MatrixFamily : uint8_t { MmaSync, Mfma, Wmma1, Wmma2 };

/// D = A * B + C: A is m by k, B k by n. Rows hold elements packed, low bits first, one row after the other.
struct MatrixOperation {
  MatrixFamily family = MatrixFamily::MmaSync;
  unsigned m = 0, n = 0, k = 0;
  MatrixElement a = MatrixElement::None, b = MatrixElement::None, c = MatrixElement::None;
  llvm::SmallVector<Row, 8> aRows, bRows, cRows, d;
  unsigned aBytes = 4, bBytes = 4, accumulatorBytes = 4; // of a row's entry
  // MFMA of 4 by 4: that many dots at once, of four lanes each; each 2^broadcast of them take A from the one of
  // them numbered `broadcastFrom`.
  unsigned blocks = 1, broadcast = 0, broadcastFrom = 0;
};

/// False, with the reason, if there is no such instruction.
bool emitMatrixOperation(Decoder &, MatrixOperation, std::string &why);
llvm::ArrayRef<IntrinsicRow> amdMatrixIntrinsics();

// ---- elements, for warpgroup.cpp too ----
unsigned elementBits(MatrixElement);
/// Exact in double; tf32 without its low bits.
double matrixNumber(MatrixElement, uint64_t bits);
/// An accumulator's bits.
uint64_t roundTo(MatrixElement, double);
/// None if there is no such type in PTX.
MatrixElement ptxElement(llvm::StringRef);

} // namespace tessera::emulator
