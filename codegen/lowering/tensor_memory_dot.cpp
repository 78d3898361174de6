// Lowering of dots in tensor memory: ttng.tc_gen5_mma and ttng.tc_gen5_commit. A tile of the accumulator's blockM rows
// and blockN columns is computed in steps along K, which one thread issues after a barrier (insert-barriers, rule 12).
// Not lowered: dots of two blocks (two_ctas), dots that nothing waits for by an mbarrier.
#include "codegen/lowering/shared_matrix.h"
#include "codegen/lowering/tensor_memory.h"
#include "ir/loops.h"
#include "transforms/memory/tensor_memory.h"

namespace tessera::codegen {
using namespace ir;
using layouts::LinearLayout;

namespace {

constexpr int64_t kBitsAlongK = 256; // of one step, and of its operands' rows

class MmaLowering {
public:
  MmaLowering(ttng::TcGen5MmaOp mma, FunctionLowering &fl) : mma_(mma), fl_(fl), b_(fl.b) {}

  bool run() {
    if (mma_.twoCtas() || mma_.multicast())
      return fl_.error(mma_, "is a dot of two blocks, which its lowering does not know");
    if (!mayBeWaitedFor())
      return fl_.error(mma_, "is synchronous; its lowering knows dots that arrive at an mbarrier (barriers of its own, "
                             "ttng.tc_gen5_commit)");
    if (!findTypes() || !findTiles() || !findOperands() || !hasSameLanes()) return false;
    takeSteps();
    dot_.accumulates = fl_.scalar(mma_.useD());
    dot_.predicate = b_.CreateAnd(fl_.leader(), fl_.scalar(mma_.pred()));
    for (auto [i, barrier] : llvm::enumerate(mma_.barriers())) {
      llvm::Value *p = dot_.predicate;
      if (i < mma_.barrierPreds().size()) p = b_.CreateAnd(p, fl_.scalar(mma_.barrierPreds()[i]));
      dot_.arrivals.push_back({fl_.get(barrier)[0], p});
    }
    fl_.target.multiplyInTensorMemory(b_, dot_);
    if (mma_.token()) fl_.set(mma_.token(), Elements());
    return true;
  }

private:
  /// Whether the program waits for the dot itself. Gluon's dots do not say is_async; a ttng.tc_gen5_commit follows
  /// them.
  bool mayBeWaitedFor() const { return mma_.isAsync() || !mma_.barriers().empty() || anArrivalMayFollow(); }

  /// Whether a commit, or a dot with barriers, may be executed after the dot by the same warps: both arrive when all
  /// dots before are done.
  bool anArrivalMayFollow() const {
    for (Operation *op = mma_.op; !op->is<tt::FuncOp>(); op = op->parentOp()) {
      for (Operation *next = op->next(); next; next = next->next())
        if (holdsArrival(next)) return true;
      Operation *parent = op->parentOp();
      bool mayComeBack = isLoop(parent) || !op->parentRegion()->hasOneBlock();
      if (mayComeBack && holdsArrival(parent)) return true;
      if (parent->is<ttg::WarpSpecializePartitionsOp>()) return false; // what follows is other warps'
    }
    return false;
  }
  static bool holdsArrival(Operation *root) {
    bool holds = false;
    root->walk([&](Operation *op) {
      auto dot = op->dyn<ttng::TcGen5MmaOp>();
      holds |= op->is<ttng::TcGen5CommitOp>() || (dot && !dot.barriers().empty());
    });
    return holds;
  }

  MemDescType typeOf(Value v) const { return v.type().cast<MemDescType>(); }

