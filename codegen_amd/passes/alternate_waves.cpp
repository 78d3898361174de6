// Of the two waves that a block has on each SIMD, one accesses memory while the other has the matrix unit.
//
//   loop:                              s_barrier; waves of the second half: s_barrier
//     loads of the next tile           loop:
//     s_barrier                          ds_read the first half; loads of the next tile
//     ds_read the tile                   s_barrier;  s_setprio 1; a third of the mfma; s_setprio 0
//     mfma                         →     s_barrier;  ds_read the second half
//     s_barrier                          s_barrier;  s_setprio 1; a third of the mfma; s_setprio 0
//     ds_write the next tile             s_barrier;  ds_write the next tile
//                                        s_barrier;  s_setprio 1; a third of the mfma; s_setprio 0
//                                        s_barrier
//                                      after it: waves of the first half: s_barrier
//
// With one buffer of LDS all waves read a tile at the same time, and write the next one at the same time: the matrix
// units have nothing to do meanwhile. Here an iteration is cut into six parts, of memory and of MFMA in turn. The
// barrier that the second half of the waves executes before the loop keeps them one part behind the first half, so that
// at any time the waves of one half are in a part of MFMA and those of the other one in a part of memory. Waves w and
// w + 4 are on the same SIMD. After the loop the first half waits until the second one has caught up. Long iterations
// have more than two parts of reads, which hold fewer registers.
//
// A barrier now orders a part of one half of the waves with the part before it of the other half. So accesses of LDS
// that must not overlap are two barriers apart, not one: the tile's reads, MFMA, its writes, MFMA, the next tile's
// reads. Fences of the barriers make a wave wait for what it has read and written, in each part of memory.
//
// Loops that only accumulate qualify: one block; LDS is read after one barrier and written after another; the operands
// of MFMA are what is read from LDS, rearranged at most; loads from memory and what is written to LDS do not depend on
// that. Blocks of two waves on each SIMD, and enough MFMA that each part covers the accesses of LDS: with half as many,
// tiles of 128 x 128 x 64 in f16 on gfx942, GEMMs are 3 % faster with two blocks on a compute unit, 12 % slower with
// one. Where LDS is as busy as the matrix units, two buffers are better: tiles of 256 x 256 x 64 in bf16 on gfx950,
// whose MFMA are twice as fast, would take 3 to 4 % longer.
//
// Runs: last of the passes on LLVM IR but one; sched.barrier keeps LLVM's scheduler in the parts, and order-matrices
// leaves blocks with s_setprio alone. Figures: benchmarks/results/2026-11-30-amd-audit.md.
#include "codegen_amd/passes/alternate_waves.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "codegen_amd/passes/block_attributes.h"
#include "codegen_amd/passes/intrinsics.h"
#include "transforms/analyses/alternating_waves.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tessera::amd {
using namespace llvm;

namespace {

constexpr size_t kLeastReadParts = 2;

/// Clocks that an MFMA keeps the matrix unit busy; 0: it has another tile than those of 16- and 8-bit types.
int64_t clocksOf(const IntrinsicInst &mfma) {
  StringRef name = Intrinsic::getBaseName(mfma.getIntrinsicID());
  if (name.contains(".32x32x")) return transforms::clocksOfMfma(32);
  return name.contains(".16x16x") ? transforms::clocksOfMfma(16) : 0;
}

/// Takes registers apart and puts them together.
bool isRearrangement(const Instruction &i) {
  return isa<BitCastInst, ShuffleVectorInst, InsertElementInst, ExtractElementInst>(i);
}

bool readsLds(const Instruction &i) {
  auto *load = dyn_cast<LoadInst>(&i);
  return load && load->isSimple() && load->getPointerAddressSpace() == codegen::kSharedSpace;
}

bool writesLds(const Instruction &i) {
  auto *store = dyn_cast<StoreInst>(&i);
  return store && store->isSimple() && store->getPointerAddressSpace() == codegen::kSharedSpace;
}

bool loadsFromMemory(const Instruction &i) {
  if (isBufferLoad(i)) return true;
  auto *load = dyn_cast<LoadInst>(&i);
  return load && load->isSimple() && load->getPointerAddressSpace() == codegen::kGlobalSpace;
}

/// A loop of one block, by what its instructions do, in their order.
class AccumulatingLoop {
public:
  AccumulatingLoop(BasicBlock &block, int64_t clocksOfReads) : block_(block), clocksOfReads_(clocksOfReads) {}

