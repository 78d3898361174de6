// Advances offsets of buffer accesses in the loop by the scalar offset that the instruction adds.
//
//   loop:                                               loop:
//     %a = phi [%x, %before], [%a.next, %loop]            %s = phi [0, %before], [%s.next, %loop]
//     %b = phi [%y, %before], [%b.next, %loop]      →     load %buffer, %x, scalar offset %s
//     load %buffer, %a                                    load %buffer, %y, scalar offset %s
//     load %buffer, %b                                    %s.next = add %s, 128
//     %a.next = add %a, 128
//     %b.next = add %b, 128
//
// Rows of an operand whose distance is no number known here (they are taken modulo the extent, or masked) have an
// offset each, and each took a vector addition an iteration. A scalar one does for all of them, in both operands where
// they advance by the same step.
//
// What makes it right is the range check. Only the sum of a lane's offset and the immediate is compared with the size,
// on gfx9 with the size less the scalar offset ("Range checking" in the ISA guides), and the address is a sum of 64
// bits: a lane's offset must not wrap around where it starts. Offsets that are proved not to be negative do not: they
// grow from there to one inside of the buffer. The others count from a base that is moved by 2 GiB
// (codegen/lowering/access_plan.cpp), and loops advance by less than that in a buffer of that size. The offset of a
// masked-off lane is beyond the end by any of these checks.
//
// Limits: innermost loops; two offsets at least, which take the same step; steps that are positive constants, as the
// scalar offset is unsigned; buffers of constant size (limit-buffers empties others, and less than nothing is no size).
//
// Runs: after advance-offsets, which gives offsets a loop-carried value of their own.
#include "codegen_amd/passes/scalar_offsets.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;
using namespace PatternMatch;

namespace {

/// An offset that a loop carries.
struct Offset {
  PHINode *phi;
  Value *start;
  BinaryOperator *next;
  SmallSetVector<CallInst *, 4> accesses;
};

class OffsetsOfLoop {
public:
  explicit OffsetsOfLoop(Loop &loop) : loop_(loop), before_(loop.getLoopPreheader()), latch_(loop.getLoopLatch()) {}

  bool run() {
    if (!loop_.isInnermost() || !before_ || !latch_) return false;
    MapVector<ConstantInt *, SmallVector<Offset, 8>> byStep;
    for (PHINode &phi : loop_.getHeader()->phis())
      if (auto [offset, step] = advanced(phi); step) byStep[step].push_back(std::move(offset));
    bool changed = false;
    for (auto &[step, offsets] : byStep) {
      if (offsets.size() < 2) continue;
      advanceTogether(step, offsets);
      changed = true;
    }
    return changed;
  }

private:
  /// Whether it is an access to a buffer of constant size, from which `beyond` keeps masked-off lanes away, without a
  /// scalar offset yet.
  static bool mayAddScalar(const CallInst &access, const BufferOperands &operands, uint64_t beyond) {
    auto *buffer = dyn_cast<IntrinsicInst>(access.getArgOperand(operands.resource));
    if (!buffer || buffer->getIntrinsicID() != Intrinsic::amdgcn_make_buffer_rsrc) return false;
    auto *size = dyn_cast<ConstantInt>(buffer->getArgOperand(2));
    bool hasScalar = !match(access.getArgOperand(operands.scalar), m_ZeroInt());
    return size && !hasScalar && beyond >= size->getZExtValue() - kBufferImmediates;
  }

