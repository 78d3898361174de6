// Matrix instructions of NVIDIA GPUs on registers: mma.sync, ldmatrix and stmatrix.
//
// Operands are passed in 32-bit words of consecutive elements along K. With lane = 4 · group + t, word 0 of A is row
// `group`, K elements of t in the first half of the instruction's K; word 1 the same of row group + 8; words 2 and 3
// the second half of K. B has one word per half (its column is `group`). The accumulator's registers are row group,
// columns 2t and 2t + 1, then row group + 8. The instructions of f64 are like them from sm_90 on, with one element to a
// word; before that there is one of 8 × 8 × 4.
//
// Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": mma, "Matrix Fragments for mma.m16n8k…" and
// "… mma.m8n8k4 with .f64", ldmatrix, stmatrix.
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/matrix_words.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::nvidia {
using namespace llvm;
using ir::MatrixInstruction;
using ir::MatrixType;

StringRef matrixTypeName(MatrixType t) {
  switch (t) {
  case MatrixType::F16: return "f16";
  case MatrixType::BF16: return "bf16";
  case MatrixType::F32: return "f32";
  case MatrixType::TF32: return "tf32";
  case MatrixType::F64: return "f64";
  case MatrixType::I8: return "s8";
  case MatrixType::I32: return "s32";
  case MatrixType::F8E4M3FN: return "e4m3";
  case MatrixType::F8E5M2: return "e5m2";
  case MatrixType::F8E4M3FNUZ:
  case MatrixType::F8E5M2FNUZ: break; // not NVIDIA's
  }
  return "";
}

void words(IRBuilder<> &b, ArrayRef<Value *> values, SmallVectorImpl<Value *> &out) {
  unsigned bits = values[0]->getType()->getPrimitiveSizeInBits(), perWord = bits >= 32 ? 1 : 32 / bits;
  for (unsigned i = 0; i < values.size(); i += perWord) {
    if (bits == 64) {
      out.push_back(values[i]);
      continue;
    }
    Value *v = values[i];
    if (perWord > 1) {
      v = PoisonValue::get(FixedVectorType::get(values[i]->getType(), perWord));
      for (unsigned k = 0; k < perWord; ++k) v = b.CreateInsertElement(v, values[i + k], k);
    }
    out.push_back(b.CreateBitCast(v, b.getInt32Ty()));
  }
}

/// 8-bit floats of a fragment as halves: `values` are rows of `depth` elements each, of which `half` (0 or 1) is taken.
static SmallVector<Value *, 16> widened(IRBuilder<> &b, MatrixType type, ArrayRef<Value *> values, unsigned depth,
                                        unsigned half) {
  auto convert = type == MatrixType::F8E4M3FN ? Intrinsic::nvvm_e4m3x2_to_f16x2_rn : Intrinsic::nvvm_e5m2x2_to_f16x2_rn;
  SmallVector<Value *, 16> halves;
  for (unsigned i = half * depth / 2; i < values.size(); i += depth) {
    for (unsigned pair = 0; pair < depth / 2; pair += 2) {
      Value *bytes = PoisonValue::get(FixedVectorType::get(b.getInt8Ty(), 2));
      for (unsigned k : {0u, 1u})
        bytes = b.CreateInsertElement(bytes, b.CreateBitCast(values[i + pair + k], b.getInt8Ty()), k);
      Value *wide = b.CreateIntrinsic(convert, {}, {b.CreateBitCast(bytes, b.getInt16Ty())});
      for (uint64_t k : {0, 1}) halves.push_back(b.CreateExtractElement(wide, k));
    }
  }
  return halves;
}

codegen::MatrixFragment NvidiaTarget::matrixFragment(const MatrixInstruction &inst, const layouts::Encoding *) const {
  codegen::MatrixFragment f;
  f.lanesOfK = 3;
  if (inst.m == 8) {
    f.accumulator = {{0, 0}, {0, 1}};
    return f;
  }
  f.rows = {0, 8};
  f.accumulator = {{0, 0}, {0, 1}, {8, 0}, {8, 1}};
  return f;
}

void NvidiaTarget::multiply(IRBuilder<> &b, const MatrixInstruction &inst, ArrayRef<Value *> a, ArrayRef<Value *> bb,
                            MutableArrayRef<Value *> acc) const {
  // Before sm_90 the tile of f64 is 8 × 8: two of them.
  if (inst.c == MatrixType::F64 && inst.m == 16 && info_.computeCapability < 90) {
    MatrixInstruction half = inst;
    half.m = 8;
    for (unsigned k : {0u, 1u}) multiply(b, half, a.slice(k * inst.depth(), inst.depth()), bb, acc.slice(2 * k, 2));
    return;
  }
  unsigned depth = inst.depth();
  // The matrix units of sm_90 to sm_103 do not take 8-bit floats from mma.sync: ptxas converts the operands to halves,
  // accumulates into zeros and adds. Converted here, they accumulate in the matrix unit. Of a lane's four consecutive
  // elements along K, two go into either half of the narrower instruction's K, in A as in B.
  bool narrow = inst.a == MatrixType::F8E4M3FN || inst.a == MatrixType::F8E5M2;
  if (narrow && info_.computeCapability >= 90 && info_.computeCapability < 120) {
    MatrixInstruction halves = inst;
    halves.a = halves.b = MatrixType::F16;
    halves.k = inst.k / 2;
    for (unsigned half : {0u, 1u})
      multiply(b, halves, widened(b, inst.a, a, depth, half), widened(b, inst.b, bb, depth, half), acc);
    return;
  }
  SmallVector<Value *, 4> aRows, aWords, bWords, cWords;
  words(b, a, aRows);
  // [row][half of K] → the instruction's order, rows first.
  unsigned rows = a.size() / depth, perRow = aRows.size() / rows;
  for (unsigned half = 0; half < perRow; ++half)
    for (unsigned row = 0; row < rows; ++row) aWords.push_back(aRows[row * perRow + half]);
  words(b, bb, bWords);
  bool halves = inst.c == MatrixType::F16;
  if (halves)
    words(b, acc, cWords);
  else
    cWords.append(acc.begin(), acc.end());
  unsigned nc = cWords.size();

  InlinePtx ptx(b);
  ptx.addResults(cWords[0]->getType(), nc);
  std::string text = "mma.sync.aligned.m" + std::to_string(inst.m) + "n" + std::to_string(inst.n) + "k" +
                     std::to_string(inst.k) + ".row.col." + matrixTypeName(inst.c).str() + "." +
                     matrixTypeName(inst.a).str() + "." + matrixTypeName(inst.b).str() + "." +
                     matrixTypeName(inst.c).str() + " " + InlinePtx::list(0, nc) + ", ";
  text += ptx.operands(aWords) + ", ";
  text += ptx.operands(bWords) + ", ";
  // In place: the tied operands are named by their own numbers, which LLVM prints as the same registers.
  for (auto [i, v] : enumerate(cWords)) ptx.addTied(v, i);
  text += InlinePtx::list(nc + aWords.size() + bWords.size(), nc) + ";";
  auto *call = ptx.emitConvergent(text, InlinePtx::Effects::None);
  recordMatrixInstruction(*call, /*ofWarpGroup=*/false);
  for (auto [i, v] : enumerate(ptx.resultsOf(call))) {
    if (!halves) {
      acc[i] = v;
      continue;
    }
    Value *pair = b.CreateBitCast(v, FixedVectorType::get(b.getHalfTy(), 2));
    acc[2 * i] = b.CreateExtractElement(pair, uint64_t(0));
    acc[2 * i + 1] = b.CreateExtractElement(pair, 1);
  }
}

SmallVector<Value *, 4> NvidiaTarget::loadMatrices(IRBuilder<> &b, Value *ptr, unsigned count, bool transposed) const {
  InlinePtx ptx(b);
  ptx.addResults(b.getInt32Ty(), count);
  auto *call =
      ptx.emitConvergent("ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
                         ".shared.b16 " + InlinePtx::list(0, count) + ", [" + ptx.operand(ptr) + "];");
  return ptx.resultsOf(call);
}

void NvidiaTarget::storeMatrices(IRBuilder<> &b, Value *ptr, ArrayRef<Value *> words, bool transposed) const {
  InlinePtx ptx(b);
  std::string at = "[" + ptx.operand(ptr) + "]";
  ptx.emitConvergent("stmatrix.sync.aligned.m8n8.x" + std::to_string(words.size()) + (transposed ? ".trans" : "") +
                     ".shared.b16 " + at + ", " + ptx.operands(words) + ";");
}

} // namespace tessera::nvidia
