// The result of a library function with a loop is computed where the function is called, not where it is used.
//
//   %y0 = call float @__nv_cosf(float %x0)         %y0 = call float @__nv_cosf(float %x0)
//   %y1 = call float @__nv_cosf(float %x1)         %z0 = call float asm "", "=f,0"(float %y0)
//   …                                          →   %y1 = call float @__nv_cosf(float %x1)
//   store %y0; store %y1; …                        %z1 = call float asm "", "=f,0"(float %y1)
//                                                  …
//                                                  store %z0; store %z1; …
//
// Sine, cosine and tangent reduce their argument in a branch, by a loop if it is large, and then evaluate a polynomial.
// Once they are inlined, one after the other for all elements of a thread, InstCombine sinks the polynomials, whose
// results have one use, into the block of the use: behind the branches of all elements. Then their operands are live
// instead of the results, several registers for each element (a cosine of 128 elements a thread: 255 and spills
// instead of 158). Inline assembly without text takes no instruction; it is convergent, so that it is not sunk, and
// nothing moves past it that it does not need. Functions without a loop become straight-line code or short branches,
// which ptxas schedules by itself.
//
// Runs before functions are inlined.
#include "codegen_nvidia/passes/finish_library_calls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

/// Whether functions, or those that they call, have loops.
class Loops {
public:
  bool in(const Function &f) {
    auto [it, isNew] = known_.try_emplace(&f, false); // recursion is none of its own
    if (!isNew || f.isDeclaration()) return it->second;
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> edges;
    FindFunctionBackedges(f, edges);
    bool found = !edges.empty();
    for (const Instruction &i : instructions(f)) {
      if (found) break;
      auto *call = dyn_cast<CallInst>(&i);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      found = callee && in(*callee);
    }
    return known_[&f] = found;
  }

private:
  DenseMap<const Function *, bool> known_;
};

/// A value as it is, at this place.
Value *atThisPlace(IRBuilder<> &b, Value *v) {
  auto *type = FunctionType::get(v->getType(), {v->getType()}, /*isVarArg=*/false);
  auto *text = InlineAsm::get(type, "", v->getType()->isDoubleTy() ? "=d,0" : "=f,0", /*hasSideEffects=*/false);
  CallInst *call = b.CreateCall(type, text, {v});
  call->setConvergent();
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  call->addFnAttr(Attribute::WillReturn);
  return call;
}

} // namespace

PreservedAnalyses FinishLibraryCallsPass::run(Module &module, ModuleAnalysisManager &) {
  Loops loops;
  SmallVector<CallInst *, 16> calls;
  for (Function &f : module) {
    if (f.getCallingConv() != CallingConv::PTX_Kernel) continue;
    for (Instruction &i : instructions(f)) {
      auto *call = dyn_cast<CallInst>(&i);
      bool isFloat = i.getType()->isFloatTy() || i.getType()->isDoubleTy();
      const Function *callee = call && isFloat ? call->getCalledFunction() : nullptr;
      if (callee && callee->getName().starts_with("__nv_") && loops.in(*callee)) calls.push_back(call);
    }
  }
  for (CallInst *call : calls) {
    IRBuilder<> b(call->getNextNode());
    b.SetCurrentDebugLocation(call->getDebugLoc());
    Value *finished = atThisPlace(b, call);
    call->replaceUsesWithIf(finished, [&](Use &use) { return use.getUser() != finished; });
  }
  return calls.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::nvidia
