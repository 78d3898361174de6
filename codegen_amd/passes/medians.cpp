// Clamps between constants as medians, where several have the same bounds.
//
//   %a = maxnum %x, -448                            %b = fmed3 %x, -448, 448
//   %b = minnum %a, 448                       →     %d = fmed3 %y, -448, 448
//   %c = maxnum %y, -448
//   %d = minnum %c, 448
//
// v_med3_f32 has no constants of 32 bits on CDNA. LLVM keeps v_max and v_min, which have one each: for one clamp that
// is as good. Several share the registers of their bounds, of which opposite ones are the same (opposite_constants.h).
//
// The median of NaN and two numbers is the smaller number, as the maximum first is; the minimum first would be the
// larger one, so that the number must not be NaN.
//
// Limits: f32.
//
// Runs: on targets without constants in VOP3 instructions, after the last InstCombine.
// Source: "AMD Instinct MI300 Instruction Set Architecture", V_MED3_F32.
#include "codegen_amd/passes/medians.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;
using namespace llvm::PatternMatch;
namespace {

struct Clamp {
  IntrinsicInst *outer; // the minimum of a maximum, or the reverse
  Value *number;
};

using Bounds = std::pair<ConstantFP *, ConstantFP *>; // lower, upper

/// The clamp that ends with the instruction, and its bounds.
std::optional<std::pair<Bounds, Clamp>> clampAt(Instruction &i, const DataLayout &layout) {
  auto *outer = dyn_cast<IntrinsicInst>(&i);
  if (!outer || !outer->getType()->isFloatTy()) return std::nullopt;
  Value *x;
  ConstantFP *lower, *upper;
  bool ofMaximum = match(outer, m_FMinNum(m_OneUse(m_FMaxNum(m_Value(x), m_ConstantFP(lower))), m_ConstantFP(upper)));
  bool ofMinimum = !ofMaximum &&
                   match(outer, m_FMaxNum(m_OneUse(m_FMinNum(m_Value(x), m_ConstantFP(upper))), m_ConstantFP(lower))) &&
                   isKnownNeverNaN(x, SimplifyQuery(layout));
  if ((!ofMaximum && !ofMinimum) || !(lower->getValueAPF() < upper->getValueAPF())) return std::nullopt;
  return std::pair(Bounds(lower, upper), Clamp{outer, x});
}

/// Whether an instruction has the constant without a register.
bool isInline(const APFloat &c) {
  constexpr double kInverseOfTwoPi = 0.15915494;
  float magnitude = abs(c).convertToFloat();
  return c.isPosZero() || is_contained({0.5f, 1.0f, 2.0f, 4.0f}, magnitude) ||
         c.bitwiseIsEqual(APFloat(float(kInverseOfTwoPi)));
}

/// The registers that the bounds take.
size_t registersOf(const Bounds &bounds) {
  const APFloat &lower = bounds.first->getValueAPF(), &upper = bounds.second->getValueAPF();
  if (lower.bitwiseIsEqual(neg(upper))) return isInline(upper) ? 0 : 1;
  return size_t(!isInline(lower)) + size_t(!isInline(upper));
}

} // namespace

PreservedAnalyses MediansPass::run(Function &f, FunctionAnalysisManager &) {
  MapVector<Bounds, SmallVector<Clamp, 16>> clamps;
  for (Instruction &i : instructions(f))
    if (auto clamp = clampAt(i, f.getDataLayout())) clamps[clamp->first].push_back(clamp->second);
  bool changed = false;
  for (auto &[bounds, of] : clamps) {
    if (of.size() <= registersOf(bounds)) continue;
    for (auto [outer, number] : of) {
      auto *inner = cast<Instruction>(outer->getArgOperand(isa<Constant>(outer->getArgOperand(0)) ? 1 : 0));
      IRBuilder<> b(outer);
      outer->replaceAllUsesWith(
          b.CreateIntrinsic(Intrinsic::amdgcn_fmed3, {outer->getType()}, {number, bounds.first, bounds.second}));
      outer->eraseFromParent();
      inner->eraseFromParent();
    }
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
