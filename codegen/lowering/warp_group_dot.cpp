// Lowering of dots by warp groups (four warps together; A in registers or shared memory, B in shared memory):
// ttng.warp_group_dot, its wait, and the fence that makes stores visible to the matrix unit.
//
//   %d = ttng.warp_group_dot %a, %b, %c
//      : !ttg.memdesc<128x64xf16, …> * !ttg.memdesc<64x256xf16, …> -> tensor<128x256xf32, #mma>
//
// A tile of 64 rows and the layout's tileN columns is computed in several steps along K, which a statement issues
// together (Target::warpGroupMultiply).
// Operands in shared memory: shared_matrix.h.
//
// The instruction accumulates 8-bit floats with fewer bits than f32 has. K is then divided into chunks of
// `maxNumImpreciseAcc` elements, and a chunk's sums are added to the accumulators by ordinary additions. If registers
// are few, each tile is also split by columns, so that only some of a chunk's sums exist at a time.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/matrix_registers.h"
#include "codegen/lowering/shared_matrix.h"
#include "codegen/lowering/target.h"
#include "ir/constants.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/nvidia_mma.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

class WarpGroupDotLowering {
public:
  WarpGroupDotLowering(ttng::WarpGroupDotOp dot, FunctionLowering &fl)
      : dot_(dot), fl_(fl), b_(fl.b), lc_(fl.layout(dot.d().type())), c_(lc_) {}

  bool run() {
    if (!findInstruction() || !findOperands()) return false;
    if (!planChunks() || !findTiles()) return false;
    Elements sum = fl_.get(dot_.c());
    DotTurn turn = dotTurnOf(dot_->parentOp());
    if (turn.first == dot_.op) fl_.takeTurn();
    if (!multiplyChunks(sum)) return false;
    if (!addsChunks_) {
      fl_.target.commitDots(b_);
      if (!dot_.isAsync()) fl_.target.waitForDots(b_, 0, sum);
    }
    if (turn.last == dot_.op) fl_.passTurn();
    // Registers that hold copies of an element get its sum from the first register that has it, which comes before them
    // and holds its own: in ascending order nothing is read after it has been replaced.
    for (unsigned r = 0; r < sum.size(); ++r) sum[r] = sum[c_.at(c_.places()[r])];
    fl_.set(dot_.d(), std::move(sum));
    return true;
  }

private:
  // ---- 1. the instruction and its operands ----

  bool findInstruction() {
    auto type = dot_.d().type().cast<TensorType>();
    auto &info = fl_.target.info();
    if (info.matrixUnit != MatrixUnit::Wgmma) return fl_.error(dot_.op, info.name + " has no dots by warp groups");
    auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(type.encoding());
    if (!mma || mma->versionMajor() != 3 || type.rank() != 2)
      return fl_.error(dot_.op, "needs a result under #ttg.nvidia_mma of version 3, not " + type.encoding()->str());
    if (!tileTypes()) return false;
    statement_.n = mma->tileN();
    int64_t k = shapeOf(dot_.a())[1];
    if (k % statement_.k)
      return fl_.error(
          dot_.op,
          llvm::formatv("multiplies along K = {0}; an instruction takes multiples of {1}", k, statement_.k).str());
    if (statement_.n > 256)
      return fl_.error(dot_.op,
                       llvm::formatv("has tiles of {0} columns; an instruction has at most 256", statement_.n).str());
    return warpsAreGroups();
  }

  bool findOperands() {
    bool isSharedA = dot_.a().type().isa<MemDescType>();
    if (isSharedA && !sharedOperand(dot_.a(), 1, 64, sharedA_)) return false;
    if (!sharedOperand(dot_.b(), 0, statement_.n, sharedB_)) return false;
    statement_.matrixA = isSharedA ? std::optional(sharedA_.matrix) : std::nullopt;
    statement_.matrixB = sharedB_.matrix;
    return true;
  }

  // ---- 2. chunks of K, and tiles ----

  /// 8-bit floats that are accumulated with fewer bits than f32 has: K in chunks, whose sums are added to the f32 ones.
  /// Otherwise all of K is one chunk.
  bool planChunks() {
    int64_t k = shapeOf(dot_.a())[1];
    steps_ = k / statement_.k;
    stepsOfChunk_ = steps_;
    addsChunks_ = bitWidthOf(statement_.a) == 8 && statement_.c == MatrixType::F32 && dot_.maxNumImpreciseAcc() <= k;
    if (!addsChunks_) return true;
    stepsOfChunk_ = std::max<int64_t>(1, dot_.maxNumImpreciseAcc() / int64_t(statement_.k));
    return !dot_.isAsync() || fl_.error(dot_.op, "cannot add up sums of limited precision while it is in flight");
  }

