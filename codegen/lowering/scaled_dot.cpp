// Lowering of tt.dot_scaled to matrix instructions that take scales, v_mfma_scale_f32_16x16x128_f8f6f4 and
// …_32x32x64_f8f6f4. For every tile that the warp owns, and every step along K, the registers of the operands'
// fragments and a byte of a register of scales go into one instruction (Target::multiply).
//
// Which element is scaled by which lane's scale (CDNA4 guide, "Matrix Arithmetic Instructions"): lanes l, l + 16, … (of
// 32x32x64: l, l + 32) hold parts of row l. Scale number g along K, of elements 32 g to 32 g + 31, is given by the g-th
// of these lanes. Elements of 4 bits are in the same lane as their scale, 32 in sequence. Of 8 bits a lane holds 16 in
// sequence, and 16 more half of the instruction's K further along, whose scales other lanes have.
//
//   16x16x128, lane l of        l < 16        l < 32         l < 48         l < 64
//   4-bit elements along K      0 … 31        32 … 63        64 … 95        96 … 127
//   8-bit elements along K      0 … 15,       16 … 31,       32 … 47,       48 … 63,
//                               64 … 79       80 … 95        96 … 111       112 … 127
//   scale of elements           0 … 31        32 … 63        64 … 95        96 … 127
//
// The dot_op layouts over amd_mfma with a kWidth of 16 bytes are these fragments, and layouts::scaleLayout that of the
// scales. If both operands have 4 bits, a lane may hold more in sequence: then step s takes the s-th part of what
// each lane has, and elements and scales of a step still belong together. So may both operands of 8 bits if the scales
// of each are one number, as those that are missing: lanes of A and B hold the same elements along K, and whose scale
// an element gets does not matter.
//
// If K is smaller than an instruction's, layouts hold copies; they are replaced by zeros.
//
// Limits: the layouts that tritongpu-accelerate-scaled-dot gives.
#include "codegen/lowering/scaled_dot.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/matrix_registers.h"
#include "codegen/lowering/target.h"
#include "ir/constants.h"
#include "ir/ops.h"
#include "ir/scaled_dots.h"
#include "layouts/amd_mfma_scales.h"
#include "layouts/dot_operand.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::DotOperandEncoding;
using layouts::LinearLayout;

namespace {

constexpr unsigned kFragmentBytes = 16;  // in sequence along K
constexpr unsigned kElementsOfStep = 32; // of a lane

/// What Target::multiply takes of an operand: the fragment, and the scale if there is one.
using ScaledFragment = llvm::SmallVector<llvm::Value *, 3>;

/// An operand with its scales.
struct ScaledOperand {
  unsigned index; // 0: A, 1: B
  Value value, scale;
  MatrixType type;
  const LinearLayout &layout;
  Registers registers;
  llvm::SmallVector<int32_t, 16> alongK;   // of a lane's registers: bytes
  llvm::SmallVector<int32_t, 16> groups;   // of a lane's registers: numbers of scales along K
  std::optional<Registers> scaleRegisters; // by (row or column of the result, number along K), of scales that differ

  unsigned bytesOfStep() const { return type == kPackedE2M1 ? kElementsOfStep / 2 : kElementsOfStep; }
  unsigned steps() const { return llvm::divideCeil(alongK.size(), bytesOfStep()); }
};

class ScaledDotLowering {
public:
  ScaledDotLowering(tt::DotScaledOp dot, FunctionLowering &fl) : dot_(dot), fl_(fl), b_(fl.b) {}

  bool run() {
    mfma_ = layouts::dynCast<layouts::AmdMfmaEncoding>(dot_.d().type().cast<TensorType>().encoding());
    auto typeA = matrixTypeOf(dot_.aElemType());
    auto typeB = matrixTypeOf(dot_.bElemType());
    const MatrixInstruction *instruction = mfma_ && typeA && typeB ? find(*typeA, *typeB) : nullptr;
    if (!instruction)
      return fl_.error(dot_.op, "has no matrix instruction with scales; triton-decompose-scaled-dot rewrites it");
    if (!hasLayouts(0, dot_.a(), dot_.aScale(), *typeA) || !hasLayouts(1, dot_.b(), dot_.bScale(), *typeB))
      return fl_.error(dot_.op, "has operands or scales in other layouts than the matrix instruction's");
    ScaledOperand a = operand(0, dot_.a(), dot_.aScale(), *typeA);
    ScaledOperand b = operand(1, dot_.b(), dot_.bScale(), *typeB);
    if (a.steps() != b.steps()) return fl_.error(dot_.op, "has operands whose layouts distribute K differently");
    return accumulate(*instruction, a, b);
  }

private:
  const MatrixInstruction *find(MatrixType a, MatrixType b) const {
    for (auto &row : fl_.target.info().scaledMatrixInstructions)
      if (row.a == a && row.b == b && row.m == mfma_->m() && row.n == mfma_->n()) return &row;
    return nullptr;
  }