  /// Whether it is one that can be cut.
  bool collect() {
    for (Instruction &i : block_) {
      if (isa<PHINode>(i) || i.isTerminator()) continue;
      if (isIntrinsic(i, Intrinsic::amdgcn_sched_barrier))
        ordering_.push_back(&i);
      else if (isa<FenceInst>(i) || isIntrinsic(i, Intrinsic::amdgcn_s_barrier)) {
        if (!addToBarriers(i)) return false;
      } else if (readsLds(i) ? !isAfterBarriers(1) : writesLds(i) && !isAfterBarriers(2))
        return false;
      else if (readsLds(i))
        reads_.push_back(&i);
      else if (writesLds(i))
        writes_.push_back(&i);
      else if (loadsFromMemory(i))
        loads_.push_back(&i);
      else if (isMfma(i))
        matrices_.push_back(&i);
      else if (i.mayReadOrWriteMemory() || i.mayHaveSideEffects())
        return false;
      else
        rest_.push_back(&i);
    }
    return fences_.size() == 2 * kBarriers && !reads_.empty() && !writes_.empty() && onlyAccumulates() &&
           isIndependent(loads_) && isIndependent(writes_) && isIndependent(reads_);
  }

  int64_t clocks() const {
    int64_t sum = 0;
    for (Instruction *i : matrices_) {
      int64_t clocks = clocksOf(*cast<IntrinsicInst>(i));
      if (!clocks) return 0;
      sum += clocks;
    }
    return sum;
  }

  /// Bytes of LDS that so many lanes read and write in an iteration.
  int64_t bytesOfLds(int64_t lanes) const {
    int64_t bits = 0;
    for (Instruction *i : reads_) bits += int64_t(i->getType()->getPrimitiveSizeInBits().getFixedValue());
    for (Instruction *i : writes_)
      bits += int64_t(i->getOperand(0)->getType()->getPrimitiveSizeInBits().getFixedValue());
    return bits / 8 * lanes;
  }

  /// Registers of a thread: carried values, loads in flight, and the reads of two parts.
  int64_t registers() const {
    auto of = [](const Instruction *i) { return int64_t(i->getType()->getPrimitiveSizeInBits().getFixedValue()); };
    int64_t carried = 0, loaded = 0, read = 0;
    for (PHINode &phi : block_.phis()) carried += of(&phi);
    for (Instruction *i : loads_) loaded += of(i);
    for (Instruction *i : reads_) read += of(i);
    constexpr int64_t kParts = 2;
    return (carried + loaded + kParts * read / int64_t(readParts())) / ir::kWordBits;
  }

  /// A barrier like those of the loop, before `at`.
  void barrier(Instruction *at) const {
    for (Instruction *i : {fences_[0], barrier_, fences_[1]}) i->clone()->insertBefore(at->getIterator());
  }

  void cut() {
    readInOrderOfUse();
    size_t parts = readParts() + 1;
    size_t done = 0, read = 0;
    for (size_t part = 0; part < parts; ++part) {
      size_t end = matrices_.size() * (part + 1) / parts;
      if (part < readParts()) {
        bool isLast = part + 1 == readParts();
        size_t needed = readsUpTo(end);
        size_t until = isLast ? reads_.size() : std::max(needed, reads_.size() * (part + 1) / readParts());
        for (; read < until; ++read) place(*reads_[read]);
      } else {
        for (Instruction *i : writes_) place(*i);
      }
      if (part == 0) {
        keepOrder();
        for (Instruction *i : loads_) place(*i);
      }
      endPart();
      priority(1);
      for (; done < end; ++done) place(*matrices_[done]);
      if (part + 1 == parts)
        for (Instruction *i : rest_) place(*i);
      priority(0);
      endPart();
    }
    for (Instruction *i : ordering_) i->eraseFromParent();
    for (Instruction *i : fences_) i->eraseFromParent();
    for (Instruction *i : barriers_) i->eraseFromParent();
  }

private:
  static constexpr size_t kBarriers = 2;

