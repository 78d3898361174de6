// Which matrix instruction computes a dot (see matrix_instruction_choice.h).
#include "transforms/layout/matrix_instruction_choice.h"
#include "ir/scaled_dots.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

// ---- element types --------------------------------------------------------------------------------------------------

namespace {

class DotTypesChoice {
public:
  DotTypesChoice(tt::DotOp dot, const TargetInfo &target)
      : dot_(dot), target_(target), a_(dot.a().type().scalar()), b_(dot.b().type().scalar()),
        result_(dot.d().type().scalar()) {}

  std::optional<DotTypes> run() {
    auto a = matrixTypeOf(a_), b = matrixTypeOf(b_), accumulator = matrixTypeOf(result_);
    if (!accumulator) return std::nullopt;
    // Operands without a matrix type of their own are replaced below; F16 stands in for them.
    types_ = {a.value_or(MatrixType::F16), b.value_or(MatrixType::F16), *accumulator, a_, b_, result_};
    if (a_.isInteger() || b_.isInteger()) {
      if (a && b && has(*a, *b, *accumulator)) return types_;
      return std::nullopt;
    }
    if (a_.isF32() && b_.isF32()) return ofF32();
    if (a && b && use(*a, *b)) return types_;
    if (isFloat8(a_) || isFloat8(b_)) return ofWidenedFloat8();
    return std::nullopt;
  }

private:
  bool has(MatrixType a, MatrixType b, MatrixType c) const {
    return llvm::any_of(target_.matrixInstructions, [&](auto &r) { return r.a == a && r.b == b && r.c == c; });
  }
  bool isNarrowAccumulator() const { return types_.c == MatrixType::F16 || types_.c == MatrixType::BF16; }
  void accumulateInF32() {
    types_.c = MatrixType::F32;
    types_.accumulator = dot_->context().f32();
  }

  /// Takes the operands' types, and f32 for a narrow accumulator that no instruction has. False: no instruction.
  bool use(MatrixType a, MatrixType b) {
    types_.a = a;
    types_.b = b;
    if (has(a, b, types_.c)) return true;
    if (!isNarrowAccumulator() || !has(a, b, MatrixType::F32)) return false;
    accumulateInF32();
    return true;
  }
  DotTypes decomposed(MatrixType part, DotDecomposition how) {
    types_.a = types_.b = part;
    types_.decomposition = how;
    return types_;
  }

  /// Both operands are f32: the precision decides.
  std::optional<DotTypes> ofF32() {
    if (isNarrowAccumulator()) accumulateInF32();
    if (types_.c != MatrixType::F32) return std::nullopt;
    bool hasTf32 = has(MatrixType::TF32, MatrixType::TF32, MatrixType::F32);
    bool hasF32 = has(MatrixType::F32, MatrixType::F32, MatrixType::F32);
    bool hasBf16 = has(MatrixType::BF16, MatrixType::BF16, MatrixType::F32);
    switch (dot_.inputPrecision()) {
    case InputPrecision::Tf32:
      if (!hasTf32 && !hasF32) return std::nullopt;
      if (hasTf32) types_.a = types_.b = MatrixType::TF32;
      return types_;
    case InputPrecision::Tf32x3:
      if (hasF32) return types_; // more precise, and a third of the dots
      if (!hasTf32) return std::nullopt;
      return decomposed(MatrixType::TF32, DotDecomposition::Tf32x3);
    case InputPrecision::Ieee:
      if (!hasF32) return std::nullopt;
      return types_;
    case InputPrecision::Bf16x3:
      if (!hasBf16) return std::nullopt;
      return decomposed(MatrixType::BF16, DotDecomposition::Bf16x3);
    case InputPrecision::Bf16x6:
      if (!hasBf16) return std::nullopt;
      return decomposed(MatrixType::BF16, DotDecomposition::Bf16x6);
    }
    return std::nullopt;
  }

