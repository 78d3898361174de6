// Matrix instructions of AMD GPUs. CDNA's MFMA keep four consecutive rows of the accumulator in four registers of a
// lane and give K to groups of lanes; RDNA 3's WMMA take every operand twice, in both halves of the wave, and spread
// the accumulator's rows over the halves alternately; RDNA 4's distribute K and rows over the halves in blocks of
// eight. Narrow operands travel in vectors of their own type (f16, bf16, and bf16 as i16 where LLVM's intrinsic says
// so) or packed in integers (8 bits).
//
// Fragments: "AMD Instinct MI300 Instruction Set Architecture", chapter "Matrix Arithmetic Instructions"; "RDNA 3" and
// "RDNA 4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"; checked against AMD's matrix instruction
// calculator.
#include "codegen_amd/lowering_target.h"
#include "ir/scaled_dots.h"
#include "layouts/amd_mfma.h"
#include "layouts/amd_wmma.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;
using ir::MatrixInstruction;
using ir::MatrixType;

codegen::MatrixFragment AmdTarget::matrixFragment(const MatrixInstruction &inst, const layouts::Encoding *e) const {
  codegen::MatrixFragment f;
  if (auto *mfma = layouts::dynCast<layouts::AmdMfmaEncoding>(e)) {
    f.transposed = mfma->params().isTransposed;
    if (inst.m == 4 || inst.n == 4) {
      // v_mfma_…_4x4x…_16b multiplies 16 blocks of 4 by 4, each of four lanes. The blocks are side by side along the
      // 64, and CBSZ and ABID give A of one block to all: the blocks' lanes hold A for different parts of K.
      for (int i = 0; i < 4; ++i) f.accumulator.push_back({i, 0});
      f.lanesOfK = info_.warpSize - 4;
      f.broadcasts = true;
      return f;
    }
    // Groups of lanes take four rows each (f64: one), then the registers continue below all groups.
    int height = inst.c == MatrixType::F64 ? 1 : 4, groups = info_.warpSize / inst.n;
    for (int i = 0; i < inst.m * inst.n / info_.warpSize; ++i)
      f.accumulator.push_back({i % height + i / height * height * groups, 0});
    f.lanesOfK = info_.warpSize - inst.n;
    return f;
  }
  auto *wmma = layouts::dynCast<layouts::AmdWmmaEncoding>(e);
  f.transposed = wmma->params().isTransposed;
  for (int i = 0; i < 8; ++i) f.accumulator.push_back({wmma->params().alternatesRows() ? 2 * i : i, 0});
  f.lanesOfK = wmma->params().version == 1 ? 0 : 16;
  return f;
}