  const DotOperandEncoding *operandEncoding(Value v) const {
    return layouts::dynCast<DotOperandEncoding>(v.type().cast<TensorType>().encoding());
  }

  bool hasLayouts(unsigned index, Value v, Value scale, MatrixType type) {
    auto *e = operandEncoding(v);
    if (!e || e->opIdx() != index || e->parent() != mfma_ || e->kWidth() % kFragmentBytes) return false;
    unsigned groups = e->kWidth() / kFragmentBytes;
    bool isFragment = type == kPackedE2M1 || groups == 1 || mayPermuteK();
    if (!isFragment || e->kWidth() != operandEncoding(dot_.a())->kWidth()) return false;
    if (isUniform(scale)) return true;
    auto expected = layouts::scaleLayout(*mfma_, scale.type().cast<TensorType>().shape(), index, groups);
    return expected.ok() && fl_.layout(scale.type()) == *expected;
  }

  /// No scales, or all of them are one number.
  static bool isUniform(Value scale) { return !scale || constantBits(scale); }

  /// Whether the dot is the same for any order of the elements along K that both operands share.
  bool mayPermuteK() const {
    return matrixTypeOf(dot_.aElemType()) != kPackedE2M1 && matrixTypeOf(dot_.bElemType()) != kPackedE2M1 &&
           isUniform(dot_.aScale()) && isUniform(dot_.bScale());
  }

  ScaledOperand operand(unsigned index, Value v, Value scale, MatrixType type) {
    const LinearLayout &layout = fl_.layout(v.type());
    ScaledOperand o{index, v, scale, type, layout, Registers(layout), {}, {}, std::nullopt};
    o.alongK = o.registers.line(/*alongColumns=*/index == 0);
    if (!isUniform(scale)) {
      o.scaleRegisters.emplace(fl_.layout(scale.type()));
      o.groups = o.scaleRegisters->line(/*alongColumns=*/true);
    }
    return o;
  }

  /// i1: this lane's elements along K are copies of another lane's, where the instruction takes them as its own; null
  /// where there are none.
  llvm::Value *copiesAlongK(const ScaledOperand &o) {
    unsigned copies = 0;
    for (unsigned bit = llvm::Log2_32(mfma_->m()); bit < o.layout.inDimBits(Dim::Lane); ++bit) {
      Place p = o.registers.of(o.layout.basis(Dim::Lane, bit));
      if ((o.index == 0 ? p.column : p.row) == 0) copies |= 1u << bit;
    }
    if (!copies) return nullptr;
    return b_.CreateICmpNE(b_.CreateAnd(fl_.laneId(), copies), fl_.i32(0));
  }

  /// A fragment as a vector of words; null if the layout lacks registers. Zeros beyond the end of K.
  llvm::Value *fragment(const ScaledOperand &o, const Place &tile, unsigned step, llvm::Value *copies) {
    const Elements &values = fl_.get(o.value);
    unsigned bytes = o.bytesOfStep();
    auto *type = llvm::FixedVectorType::get(b_.getInt8Ty(), bytes);
    llvm::Value *v = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < bytes; ++i) {
      unsigned at = step * bytes + i;
      llvm::Value *byte = b_.getInt8(0);
      if (at < o.alongK.size()) {
        int r = o.registers.at(o.index == 0 ? Place{tile.batch, tile.row, o.alongK[at]}
                                            : Place{tile.batch, o.alongK[at], tile.column});
        if (r < 0) return nullptr;
        byte = values[r];
      }
      v = b_.CreateInsertElement(v, byte, i);
    }
    auto *words = llvm::FixedVectorType::get(b_.getInt32Ty(), bytes / 4);
    v = b_.CreateBitCast(v, words);
    return copies ? b_.CreateSelect(copies, llvm::Constant::getNullValue(words), v) : v;
  }