  static bool isFloat8(Type t) { return t.isFloat() && t.bitWidth() == 8; }
  /// An 8-bit float without an instruction for the pair: both operands take a wider kind that holds both.
  std::optional<DotTypes> ofWidenedFloat8() {
    auto bothFitInto = [&](FloatKind k) { return (isFloat8(a_) || a_.isFloat(k)) && (isFloat8(b_) || b_.isFloat(k)); };
    if (bothFitInto(FloatKind::F16) && use(MatrixType::F16, MatrixType::F16)) {
      types_.operandA = types_.operandB = dot_->context().f16();
      return types_;
    }
    // All of the 8-bit kinds have at most 4 significant bits and fit the range of bf16.
    if (bothFitInto(FloatKind::BF16) && use(MatrixType::BF16, MatrixType::BF16)) {
      types_.operandA = types_.operandB = dot_->context().bf16();
      return types_;
    }
    return std::nullopt;
  }

  tt::DotOp dot_;
  const TargetInfo &target_;
  Type a_, b_, result_;
  DotTypes types_;
};

} // namespace

std::optional<DotTypes> chooseDotTypes(tt::DotOp dot, const TargetInfo &target) {
  return DotTypesChoice(dot, target).run();
}

// ---- tiles and warps ------------------------------------------------------------------------------------------------

bool usesMmaSync(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::MmaSync:
  case MatrixUnit::Wgmma:
  case MatrixUnit::Tcgen05: return true;
  case MatrixUnit::None:
  case MatrixUnit::Mfma:
  case MatrixUnit::Wmma: return false;
  }
  return false;
}
bool isMfmaOrWmma(MatrixUnit unit) { return unit == MatrixUnit::Mfma || unit == MatrixUnit::Wmma; }

llvm::StringRef registerInstructionName(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::None: return "";
  case MatrixUnit::MmaSync:
  case MatrixUnit::Wgmma:
  case MatrixUnit::Tcgen05: return "mma.sync";
  case MatrixUnit::Mfma: return "MFMA";
  case MatrixUnit::Wmma: return "WMMA";
  }
  return "";
}

MatrixInstructionChoice MatrixInstructionChoice::withScales(const TargetInfo &target, int64_t numWarps,
                                                            int64_t tileSize) {
  MatrixInstructionChoice choice(target, numWarps, tileSize, /*anyChainThroughA=*/false);
  choice.instructions_ = target.scaledMatrixInstructions;
  return choice;
}

/// Rows and columns that a warp computes, those beyond the dot's included.
static std::pair<int64_t, int64_t> rowsAndColumnsOfWarp(int64_t m, int64_t n, const MatrixInstruction &i,
                                                        int64_t warpsAlongM, int64_t warpsAlongN) {
  return {std::max<int64_t>(m / warpsAlongM, i.m), std::max<int64_t>(n / warpsAlongN, i.n)};
}

llvm::SmallVector<int32_t, 4> MatrixInstructionChoice::warps(llvm::ArrayRef<int64_t> shape, const MatrixInstruction &i,
                                                             DotOperands along) const {
  unsigned rank = shape.size();
  llvm::SmallVector<int32_t, 4> chosen(rank, 1);
  int64_t warps = numWarps_;
  if (rank == 3) { // batches first: they share nothing
    chosen[0] = std::min<int64_t>(warps, shape[0]);
    warps /= chosen[0];
  }
  // Work first (warps beyond the tiles repeat it), then what a warp reads of the operands; in a chain, warps along the
  // dimension that it keeps.
  using Cost = std::pair<int64_t, int64_t>;
  std::optional<Cost> best;
  for (int64_t warpsAlongM = 1; warpsAlongM <= warps; warpsAlongM *= 2) {
    int64_t warpsAlongN = warps / warpsAlongM;
    auto [rows, columns] = rowsAndColumnsOfWarp(shape[rank - 2], shape[rank - 1], i, warpsAlongM, warpsAlongN);
    Cost cost = {rows * columns, rows + columns};
    if (along == kOperandA) cost.second = -columns;
    if (along == kOperandB) cost.second = -rows;
    // On a par: along the rows where mma.sync has chains through the A operand, whose warps stand so.
    bool preferRows = anyChainThroughA_ && usesMmaSync(target_.matrixUnit);
    if (best && (cost > *best || (cost == *best && !preferRows))) continue;
    best = cost;
    chosen[rank - 2] = warpsAlongM;
    chosen[rank - 1] = warpsAlongN;
  }
  return chosen;
}

