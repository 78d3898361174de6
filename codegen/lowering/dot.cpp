// Lowering of tt.dot. The layouts of operands and result say which elements a thread has; both lowerings only pair its
// registers:
//
//   fma      the result has a blocked layout, the operands dot_op layouts over it: a thread has whole rows of A and
//            columns of B, and accumulates its own elements
//   matrix   the result has the layout of a matrix instruction: for every tile that the warp owns, and every step along
//            K, the registers of the fragment go into one instruction (Target::multiply)
//
// Any order of K is correct, so the elements along K that go into a step may be chosen freely as long as both operands
// agree: elements are taken in the order of the layout, `depth` at a time. A kWidth other than the instruction's own is
// therefore no obstacle. If K is smaller than an instruction's, the layout holds copies; all but one of them are
// replaced by zeros.
//
// fma accumulates narrow floats (f16, bf16) in f32 and rounds once. If accumulators fill a quarter of the registers,
// operands are loaded from shared memory just before their use (findLateLoads).
//
// Kinds of encodings are named in two places: to choose between the two lowerings, and to read the tile that one
// instruction computes, which each kind of matrix layout has among its own parameters.
#include "codegen/address_spaces.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/matrix_registers.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "layouts/amd_mfma.h"
#include "layouts/amd_wmma.h"
#include "layouts/nvidia_mma.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <set>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

class DotLowering {
public:
  DotLowering(tt::DotOp dot, FunctionLowering &fl)
      : dot_(dot), fl_(fl), b_(fl.b), la_(fl.layout(dot.a().type())), lb_(fl.layout(dot.b().type())),
        lc_(fl.layout(dot.d().type())), a_(la_), bb_(lb_), c_(lc_) {}

  bool run() {
    auto *encoding = dot_.d().type().cast<TensorType>().encoding();
    if (la_.numOutDims() != lc_.numOutDims() || lb_.numOutDims() != lc_.numOutDims() || lc_.numOutDims() < 2 ||
        lc_.numOutDims() > 3)
      return fl_.error(dot_.op, "is lowered for matrices and batches of them only");
    bool hasInstruction = encoding->kind() == layouts::EncodingKind::NvidiaMma ||
                          encoding->kind() == layouts::EncodingKind::AmdMfma ||
                          encoding->kind() == layouts::EncodingKind::AmdWmma;
    return hasInstruction ? matrix(encoding) : sameThreads(false, false) && fma();
  }

private:
  /// Checks that every thread has the operands' elements for its own elements of the result, and both operands the same
  /// part of K. `lanesExchange`: not rows and columns among the lanes of a warp, which the matrix instruction
  /// exchanges; `lanesShareK`: nor parts of K, which it broadcasts.
  bool sameThreads(bool lanesExchange, bool lanesShareK) {
    for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
      for (unsigned bit = 0; bit < std::max({la_.inDimBits(d), lb_.inDimBits(d), lc_.inDimBits(d)}); ++bit) {
        auto place = [&](const LinearLayout &l, const Registers &r) {
          return bit < l.inDimBits(d) ? r.of(l.basis(d, bit)) : Place();
        };
        Place a = place(la_, a_), b = place(lb_, bb_), c = place(lc_, c_);
        if (a.column != b.row && !(d == Dim::Lane && lanesShareK))
          return fl_.error(dot_.op, "has operands whose layouts distribute K differently over threads");
        if (d == Dim::Lane && lanesExchange) continue;
        bool sameRowsAndColumns = a.row == c.row && b.column == c.column && a.batch == c.batch && b.batch == c.batch;
        if (!sameRowsAndColumns)
          return fl_.error(dot_.op,
                           "has operands whose layouts do not give each thread what its elements of the result need");
      }
    return true;
  }

  bool missing() { return fl_.error(dot_.op, "has operands whose layouts lack registers that the result needs"); }

  // ---- fma ----

  /// The operand's values as numbers of the accumulator's kind.
  Elements widened(Value v, llvm::Type *type) {
    Elements out;
    Type t = v.type().scalar();
    if (t.isFloat() && type->isFloatingPointTy()) {
      FloatKind to = type->isDoubleTy() ? FloatKind::F64 : FloatKind::F32, from = t.cast<FloatType>().floatKind();
      if (from == to) return fl_.get(v);
      convertFloats(fl_, from, to, RoundingMode::Rtne, fl_.get(v), out);
    } else {
      for (auto *e : fl_.get(v)) out.push_back(b_.CreateSExt(e, type));
    }
    return out;
  }