  /// Collects the accesses whose offset the value is, perhaps of some lanes only and with a constant more. False if it
  /// has other uses in the loop. `beyond`: the least offset of masked-off lanes.
  bool collect(Value &v, uint64_t beyond, SmallSetVector<CallInst *, 4> &accesses, const Value *next,
               unsigned depth = 0) {
    constexpr unsigned kDeepest = 4; // a mask, that of the loop's last iterations, a constant, the access
    if (depth > kDeepest) return false;
    return all_of(v.uses(), [&](Use &use) {
      auto *user = cast<Instruction>(use.getUser());
      if (user == next || (depth == 0 && !loop_.contains(user))) return true;
      if (auto operands = bufferOperands(*user)) {
        auto *access = cast<CallInst>(user);
        accesses.insert(access);
        return use.getOperandNo() == operands->offset && mayAddScalar(*access, *operands, beyond);
      }
      uint64_t least = beyond;
      if (auto *select = dyn_cast<SelectInst>(user)) {
        unsigned at = use.getOperandNo();
        auto *other = at == 0 ? nullptr : dyn_cast<ConstantInt>(select->getOperand(3 - at));
        if (!other) return false;
        least = std::min(least, other->getZExtValue());
      } else if (!match(user, m_AddLike(m_Specific(&v), m_ConstantInt()))) {
        return false;
      }
      return collect(*user, least, accesses, next, depth + 1);
    });
  }

  /// The offset that the phi is, and its step; a null step if it is none.
  std::pair<Offset, ConstantInt *> advanced(PHINode &phi) {
    if (!phi.getType()->isIntegerTy(32) || phi.getNumIncomingValues() != 2) return {};
    Offset o{&phi,
             phi.getIncomingValueForBlock(before_),
             dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch_)),
             {}};
    ConstantInt *step = nullptr;
    if (!o.next || !match(o.next, m_Add(m_Specific(&phi), m_ConstantInt(step))) || step->isNegative()) return {};
    bool isOtherwiseUsed =
        any_of(o.next->users(), [&](User *u) { return u != &phi && loop_.contains(cast<Instruction>(u)); });
    if (isOtherwiseUsed || !collect(phi, UINT64_MAX, o.accesses, o.next) || o.accesses.empty()) return {};
    return {std::move(o), step};
  }

  /// Uses behind the loop take the sum.
  void replaceBehind(Value &v, Value *start, Value *scalar) {
    SmallVector<Use *, 4> behind;
    for (Use &use : v.uses())
      if (!loop_.contains(cast<Instruction>(use.getUser()))) behind.push_back(&use);
    for (Use *use : behind) {
      auto *user = cast<Instruction>(use->getUser());
      auto *phi = dyn_cast<PHINode>(user);
      IRBuilder<> b(phi ? phi->getIncomingBlock(*use)->getTerminator() : user);
      use->set(b.CreateAdd(start, scalar));
    }
  }

  /// A constant that the access adds becomes its immediate, or, where it takes none, part of the scalar.
  static void addScalar(CallInst &access, Value *scalar) {
    auto operands = *bufferOperands(access);
    Value *rest = nullptr;
    const APInt *constant = nullptr;
    bool movesConstant = !operands.takesImmediate() &&
                         match(access.getArgOperand(operands.offset), m_AddLike(m_Value(rest), m_APInt(constant))) &&
                         constant->ult(kBufferImmediates);
    if (movesConstant) {
      scalar = IRBuilder<>(&access).CreateAdd(scalar, IRBuilder<>(&access).getInt32(constant->getZExtValue()));
      access.setArgOperand(operands.offset, rest);
    }
    access.setArgOperand(operands.scalar, scalar);
  }

  void advanceTogether(ConstantInt *step, ArrayRef<Offset> offsets) {
    IRBuilder<> b(loop_.getHeader(), loop_.getHeader()->begin());
    PHINode *scalar = b.CreatePHI(step->getType(), 2, "scalar.offset");
    b.SetInsertPoint(latch_->getTerminator());
    Value *next = b.CreateAdd(scalar, step);
    scalar->addIncoming(b.getInt32(0), before_);
    scalar->addIncoming(next, latch_);
    for (const Offset &o : offsets) {
      for (CallInst *access : o.accesses) addScalar(*access, scalar);
      replaceBehind(*o.phi, o.start, scalar);
      replaceBehind(*o.next, o.start, next);
      o.phi->replaceAllUsesWith(o.start);
      o.phi->eraseFromParent();
      o.next->eraseFromParent();
    }
  }

  Loop &loop_;
  BasicBlock *before_, *latch_;
};

} // namespace

PreservedAnalyses ScalarOffsetsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  bool changed = false;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder()) changed |= OffsetsOfLoop(*loop).run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
