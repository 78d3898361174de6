// MFMA whose operands have formats of their own and scales: v_mfma_scale_f32_16x16x128_f8f6f4 and …_32x32x64_f8f6f4,
// and what LLVM makes of zeros for scales, the same without scales. Source: "CDNA4 Instruction Set Architecture",
// "Matrix Arithmetic Instructions", tables of the layouts of 8-bit, 4-bit and scale operands; OCP "Microscaling
// Formats".
// Which lane holds which element is stated here from the manual, not by way of layouts/.
//
// Lane l has elements of row l mod m of A (of column l mod n of B), and the scale of the 32 of them along K that l / m
// numbers. a * b is exact in double; the sum over K is taken in double and rounded once.
//
// Limits: formats of 8 and 4 bits.
#include "runtime/emulator/scaled_matrix.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/matrix.h"
#include "llvm/IR/IntrinsicInst.h"
#include <cmath>
#include <limits>
#include <optional>

namespace tessera::emulator {
using namespace llvm;

namespace {

constexpr unsigned kLanes = 64;
constexpr unsigned kElementsOfScale = 32; // and of a lane

/// As the immediates CBSZ and BLGP number them.
enum class Format : uint8_t { E4M3 = 0, E5M2 = 1, E2M1 = 4 };
unsigned bitsOf(Format f) { return f == Format::E2M1 ? 4 : 8; }

double numberOf(Format f, unsigned bits) {
  constexpr double kE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  switch (f) {
  case Format::E4M3: return matrixNumber(MatrixElement::E4M3FN, bits);
  case Format::E5M2: return matrixNumber(MatrixElement::E5M2, bits);
  case Format::E2M1: return bits & 8 ? -kE2M1[bits & 7] : kE2M1[bits & 7];
  }
  return 0;
}

struct Operand {
  Format format = Format::E4M3;
  SmallVector<Row, 8> words;
  std::optional<Row> scales; // words, of which a lane gives a byte; none: 1
  unsigned scaleByte = 0;
};

struct ScaledMatrixOperation {
  unsigned size = 0, k = 0; // rows of A and columns of B
  Operand a, b;
  SmallVector<Row, 16> c, d;
};

/// Element `index` of a lane along K.
unsigned depthOf(const ScaledMatrixOperation &op, Format f, unsigned lane, unsigned index) {
  unsigned group = lane / op.size;
  if (bitsOf(f) == 4) return group * 32 + index;
  return index / 16 * (op.k / 2) + group * 16 + index % 16; // two runs of 16, half of K apart
}

/// The operand as [row of A or column of B][k], scaled.
void gather(const Warp &w, const ScaledMatrixOperation &op, const Operand &o, std::vector<double> &to) {
  to.assign(size_t(op.size) * op.k, 0);
  unsigned bits = bitsOf(o.format), perWord = 32 / bits;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < kElementsOfScale; ++i) {
      unsigned word = unsigned(loadRow(w, o.words[i / perWord], 4, lane));
      unsigned element = word >> (i % perWord * bits) & ((1u << bits) - 1);
      to[lane % op.size * op.k + depthOf(op, o.format, lane, i)] = numberOf(o.format, element);
    }
  if (!o.scales) return;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned s = loadRow(w, *o.scales, 4, lane) >> (8 * o.scaleByte) & 255;
    double scale = s == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(s) - 127);
    double *first = &to[lane % op.size * op.k + lane / op.size * kElementsOfScale];
    for (unsigned i = 0; i < kElementsOfScale; ++i) first[i] *= scale;
  }
}

void multiplyScaled(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the matrix instruction")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Matrix, "matrix instruction");
  const auto &op = *reinterpret_cast<const ScaledMatrixOperation *>(i.immediate);
  thread_local std::vector<double> a, b;
  gather(w, op, op.a, a);
  gather(w, op, op.b, b);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    SmallVector<uint64_t, 16> out;
    for (unsigned r = 0; r < op.d.size(); ++r) {
      unsigned row = r / 4 * 4 * (kLanes / op.size) + lane / op.size * 4 + r % 4, column = lane % op.size;
      double sum = 0;
      for (unsigned k = 0; k < op.k; ++k) sum += a[row * op.k + k] * b[column * op.k + k];
      sum += matrixNumber(MatrixElement::F32, loadRow(w, op.c[r], 4, lane));
      out.push_back(roundTo(MatrixElement::F32, sum));
    }
    for (unsigned r = 0; r < op.d.size(); ++r) storeRow(w, op.d[r], 4, lane, out[r]);
  }
}

bool isZero(const CallInst &c, unsigned operand) {
  auto *n = dyn_cast<ConstantInt>(c.getArgOperand(operand));
  return n && n->isZero();
}

} // namespace

/// (A, B, C, format of A, format of B, byte of A's scale, A's scales, byte of B's scale, B's scales)
void decodeScaledMatrix(Decoder &d, CallInst &c) {
  auto op = std::make_shared<ScaledMatrixOperation>();
  op->size = c.getCalledFunction()->getName().contains("32x32x64") ? 32 : 16;
  op->k = 64 * 32 / op->size;
  bool hasScales = !(isZero(c, 5) && isZero(c, 6) && isZero(c, 7) && isZero(c, 8));
  bool isKnown = d.target().warpSize == int(kLanes);
  for (unsigned n : {0u, 1u}) {
    Operand &o = n ? op->b : op->a;
    auto format = d.constantOperand(c, 3 + n);
    isKnown &= format == 0 || format == 1 || format == 4;
    o.format = Format(format);
    o.words.assign(d.rows(c.getArgOperand(n)).begin(), d.rows(c.getArgOperand(n)).end());
    isKnown &= o.words.size() == kElementsOfScale * bitsOf(o.format) / 32;
    if (!hasScales) continue;
    o.scaleByte = unsigned(d.constantOperand(c, 5 + 2 * n));
    o.scales = d.rows(c.getArgOperand(6 + 2 * n))[0];
  }
  if (!isKnown)
    return d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "' with these formats");
  op->c.assign(d.rows(c.getArgOperand(2)).begin(), d.rows(c.getArgOperand(2)).end());
  auto out = d.defineFresh(&c);
  op->d.assign(out.begin(), out.end());
  d.emitImmediate(multiplyScaled, reinterpret_cast<uint64_t>(op.get()));
  d.program().owned.push_back(op);
}

} // namespace tessera::emulator