  /// The tiles of this group, and all of their registers.
  bool findTiles() {
    for (auto [r, p] : llvm::enumerate(c_.places())) {
      if (c_.at(p) != int(r) || (p.row & 8) || (p.column & (int32_t(statement_.n) - 1))) continue;
      tiles_.push_back(p);
      for (int32_t column = 0; column < int32_t(statement_.n); column += 8)
        for (int32_t row : {0, 8})
          for (int32_t i : {0, 1}) registers_.push_back(c_.at({0, p.row | row, p.column | column | i}));
    }
    return !llvm::is_contained(registers_, -1) ||
           fl_.error(dot_.op, "has a result whose layout lacks registers of an instruction's tile");
  }

  // ---- 3. the statements ----

  bool multiplyChunks(Elements &sum) {
    llvm::SmallVector<llvm::Value *, 128> acc;
    for (int i : registers_) acc.push_back(sum[i]);
    bool startsFromZero = addsChunks_ || isZero(dot_.c());
    statement_.accumulates = startsFromZero ? b_.getFalse() : dot_.useC() ? fl_.scalar(dot_.useC()) : nullptr;
    for (int64_t from = 0; from < steps_; from += stepsOfChunk_) {
      if (!takeSteps(from, std::min(steps_, from + stepsOfChunk_))) return false;
      if (addsChunks_)
        addChunk(acc, from == 0);
      else
        multiply(tiles_.size(), acc);
    }
    for (auto [i, v] : llvm::zip(registers_, acc)) sum[i] = v;
    return true;
  }

  /// The steps `from` to `to` of each tile become the statement's.
  bool takeSteps(int64_t from, int64_t to) {
    statement_.steps.clear();
    for (auto [t, p] : llvm::enumerate(tiles_))
      for (int64_t s = from; s < to; ++s) {
        WarpGroupDot::Step step;
        step.tile = t;
        if (statement_.matrixA)
          step.offsetA = sharedA_.at(p.row, s * statement_.k);
        else if (!fragment(p.row, s, step.a))
          return false;
        step.offsetB = sharedB_.at(p.column, s * statement_.k);
        statement_.steps.push_back(std::move(step));
      }
    return true;
  }

  /// All tiles in one statement if A is in shared memory. A in registers was computed: what one tile's registers still
  /// need can overlap with the tile before, so each tile has a statement of its own.
  void multiply(size_t tiles, llvm::MutableArrayRef<llvm::Value *> acc) {
    if (statement_.matrixA) return fl_.target.warpGroupMultiply(b_, statement_, acc);
    size_t registers = acc.size() / tiles, steps = statement_.steps.size() / tiles;
    for (size_t t = 0; t < tiles; ++t) {
      WarpGroupDot one = statement_;
      one.steps.assign(statement_.steps.begin() + t * steps, statement_.steps.begin() + (t + 1) * steps);
      for (auto &s : one.steps) s.tile = 0;
      fl_.target.warpGroupMultiply(b_, one, acc.slice(t * registers, registers));
    }
  }

  /// Some columns of a tile, whose sums over a chunk of K are in flight or to be added.
  struct Columns {
    size_t at; // their first accumulator
    llvm::SmallVector<llvm::Value *, 128> sums;
  };
  /// Waits until at most `pending` statements are in flight, and adds the sums to the accumulators.
  void add(Columns &columns, llvm::MutableArrayRef<llvm::Value *> acc, bool isFirstChunk, unsigned pending) {
    fl_.target.waitForDots(b_, pending, columns.sums);
    for (auto [x, y] : llvm::zip(acc.slice(columns.at, columns.sums.size()), columns.sums)) {
      llvm::Value *old = x;
      if (isFirstChunk && dot_.useC())
        old = b_.CreateSelect(fl_.scalar(dot_.useC()), x, llvm::ConstantFP::getZero(x->getType()));
      x = b_.CreateFAdd(old, y);
    }
  }

  /// Multiplies a chunk of K, each tile from zero, and adds the sums to the accumulators. If both take more than half
  /// of a thread's registers, tiles are split by columns: some are added while the next ones are in flight.
  void addChunk(llvm::MutableArrayRef<llvm::Value *> acc, bool isFirstChunk) {
    auto &tuning = fl_.target.info().tuning;
    unsigned width = statement_.n % tuning.warpGroupPartColumns ? statement_.n : tuning.warpGroupPartColumns;
    size_t splits = statement_.n / width; // of a tile
    size_t registers = size_t(fl_.target.info().maxRegistersPerThread);
    bool split = tiles_.size() * splits > 2 && acc.size() * 2 > registers * tuning.warpGroupPartPercent / 100;
    if (split) return addChunkByColumns(acc, isFirstChunk, width, splits);
    Columns all{0, {acc.begin(), acc.end()}};
    multiply(tiles_.size(), all.sums);
    fl_.target.commitDots(b_);
    add(all, acc, isFirstChunk, 0);
  }