namespace {

Value *vectorOf(IRBuilder<> &b, ArrayRef<Value *> values) {
  if (values.size() == 1) return values[0];
  Value *v = PoisonValue::get(FixedVectorType::get(values[0]->getType(), values.size()));
  for (auto [i, x] : enumerate(values)) v = b.CreateInsertElement(v, x, i);
  return v;
}

/// i8 values as one integer, or as words.
Value *packed(IRBuilder<> &b, ArrayRef<Value *> values, bool words) {
  Value *v = vectorOf(b, values);
  unsigned bits = 8 * values.size();
  return b.CreateBitCast(v, words && bits > 32 ? (Type *)FixedVectorType::get(b.getInt32Ty(), bits / 32)
                                               : b.getIntNTy(bits));
}

/// The instruction on 16 blocks for a row of the table of 4 by 64 (or 64 by 4).
Intrinsic::ID blockIntrinsic(MatrixType t) {
  switch (t) {
  case MatrixType::F16: return Intrinsic::amdgcn_mfma_f32_4x4x4f16;
  case MatrixType::BF16: return Intrinsic::amdgcn_mfma_f32_4x4x4bf16_1k;
  case MatrixType::F32: return Intrinsic::amdgcn_mfma_f32_4x4x1f32;
  case MatrixType::I8: return Intrinsic::amdgcn_mfma_i32_4x4x4i8;
  case MatrixType::TF32:
  case MatrixType::F64:
  case MatrixType::I32:
  case MatrixType::F8E4M3FN:
  case MatrixType::F8E5M2:
  case MatrixType::F8E4M3FNUZ:
  case MatrixType::F8E5M2FNUZ: break;
  }
  return Intrinsic::not_intrinsic;
}

struct Mfma {
  MatrixType a, b;
  int m, k;
  Intrinsic::ID id;
};
constexpr Mfma kMfma[] = {
    {MatrixType::F16, MatrixType::F16, 32, 8, Intrinsic::amdgcn_mfma_f32_32x32x8f16},
    {MatrixType::F16, MatrixType::F16, 16, 16, Intrinsic::amdgcn_mfma_f32_16x16x16f16},
    {MatrixType::F16, MatrixType::F16, 32, 16, Intrinsic::amdgcn_mfma_f32_32x32x16_f16},
    {MatrixType::F16, MatrixType::F16, 16, 32, Intrinsic::amdgcn_mfma_f32_16x16x32_f16},
    {MatrixType::BF16, MatrixType::BF16, 32, 8, Intrinsic::amdgcn_mfma_f32_32x32x8bf16_1k},
    {MatrixType::BF16, MatrixType::BF16, 16, 16, Intrinsic::amdgcn_mfma_f32_16x16x16bf16_1k},
    {MatrixType::BF16, MatrixType::BF16, 32, 16, Intrinsic::amdgcn_mfma_f32_32x32x16_bf16},
    {MatrixType::BF16, MatrixType::BF16, 16, 32, Intrinsic::amdgcn_mfma_f32_16x16x32_bf16},
    {MatrixType::F32, MatrixType::F32, 32, 2, Intrinsic::amdgcn_mfma_f32_32x32x2f32},
    {MatrixType::F32, MatrixType::F32, 16, 4, Intrinsic::amdgcn_mfma_f32_16x16x4f32},
    {MatrixType::TF32, MatrixType::TF32, 32, 4, Intrinsic::amdgcn_mfma_f32_32x32x4_xf32},
    {MatrixType::TF32, MatrixType::TF32, 16, 8, Intrinsic::amdgcn_mfma_f32_16x16x8_xf32},
    {MatrixType::F64, MatrixType::F64, 16, 4, Intrinsic::amdgcn_mfma_f64_16x16x4f64},
    {MatrixType::I8, MatrixType::I8, 32, 8, Intrinsic::amdgcn_mfma_i32_32x32x8i8},
    {MatrixType::I8, MatrixType::I8, 16, 16, Intrinsic::amdgcn_mfma_i32_16x16x16i8},
    {MatrixType::I8, MatrixType::I8, 32, 16, Intrinsic::amdgcn_mfma_i32_32x32x16_i8},
    {MatrixType::I8, MatrixType::I8, 16, 32, Intrinsic::amdgcn_mfma_i32_16x16x32_i8},
    {MatrixType::I8, MatrixType::I8, 32, 32, Intrinsic::amdgcn_mfma_i32_32x32x32_i8},
    {MatrixType::I8, MatrixType::I8, 16, 64, Intrinsic::amdgcn_mfma_i32_16x16x64_i8},
};

bool isFp8(MatrixType t) { return t == MatrixType::F8E4M3FN || t == MatrixType::F8E4M3FNUZ; }
bool isBf8(MatrixType t) { return t == MatrixType::F8E5M2 || t == MatrixType::F8E5M2FNUZ; }
bool isInteger(MatrixType t) { return t == MatrixType::I8; }
/// One instruction for all kinds of narrow floats (f8f6f4), which CBSZ and BLGP number: those of 32 elements in a lane.
bool takesKindsAsNumbers(const MatrixInstruction &inst) {
  return (isFp8(inst.a) || isBf8(inst.a)) && inst.depth() == 32;
}

/// The instruction on 8-bit floats by the kinds of its operands.
Intrinsic::ID f8Intrinsic(MatrixType a, MatrixType b, Intrinsic::ID fp8fp8, Intrinsic::ID fp8bf8, Intrinsic::ID bf8fp8,
                          Intrinsic::ID bf8bf8) {
  return isFp8(a) ? isFp8(b) ? fp8fp8 : fp8bf8 : isFp8(b) ? bf8fp8 : bf8bf8;
}

Intrinsic::ID mfmaIntrinsic(const MatrixInstruction &inst) {
  if ((isFp8(inst.a) || isBf8(inst.a)) && (isFp8(inst.b) || isBf8(inst.b)))
    return inst.m == 32
               ? f8Intrinsic(inst.a, inst.b, Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_fp8,
                             Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_bf8, Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_fp8,
                             Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_bf8)
               : f8Intrinsic(inst.a, inst.b, Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_fp8,
                             Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_bf8, Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_fp8,
                             Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_bf8);
  for (auto &row : kMfma)
    if (row.a == inst.a && row.b == inst.b && row.m == inst.m && row.k == inst.k) return row.id;
  return Intrinsic::not_intrinsic;
}

/// An operand as the intrinsics take it.
Value *operandOf(IRBuilder<> &b, ArrayRef<Value *> values, MatrixType type, bool mfma) {
  // MFMA take 8 bits as i32, i64 or words (four of them), WMMA as words.
  if (values[0]->getType()->isIntegerTy(8)) return packed(b, values, !mfma || values.size() > 8);
  Value *v = vectorOf(b, values);
  bool asShorts = type == MatrixType::BF16 && (mfma ? values.size() == 4 : true);
  return asShorts ? b.CreateBitCast(v, FixedVectorType::get(b.getInt16Ty(), values.size())) : v;
}

} // namespace