  /// The fragment of a tile's step with its scale; false if the layouts lack registers.
  bool scaledFragment(const ScaledOperand &o, const Place &tile, unsigned step, llvm::Value *copies,
                      ScaledFragment &out) {
    llvm::Value *words = fragment(o, tile, step, copies);
    if (!words) return false;
    out = {words};
    if (!o.scale) return true;
    if (!o.scaleRegisters) {
      out.append({b_.CreateZExt(fl_.get(o.scale)[0], b_.getInt32Ty()), b_.getInt32(0)});
      return true;
    }
    int r = o.scaleRegisters->at({tile.batch, o.index == 0 ? tile.row : tile.column, o.groups[step]});
    if (r < 0) return false;
    auto [word, byte] = wordOf(fl_.get(o.scale)[r]);
    out.append({word, b_.getInt32(byte)});
    return true;
  }

  /// The byte in a word. If it is part of a longer vector, as where several were loaded at once, that word of the
  /// vector: instructions then choose the byte, and nothing unpacks it.
  std::pair<llvm::Value *, unsigned> wordOf(llvm::Value *byte) {
    auto *part = llvm::dyn_cast<llvm::ExtractElementInst>(byte);
    auto *index = part ? llvm::dyn_cast<llvm::ConstantInt>(part->getIndexOperand()) : nullptr;
    auto *type = part ? llvm::dyn_cast<llvm::FixedVectorType>(part->getVectorOperandType()) : nullptr;
    bool isPair = index && type->getNumElements() == 2;
    bool hasWords = index && type->getNumElements() % 4 == 0;
    if (!isPair && !hasWords) return {b_.CreateZExt(byte, b_.getInt32Ty()), 0};
    unsigned at = index->getZExtValue();
    if (isPair) {
      llvm::Value *both = b_.CreateBitCast(part->getVectorOperand(), b_.getInt16Ty());
      return {b_.CreateZExt(both, b_.getInt32Ty()), at};
    }
    auto *words = llvm::FixedVectorType::get(b_.getInt32Ty(), type->getNumElements() / 4);
    llvm::Value *all = b_.CreateBitCast(part->getVectorOperand(), words);
    return {b_.CreateExtractElement(all, at / 4), at % 4};
  }

  bool accumulate(const MatrixInstruction &instruction, const ScaledOperand &a, const ScaledOperand &b) {
    MatrixFragment f = fl_.target.matrixFragment(instruction, mfma_);
    MatrixInstruction exchanged = instruction;
    auto places = f.accumulator;
    if (f.transposed) { // the instruction computes the transposed result from exchanged operands
      std::swap(exchanged.a, exchanged.b);
      for (auto &[row, column] : places) std::swap(row, column);
    }
    Elements d = fl_.get(dot_.c());
    Registers registers(fl_.layout(dot_.d().type()));
    llvm::SmallVector<MatrixTile, 16> tiles;
    auto missing = [&] { return fl_.error(dot_.op, "has layouts that lack registers which the result needs"); };
    if (!tilesOf(registers, d, places, tiles)) return missing();
    llvm::Value *copiesOfA = copiesAlongK(a), *copiesOfB = copiesAlongK(b);
    for (unsigned step = 0; step < a.steps(); ++step)
      for (MatrixTile &tile : tiles) {
        ScaledFragment x, y;
        if (!scaledFragment(a, tile.first, step, copiesOfA, x) || !scaledFragment(b, tile.first, step, copiesOfB, y))
          return missing();
        if (f.transposed) std::swap(x, y);
        fl_.target.multiply(b_, exchanged, x, y, tile.accumulator);
      }
    replaceTiles(registers, tiles, places, d);
    fl_.set(dot_.d(), std::move(d));
    return true;
  }

  tt::DotScaledOp dot_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  const layouts::AmdMfmaEncoding *mfma_ = nullptr;
};

} // namespace

bool lowerScaledDot(Operation *op, FunctionLowering &fl) {
  return ScaledDotLowering(op->cast<tt::DotScaledOp>(), fl).run();
}

} // namespace tessera::codegen