  /// Two sets of registers alternate: one's sums are added while the other's are computed.
  void addChunkByColumns(llvm::MutableArrayRef<llvm::Value *> acc, bool isFirstChunk, unsigned width, size_t splits) {
    size_t ofTile = acc.size() / tiles_.size(), ofSplit = ofTile / splits;
    std::optional<Columns> inFlight, added;
    for (size_t t = 0; t < tiles_.size(); ++t)
      for (size_t i = 0; i < splits; ++i) {
        WarpGroupDot one = statement_;
        one.n = width;
        llvm::erase_if(one.steps, [&](auto &s) { return s.tile != t; });
        for (auto &s : one.steps) {
          s.tile = 0;
          s.offsetB += sharedB_.at(tiles_[t].column + i * width, 0) - sharedB_.at(tiles_[t].column, 0);
        }
        Columns columns{t * ofTile + i * ofSplit, {}};
        if (added) {
          // The registers whose sums were added last are written again. A constant false would let ptxas take others,
          // since the old values would be dead, and three sets would be live at a time: with a false that it does not
          // know, the statement reads the registers that it writes.
          columns.sums = added->sums;
          one.accumulates = fl_.target.opaqueFalse(b_);
        } else
          columns.sums.assign(acc.begin() + columns.at, acc.begin() + columns.at + ofSplit);
        fl_.target.warpGroupMultiply(b_, one, columns.sums);
        fl_.target.commitDots(b_);
        if (inFlight) add(*inFlight, acc, isFirstChunk, 1);
        added = std::move(inFlight);
        inFlight = std::move(columns);
      }
    add(*inFlight, acc, isFirstChunk, 0);
  }

  static llvm::ArrayRef<int64_t> shapeOf(Value v) {
    if (auto m = v.type().dyn_cast<MemDescType>()) return m.shape();
    return v.type().cast<TensorType>().shape();
  }
  static Type elementOf(Value v) {
    if (auto m = v.type().dyn_cast<MemDescType>()) return m.element();
    return v.type().scalar();
  }

  bool tileTypes() {
    Type at = elementOf(dot_.a()), bt = elementOf(dot_.b()), ct = elementOf(dot_.d());
    auto a = matrixTypeOf(at), b = matrixTypeOf(bt), c = matrixTypeOf(ct);
    if (a == MatrixType::F32) a = MatrixType::TF32;
    if (b == MatrixType::F32) b = MatrixType::TF32;
    auto isF8 = [](auto t) { return t == MatrixType::F8E4M3FN || t == MatrixType::F8E5M2; };
    bool f32 = c == MatrixType::F32, f16 = c == MatrixType::F16;
    bool equal = a && b && c && a == b;
    bool known = (equal && a == MatrixType::F16 && (f32 || f16)) || (equal && a == MatrixType::BF16 && f32) ||
                 (equal && a == MatrixType::TF32 && f32) || (equal && a == MatrixType::I8 && c == MatrixType::I32) ||
                 (a && b && c && isF8(*a) && isF8(*b) && (f32 || f16));
    if (!known)
      return fl_.error(dot_.op, "multiplies " + at.str() + " and " + bt.str() + " into " + ct.str() + ", for which " +
                                    fl_.target.info().name + " has no instruction of warp groups");
    statement_.a = *a;
    statement_.b = *b;
    statement_.c = *c;
    statement_.k = layouts::kWgmmaBitsAlongK / bitWidthOf(*a);
    return true;
  }

  /// Warps 0 to 3 of a group have 16 rows each, one after the other.
  bool warpsAreGroups() {
    for (unsigned bit = 0; bit < 2; ++bit)
      if (lc_.inDimBits(Dim::Warp) <= bit || lc_.basis(Dim::Warp, bit)[0] != 16 << bit || lc_.basis(Dim::Warp, bit)[1])
        return fl_.error(dot_.op, "needs four warps along M in its result's layout");
    return true;
  }

