// Packs arithmetic on f16 by LLVM's SLP vectoriser, in functions that have enough of it.
//
//   fadd half %a0, %b0;  fadd half %a1, %b1   →   fadd <2 x half> %a, %b   (v_pk_add_f16)
//
// Functions with WMMA are left alone: the vectoriser takes their fragments apart. Functions with little arithmetic on
// f16 would get up to 7 % more instructions.
#include "codegen_amd/passes/pack_halves.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

namespace tessera::amd {
using namespace llvm;

PreservedAnalyses PackHalvesPass::run(Function &f, FunctionAnalysisManager &analyses) {
  unsigned operations = 0;
  for (Instruction &i : instructions(f)) {
    auto *call = dyn_cast<IntrinsicInst>(&i);
    if (call && Intrinsic::getBaseName(call->getIntrinsicID()).starts_with("llvm.amdgcn.wmma"))
      return PreservedAnalyses::all();
    bool fma = call && (call->getIntrinsicID() == Intrinsic::fma || call->getIntrinsicID() == Intrinsic::fmuladd);
    operations += i.getType()->isHalfTy() &&
                  (fma || is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul}, i.getOpcode()));
  }
  if (operations < minOperations_) return PreservedAnalyses::all();
  PreservedAnalyses kept = SLPVectorizerPass().run(f, analyses);
  if (kept.areAllPreserved()) return kept;
  analyses.invalidate(f, kept);
  InstCombinePass().run(f, analyses);
  return PreservedAnalyses::none();
}

} // namespace tessera::amd