/// MFMA's tiles of 4 by 64 and 64 by 4 are for dots of few rows or columns: nothing may be computed twice along the
/// wide side.
static bool isSkinny(const MatrixInstruction &i) { return i.m == 4 || i.n == 4; }

bool MatrixInstructionChoice::fits(const MatrixInstruction &i, const DotProblem &dot) const {
  int64_t m = dot.shape[dot.shape.size() - 2];
  int64_t n = dot.shape.back();
  if (isSkinny(i)) return i.m == 4 ? i.n <= n : i.m <= m;
  return i.k <= 2 * dot.k;
}

/// Work of one warp, what others repeat included.
static int64_t workOfWarp(llvm::ArrayRef<int64_t> shape, const MatrixInstruction &i, llvm::ArrayRef<int32_t> warps) {
  unsigned rank = shape.size();
  auto [rows, columns] = rowsAndColumnsOfWarp(shape[rank - 2], shape[rank - 1], i, warps[rank - 2], warps[rank - 1]);
  return rows * columns * i.slowness;
}

/// Whether the last dot of a chain in a loop takes a tile and warps of its own: if it can have a larger tile of MFMA at
/// no more work than along the chain's rows with the smaller one. That is fewer instructions, each of which reads less
/// of the B operand; in exchange the A operand goes through LDS.
bool MatrixInstructionChoice::endsChainByItself(const DotProblem &dot) const {
  bool isLastOfChain = dot.chain.to == kNoOperand && dot.chain.from == kOperandA;
  if (target_.matrixUnit != MatrixUnit::Mfma || tileSize_ || !isLastOfChain || !dot.inLoop) return false;
  auto *chained = instruction(dot, kOperandA);
  auto *free = instruction(dot, kNoOperand);
  return chained && free && free->m * free->n > chained->m * chained->n &&
         workOfWarp(dot.shape, *free, warps(dot.shape, *free, kNoOperand)) <=
             workOfWarp(dot.shape, *chained, warps(dot.shape, *chained, kOperandA));
}

DotOperands MatrixInstructionChoice::warpsAlong(const DotProblem &dot) const {
  unsigned chained = dot.chain.to | dot.chain.from;
  DotOperands along = chained & kOperandA ? kOperandA : chained & kOperandB ? kOperandB : kNoOperand;
  // The B operand of mma.sync has its columns where the result has its rows: its values go through shared memory in
  // any case.
  if (along == kOperandB && usesMmaSync(target_.matrixUnit)) return kNoOperand;
  return endsChainByItself(dot) ? kNoOperand : along;
}

const MatrixInstruction *MatrixInstructionChoice::instruction(const DotProblem &dot, DotOperands along) const {
  if (isMfmaOrWmma(target_.matrixUnit) && tileSize_)
    if (auto *i = instructionOfTile(dot, along, tileSize_)) return i;
  return instructionOfTile(dot, along, 0);
}