  /// Fills `f` for the operand whose dimension `k` is K; `extent`: of a tile across K. False after a diagnostic.
  bool sharedOperand(Value v, unsigned k, int32_t extent, SharedOperand &f) {
    auto operand = sharedOperandOf(dot_.op, v, k, {.extent = extent, .depth = int32_t(statement_.k)}, fl_);
    if (!operand) return false;
    f = *operand;
    auto &m = f.matrix;
    auto type = v.type().cast<MemDescType>();
    // What the group's number adds: rows of A, columns of B.
    LinearLayout::InDim warps{Dim::Warp, {}};
    for (unsigned bit = 0; bit < lc_.inDimBits(Dim::Warp); ++bit) {
      int32_t mn = bit < 2 ? 0 : lc_.basis(Dim::Warp, bit)[1 - k];
      warps.bases.push_back(layouts::Basis{int32_t(f.at(mn, 0))});
    }
    int64_t size = f.bytes;
    for (auto d : type.allocShape().take_back(type.rank())) size *= d;
    LinearLayout ofWarp({warps}, {{Dim::Offset, int32_t(llvm::PowerOf2Ceil(size))}});
    // ptxas computes descriptors in uniform registers if it knows that all of a warp's lanes have the same. It does not
    // find this out of the thread's number: each step of a dot then moves its descriptors there from vector registers.
    bool dependsOnWarp = llvm::any_of(warps.bases, [](auto &basis) { return basis[0] != 0; });
    llvm::Value *warp = dependsOnWarp ? fl_.sharedWarpId() : fl_.i32(0);
    llvm::Value *group = fl_.applyLayout(ofWarp, {{Dim::Warp, warp}})[0];
    m.pointer = b_.CreateGEP(b_.getInt8Ty(), fl_.get(v)[0], group);
    if (f.origin) m.pointer = b_.CreateConstGEP1_64(b_.getInt8Ty(), m.pointer, f.origin);
    return true;
  }

  /// The elements of A that a thread gives to a step.
  bool fragment(int32_t row, int64_t step, llvm::SmallVectorImpl<llvm::Value *> &out) {
    auto &la = fl_.layout(dot_.a().type());
    if (!a_) a_.emplace(la);
    auto &values = fl_.get(dot_.a());
    unsigned perWord = std::max(1, 32 / bitWidthOf(statement_.a)), half = 4 * perWord;
    for (int32_t r : {0, 8})
      for (unsigned h : {0u, half})
        for (unsigned i = 0; i < perWord; ++i) {
          int reg = a_->at({0, row | r, int32_t(step * statement_.k + h + i)});
          if (reg < 0) return fl_.error(dot_.op, "has an operand A whose layout lacks registers that the result needs");
          out.push_back(values[reg]);
        }
    for (unsigned bit = 0; bit < 2; ++bit)
      if (la.inDimBits(Dim::Lane) <= bit || la.basis(Dim::Lane, bit)[1] != int32_t(perWord << bit))
        return fl_.error(dot_.op, "has an operand A whose layout is not that of the instruction's fragment");
    for (unsigned bit = 0; bit < lc_.inDimBits(Dim::Warp); ++bit)
      if (la.basis(Dim::Warp, bit)[0] != lc_.basis(Dim::Warp, bit)[0] || la.basis(Dim::Warp, bit)[1])
        return fl_.error(dot_.op, "has an operand A whose rows are in other warps than the result's");
    return true;
  }

  ttng::WarpGroupDotOp dot_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  const LinearLayout &lc_;
  Registers c_;
  std::optional<Registers> a_;
  SharedOperand sharedA_, sharedB_; // A only if it is in shared memory
  WarpGroupDot statement_;          // the next one
  int64_t steps_ = 0, stepsOfChunk_ = 0;
  bool addsChunks_ = false; // the sums of a chunk of K are added by ordinary additions
  llvm::SmallVector<Place, 4> tiles_;
  llvm::SmallVector<int, 128> registers_; // of the result: those of the tiles, as the instruction orders them
};

} // namespace

bool lowerWarpGroup(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::ttng_warp_group_dot: return WarpGroupDotLowering(op->cast<ttng::WarpGroupDotOp>(), fl).run();
  case Opcode::ttng_warp_group_dot_wait: {
    if (fl.target.info().matrixUnit != MatrixUnit::Wgmma)
      return fl.error(op, fl.target.info().name + " has no dots by warp groups");
    auto wait = op->cast<ttng::WarpGroupDotWaitOp>();
    // Only results in flight are bound to the wait; buffers that it keeps alive pass.
    Elements all;
    for (auto v : op->operands())
      if (v.type().isTensor()) all.append(fl.get(v));
    fl.target.waitForDots(fl.b, wait.pendings(), all);
    size_t next = 0;
    for (auto [from, to] : llvm::zip(op->operands(), op->results())) {
      if (!from.type().isTensor()) {
        fl.set(to, fl.get(from));
        continue;
      }
      size_t n = fl.get(from).size();
      fl.set(to, Elements(llvm::ArrayRef(all).slice(next, n)));
      next += n;
    }
    return true;
  }
  case Opcode::ttng_fence_async_shared: fl.target.fenceAsyncShared(fl.b); return true;
  default: return fl.error(op, "is not an operation of warp groups");
  }
}

} // namespace tessera::codegen