  /// Finds the loads of this block that may be moved to here: loads of shared memory after the last write or barrier. A
  /// thread has whole rows and columns of the operands, more than it has registers, so they are loaded just before
  /// their use; LLVM's scheduler does not find that by itself in thousands of instructions.
  void findLateLoads() {
    for (auto &i : llvm::reverse(*b_.GetInsertBlock())) {
      if (i.mayHaveSideEffects()) break;
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load || load->getPointerAddressSpace() != kSharedSpace) continue;
      // Other uses than by this dot might come before it. A vector is used by the extraction of its elements.
      auto isUnusedElement = [&](llvm::User *u) {
        auto *part = llvm::dyn_cast<llvm::ExtractElementInst>(u);
        return part && part->getParent() == load->getParent() && part->use_empty();
      };
      bool unused = load->getType()->isVectorTy() ? llvm::all_of(load->users(), isUnusedElement) : load->use_empty();
      if (unused) late_.insert(load);
    }
  }
  /// Whether all elements of an operand come from those loads.
  bool areLate(ir::Value operand) {
    return llvm::all_of(fl_.get(operand), [&](llvm::Value *v) {
      auto *part = llvm::dyn_cast<llvm::ExtractElementInst>(v);
      auto *load = llvm::dyn_cast<llvm::LoadInst>(part ? part->getVectorOperand() : v);
      return load && late_.contains(load);
    });
  }
  /// Moves the load that gives a value, and the vector's other parts, to where the builder stands, if it is one of
  /// those.
  void loadHere(llvm::Value *v) {
    auto *part = llvm::dyn_cast<llvm::ExtractElementInst>(v);
    auto *load = llvm::dyn_cast<llvm::LoadInst>(part ? part->getVectorOperand() : v);
    if (!load || !late_.erase(load)) return;
    load->moveBefore(*b_.GetInsertBlock(), b_.GetInsertPoint());
    for (llvm::User *u : load->users())
      if (auto *e = llvm::dyn_cast<llvm::ExtractElementInst>(u))
        e->moveBefore(*b_.GetInsertBlock(), b_.GetInsertPoint());
  }

  /// Whether another dot reads the operand's buffer for itself (tritongpu-reorder-instructions), as registers are
  /// scarce. Without a fence between them LLVM would read it once and hold all of it.
  bool isReadAgain(ir::Value operand) const {
    auto load = operand.definedBy<ttg::LocalLoadOp>();
    if (!load || !fl_.target.info().hasScheduleBarriers) return false;
    return llvm::any_of(load.src().users(), [&](Operation *user) {
      return user != load.op && user->is<ttg::LocalLoadOp>() && user->block() == load->block() &&
             user->result().type() == load.result().type();
    });
  }

  /// The type in which fma accumulates; null after a diagnostic if operands and result have no such type.
  llvm::Type *accumulatorType() {
    Type ct = dot_.d().type().scalar(), at = dot_.a().type().scalar(), bt = dot_.b().type().scalar();
    if (at.isFloat() != ct.isFloat() || bt.isFloat() != ct.isFloat()) {
      fl_.error(dot_.op, "multiplies " + at.str() + " and " + bt.str() + " into " + ct.str() +
                             ", which the lowering does not know");
      return nullptr;
    }
    if (ct.isFloat()) {
      bool isDouble = ct.bitWidth() == 64 || at.bitWidth() == 64 || bt.bitWidth() == 64;
      return isDouble ? b_.getDoubleTy() : b_.getFloatTy();
    }
    if (at.bitWidth() > ct.bitWidth()) {
      fl_.error(dot_.op, "has operands wider than its result");
      return nullptr;
    }
    return fl_.elementType(ct);
  }

  /// A thread's part of the result.
  struct FmaTile {
    llvm::SmallVector<unsigned, 64> accumulators; // the registers that hold them, without copies
    std::set<int32_t> rows, columns;
    size_t words; // registers of one number

    size_t lines() const { return rows.size() + columns.size(); } // of both operands, along K
  };
  FmaTile fmaTile(llvm::Type *type) {
    FmaTile tile;
    tile.words = type->getPrimitiveSizeInBits() / 32;
    for (unsigned r = 0; r < c_.places().size(); ++r)
      if (Place p = c_.places()[r]; c_.at(p) == int(r)) {
        tile.accumulators.push_back(r);
        tile.rows.insert(p.row);
        tile.columns.insert(p.column);
      }
    return tile;
  }

  /// Whether operands are streamed: the elements of the shorter side of the thread's tile are held for a few steps
  /// along K, those of the longer side are loaded one after the other. Else all of a step's operands are held. Finds
  /// the loads that move. `isReadAgain`: another dot reads one of the operands for itself.
  bool streamsOperands(const FmaTile &tile, bool isReadAgain) {
    auto &info = fl_.target.info();
    auto &tuning = info.tuning;
    size_t registers = info.maxRegistersPerThread;
    if (!info.hasScheduleBarriers) {
      findLateLoads();
      return false;
    }
    // The accumulators leave few registers.
    bool streams = tile.accumulators.size() * tile.words >= registers * tuning.fmaStreamPercent / 100;
    // The operands take twice the registers, and each element is used few times.
    bool areLarge = tile.lines() * a_.line(true).size() * tile.words >= tuning.fmaLargeOperands * registers;
    bool areUsedRarely = tile.accumulators.size() < tuning.fmaRareUses * tile.lines();
    if (streams) {
      findLateLoads();
    } else if ((areLarge && areUsedRarely) || isReadAgain) {
      findLateLoads();
      bool aIsLate = areLate(dot_.a());
      bool bIsLate = areLate(dot_.b());
      streams = isReadAgain ? aIsLate || bIsLate : aIsLate && bIsLate;
      if (!streams) late_.clear();
    }
    return streams;
  }

  bool fma() {
    for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
      for (unsigned bit = 0; bit < la_.inDimBits(d); ++bit)
        if (a_.of(la_.basis(d, bit)).column) return fl_.error(dot_.op, "has a blocked layout whose threads share K");
    llvm::Type *type = accumulatorType();
    if (!type) return false;
    FmaTile tile = fmaTile(type);
    bool isSharedOperand = isReadAgain(dot_.a()) || isReadAgain(dot_.b());
    bool streams = streamsOperands(tile, isSharedOperand);
    auto &info = fl_.target.info();
    size_t steps = streams ? info.tuning.fmaStreamStep : 1;
    // Accumulators of one group share a row or column, whose elements are loaded once for the group.
    auto groupOf = [&, byRows = tile.rows.size() >= tile.columns.size()](unsigned r) {
      Place p = c_.places()[r];
      return streams ? std::pair(p.batch, byRows ? p.row : p.column) : std::pair(0, 0);
    };
    auto &order = tile.accumulators;
    llvm::stable_sort(order, [&](unsigned x, unsigned y) { return groupOf(x) < groupOf(y); });
    bool isFloat = type->isFloatingPointTy();
    Elements a = widened(dot_.a(), type), b = widened(dot_.b(), type), sum = widened(dot_.c(), type);
    // K is the outermost loop: neighbouring instructions do not depend on each other, and LLVM's scheduler brings loads
    // close to their use by itself.
    auto line = a_.line(true);
    for (size_t k = 0; k < line.size(); k += steps) {
      if (streams) fl_.target.scheduleBarrier(b_, 0); // it would bring the loads forward again
      for (llvm::ArrayRef<unsigned> rest = order, together; !rest.empty(); rest = rest.drop_front(together.size())) {
        together = rest.take_while([&](unsigned r) { return groupOf(r) == groupOf(rest[0]); });
        for (int32_t at : llvm::ArrayRef(line).slice(k).take_front(steps))
          for (unsigned r : together) {
            Place p = c_.places()[r];
            int ra = a_.at({p.batch, p.row, at}), rb = bb_.at({p.batch, at, p.column});
            if (ra < 0 || rb < 0) return missing();
            loadHere(a[ra]);
            loadHere(b[rb]);
            if (isFloat)
              sum[r] = b_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a[ra], b[rb], sum[r]});
            else
              sum[r] = b_.CreateAdd(b_.CreateMul(a[ra], b[rb]), sum[r]);
          }
      }
    }
    if (info.hasScheduleBarriers) keepArithmeticHere(tile, line.size(), sum);
    if (isSharedOperand) b_.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
    for (unsigned r = 0; r < sum.size(); ++r) sum[r] = sum[c_.at(c_.places()[r])];
    fl_.set(dot_.d(), isFloat ? rounded(std::move(sum), type) : std::move(sum));
    return true;
  }

  /// LLVM would sink the arithmetic to its only use, a branch of masked stores, say, and leave the loads here. If there
  /// are not enough registers for that, a use that generates no code keeps the arithmetic here. `depth`: a thread's
  /// elements along K.
  void keepArithmeticHere(const FmaTile &tile, size_t depth, const Elements &sum) {
    auto &info = fl_.target.info();
    size_t held = (tile.lines() * depth + tile.accumulators.size()) * tile.words;
    bool loadsWouldFillRegisters = held > size_t(info.maxRegistersPerThread) * info.tuning.fmaKeepPercent / 100;
    bool isLoopBody = dot_->parentOp()->is<scf::ForOp>(); // the loop carries the sum: it is used at its end
    if (isLoopBody || !loadsWouldFillRegisters) return;
    auto *module = b_.GetInsertBlock()->getModule();
    for (unsigned r : tile.accumulators)
      b_.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module, llvm::Intrinsic::fake_use), {sum[r]});
  }

  /// Accumulated floats as the result's kind.
  Elements rounded(Elements sum, llvm::Type *type) {
    FloatKind from = type->isDoubleTy() ? FloatKind::F64 : FloatKind::F32;
    FloatKind to = dot_.d().type().scalar().cast<FloatType>().floatKind();
    if (from == to) return sum;
    Elements out;
    convertFloats(fl_, from, to, RoundingMode::Rtne, sum, out);
    return out;
  }

  // ---- matrix instructions ----

  /// The row of the target's table for these types and the tile of the layout: the one of the largest K that a lane's
  /// elements fill, else of the smallest.
  const MatrixInstruction *instruction(const layouts::Encoding *e, size_t elementsK) {
    const TargetInfo &info = fl_.target.info();
    int m = 0, n = 0;
    if (auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(e)) {
      if (mma->versionMajor() != 2) return nullptr;
      m = mma->tileM();
      n = mma->tileN();
    } else if (auto *mfma = layouts::dynCast<layouts::AmdMfmaEncoding>(e)) {
      if (info.matrixUnit != MatrixUnit::Mfma) return nullptr;
      m = mfma->m();
      n = mfma->n();
      // What is broadcast is the instruction's A: the operand of 4 rows, or transposed the one of 4 columns.
      bool broadcasts = m == 4 || n == 4;
      if (broadcasts && mfma->params().isTransposed != (n == 4)) return nullptr;
    } else if (auto *wmma = layouts::dynCast<layouts::AmdWmmaEncoding>(e)) {
      // The generations have instructions of the same types and tile, but other fragments.
      if (info.matrixUnit != MatrixUnit::Wmma || wmma->params().version != info.matrixVersion) return nullptr;
      m = 16;
      n = 16;
    }
    auto ta = matrixTypeOf(dot_.a().type().scalar()), tb = matrixTypeOf(dot_.b().type().scalar()),
         tc = matrixTypeOf(dot_.d().type().scalar());
    if (!ta || !tb || !tc) return nullptr;
    auto find = [&](MatrixType a, MatrixType b) {
      const MatrixInstruction *best = nullptr;
      for (auto &row : info.matrixInstructions)
        if (row.a == a && row.b == b && row.c == *tc && row.m == m && row.n == n &&
            (!best || size_t(best->depth()) > elementsK))
          best = &row;
      return best;
    };
    if (*ta == MatrixType::F32 && *tb == MatrixType::F32 && dot_.inputPrecision() == InputPrecision::Tf32)
      if (auto *row = find(MatrixType::TF32, MatrixType::TF32)) return row;
    return find(*ta, *tb);
  }

  /// What one instruction adds: the elements along K that its operands' registers hold in the thread whose indices
  /// are all zero, fewer than the instruction takes where there are no more. `group`: see Target::multiplyBroadcast.
  struct Step {
    llvm::SmallVector<int32_t, 8> a, b;
    unsigned group = 0;
  };

  /// The steps of instructions that broadcast. K is distributed over the lanes of the instruction's A; each lane of its
  /// B has all of it. A step takes the elements of B's registers that one group of lanes of A has.
  bool broadcastSteps(const MatrixFragment &f, unsigned depth, llvm::SmallVectorImpl<Step> &steps) {
    const LinearLayout &narrow = f.transposed ? lb_ : la_, &wide = f.transposed ? la_ : lb_;
    const Registers &narrowRegisters = f.transposed ? bb_ : a_, &wideRegisters = f.transposed ? a_ : bb_;
    auto kOf = [&](const LinearLayout &l, const Registers &r, unsigned bit) {
      if (bit >= l.inDimBits(Dim::Lane)) return 0;
      Place p = r.of(l.basis(Dim::Lane, bit));
      return (&l == &la_) ? p.column : p.row;
    };
    bool distributed = true;
    std::vector<int32_t> kOfGroup = {0};
    for (unsigned bit = 0; 1u << bit < unsigned(fl_.warpSize()); ++bit) {
      int32_t k = kOf(narrow, narrowRegisters, bit);
      distributed &= kOf(wide, wideRegisters, bit) == 0 && (k == 0 || f.lanesOfK >> bit & 1);
      if (f.lanesOfK >> bit & 1)
        for (size_t g = 0, n = kOfGroup.size(); g < n; ++g) kOfGroup.push_back(kOfGroup[g] ^ k);
    }
    auto narrowLine = narrowRegisters.line(!f.transposed), wideLine = wideRegisters.line(f.transposed);
    llvm::MapVector<unsigned, Step> open;                 // by group
    std::map<int32_t, std::pair<unsigned, int32_t>> held; // element along K → group and what its registers have
    for (auto [g, k] : llvm::enumerate(kOfGroup))
      for (int32_t r : narrowLine) held.try_emplace(r ^ k, unsigned(g), r);
    for (int32_t k : wideLine) {
      auto it = held.find(k);
      if (it == held.end())
        distributed = false;
      else {
        auto [g, r] = it->second;
        Step &s = open[g];
        (f.transposed ? s.a : s.b).push_back(k);
        (f.transposed ? s.b : s.a).push_back(r);
        s.group = g;
        if (s.a.size() == depth) steps.push_back(std::exchange(s, Step()));
      }
    }
    for (auto &[g, s] : open)
      if (!s.a.empty()) steps.push_back(s);
    if (!distributed || held.size() != wideLine.size())
      return fl_.error(dot_.op,
                       "has operands whose layouts do not distribute K as an instruction that broadcasts needs");
    return true;
  }

  bool matrix(const layouts::Encoding *encoding) {
    auto kOfA = a_.line(true), kOfB = bb_.line(false);
    const MatrixInstruction *inst = instruction(encoding, kOfA.size());
    if (!inst)
      return fl_.error(dot_.op,
                       llvm::formatv("multiplies {0} and {1} into {2} under {3}, for which {4} has no instruction",
                                     dot_.a().type().scalar().str(), dot_.b().type().scalar().str(),
                                     dot_.d().type().scalar().str(), encoding->str(), fl_.target.info().name)
                           .str());
    MatrixFragment f = fl_.target.matrixFragment(*inst, encoding);
    if (!sameThreads(true, f.broadcasts)) return false;
    llvm::SmallVector<Step, 16> steps;
    if (f.broadcasts) {
      if (!broadcastSteps(f, inst->depth(), steps)) return false;
    } else {
      if (kOfA != kOfB) return fl_.error(dot_.op, "has operands whose layouts distribute K differently over registers");
      for (size_t k = 0; k < kOfA.size(); k += inst->depth()) {
        auto part = llvm::ArrayRef(kOfA).slice(k).take_front(inst->depth());
        steps.push_back({{part.begin(), part.end()}, {part.begin(), part.end()}});
      }
    }
    return accumulate(*inst, f, steps);
  }

  /// An operand's values for one tile and step: of each line (row of A, column of B) `depth` elements along K; zeros
  /// beyond the step's.
  bool valuesOf(bool isA, const Elements &operand, const Place &tile, llvm::ArrayRef<int> lines,
                llvm::ArrayRef<int32_t> alongK, unsigned depth, llvm::SmallVectorImpl<llvm::Value *> &out) {
    llvm::Value *zero = llvm::Constant::getNullValue(operand[0]->getType());
    out.clear();
    for (int line : lines)
      for (unsigned i = 0; i < depth; ++i) {
        if (i >= alongK.size()) {
          out.push_back(zero);
          continue;
        }
        int r =
            isA ? a_.at({tile.batch, tile.row | line, alongK[i]}) : bb_.at({tile.batch, alongK[i], tile.column | line});
        if (r < 0) return missing();
        out.push_back(operand[r]);
      }
    return true;
  }

  /// Adds the steps to all tiles, step by step.
  bool accumulate(const MatrixInstruction &inst, const MatrixFragment &f, llvm::ArrayRef<Step> steps) {
    MatrixInstruction exchanged = inst;
    if (f.transposed) std::swap(exchanged.a, exchanged.b);
    Elements a = fl_.get(dot_.a()), b = fl_.get(dot_.b()), d = fl_.get(dot_.c());
    if (!f.broadcasts) {
      zeroCopiesAlongK(a, la_, a_, /*isA=*/true, f.lanesOfK);
      // Of floats both operands: zero times infinity is NaN.
      if (dot_.b().type().scalar().isFloat()) zeroCopiesAlongK(b, lb_, bb_, /*isA=*/false, f.lanesOfK);
    }

    // The instruction's rows and columns, in the tensor.
    auto rows = f.transposed ? f.columns : f.rows, columns = f.transposed ? f.rows : f.columns;
    auto accumulator = f.accumulator;
    if (f.transposed)
      for (auto &[row, column] : accumulator) std::swap(row, column);
    llvm::SmallVector<MatrixTile, 16> tiles;
    if (!tilesOf(c_, d, accumulator, tiles)) return missing();

    llvm::SmallVector<llvm::Value *, 16> av, bv;
    for (const Step &step : steps)
      for (MatrixTile &tile : tiles) {
        if (!valuesOf(true, a, tile.first, rows, step.a, inst.depth(), av) ||
            !valuesOf(false, b, tile.first, columns, step.b, inst.depth(), bv))
          return false;
        auto &x = f.transposed ? bv : av, &y = f.transposed ? av : bv;
        if (f.broadcasts)
          fl_.target.multiplyBroadcast(b_, exchanged, x, y, tile.accumulator, step.group);
        else
          fl_.target.multiply(b_, exchanged, x, y, tile.accumulator);
      }
    replaceTiles(c_, tiles, accumulator, d);
    fl_.set(dot_.d(), std::move(d));
    return true;
  }

  /// Lanes whose elements along K are copies of another lane's, where the instruction takes them as its own, give
  /// zeros.
  void zeroCopiesAlongK(Elements &values, const LinearLayout &layout, const Registers &registers, bool isA,
                        unsigned lanesOfK) {
    unsigned copies = 0;
    for (unsigned bit = 0; bit < layout.inDimBits(Dim::Lane); ++bit) {
      Place p = registers.of(layout.basis(Dim::Lane, bit));
      if (lanesOfK >> bit & 1 && (isA ? p.column : p.row) == 0) copies |= 1u << bit;
    }
    if (!copies) return;
    llvm::Value *isCopy = b_.CreateICmpNE(b_.CreateAnd(fl_.laneId(), copies), fl_.i32(0));
    for (auto *&v : values) v = b_.CreateSelect(isCopy, llvm::Constant::getNullValue(v->getType()), v);
  }

  tt::DotOp dot_;
  FunctionLowering &fl_;
  llvm::SmallPtrSet<llvm::LoadInst *, 32> late_; // see findLateLoads
  llvm::IRBuilder<> &b_;
  const LinearLayout &la_, &lb_, &lc_;
  Registers a_, bb_, c_;
};

} // namespace

bool lowerDot(Operation *op, FunctionLowering &fl) { return DotLowering(op->cast<tt::DotOp>(), fl).run(); }

} // namespace tessera::codegen