  bool findTypes() {
    Type at = typeOf(mma_.a()).element(), bt = typeOf(mma_.b()).element(), ct = typeOf(mma_.d()).element();
    auto a = matrixTypeOf(at), b = matrixTypeOf(bt), c = matrixTypeOf(ct);
    if (a == MatrixType::F32) a = MatrixType::TF32;
    if (b == MatrixType::F32) b = MatrixType::TF32;
    auto isF8 = [](auto t) { return t == MatrixType::F8E4M3FN || t == MatrixType::F8E5M2; };
    bool equal = a && b && c && a == b, f32 = c == MatrixType::F32;
    bool halves = equal && a == MatrixType::F16 && c == MatrixType::F16;
    bool floats = equal && f32 && (a == MatrixType::F16 || a == MatrixType::BF16 || a == MatrixType::TF32);
    bool known = floats || halves || (equal && a == MatrixType::I8 && c == MatrixType::I32) ||
                 (a && b && isF8(*a) && isF8(*b) && f32);
    if (!known)
      return fl_.error(mma_, "multiplies " + at.str() + " and " + bt.str() + " into " + ct.str() +
                                 ", which its lowering does not know");
    dot_.a = *a;
    dot_.b = *b;
    dot_.c = *c;
    dot_.isUnsigned = mma_.isUnsigned();
    dot_.k = unsigned(kBitsAlongK) / unsigned(bitWidthOf(*a));
    int64_t k = typeOf(mma_.a()).dim(1);
    return k % dot_.k == 0 || fl_.error(mma_, "multiplies along K = " + llvm::Twine(k) +
                                                  "; a step takes multiples of " + llvm::Twine(dot_.k));
  }

  /// PTX ISA, "Matrix Shape": 64 or 128 rows; columns in steps of 8, for 128 rows of 16, integers of 16 from 32 on.
  bool findTiles() {
    auto type = typeOf(mma_.d());
    auto places = tensorMemoryPlacesOf(mma_.op, type, fl_);
    if (!places) return false;
    auto &p = tensorMemoryEncodingOf(type)->params();
    if (p.colStride * bitWidthOf(dot_.c) != layouts::kTensorMemoryColumnBits)
      return fl_.error(mma_, "accumulates in " + type.element().str() + ", " + llvm::Twine(p.colStride) +
                                 " apart; each has a column of its own");
    d_ = *places;
    dot_.m = unsigned(p.blockM);
    dot_.n = unsigned(std::min<int64_t>(p.blockN, type.dim(1)));
    unsigned least = dot_.m == 128 || dot_.c == MatrixType::I32 ? 16 : 8;
    if (dot_.n < least || dot_.n > 256)
      return fl_.error(mma_, "has tiles of " + llvm::Twine(dot_.n) + " columns; there may be " + llvm::Twine(least) +
                                 " to 256");
    dot_.accumulators = fl_.scalar(mma_.d());
    return true;
  }

  bool findOperands() {
    int32_t k = int32_t(dot_.k);
    if (transforms::isInTensorMemory(mma_.a().type())) {
      if (!findTensorMemoryOperand()) return false;
    } else {
      a_ = operand(mma_.a(), 1, {.extent = int32_t(dot_.m), .depth = k, .readsBytesAcross = true});
      if (!a_) return false;
      dot_.matrixA = a_->matrix;
    }
    if (transforms::isInTensorMemory(mma_.b().type()))
      return fl_.error(mma_, "has its operand B in tensor memory; the matrix unit reads it from shared memory");
    bOperand_ = operand(mma_.b(), 0, {.extent = int32_t(dot_.n), .depth = k, .readsBytesAcross = true});
    if (!bOperand_) return false;
    dot_.matrixB = bOperand_->matrix;
    // PTX ISA, "Matrix Shape": elements of 8 bits across K are read in steps of 16 columns.
    constexpr unsigned kBytesAcross = 16;
    if (!dot_.matrixB.kMajor && bitWidthOf(dot_.b) == 8 && dot_.n % kBytesAcross)
      return fl_.error(mma_, "reads operand B of 8-bit elements across K in tiles of " + llvm::Twine(dot_.n) +
                                 " columns; there may be multiples of 16");
    return true;
  }
  std::optional<SharedOperand> operand(Value v, unsigned k, const SharedTile &tile) {
    auto f = sharedOperandOf(mma_.op, v, k, tile, fl_);
    if (!f) return f;
    f->matrix.pointer = fl_.get(v)[0];
    if (f->origin) f->matrix.pointer = b_.CreateConstGEP1_64(b_.getInt8Ty(), f->matrix.pointer, f->origin);
    return f;
  }

