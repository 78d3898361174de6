// Masks of buffer loads that all lanes share limit the buffer instead of each offset.
//
//   %m = and %lanes, %more                            %size = select %more, 2^32 - 16, 0
//   %o = select %m, %x, beyond                   →    %limited = make.buffer.rsrc %p, 0, %size, flags
//   load %buffer, %o                                  %o = select %lanes, %x, beyond
//                                                     load %limited, %o
//
// A pipelined loop loads for iterations to come, and in its last ones for none: the condition is a part of the mask of
// each of these loads. It takes a vector instruction for each offset, or a scalar one for each mask of lanes that it is
// combined with. Of a buffer of no bytes all loads are 0, and its size is one of four scalar registers.
//
// Limits: loads in loops, by a condition that is computed in the loop, of buffers that the loop accesses in no other
// way: two sizes of one buffer at a time would take two descriptors.
//
// Runs: after buffer-immediates, which recognises the masks as they were.
#include "codegen_amd/passes/limit_buffers.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;

namespace {

/// A load whose offset is chosen by a mask.
struct MaskedLoad {
  IntrinsicInst *load;
  Use *choice;   // the use of the select
  Value *shared; // the part of its condition that all lanes share
  Value *lanes;  // the rest; null: none
};

class BuffersOfLoop {
public:
  BuffersOfLoop(Loop &loop, const UniformityInfo &uniformity) : loop_(loop), uniformity_(uniformity) {}

  bool run() {
    Buffers buffers;
    SmallPtrSet<Value *, 4> others; // accessed in another way
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &i : *block)
        for (Use &use : i.operands()) {
          auto *buffer = dyn_cast<IntrinsicInst>(use.get());
          if (!buffer || buffer->getIntrinsicID() != Intrinsic::amdgcn_make_buffer_rsrc) continue;
          if (auto masked = maskedLoad(i); masked && !loop_.contains(buffer))
            buffers[buffer].push_back(*masked);
          else
            others.insert(buffer);
        }
    buffers.remove_if([&](auto &b) { return others.contains(b.first); });
    if (!isShorter(buffers)) return false;
    for (auto &[buffer, loads] : buffers) limit(*buffer, loads);
    return true;
  }

private:
  using Buffers = MapVector<IntrinsicInst *, SmallVector<MaskedLoad, 8>>;

  /// Whether it takes fewer instructions: an offset's choice, or a mask combined with a condition, and each condition
  /// as a mask, against a size for each buffer and condition.
  static bool isShorter(const Buffers &buffers) {
    SmallPtrSet<Value *, 16> masks, conditions;
    size_t choices = 0, sizes = 0;
    for (auto &[buffer, loads] : buffers) {
      SmallPtrSet<Value *, 4> conditionsOfBuffer;
      for (const MaskedLoad &m : loads) {
        conditions.insert(m.shared);
        conditionsOfBuffer.insert(m.shared);
        if (m.lanes)
          masks.insert(cast<SelectInst>(m.choice->get())->getCondition());
        else
          ++choices;
      }
      sizes += conditionsOfBuffer.size();
    }
    return choices + masks.size() + conditions.size() > sizes;
  }

  bool isShared(Value *condition) const {
    auto *i = dyn_cast<Instruction>(condition);
    return i && loop_.contains(i) && uniformity_.isUniform(condition);
  }

  std::optional<MaskedLoad> maskedLoad(Instruction &i) const {
    using namespace PatternMatch;
    auto *load = dyn_cast<IntrinsicInst>(&i);
    auto operands = bufferOperands(i);
    if (!operands || load->getIntrinsicID() == Intrinsic::amdgcn_raw_ptr_buffer_store) return std::nullopt;
    Use *choice = &load->getArgOperandUse(operands->offset);
    if (match(choice->get(), m_AddLike(m_Value(), m_ConstantInt()))) // a constant that the instruction adds
      choice = &cast<Instruction>(choice->get())->getOperandUse(0);
    auto *select = dyn_cast<SelectInst>(choice->get());
    auto *beyond = select ? dyn_cast<ConstantInt>(select->getFalseValue()) : nullptr;
    if (!beyond || beyond->getZExtValue() < kBeyondBuffers) return std::nullopt;
    Value *condition = select->getCondition(), *a = nullptr, *b = nullptr;
    if (isShared(condition)) return MaskedLoad{load, choice, condition, nullptr};
    if (!match(condition, m_And(m_Value(a), m_Value(b))) && !match(condition, m_LogicalAnd(m_Value(a), m_Value(b))))
      return std::nullopt;
    if (isShared(a)) return MaskedLoad{load, choice, a, b};
    if (isShared(b)) return MaskedLoad{load, choice, b, a};
    return std::nullopt;
  }

  /// The buffer is made anew where each of the conditions is known.
  void limit(IntrinsicInst &buffer, ArrayRef<MaskedLoad> loads) {
    DenseMap<Value *, Value *> limited;
    for (const MaskedLoad &m : loads) {
      Value *&to = limited[m.shared];
      if (!to) {
        auto *condition = cast<Instruction>(m.shared);
        IRBuilder<> b(condition->getParent(), *condition->getInsertionPointAfterDef());
        Value *size = buffer.getArgOperand(2);
        auto *made = cast<IntrinsicInst>(buffer.clone());
        made->setArgOperand(2, b.CreateSelect(m.shared, size, Constant::getNullValue(size->getType())));
        to = b.Insert(made);
      }
      m.load->setArgOperand(0, to);
      auto *select = cast<SelectInst>(m.choice->get());
      if (!m.lanes) {
        m.choice->set(select->getTrueValue());
        continue;
      }
      IRBuilder<> b(select);
      m.choice->set(b.CreateSelect(m.lanes, select->getTrueValue(), select->getFalseValue()));
    }
  }

  Loop &loop_;
  const UniformityInfo &uniformity_;
};

} // namespace

PreservedAnalyses LimitBuffersPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  auto &uniformity = analyses.getResult<UniformityInfoAnalysis>(f);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost()) changed |= BuffersOfLoop(*loop, uniformity).run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
