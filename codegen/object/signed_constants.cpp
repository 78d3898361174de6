// Small negative constants that LLVM made large, as what they are.
//
//   %1 = add nsw i32 %x, 67108863          →      %1 = add i32 %x, -1
//   %2 = shl i32 %1, 6                            %2 = shl i32 %1, 6
//
// Of a constant that is added, InstCombine clears the bits that nothing uses: of the -1 above the six that the shift
// drops. Nothing is gained by it. AMD GPUs have -16 to 64 in an instruction, other constants in a word behind it, and
// an emulator that checks indices for overflow finds one where there is none. Constants become the nearest ones to 0 of
// all that agree in the bits that are used, if these are more than half of the word: fewer are no index.
#include "codegen/object/signed_constants.h"
#include "codegen/object/run_passes.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

namespace tessera::codegen {
using namespace llvm;

PreservedAnalyses SignedConstantsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  DemandedBits &demanded = analyses.getResult<DemandedBitsAnalysis>(f);
  SmallVector<std::pair<Instruction *, ConstantInt *>, 8> changes; // the analysis is of the code as it is
  for (Instruction &i : instructions(f)) {
    auto *constant = i.getOpcode() == Instruction::Add ? dyn_cast<ConstantInt>(i.getOperand(1)) : nullptr;
    if (!constant) continue;
    unsigned width = constant->getBitWidth(), bits = demanded.getDemandedBits(&i).getActiveBits();
    if (bits == width || bits <= width / 2) continue;
    APInt nearest = constant->getValue().trunc(bits).sext(width);
    if (nearest != constant->getValue()) changes.emplace_back(&i, ConstantInt::get(i.getContext(), nearest));
  }
  for (auto [i, constant] : changes) {
    i->setOperand(1, constant);
    i->dropPoisonGeneratingFlags();
  }
  return preservedIn(!changes.empty());
}

} // namespace tessera::codegen
