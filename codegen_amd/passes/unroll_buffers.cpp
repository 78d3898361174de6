// Unrolls loops with MFMA or WMMA that cycle through several buffers of LDS, by the number of the buffers.
//
//   loop:                                             loop:
//     %s = phi [0, %before], [%next, %loop]             … read buffers + %x, write buffers + 8192 + %x
//     %from = buffers + 8192 * %s                       … read buffers + 8192 + %x, write buffers + %x
//     … read %from + %x, …                         →    br %two more, %loop, %rest
//     %next = %s == 1 ? 0 : %s + 1                    rest:
//     … write buffers + 8192 * %next + %x               … the last iteration, if their number is odd
//     br %more, %loop, %after                           br %after
//
// An address in a buffer whose index changes is computed in each iteration, from that index, for each access that is
// not a constant apart from another: swizzled tiles have one for each step along K. In a copy of the body the index is
// a constant, a part of the instruction's offset. order-matrices then has two iterations to order, and LLVM knows that
// what is written is not what is read.
//
// Recognised is any loop-carried integer that has its first value again after a few iterations, whatever the values in
// between are: where LLVM has unrolled an inner loop of four iterations, each iteration of the outer one advances by
// four buffers. What becomes constant is left to the passes that follow. Of three buffers up to two iterations are left
// over, in copies of their own.
//
// order-matrices orders both iterations together in blocks with at most one wave on a SIMD, or so many registers that
// no second block fits. Others it orders one by one: for two blocks of eight waves there are no registers for the order
// of two iterations, and GEMMs of 128 by 128 tiles would take 9 to 14 % longer (gfx950, 4096 x 4096 x 4096).
//
// Loops with WMMA are unrolled where there is an address for every ten other instructions, those that name registers
// not counted, or more. LLVM orders each iteration by itself: both together would take up to 11 % longer (gfx1100 and
// gfx1201).
//
// Limits: loops without inner loops, with one exit, at their end, that only accumulate. By the timing model, 2026-11:
// in attention the values between the dots take the registers, and unrolled loops take up to 16 % longer (gfx950, heads
// of 64). Loops with WMMA that convert their operands, where addresses are few, take up to 14 % longer (gfx1100, 8-bit
// weights). Loops with scaled MFMA, whose scales are loaded and carried byte by byte, and those with WMMA stay where
// registers are too few for two iterations (gfx950, 4096 x 4096 x 4096 in MXFP4: 128 by 128 tiles took 27 % longer, 256
// by 256 tiles 18 %).
//
// Other loops that alternate between two buffers carry the offset of the buffer, instead of its index:
//
//     %n = phi [0, %before], [%next, %loop]             %begin = phi [0, %before], [%other, %loop]
//     %from = buffers + 8192 * %n                  →    %other = xor %begin, 8192
//     %next = %n == 1 ? 0 : %n + 1                      %from = buffers + %begin
//     %to = buffers + 8192 * %next                      %to = buffers + %other
//
// Runs: among the optimisations of levels 2 and 3, before redundancy is removed.
#include "codegen_amd/passes/unroll_buffers.h"
#include "codegen/address_spaces.h"
#include "codegen/object/loop_unroller.h"
#include "codegen_amd/passes/block_attributes.h"
#include "codegen_amd/passes/intrinsics.h"
#include "codegen_amd/passes/order_matrices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tessera::amd {
using namespace llvm;

static bool isMatrixInstruction(const Instruction &i) { return isMfma(i) || isWmma(i); }

/// Whether nothing in the loop uses the result but matrix instructions that add to it, perhaps of the next iteration.
/// Between two of them it may be taken apart and put together, element by element.
static bool isAccumulated(const Instruction &result, const Loop &loop) {
  SmallSetVector<const Instruction *, 32> parts;
  parts.insert(&result);
  for (unsigned i = 0; i < parts.size(); ++i)
    for (const User *u : parts[i]->users()) {
      auto *user = cast<Instruction>(u);
      if (!loop.contains(user) || isa<PHINode>(user) || isMatrixInstruction(*user)) continue;
      if (!isa<ExtractElementInst, InsertElementInst, ShuffleVectorInst>(user)) return false;
      parts.insert(user);
    }
  return true;
}

/// Whether the loop-carried values leave no registers for a second block of so many waves on a SIMD.
static bool fillsRegisters(const Loop &loop, int64_t waves, const ir::TargetInfo &info) {
  int64_t bits = 0;
  for (PHINode &phi : loop.getHeader()->phis())
    bits += int64_t(phi.getType()->getPrimitiveSizeInBits().getFixedValue());
  constexpr int64_t kBlocks = 2;
  return bits / ir::kWordBits > info.registersPerScheduler / (kBlocks * waves);
}

