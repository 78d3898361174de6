// Fragments and arithmetic of matrix instructions (see matrix.h). Sources:
//   mma.sync  PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", figures "Matrix Fragments for
//             mma.m16n8k*", "… mma.m8n8k4 with .f64"
//   MFMA      "AMD Instinct MI300 Instruction Set Architecture", "Matrix Arithmetic Instructions", "Dense matrix
//             layouts"
//   WMMA      "RDNA3" and "RDNA4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"
// Each a * b is exact in double; the sum over K is taken in double and rounded once to the accumulator's type,
// where hardware rounds or truncates in an order that the manuals leave open. Integers wrap. tf32 and xf32 drop low
// bits.
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/scaled_matrix.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::emulator {
using namespace llvm;

unsigned elementBits(MatrixElement e) {
  switch (e) {
  case MatrixElement::None: return 0;
  case MatrixElement::F16:
  case MatrixElement::BF16: return 16;
  case MatrixElement::TF32:
  case MatrixElement::F32:
  case MatrixElement::S32: return 32;
  case MatrixElement::F64: return 64;
  case MatrixElement::S8:
  case MatrixElement::U8:
  case MatrixElement::E4M3FN:
  case MatrixElement::E5M2:
  case MatrixElement::E4M3FNUZ:
  case MatrixElement::E5M2FNUZ: return 8;
  }
  return 0;
}

double matrixNumber(MatrixElement e, uint64_t bits) {
  switch (e) {
  case MatrixElement::F16: return halfToFloat(uint16_t(bits));
  case MatrixElement::BF16: return bfloatToFloat(uint16_t(bits));
  case MatrixElement::TF32: return std::bit_cast<float>(uint32_t(bits) & 0xffffe000);
  case MatrixElement::F32: return std::bit_cast<float>(uint32_t(bits));
  case MatrixElement::F64: return std::bit_cast<double>(bits);
  case MatrixElement::S8: return int8_t(bits);
  case MatrixElement::U8: return uint8_t(bits);
  case MatrixElement::S32: return int32_t(bits);
  case MatrixElement::E4M3FN: return runtime::decodeFloat(ir::FloatKind::F8E4M3FN, bits);
  case MatrixElement::E5M2: return runtime::decodeFloat(ir::FloatKind::F8E5M2, bits);
  case MatrixElement::E4M3FNUZ: return runtime::decodeFloat(ir::FloatKind::F8E4M3FNUZ, bits);
  case MatrixElement::E5M2FNUZ: return runtime::decodeFloat(ir::FloatKind::F8E5M2FNUZ, bits);
  case MatrixElement::None: break;
  }
  return 0;
}

uint64_t roundTo(MatrixElement e, double x) {
  return e == MatrixElement::F16   ? runtime::encodeFloat(ir::FloatKind::F16, x)
         : e == MatrixElement::F64 ? std::bit_cast<uint64_t>(x)
                                   : std::bit_cast<uint32_t>(float(x));
}
MatrixElement ptxElement(StringRef t) {
  return StringSwitch<MatrixElement>(t)
      .Case("f16", MatrixElement::F16)
      .Case("bf16", MatrixElement::BF16)
      .Case("tf32", MatrixElement::TF32)
      .Case("f32", MatrixElement::F32)
      .Case("f64", MatrixElement::F64)
      .Case("s8", MatrixElement::S8)
      .Case("u8", MatrixElement::U8)
      .Case("s32", MatrixElement::S32)
      .Case("e4m3", MatrixElement::E4M3FN)
      .Case("e5m2", MatrixElement::E5M2)
      .Default(MatrixElement::None);
}

namespace {

unsigned bitsOf(MatrixElement e) { return elementBits(e); }
double numberOf(MatrixElement e, uint64_t bits) { return matrixNumber(e, bits); }

/// Element `index` of the rows in a lane.
uint64_t elementAt(const Warp &w, ArrayRef<Row> rows, unsigned rowBytes, unsigned bits, unsigned index, unsigned lane) {
  unsigned at = index * bits, rowBits = 8 * rowBytes;
  uint64_t v = loadRow(w, rows[at / rowBits], rowBytes, lane) >> (at % rowBits);
  return bits == 64 ? v : v & ((uint64_t(1) << bits) - 1);
}

struct Place {
  unsigned row, column;
};

/// Row and depth of element `index` that a lane holds of A; of B likewise column and depth.
Place operandPlace(const MatrixOperation &op, bool isA, unsigned bits, unsigned lane, unsigned index) {
  switch (op.family) {
  case MatrixFamily::MmaSync: {
    unsigned group = lane / 4, t = lane % 4, perWord = bits >= 32 ? 1 : 32 / bits, word = index / perWord,
             in = index % perWord;
    if (!isA || op.m == 8) return {group, t * perWord + word * 4 * perWord + in};
    return {group + 8 * (word & 1), t * perWord + (word >> 1) * 4 * perWord + in};
  }
  case MatrixFamily::Mfma: {
    if (op.blocks > 1) return {lane, index}; // the blocks' rows (columns) one after the other
    unsigned across = isA ? op.m : op.n, perLane = op.k / (64 / across), group = lane / across;
    // 32 elements of 8 bits are two runs of 16, half of K apart.
    if (bits == 8 && perLane == 32) return {lane % across, index / 16 * (op.k / 2) + group * 16 + index % 16};
    return {lane % across, group * perLane + index};
  }
  case MatrixFamily::Wmma1: return {lane % 16, index}; // both halves of the wave hold the same
  case MatrixFamily::Wmma2: return {lane % 16, lane / 16 * 8 + index};
  }
  return {};
}
/// Row and column of element `index` of the accumulator: the row of A and the column of B.
Place accumulatorPlace(const MatrixOperation &op, unsigned lane, unsigned index) {
  switch (op.family) {
  case MatrixFamily::MmaSync: return {lane / 4 + 8 * (index / 2), 2 * (lane % 4) + index % 2};
  case MatrixFamily::Mfma:
    // Block lane / 4; `broadcastFrom` is 0 without a broadcast.
    if (op.blocks > 1) return {((lane / 4 >> op.broadcast << op.broadcast) + op.broadcastFrom) * 4 + index, lane};
    if (op.c == MatrixElement::F64) return {lane / 16 + 4 * index, lane % 16};
    return {index / 4 * 4 * (64 / op.n) + lane / op.n * 4 + index % 4, lane % op.n};
  case MatrixFamily::Wmma1: return {2 * index + lane / 16, lane % 16};
  case MatrixFamily::Wmma2: return {lane / 16 * 8 + index, lane % 16};
  }
  return {};
}

void multiply(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the matrix instruction")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Matrix, "matrix instruction");
  const MatrixOperation &op = *reinterpret_cast<const MatrixOperation *>(i.immediate);
  thread_local std::vector<double> a, b;
  a.assign(size_t(op.m) * op.blocks * op.k, 0), b.assign(size_t(op.n) * op.blocks * op.k, 0);
  auto gather = [&](bool isA, std::vector<double> &to, ArrayRef<Row> rows, unsigned bytes, MatrixElement e) {
    unsigned bits = bitsOf(e), count = unsigned(rows.size()) * bytes * 8 / bits;
    for (unsigned l = 0; l < w.lanes; ++l)
      for (unsigned k = 0; k < count; ++k) {
        Place p = operandPlace(op, isA, bits, l, k);
        to[p.row * op.k + p.column] = numberOf(e, elementAt(w, rows, bytes, bits, k, l));
      }
  };
  gather(true, a, op.aRows, op.aBytes, op.a);
  gather(false, b, op.bRows, op.bBytes, op.b);
  unsigned bits = bitsOf(op.c), perRow = op.accumulatorBytes * 8 / bits, count = unsigned(op.d.size()) * perRow;
  for (unsigned l = 0; l < w.lanes; ++l) {
    SmallVector<uint64_t, 16> out(op.d.size(), 0);
    for (unsigned k = 0; k < count; ++k) {
      Place p = accumulatorPlace(op, l, k);
      uint64_t old = elementAt(w, op.cRows, op.accumulatorBytes, bits, k, l), r;
      const double *x = &a[p.row * op.k], *y = &b[p.column * op.k];
      if (op.c == MatrixElement::S32) {
        int64_t sum = int32_t(old);
        for (unsigned j = 0; j < op.k; ++j) sum += int64_t(x[j]) * int64_t(y[j]);
        r = uint32_t(sum);
      } else {
        double sum = 0;
        for (unsigned j = 0; j < op.k; ++j) sum += x[j] * y[j];
        sum += numberOf(op.c, old);
        r = roundTo(op.c, sum);
      }
      out[k / perRow] |= r << (k % perRow * bits);
    }
    for (unsigned k = 0; k < op.d.size(); ++k) storeRow(w, op.d[k], op.accumulatorBytes, l, out[k]);
  }
}

constexpr const char *kScaleSection = "ISA guide (CDNA4), Matrix Arithmetic Instructions: V_MFMA_*_F8F6F4";
constexpr const char *kMfmaSection = "ISA guide (MI300), Matrix Arithmetic Instructions: V_MFMA_*",
                     *kWmmaSection = "ISA guide (RDNA3, RDNA4), Wave Matrix Multiply Accumulate: V_WMMA_*";

/// The kinds of 8-bit floats in an intrinsic's name, by target.
MatrixElement f8(Decoder &d, StringRef name) {
  bool fnuz = d.target().convertsE4M3FNUZ;
  return name == "fp8" ? (fnuz ? MatrixElement::E4M3FNUZ : MatrixElement::E4M3FN)
         : fnuz        ? MatrixElement::E5M2FNUZ
                       : MatrixElement::E5M2;
}
/// llvm.amdgcn.mfma.f32.32x32x8f16, .16x16x32.bf16, .16x16x32.fp8.bf8, .16x16x16bf16.1k;
/// llvm.amdgcn.wmma.f32.16x16x16.f16.
void decodeMatrix(Decoder &d, CallInst &c) {
  StringRef name = Intrinsic::getBaseName(c.getCalledFunction()->getIntrinsicID());
  auto no = [&] { d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "'"); };
  MatrixOperation op;
  StringRef rest = name;
  rest.consume_front("llvm.amdgcn.");
  bool mfma = rest.consume_front("mfma.");
  if (!mfma) rest.consume_front("wmma.");
  auto element = [&](StringRef t) {
    if (t == "fp8" || t == "bf8") return f8(d, t);
    return StringSwitch<MatrixElement>(t)
        .Case("f16", MatrixElement::F16)
        .Case("bf16", MatrixElement::BF16)
        .Cases({"f32"}, MatrixElement::F32)
        .Case("xf32", MatrixElement::TF32)
        .Case("f64", MatrixElement::F64)
        .Cases({"i8", "iu8"}, MatrixElement::S8)
        .Case("i32", MatrixElement::S32)
        .Default(MatrixElement::None);
  };
  auto [accumulator, tail] = rest.split('.');
  op.c = element(accumulator);
  if (tail.consumeInteger(10, op.m) || !tail.consume_front("x") || tail.consumeInteger(10, op.n) ||
      !tail.consume_front("x") || tail.consumeInteger(10, op.k))
    return no();
  tail.consume_front(".");
  tail.consume_back(".1k");
  auto [first, second] = tail.split('.');
  op.a = element(first);
  op.b = second.empty() ? op.a : element(second);
  unsigned at = 0;
  if (!mfma && first == "iu8") {
    // (A signed, A, B signed, B, C, clamp)
    if (d.constantOperand(c, 5)) return no();
    op.a = d.constantOperand(c, 0) ? MatrixElement::S8 : MatrixElement::U8;
    op.b = d.constantOperand(c, 2) ? MatrixElement::S8 : MatrixElement::U8;
  } else if (mfma) {
    // CBSZ, ABID, BLGP
    op.blocks = op.m == 4 && op.n == 4 ? 16 : 1;
    op.broadcast = unsigned(d.constantOperand(c, 3));
    op.broadcastFrom = unsigned(d.constantOperand(c, 4));
    if (d.constantOperand(c, 5) || op.broadcast > Log2_32(op.blocks) || op.broadcastFrom >> op.broadcast) return no();
  }
  bool flags = !mfma && first == "iu8";
  Value *a = c.getArgOperand(flags ? 1 : at), *b = c.getArgOperand(flags ? 3 : at + 1),
        *z = c.getArgOperand(flags ? 4 : at + 2);
  op.family = mfma ? MatrixFamily::Mfma : d.target().matrixVersion == 1 ? MatrixFamily::Wmma1 : MatrixFamily::Wmma2;
  op.aRows.assign(d.rows(a).begin(), d.rows(a).end());
  op.bRows.assign(d.rows(b).begin(), d.rows(b).end());
  op.cRows.assign(d.rows(z).begin(), d.rows(z).end());
  op.aBytes = d.bytesOf(d.elements(a->getType())[0]);
  op.bBytes = d.bytesOf(d.elements(b->getType())[0]);
  op.accumulatorBytes = d.bytesOf(d.elements(z->getType())[0]);
  auto out = d.defineFresh(&c);
  op.d.assign(out.begin(), out.end());
  std::string why;
  if (!emitMatrixOperation(d, std::move(op), why))
    d.unknown(c, "the intrinsic '" + c.getCalledFunction()->getName().str() + "' (" + why + ")");
}

} // namespace