void AmdTarget::multiplyBroadcast(IRBuilder<> &b, const MatrixInstruction &inst, ArrayRef<Value *> a,
                                  ArrayRef<Value *> bb, MutableArrayRef<Value *> acc, unsigned group) const {
  Value *x = operandOf(b, a, inst.a, true), *y = operandOf(b, bb, inst.b, true);
  constexpr unsigned kToAllBlocks = 4; // CBSZ: A goes to 2^4 blocks, from block ABID
  Value *d = b.CreateIntrinsic(blockIntrinsic(inst.a), {},
                               {x, y, vectorOf(b, acc), b.getInt32(kToAllBlocks), b.getInt32(group), b.getInt32(0)});
  for (unsigned i = 0; i < acc.size(); ++i) acc[i] = b.CreateExtractElement(d, i);
}

/// How …_f8f6f4 number the kinds of operands (CDNA4 guide, "Matrix operand formats").
static unsigned formatOf(MatrixType t) { return t == ir::kPackedE2M1 ? 4 : isBf8(t) ? 1 : 0; }

/// The scale (e8m0) that a lane gives: a byte of an i32.
struct Scale {
  Value *word = nullptr; // null: 1 for all
  unsigned byte = 0;
};

/// …_f8f6f4. Without any scales it is the plain instruction.
static Value *mixedFormats(IRBuilder<> &b, const MatrixInstruction &inst, Value *x, Value *y, Value *z, Scale ofA = {},
                           Scale ofB = {}) {
  constexpr uint32_t kOne = 127; // 2^(127 - 127)
  bool isPlain = !ofA.word && !ofB.word;
  for (Scale *s : {&ofA, &ofB}) {
    if (!s->word) s->word = b.getInt32(isPlain ? 0 : kOne);
    // LLVM makes the plain instruction of byte 0 of the constant 0, which is a scale here, of 2^-127.
    bool isZero = !isPlain && match(s->word, PatternMatch::m_Zero());
    if (isZero) s->byte = 1;
  }
  auto id = inst.m == 32 ? Intrinsic::amdgcn_mfma_scale_f32_32x32x64_f8f6f4
                         : Intrinsic::amdgcn_mfma_scale_f32_16x16x128_f8f6f4;
  return b.CreateIntrinsic(id, {x->getType(), y->getType()},
                           {x, y, z, b.getInt32(formatOf(inst.a)), b.getInt32(formatOf(inst.b)), b.getInt32(ofA.byte),
                            ofA.word, b.getInt32(ofB.byte), ofB.word});
}

/// An instruction of ir::scaledMatrixInstructions: of each operand the fragment as a vector of words, then, if it has
/// scales, the word and the byte in it.
static Value *scaledMfma(IRBuilder<> &b, const MatrixInstruction &inst, ArrayRef<Value *> x, ArrayRef<Value *> y,
                         Value *z) {
  auto scaleOf = [](ArrayRef<Value *> operand) {
    if (operand.size() == 1) return Scale();
    return Scale{operand[1], unsigned(cast<ConstantInt>(operand[2])->getZExtValue())};
  };
  return mixedFormats(b, inst, x[0], y[0], z, scaleOf(x), scaleOf(y));
}

void AmdTarget::multiply(IRBuilder<> &b, const MatrixInstruction &inst, ArrayRef<Value *> a, ArrayRef<Value *> bb,
                         MutableArrayRef<Value *> acc) const {
  bool mfma = info_.matrixUnit == ir::MatrixUnit::Mfma;
  if (a[0]->getType()->isVectorTy()) {
    Value *d = scaledMfma(b, inst, a, bb, vectorOf(b, acc));
    for (unsigned i = 0; i < acc.size(); ++i) acc[i] = b.CreateExtractElement(d, i);
    return;
  }
  Value *x = operandOf(b, a, inst.a, mfma), *y = operandOf(b, bb, inst.b, mfma), *z = vectorOf(b, acc), *d;
  if (mfma && takesKindsAsNumbers(inst)) {
    d = mixedFormats(b, inst, x, y, z);
  } else if (mfma) {
    d = b.CreateIntrinsic(mfmaIntrinsic(inst), {}, {x, y, z, b.getInt32(0), b.getInt32(0), b.getInt32(0)});
  } else if (isInteger(inst.a)) {
    // Both signed, no clamping.
    d = b.CreateIntrinsic(Intrinsic::amdgcn_wmma_i32_16x16x16_iu8, {z->getType(), x->getType()},
                          {b.getTrue(), x, b.getTrue(), y, z, b.getFalse()});
  } else {
    Intrinsic::ID id =
        inst.a == MatrixType::F16 ? Intrinsic::amdgcn_wmma_f32_16x16x16_f16
        : inst.a == MatrixType::BF16
            ? Intrinsic::amdgcn_wmma_f32_16x16x16_bf16
            : f8Intrinsic(inst.a, inst.b, Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_fp8,
                          Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_bf8, Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_fp8,
                          Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_bf8);
    d = b.CreateIntrinsic(id, {z->getType(), x->getType()}, {x, y, z});
  }
  for (unsigned i = 0; i < acc.size(); ++i) acc[i] = b.CreateExtractElement(d, i);
}

} // namespace tessera::amd