/// Whether a matrix instruction takes scales that are not constants: 8-bit floats without scales take it with ones.
static bool isScaled(const Instruction &i) {
  constexpr unsigned kScaleOfA = 6, kScaleOfB = 8; // behind A, B, the accumulator, two formats, and a choice for each
  if (!isIntrinsicOf(i, "llvm.amdgcn.mfma.scale")) return false;
  auto &call = cast<CallBase>(i);
  return !isa<Constant>(call.getArgOperand(kScaleOfA)) || !isa<Constant>(call.getArgOperand(kScaleOfB));
}

/// Whether there are registers for what so many iterations hold at once: carried values, each in a register of its own,
/// what every iteration loads from memory, and the operands of a matrix instruction. For two blocks of threads, unless
/// the carried values leave none for a second one.
static bool holdsIterations(const Loop &loop, unsigned iterations, int64_t waves, const ir::TargetInfo &info) {
  auto registersOf = [](const Value *v) {
    return int64_t(divideCeil(v->getType()->getPrimitiveSizeInBits().getFixedValue(), ir::kWordBits));
  };
  int64_t carried = 0, loaded = 0, operands = 0;
  for (PHINode &phi : loop.getHeader()->phis()) carried += registersOf(&phi);
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *load = dyn_cast<LoadInst>(&i);
      bool fromMemory = (load && load->getPointerAddressSpace() == codegen::kGlobalSpace) || isBufferLoad(i);
      if (fromMemory) loaded += registersOf(&i);
      if (isMatrixInstruction(i))
        operands = std::max(operands, registersOf(i.getOperand(0)) + registersOf(i.getOperand(1))); // A and B
    }
  int64_t blocks = fillsRegisters(loop, waves, info) ? 1 : 2;
  return carried + iterations * loaded + operands <= info.registersPerScheduler / (blocks * waves);
}

static bool hasWmma(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) { return any_of(*block, isWmma); });
}

/// Whether the addresses that are computed from the buffer's index, which unrolled copies need not compute, are a good
/// part of the loop's instructions.
static bool computesManyAddresses(const Loop &loop, size_t othersOfAddress) {
  size_t addresses = 0, others = 0;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *address = dyn_cast<GetElementPtrInst>(&i);
      if (address && address->getPointerAddressSpace() == codegen::kSharedSpace)
        addresses += !address->hasAllConstantIndices() && !loop.isLoopInvariant(address->getPointerOperand());
      else if (!isa<PHINode, ExtractElementInst, InsertElementInst, ShuffleVectorInst, BitCastInst>(i))
        others += !isWmma(i); // the others name registers, or parts of an instruction
    }
  return addresses * othersOfAddress >= others;
}

/// By how much to unroll the loop; 1 for loops that stay.
static unsigned copiesOf(const Loop &loop, int64_t waves, const ir::TargetInfo &info) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !latch || loop.getExitingBlock() != latch) return 1;
  unsigned copies = 1;
  for (PHINode &phi : loop.getHeader()->phis())
    if (phi.getType()->isIntegerTy())
      copies = std::max(copies, codegen::iterationsUntilRepeated(phi, loop, info.tuning.unrollBuffersMost));
  if (copies == 1) return 1;
  size_t instructions = 0;
  bool multiplies = false, scales = false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      ++instructions;
      if (!isMatrixInstruction(i)) continue;
      multiplies = true;
      scales |= isScaled(i);
      if (!isAccumulated(i, loop)) return 1;
    }
  if (!multiplies || instructions * copies > info.tuning.unrollBuffersMaxInstructions) return 1;
  bool isWmmaLoop = hasWmma(loop);
  if (isWmmaLoop && !computesManyAddresses(loop, info.tuning.unrollBuffersOthersOfAddress)) return 1;
  return (!scales && !isWmmaLoop) || holdsIterations(loop, copies, waves, info) ? copies : 1;
}