  size_t readParts() const { return std::max(kLeastReadParts, size_t(clocks() / clocksOfReads_)); }

  /// Barriers are fence, s_barrier and fence, and the same for all memory or for LDS.
  bool addToBarriers(Instruction &i) {
    bool isFence = isa<FenceInst>(i);
    size_t at = fences_.size() + barriers_.size();
    constexpr size_t kOfBarrier = 3; // instructions
    if (isFence != (at % kOfBarrier != 1)) return false;
    if (!isFence) {
      barriers_.push_back(&i);
      barrier_ = barrier_ ? barrier_ : &i;
      return true;
    }
    size_t same = fences_.size() % 2;
    if (fences_.size() > same && !i.isIdenticalTo(fences_[same])) return false;
    if (fences_.size() > same &&
        i.getMetadata(LLVMContext::MD_mmra) != fences_[same]->getMetadata(LLVMContext::MD_mmra))
      return false;
    fences_.push_back(&i);
    return true;
  }

  /// Whether so many barriers, and no part of another one, are above.
  bool isAfterBarriers(size_t n) const { return barriers_.size() == n && fences_.size() == 2 * n; }

  bool isInLoop(const Value *v) const {
    auto *i = dyn_cast<Instruction>(v);
    return i && i->getParent() == &block_ && !isa<PHINode>(i);
  }

  /// Whether MFMA take what is read from LDS, what was accumulated before and nothing else of the iteration, and give
  /// their results to other MFMA and to the next iteration.
  bool onlyAccumulates() const {
    if (matrices_.empty()) return false;
    SmallPtrSet<const Instruction *, 32> results; // of MFMA, rearranged
    for (const Instruction &i : block_) {
      if (isa<PHINode>(i)) continue;
      bool usesResult = any_of(i.operands(), [&](const Use &u) {
        auto *operand = dyn_cast<Instruction>(u.get());
        return operand && results.contains(operand);
      });
      if (isMfma(i) || (usesResult && isRearrangement(i)))
        results.insert(&i);
      else if (usesResult)
        return false;
    }
    SetVector<const Instruction *> operands;
    for (const Instruction *i : matrices_) operands.insert(i);
    for (size_t n = 0; n < operands.size(); ++n)
      for (const Use &u : operands[n]->operands()) {
        if (!isInLoop(u.get())) continue;
        auto *operand = cast<Instruction>(u.get());
        if (!isMfma(*operand) && !readsLds(*operand) && !isRearrangement(*operand)) return false;
        if (!readsLds(*operand)) operands.insert(operand);
      }
    return true;
  }

  /// Whether none of the instructions depends on what the iteration reads from LDS or multiplies, nor, for reads of
  /// LDS, on what it loads.
  bool isIndependent(ArrayRef<Instruction *> of) const {
    SetVector<const Instruction *> needed;
    for (const Instruction *i : of) needed.insert(i);
    for (size_t n = 0; n < needed.size(); ++n) {
      const Instruction *i = needed[n];
      bool isOne = n < of.size();
      if (!isOne && (readsLds(*i) || isMfma(*i))) return false;
      if (!isOne && loadsFromMemory(*i) && readsLds(*of.front())) return false;
      for (const Use &u : i->operands())
        if (isInLoop(u.get())) needed.insert(cast<Instruction>(u.get()));
    }
    return true;
  }

  /// The reads that an instruction needs, which are not among `found` yet.
  void addReadsOf(const Instruction &i, SetVector<Instruction *> &found, SmallPtrSet<const Value *, 32> &seen) const {
    for (const Use &u : i.operands()) {
      if (!isInLoop(u.get()) || !seen.insert(u.get()).second) continue;
      auto *operand = cast<Instruction>(u.get());
      if (readsLds(*operand))
        found.insert(operand);
      else if (!isMfma(*operand))
        addReadsOf(*operand, found, seen);
    }
  }