/// `tileSize`: rows and columns; 0: any.
const MatrixInstruction *MatrixInstructionChoice::instructionOfTile(const DotProblem &dot, DotOperands along,
                                                                    int64_t tileSize) const {
  unsigned rank = dot.shape.size();
  int64_t batches = rank == 3 ? dot.shape[0] : 1;
  int64_t warpsOfBatch = std::max<int64_t>(1, numWarps_ / batches);
  const MatrixInstruction *best = nullptr;
  int64_t bestWork = 0;
  for (auto &i : instructions_) {
    bool hasTypes = i.a == dot.types.a && i.b == dot.types.b && i.c == dot.types.c;
    bool hasTile = !tileSize || (i.m == tileSize && i.n == tileSize);
    if (!hasTypes || !hasTile || !fits(i, dot)) continue;
    auto split = warps(dot.shape, i, along);
    int64_t work = workOfWarp(dot.shape, i, split);
    // Warps across the dimension that a chain keeps: values would have to move between warps.
    int32_t warpsAcross = split[along == kOperandA ? rank - 1 : rank - 2];
    if (along != kNoOperand && warpsOfBatch > 1 && warpsAcross > 1) work *= 2;
    bool isBetter = !best;
    if (best && best->m == i.m && best->n == i.n)
      isBetter = best->k > dot.k && i.k < best->k; // the table has the longest K first
    else if (best)
      isBetter = work < bestWork || (work == bestWork && i.m * i.n > best->m * best->n);
    if (!isBetter) continue;
    best = &i;
    bestWork = work;
  }
  return best;
}

// ---- layouts --------------------------------------------------------------------------------------------------------

const Encoding *resultLayout(layouts::EncodingPool &pool, const TargetInfo &target, const MatrixInstruction &i,
                             llvm::ArrayRef<int32_t> warps, const layouts::CtaLayout &cta) {
  switch (target.matrixUnit) {
  case MatrixUnit::None: return nullptr;
  case MatrixUnit::MmaSync:
  case MatrixUnit::Wgmma:
  case MatrixUnit::Tcgen05: {
    layouts::NvidiaMmaParams p;
    p.versionMajor = 2;
    p.warpsPerCta.assign(warps.begin(), warps.end());
    p.instrShape = {i.m, i.n};
    if (warps.size() == 3) p.instrShape.insert(p.instrShape.begin(), 1);
    p.cta = cta;
    auto e = pool.getNvidiaMma(p);
    return e.ok() ? *e : nullptr;
  }
  case MatrixUnit::Mfma: {
    layouts::AmdMfmaParams p;
    p.version = target.matrixVersion;
    p.warpsPerCta.assign(warps.begin(), warps.end());
    p.instrShape = {i.m, i.n, i.k};
    // A lane's registers run along the rows of the tensor, as stores and second operands want. In 4 by 64 they
    // cannot: only the instruction's A can be broadcast.
    p.isTransposed = i.m != 4;
    p.cta = cta;
    p.elementBitWidth = i.c == MatrixType::F64 ? 64 : 32;
    auto e = pool.getAmdMfma(p);
    return e.ok() ? *e : nullptr;
  }
  case MatrixUnit::Wmma: {
    layouts::AmdWmmaParams p;
    p.version = target.matrixVersion;
    p.isTransposed = true;
    p.tiles = layouts::AmdWmmaParams::tilesOf(warps);
    p.cta = cta;
    p.instrShape = {i.m, i.n, i.k};
    // Stores and second operands want neighbours in a lane's registers.
    p.consecutiveRows = p.version == 1;
    auto e = pool.getAmdWmma(p);
    return e.ok() ? *e : nullptr;
  }
  }
  return nullptr;
}

int64_t operandKWidth(const TargetInfo &target, const MatrixInstruction &i, int64_t k, unsigned bits, bool fromResult) {
  switch (target.matrixUnit) {
  case MatrixUnit::Mfma: {
    // As many as a result has side by side in a lane, if the operand comes from one; else as wide as a read of shared
    // memory.
    int64_t consecutiveInResult = i.c == MatrixType::F64 ? 1 : 4;
    if (fromResult) return std::min<int64_t>(consecutiveInResult, std::max<int64_t>(1, k / i.lanesK));
    int64_t width = std::max<int64_t>(1, target.maxSharedAccessBytes * 8 / bits);
    while (width > 1 && width * i.lanesK > k) width /= 2;
    return width;
  }
  case MatrixUnit::Wmma: return target.matrixVersion == 1 ? 16 : 8;
  case MatrixUnit::None:
  case MatrixUnit::MmaSync:
  case MatrixUnit::Wgmma:
  case MatrixUnit::Tcgen05: break;
  }
  return std::max<int64_t>(1, kWordBits / bits);
}

} // namespace tessera::transforms