/// Makes the iterations that are left over after unrolled ones an `if` of their own:
///
///     before:  br %few, %rest, %loop                   before:  br %few, %then, %loop
///     loop:    … br %more, %loop, %then           →    loop:    … br %more, %loop, %then
///     then:    br %some left, %rest, %after            then:    %acc = phi [0, %before], [%sum, %loop]
///     rest:    %acc = phi [0, %before], [%sum, %then]           br %some left, %rest, %after
///
/// Where there are too few iterations for an unrolled one, some are left. LLVM's structurizer, which knows nothing of
/// that, would carry accumulators both into `rest` and around it, in registers of their own.
static void nestRemainder(Loop &loop, DominatorTree &dominators) {
  BasicBlock *then = loop.getUniqueExitBlock(), *latch = loop.getLoopLatch();
  auto *branch = then ? dyn_cast<BranchInst>(then->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || then->getSinglePredecessor() != latch) return;
  BasicBlock *rest = nullptr, *before = nullptr;
  for (BasicBlock *to : branch->successors())
    for (BasicBlock *from : predecessors(to))
      if (from != then && is_contained(successors(from), loop.getLoopPreheader()) && to->hasNPredecessors(2)) {
        rest = to;
        before = from;
      }
  if (!rest) return;
  BasicBlock *after = branch->getSuccessor(branch->getSuccessor(0) == rest);
  auto isComputedThere = [&](PHINode &phi) {
    auto *value = dyn_cast<Instruction>(phi.getIncomingValueForBlock(then));
    return value && value->getParent() == then && !isa<PHINode>(value);
  };
  if (any_of(rest->phis(), isComputedThere) || any_of(after->phis(), isComputedThere)) return;
  SmallDenseMap<Value *, PHINode *, 32> merged; // what leaves the loop, and what leaves either
  auto merge = [&](Value *value, Value *otherwise) {
    PHINode *phi = PHINode::Create(value->getType(), 2, "", then->begin());
    phi->addIncoming(value, latch);
    phi->addIncoming(otherwise, before);
    return phi;
  };
  auto fromLoop = [&](Value *v) { // as it is at the loop's end
    auto *phi = dyn_cast<PHINode>(v);
    return phi && phi->getParent() == then ? phi->getIncomingValueForBlock(latch) : v;
  };
  SmallVector<PHINode *, 32> old;
  for (PHINode &phi : then->phis()) old.push_back(&phi);
  for (PHINode &phi : make_early_inc_range(rest->phis())) {
    Value *value = fromLoop(phi.getIncomingValueForBlock(then));
    PHINode *both = merge(value, phi.getIncomingValueForBlock(before));
    merged.try_emplace(value, both);
    phi.replaceAllUsesWith(both);
    phi.eraseFromParent();
  }
  for (PHINode &phi : after->phis()) {
    Value *value = phi.getIncomingValueForBlock(then);
    auto *computed = dyn_cast<Instruction>(value);
    if (!computed || dominators.dominates(computed->getParent(), before)) continue;
    PHINode *&both = merged[fromLoop(value)];
    if (!both) both = merge(fromLoop(value), PoisonValue::get(value->getType()));
    phi.setIncomingValueForBlock(then, both);
  }
  for (PHINode *phi : old) { // anything else that used them is reached through the loop alone, or not at all
    if (auto it = merged.find(fromLoop(phi)); it != merged.end())
      phi->replaceAllUsesWith(it->second);
    else
      phi->addIncoming(PoisonValue::get(phi->getType()), before);
    if (phi->use_empty()) phi->eraseFromParent();
  }
  before->getTerminator()->replaceSuccessorWith(rest, then);
  dominators.applyUpdates({{DominatorTree::Insert, before, then}, {DominatorTree::Delete, before, rest}});
}

/// A use of the index of one of two buffers, with its value for either buffer: an address, as bytes from its base, or
/// any other number that the loop computes from the index alone.
struct UseOfIndex {
  Instruction *user;
  Use *use; // of the index, or what is computed from it; null: all uses of the address
  int64_t first, second;
};