  void readInOrderOfUse() {
    SetVector<Instruction *> found;
    SmallPtrSet<const Value *, 32> seen;
    for (const Instruction *i : matrices_) {
      addReadsOf(*i, found, seen);
      needed_.push_back(found.size());
    }
    for (Instruction *i : reads_) found.insert(i); // without users
    reads_ = found.takeVector();
  }

  /// How many reads, in the order of their use, the first `count` MFMA need.
  size_t readsUpTo(size_t count) const { return count ? needed_[count - 1] : 0; }

  /// Moves the instruction to the end, after what it needs.
  void place(Instruction &i) {
    if (!placed_.insert(&i).second) return;
    for (const Use &u : i.operands())
      if (isInLoop(u.get())) place(*cast<Instruction>(u.get()));
    i.moveBefore(block_.getTerminator()->getIterator());
  }

  void keepOrder() {
    IRBuilder<> b(block_.getTerminator());
    b.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {}, {b.getInt32(0)});
  }

  void endPart() {
    keepOrder();
    barrier(block_.getTerminator());
    keepOrder();
  }

  void priority(int16_t level) {
    IRBuilder<> b(block_.getTerminator());
    b.CreateIntrinsic(Intrinsic::amdgcn_s_setprio, {}, {b.getInt16(uint16_t(level))});
  }

  BasicBlock &block_;
  const int64_t clocksOfReads_;
  SmallVector<Instruction *, 0> reads_, writes_, loads_, matrices_, rest_, ordering_;
  SmallVector<Instruction *, 4> fences_, barriers_;
  Instruction *barrier_ = nullptr;
  SmallVector<size_t, 0> needed_; // reads that the MFMA up to this one need
  SmallPtrSet<const Instruction *, 32> placed_;
};

} // namespace

/// Keeps the second half of the waves one barrier behind in the loop.
static void shiftWaves(const AccumulatingLoop &body, BasicBlock &preheader, BasicBlock &latch, BasicBlock &exit,
                       unsigned firstOfSecondHalf) {
  body.barrier(preheader.getTerminator()); // for what was written to LDS before the loop
  IRBuilder<> b(preheader.getTerminator());
  Value *thread = b.CreateIntrinsic(Intrinsic::amdgcn_workitem_id_x, {}, ArrayRef<Value *>());
  Value *first = b.CreateIntrinsic(Intrinsic::amdgcn_readfirstlane, {thread->getType()}, {thread});
  Value *isSecond = b.CreateICmpUGE(first, b.getInt32(firstOfSecondHalf));
  body.barrier(SplitBlockAndInsertIfThen(isSecond, preheader.getTerminator(), /*Unreachable=*/false));
  Instruction *after = SplitEdge(&latch, &exit)->getTerminator();
  Value *isFirst = IRBuilder<>(after).CreateNot(isSecond);
  body.barrier(SplitBlockAndInsertIfThen(isFirst, after, /*Unreachable=*/false));
}

PreservedAnalyses AlternateWavesPass::run(Function &f, FunctionAnalysisManager &analyses) {
  const ir::Tuning &tuning = info_.tuning;
  int64_t waves = wavesOfBlock(f, info_);
  if (!transforms::hasAlternatingWaves(info_, waves)) return PreservedAnalyses::all();
  SmallVector<Loop *, 4> loops;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder())
    if (loop->getNumBlocks() == 1 && loop->getLoopPreheader() && loop->getUniqueExitBlock()) loops.push_back(loop);
  int64_t cut = 0;
  for (Loop *loop : loops) {
    AccumulatingLoop body(*loop->getHeader(), tuning.alternateClocksOfReads);
    if (!body.collect()) continue;
    if (!transforms::matricesCoverLds(info_, body.clocks(), body.bytesOfLds(waves / 2 * info_.warpSize))) continue;
    int64_t registers = info_.registersPerScheduler / transforms::kAlternatingWavesOfSimd;
    if (body.registers() + tuning.alternateOtherRegisters > registers) continue;
    shiftWaves(body, *loop->getLoopPreheader(), *loop->getHeader(), *loop->getUniqueExitBlock(),
               unsigned(waves / 2 * info_.warpSize));
    body.cut();
    ++cut;
  }
  if (cut) f.addFnAttr(codegen::kAlternatingWaves);
  return cut ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