bool emitMatrixOperation(Decoder &d, MatrixOperation op, std::string &why) {
  auto refuse = [&](const char *reason) {
    why = reason;
    return false;
  };
  if (op.a == MatrixElement::None || op.b == MatrixElement::None || op.c == MatrixElement::None ||
      bitsOf(op.a) != bitsOf(op.b))
    return refuse("types");
  // The registers must hold exactly one fragment.
  unsigned lanes = op.family == MatrixFamily::Mfma ? 64 : 32;
  if (d.target().warpSize != int(lanes)) return refuse("size of the wave");
  bool shape = op.family == MatrixFamily::MmaSync
                   ? (op.m == 16 && op.n == 8) || (op.m == 8 && op.n == 8 && op.k == 4 && op.c == MatrixElement::F64)
               : op.family == MatrixFamily::Mfma ? op.m == op.n && (op.m == 16 || op.m == 32 || op.blocks == 16)
                                                 : op.m == 16 && op.n == 16 && op.k == 16;
  unsigned copies = op.family == MatrixFamily::Wmma1 ? 2 : 1;
  copies *= op.blocks;
  shape &= op.aRows.size() * op.aBytes * 8 * lanes == size_t(op.m) * op.k * bitsOf(op.a) * copies;
  shape &= op.bRows.size() * op.bBytes * 8 * lanes == size_t(op.n) * op.k * bitsOf(op.b) * copies;
  shape &= op.cRows.size() * op.accumulatorBytes * 8 * lanes == size_t(op.m) * op.n * bitsOf(op.c) * op.blocks &&
           op.d.size() == op.cRows.size();
  bool depth = op.k % 4 == 0 || (op.family == MatrixFamily::Mfma && (op.k == 2 || (op.k == 1 && op.blocks == 16)));
  if (!shape || !depth) return refuse("shape");
  auto kept = std::make_shared<MatrixOperation>(std::move(op));
  d.emitImmediate(multiply, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
  return true;
}

ArrayRef<IntrinsicRow> amdMatrixIntrinsics() {
  static const IntrinsicRow rows[] = {
      {"llvm.amdgcn.mfma.f32.32x32x8f16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x16f16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.f16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.f16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x8bf16.1k", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x16bf16.1k", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.bf16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.bf16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x2f32", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x4f32", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x4.xf32", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x8.xf32", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f64.16x16x4f64", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.32x32x8i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.16x16x16i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.32x32x16.i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.16x16x32.i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.32x32x32.i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.16x16x64.i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.fp8.bf8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.bf8.fp8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.32x32x16.bf8.bf8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.bf8.fp8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", kScaleSection, decodeScaledMatrix},
      {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", kScaleSection, decodeScaledMatrix},
      {"llvm.amdgcn.mfma.f32.16x16x32.bf8.bf8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.4x4x4f16", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.4x4x4bf16.1k", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.f32.4x4x1f32", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.mfma.i32.4x4x4i8", kMfmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.f16", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.bf16", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.i32.16x16x16.iu8", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.fp8.bf8", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.bf8.fp8", kWmmaSection, decodeMatrix},
      {"llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8", kWmmaSection, decodeMatrix},
  };
  return rows;
}

} // namespace tessera::emulator