static SmallVector<UseOfIndex, 8> usesOfIndex(PHINode &phi, const Loop &loop) {
  const DataLayout &layout = phi.getDataLayout();
  auto *first = dyn_cast<ConstantInt>(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
  Constant *second =
      first ? codegen::valueWhere(phi, first, phi.getIncomingValueForBlock(loop.getLoopLatch())) : nullptr;
  if (!second) return {};
  SmallSetVector<Instruction *, 16> derived;
  derived.insert(&phi);
  SmallVector<UseOfIndex, 8> out;
  for (unsigned i = 0; i < derived.size(); ++i) {
    auto *a = dyn_cast_or_null<ConstantInt>(codegen::valueWhere(phi, first, derived[i]));
    auto *b = dyn_cast_or_null<ConstantInt>(codegen::valueWhere(phi, second, derived[i]));
    if (!a || !b) return {};
    for (Use &use : derived[i]->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      auto *address = dyn_cast<GetElementPtrInst>(user);
      if (user == &phi) continue;
      if (address && use.getOperandNo() == 1 && address->getNumIndices() == 1 && loop.contains(user)) {
        int64_t bytes = int64_t(layout.getTypeAllocSize(address->getSourceElementType()));
        out.push_back({user, nullptr, a->getSExtValue() * bytes, b->getSExtValue() * bytes});
        continue;
      }
      bool isNumber = loop.contains(user) && user->getType()->isIntegerTy();
      if (isNumber && codegen::valueWhere(phi, first, user))
        derived.insert(user);
      else if (derived[i]->getType()->isIntegerTy(32))
        out.push_back({user, &use, a->getSExtValue(), b->getSExtValue()});
      else
        return {};
    }
  }
  return out;
}

/// Whether it is a phi after the loop for what the loop computed.
static bool isAfterLoop(const UseOfIndex &u, const Loop &loop) {
  auto *last = u.use ? dyn_cast<PHINode>(u.user) : nullptr;
  return last && !loop.contains(last) && all_of(last->blocks(), [&](BasicBlock *from) { return loop.contains(from); });
}

/// The offsets of two buffers of one size.
struct Begin {
  int64_t first, second;
  PHINode *now;
  Value *next;
  bool isNow(const UseOfIndex &u) const { return u.first == first && u.second == second; }
  bool isNext(const UseOfIndex &u) const { return u.first == second && u.second == first; }
};

/// The constant that the user multiplies the index by; null if it does anything else.
static ConstantInt *scaleOf(const User &user, const Value &index) {
  using namespace PatternMatch;
  ConstantInt *by = nullptr;
  if (match(&user, m_Shl(m_Specific(&index), m_ConstantInt(by))))
    return by->getValue().ult(by->getBitWidth())
               ? ConstantInt::get(by->getContext(),
                                  APInt::getOneBitSet(by->getBitWidth(), unsigned(by->getZExtValue())))
               : nullptr;
  return match(&user, m_c_Mul(m_Specific(&index), m_ConstantInt(by))) ? by : nullptr;
}

/// Replaces multiples of the last iteration's buffer index, after the loop, by the loop-carried offset. `index` is the
/// phi of that index; it may have a constant where the loop has no iteration.
static void beginAfterLoop(PHINode &index, const UseOfIndex &u, ArrayRef<Begin> begins, bool isMerged = false) {
  SmallVector<User *, 8> users(index.users());
  for (User *user : users) {
    auto *merged = dyn_cast<PHINode>(user);
    bool isConstantElse = merged && !isMerged && all_of(merged->incoming_values(), [&](Value *v) {
                            return v == &index || isa<ConstantInt>(v);
                          });
    if (isConstantElse) beginAfterLoop(*merged, u, begins, /*isMerged=*/true);
    ConstantInt *scale = scaleOf(*user, index);
    if (!scale) continue;
    UseOfIndex scaled = {nullptr, nullptr, u.first * scale->getSExtValue(), u.second * scale->getSExtValue()};
    auto begin = find_if(begins, [&](const Begin &b) { return b.isNow(scaled) || b.isNext(scaled); });
    if (begin == begins.end()) continue;
    Value *inLoop = begin->isNow(scaled) ? static_cast<Value *>(begin->now) : begin->next;
    PHINode *at = PHINode::Create(index.getType(), index.getNumIncomingValues(), "", index.getIterator());
    for (auto [value, from] : zip(index.incoming_values(), index.blocks())) {
      auto *constant = dyn_cast<ConstantInt>(value);
      at->addIncoming(
          constant ? ConstantInt::get(constant->getContext(), constant->getValue() * scale->getValue()) : inLoop, from);
    }
    user->replaceAllUsesWith(at);
  }
}

/// Computes the index of the last iteration from the offset of the next buffer.
static void replaceAfterLoop(const UseOfIndex &u, ArrayRef<Begin> begins) {
  auto *last = cast<PHINode>(u.user);
  if (last->getType()->isIntegerTy(32)) beginAfterLoop(*last, u, begins);
  const Begin &begin = begins.front();
  IRBuilder<> b(last);
  PHINode *next = b.CreatePHI(begin.now->getType(), last->getNumIncomingValues());
  for (BasicBlock *from : last->blocks()) next->addIncoming(begin.next, from);
  b.SetInsertPoint(last->getParent(), last->getParent()->getFirstInsertionPt());
  Value *isFirst = b.CreateICmpEQ(next, ConstantInt::getSigned(next->getType(), begin.second));
  auto number = [&](int64_t x) { return ConstantInt::getSigned(last->getType(), x); };
  last->replaceAllUsesWith(b.CreateSelect(isFirst, number(u.first), number(u.second)));
}

/// If a loop alternates between two buffers, its loop-carried value becomes the offset of the buffer, which one
/// exclusive or changes, instead of the buffer's index, which is counted, compared, selected and multiplied. Users of
/// the index after the loop get it from the offset.
static bool alternate(PHINode &phi, const Loop &loop) {
  SmallVector<UseOfIndex, 8> uses = usesOfIndex(phi, loop);
  SmallVector<Begin, 2> begins;
  auto beginOf = [&](const UseOfIndex &u) {
    return find_if(begins, [&](const Begin &b) { return b.isNow(u) || b.isNext(u); });
  };
  for (const UseOfIndex &u : uses)
    if (!u.use && beginOf(u) == begins.end()) begins.push_back({u.first, u.second, nullptr, nullptr});
  constexpr unsigned kMostSizes = 2; // an exclusive or for each; to count an index takes three instructions
  if (begins.empty() || begins.size() > kMostSizes) return false;
  if (!all_of(uses, [&](const UseOfIndex &u) { return isAfterLoop(u, loop) || beginOf(u) != begins.end(); }))
    return false;
  BasicBlock *header = loop.getHeader();
  for (Begin &begin : begins) {
    IRBuilder<> b(header, header->begin());
    auto constant = [&](int64_t x) { return ConstantInt::getSigned(b.getInt32Ty(), x); };
    begin.now = b.CreatePHI(b.getInt32Ty(), 2, "buffer");
    b.SetInsertPoint(header, header->getFirstInsertionPt());
    begin.next = b.CreateXor(begin.now, constant(begin.first ^ begin.second));
    begin.now->addIncoming(constant(begin.first), loop.getLoopPreheader());
    begin.now->addIncoming(begin.next, loop.getLoopLatch());
  }
  for (const UseOfIndex &u : uses) {
    Begin *begin = beginOf(u);
    if (begin == begins.end()) {
      replaceAfterLoop(u, begins);
      continue;
    }
    Value *at = begin->isNow(u) ? static_cast<Value *>(begin->now) : begin->next;
    if (u.use) {
      u.use->set(at);
      continue;
    }
    auto *address = cast<GetElementPtrInst>(u.user);
    address->replaceAllUsesWith(IRBuilder<>(address).CreatePtrAdd(address->getPointerOperand(), at));
  }
  return true;
}

/// Alternates the buffers of a loop that stays.
static bool alternateBuffers(Loop &loop, DominatorTree &dominators, LoopInfo &loops, ScalarEvolution &evolution) {
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch()) return false;
  constexpr unsigned kBuffers = 2;
  SmallVector<PHINode *, 2> indices;
  for (PHINode &phi : loop.getHeader()->phis())
    if (phi.getType()->isIntegerTy(32) && codegen::iterationsUntilRepeated(phi, loop, kBuffers) == kBuffers)
      indices.push_back(&phi);
  if (indices.empty()) return false;
  formLCSSARecursively(loop, dominators, &loops, &evolution); // users after the loop keep the index
  bool changed = false;
  for (PHINode *phi : indices) changed |= alternate(*phi, loop);
  return changed;
}