  /// A in tensor memory has its rows in the lanes that the accumulator's have, and K along the columns, packed.
  bool findTensorMemoryOperand() {
    auto type = typeOf(mma_.a());
    auto places = tensorMemoryPlacesOf(mma_.op, type, fl_);
    if (!places) return false;
    aPlaces_ = *places;
    bool same = tensorMemoryEncodingOf(type)->params().blockM == int32_t(dot_.m);
    for (int32_t k = 1; k < int32_t(dot_.k); k *= 2) same &= TensorPlace::of(*places, 0, k) == TensorPlace{0, k};
    for (int32_t row = 1; row < int32_t(dot_.m); row *= 2)
      same &= TensorPlace::of(*places, row, 0) == TensorPlace::of(d_, row, 0);
    if (!same)
      return fl_.error(mma_, "has its operand A in tensor memory under a layout that does not fit the accumulator's: " +
                                 type.str());
    dot_.addressA = fl_.scalar(mma_.a());
    return true;
  }

  /// Rows of 64 are in one half of each warp's lanes, and in the same half of A and of the accumulator (PTX ISA, "Data
  /// Path Layout Organization": layout F).
  bool hasSameLanes() {
    if (a_ || dot_.m == unsigned(layouts::kTensorMemoryLanes)) return true;
    auto firstA = firstLaneOf(mma_.a(), fl_), firstD = firstLaneOf(mma_.d(), fl_);
    if (!firstA || !firstD)
      return fl_.error(mma_, "has 64 rows of operand A in tensor memory, and it is not known in which lanes");
    return forSteps([&](int32_t row, int32_t column, int32_t depth) {
      int32_t laneA = *firstA + TensorPlace::of(aPlaces_, row, depth).lane,
              laneD = *firstD + TensorPlace::of(d_, row, column).lane;
      return laneA == laneD ||
             fl_.error(mma_, "has 64 rows of operand A at lane " + llvm::Twine(laneA) +
                                 " of tensor memory and its accumulator at lane " + llvm::Twine(laneD) +
                                 "; the matrix unit takes both from the same lanes");
    });
  }

  void takeSteps() {
    unsigned bits = unsigned(bitWidthOf(dot_.a));
    forSteps([&](int32_t row, int32_t column, int32_t depth) {
      TensorMemoryDot::Step step;
      step.accumulator = TensorPlace::of(d_, row, column).address(unsigned(bitWidthOf(dot_.c)));
      step.offsetA = a_ ? a_->at(row, depth) : TensorPlace::of(aPlaces_, row, depth).address(bits);
      step.offsetB = bOperand_->at(column, depth);
      step.begins = depth == 0;
      dot_.steps.push_back(step);
      return true;
    });
  }

  /// Calls `f` with the first row, column and place along K of each step until it returns false; whether it did not.
  bool forSteps(llvm::function_ref<bool(int32_t, int32_t, int32_t)> f) const {
    auto type = typeOf(mma_.d());
    auto m = int32_t(dot_.m), n = int32_t(dot_.n), k = int32_t(dot_.k);
    for (int32_t row = 0; row < type.dim(0); row += m)
      for (int32_t column = 0; column < type.dim(1); column += n)
        for (int32_t depth = 0; depth < typeOf(mma_.a()).dim(1); depth += k)
          if (!f(row, column, depth)) return false;
    return true;
  }

  ttng::TcGen5MmaOp mma_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  TensorMemoryDot dot_;
  LinearLayout d_, aPlaces_; // rows and columns → lane, element
  std::optional<SharedOperand> a_, bOperand_;
};

} // namespace

bool lowerTensorMemoryDot(ttng::TcGen5MmaOp mma, FunctionLowering &fl) { return MmaLowering(mma, fl).run(); }

bool lowerTensorMemoryCommit(ttng::TcGen5CommitOp op, FunctionLowering &fl) {
  TensorMemoryDot none{};
  llvm::Value *p = fl.leader();
  if (op.pred()) p = fl.b.CreateAnd(p, fl.scalar(op.pred()));
  none.predicate = p;
  none.arrivals.push_back({fl.get(op.barrier())[0], p});
  fl.target.multiplyInTensorMemory(fl.b, none);
  return true;
}

} // namespace tessera::codegen