/// Makes order-matrices order the loop's iterations one by one.
static void endIteration(Loop &loop) {
  IRBuilder<> b(loop.getLoopLatch()->getTerminator());
  for (unsigned mask : {0U, kEndsIteration, 0U})
    b.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {}, {b.getInt32(mask)});
}

PreservedAnalyses UnrollBuffersPass::run(Function &f, FunctionAnalysisManager &analyses) {
  int64_t waves = divideCeil(wavesOfBlock(f, info_), info_.schedulersPerMultiprocessor); // of a block on a SIMD
  codegen::LoopUnroller unroller(f, analyses);
  bool changed = false;
  for (Loop *loop : unroller.loops().getLoopsInPreorder()) {
    unsigned copies = copiesOf(*loop, waves, info_);
    if (copies == 1) {
      changed |= alternateBuffers(*loop, unroller.dominators(), unroller.loops(), unroller.evolution());
      continue;
    }
    if (hasWmma(*loop) || (waves > 1 && !fillsRegisters(*loop, waves, info_))) endIteration(*loop);
    auto unrolled = unroller.unroll(*loop, copies, codegen::LoopUnroller::TripCount::Any);
    // With as many iterations as copies there is no loop left.
    if (unrolled == LoopUnrollResult::PartiallyUnrolled) nestRemainder(*loop, unroller.dominators());
    unroller.evolution().forgetAllLoops();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
